"""Origins and wrapped offsets in random kernels, against brute force: a few of the hostile corpora."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import triton_lab as lab
from tests.hostile import origins, overflows
from tests.interpreter.support import kernel_from


@pytest.mark.parametrize("number", range(6))
def test_an_element_that_changes_what_is_stored_is_among_its_origins(number: int) -> None:
    random = np.random.default_rng((0, number))
    with lab.limits(engine="numpy"):
        assert not origins.unsound(origins.source(random), random)


@pytest.mark.filterwarnings("ignore:tl.cat")
@pytest.mark.parametrize("line", [*overflows.MOVES, *overflows.OTHERS])
def test_a_wrapped_offset_is_found_behind_each_move_in_the_right_lanes(line: str) -> None:
    assert not overflows.faults([line], np.random.default_rng(4))


@pytest.mark.parametrize(
    "line",
    [
        "y = tl.flip(y, 0)",
        "y = tl.gather(y, 15 - k, 0)",
        "y = tl.reshape(tl.trans(tl.reshape(y, (4, 4))), (16,))",
        "a, b = tl.split(tl.reshape(y, (8, 2)))\n    y = tl.reshape(tl.join(b, a), (16,))",
        "y = y.to(tl.int32, bitcast=True).to(tl.float32, bitcast=True)",
        "y = tl.where(k > 3, y, 0.0)",
        "y = tl.map_elementwise(same, y)",
    ],
)
def test_a_new_nan_is_found_behind_each_move(line: str) -> None:
    kernel = kernel_from(
        "@triton.jit\ndef same(a):\n    return a\n"
        "@triton.jit\ndef kernel(X, O):\n    k = tl.arange(0, 16)\n    x = tl.load(X + k)\n    y = tl.log(x)\n"
        f"    {line}\n    tl.store(O + k, y)\n"
    )
    x, out = torch.ones(16), torch.zeros(16)
    x[5] = -1
    with lab.record() as launches:
        kernel[(1,)](x, out)
    (found,) = [each for each in launches[0].findings if each.kind == "non-finite"]
    (lane,) = found.lanes.tolist()
    assert [lane] == out.isnan().nonzero().flatten().tolist()


@pytest.mark.parametrize("line", ["s, t = s + 1, s", "i = tl.load(I + (i & 63))"])
def test_what_decides_a_load_is_an_origin(line: str) -> None:
    random = np.random.default_rng(9)
    text = f"{origins.HEAD}    {line}\n    for c in range(s & 3):\n        f = f + tl.load(X + (i & 15) * 4 + c)\n"
    text += "    tl.store(OUT + k, f)\n    tl.store(OUT + 16 + k, i.to(tl.float32))\n"
    with lab.limits(engine="numpy"):
        assert not origins.unsound(text, random)


def test_a_truth_value_in_signed_arithmetic_is_no_unsigned_number() -> None:
    kernel = kernel_from(
        "@triton.jit\ndef kernel(X, O):\n    i = tl.arange(0, 32)\n"
        "    at = i * (i <= (-1 + 5 * (i >= 8)))\n    tl.store(O + i, tl.load(X + at))\n"
    )
    x, out = torch.rand(32), torch.empty(32)
    with lab.record() as launches:
        kernel[(1,)](x, out)
    assert torch.equal(out, x[0].expand(32))
    assert not [each for each in launches[0].findings if each.kind == "overflow"]
