"""The value that a finding about NaN and infinity names."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording


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
def test_it_is_that_of_the_first_lane_that_it_names(wording: Wording, x: list[float], element: int, shown: str) -> None:
    out = torch.zeros(4)
    with triton_lab.record() as launches:
        inverse_kernel[(2,)](torch.tensor(x), out, BLOCK=2)
    (found,) = [one for one in launches[0].findings if one.kind == "non-finite"]
    who = "program (0, 0, 0)"
    wording(found.message, program=who, value=shown, element=f"out_ptr[{element}]", lanes="4 lanes")
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


@triton.jit
def spread_kernel(x_ptr, out_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    program, row, lane = tl.program_id(0), tl.arange(0, ROWS)[:, None], tl.arange(0, BLOCK)[None, :]
    one = tl.load(x_ptr + program * ROWS)
    column = tl.load(x_ptr + program * ROWS + row)
    place = out_ptr + program * (2 * ROWS * BLOCK) + row * BLOCK + lane
    all_lanes = tl.arange(0, ROWS * BLOCK)
    tl.store(out_ptr + program * (2 * ROWS * BLOCK) + all_lanes, one / (tl.abs(one) * 0.0))
    tl.store(place + ROWS * BLOCK, tl.where(lane > 0, column / (tl.abs(column) * 0.0), 1.0))


@pytest.mark.parametrize("first", [1.0, -1.0, 0.0])
def test_one_number_that_fills_a_block_is_found_in_each_of_its_lanes(first: float) -> None:
    x, out = torch.ones(3, 2), torch.zeros(3, 2, 2, 4)
    x[0] = torch.tensor([first, -first])
    with triton_lab.record() as launches:
        spread_kernel[(3,)](x, out, ROWS=2, BLOCK=4)
    whole, column = sorted(
        (one for one in launches[0].findings if one.kind == "non-finite"), key=lambda found: found.line
    )
    flat = out.reshape(-1)
    for found, half in ((whole, 0), (column, 1)):
        expected = [
            index
            for index, value in enumerate(flat.tolist())
            if index // 8 % 2 == half and not abs(value) < float("inf")
        ]
        assert sorted(found.elements.tolist()) == expected and found.count == len(expected)
        assert found.programs.tolist() == [element // 16 for element in found.elements.tolist()]
        shown = {"inf": "inf", "-inf": "-inf", "nan": "NaN"}[str(float(flat[expected[0]]))]
        assert f"stores {shown} to" in found.message
