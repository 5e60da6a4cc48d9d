"""The value that a finding about NaN and infinity names."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab


@triton.jit
def inverse_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane)
    tl.store(out_ptr + lane, x / (tl.abs(x) * 0.0))


@pytest.mark.parametrize(
    ("x", "element", "shown"),
    [
        ([1.0, -1.0, 0.0, 2.0], 0, "inf"),
        ([-1.0, 1.0, 0.0, 2.0], 0, "-inf"),
        ([0.0, 1.0, -1.0, 2.0], 0, "NaN"),
    ],
)
def test_it_is_that_of_the_first_lane_that_it_names(x: list[float], element: int, shown: str) -> None:
    out = torch.zeros(4)
    with triton_lab.record() as launches:
        inverse_kernel[(2,)](torch.tensor(x), out, BLOCK=2)
    (found,) = [one for one in launches[0].findings if one.kind == "non-finite"]
    assert f"program (0, 0, 0) stores {shown} to out_ptr[{element}]" in found.message
    assert str(float(out[element])).lower() == shown.lower()
    assert found.count == 4
