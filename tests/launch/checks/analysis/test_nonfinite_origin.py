"""Where NaN arises in random kernels: behind the one root of a negative number, in the stored lanes that are NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import triton_lab as lab
from tests.hostile.origins import HEAD, inputs, run, source
from tests.interpreter.support import kernel_from
from triton_lab.interpreter.frame import Frame
from triton_lab.ir import Op
from triton_lab.launch.checks.analysis.nonfinite_origin import Births
from triton_lab.launch.launch import Launch
from triton_lab.launch.replay.replay_run import replay

ROOT = "    f = tl.sqrt(f - 0.3)\n"
BITS = "f = (f.to(tl.int32, bitcast=True) ^ 1).to(tl.float32, bitcast=True)"  # another number, made of a NaN's bits


class Stored(Births):
    """The names of the operations at which stored values arose, and the lanes of each, by store."""

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self.names = {each.index: each.name for each in launch.executable.plan.walk()}
        self.found: list[dict[str, np.ndarray]] = []

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Any) -> None:
        if kind == "store":
            marks = self.of_operand(frame, op.operands[1])
            self.found.append(
                {self.names[born]: np.broadcast_to(mark, (1, 16))[0] for (born, _), mark in marks.items()}
            )


@pytest.mark.parametrize("number", range(40))
def test_a_new_nan_is_followed_through_all_operations(number: int) -> None:
    random = np.random.default_rng((29, number))
    lines = source(random).removeprefix(HEAD).replace(BITS, "f = f + 1").splitlines(keepends=True)
    starts = [k for k, line in enumerate(lines) if line[4] != " " and "else" not in line]
    at = int(random.choice(starts[:-1]))
    text = HEAD + "".join([*lines[:at], ROOT, *lines[at:]])
    with lab.limits(engine="numpy"), lab.record() as launches:
        out = run(kernel_from(text), inputs(random)).view(np.float32)
    seen = Stored(launches[0])
    replay(launches[0], observer=seen, access_observer=seen)
    assert set(seen.found[0]) <= {"math.sqrt"}, text
    assert np.array_equal(np.isnan(out[:16]), seen.found[0].get("math.sqrt", np.zeros(16, np.bool_))), text
