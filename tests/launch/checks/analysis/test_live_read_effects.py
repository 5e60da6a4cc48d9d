"""Uses of unwritten memory, marked while a program runs, against runs with other numbers there: brute force."""

from __future__ import annotations

import numpy as np
import pytest

import triton_lab as lab
from tests.hostile.origins import inputs, run, source
from tests.interpreter.support import kernel_from
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.checks.analysis.live_read_effects import LiveUses
from triton_lab.launch.replay.replay_run import replay


@pytest.mark.parametrize("number", range(8))
def test_an_element_that_changes_what_is_stored_is_used(number: int) -> None:
    """Each element of the inputs is taken for unwritten in turn. Marks may say more than is true, never less."""
    random = np.random.default_rng((17, number))
    kernel, given, others = kernel_from(source(random)), inputs(random), inputs(random)
    with lab.limits(engine="numpy"):
        with lab.record() as launches:
            before = run(kernel, given)
        launch = launches[0]
        loads = [access.op for access in launch.accesses if access.kind == "load"]
        for array, other in zip(given, others, strict=True):
            size = array.element_size()
            for element in range(0, array.numel(), 3):
                old = array[element].item()
                array[element] = other[element]
                changed = bool((run(kernel, given) != before).any())
                array[element] = old
                if not changed:
                    continue
                start = array.data_ptr() + element * size
                uses = LiveUses(launch, Ranges.of([start], [start + size]))
                replay(launch, observer=uses, access_observer=uses)
                assert any(uses.of(op).any() for op in loads), (element, size)
