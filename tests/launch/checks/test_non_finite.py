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


@triton.jit
def late_kernel(x_ptr, other_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for k in range(N):
        x = tl.load(x_ptr + k * BLOCK + lane)
        tl.debug_barrier()
        tl.store(other_ptr + lane, x)
        tl.debug_barrier()
        tl.store(out_ptr + k * BLOCK + lane, x / (tl.abs(x) * 0.0))
        tl.atomic_add(other_ptr + BLOCK + lane, 1.0)


def test_its_values_are_those_of_the_moment_however_many_accesses_and_barriers_came_before() -> None:
    x, other, out = torch.tensor([1.0, -1.0, 0.0, -2.0, 2.0, 0.0]), torch.zeros(4), torch.zeros(6)
    with triton_lab.record() as launches:
        late_kernel[(1,)](x, other, out, 3, BLOCK=2)
    (found,) = [one for one in launches[0].findings if one.kind == "non-finite"]
    assert sorted(found.elements.tolist()) == [0, 1, 2, 3, 4, 5]
    expected = out[torch.from_numpy(found.elements)]
    assert [str(value) for value in found.values.tolist()] == [str(value) for value in expected.tolist()]
    # Each time round there are four accesses and two barriers; the store is the fifth of them.
    assert found.events.tolist() == [int(element) // 2 * 6 + 4 for element in found.elements]
