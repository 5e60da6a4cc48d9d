"""Which elements of an output are left unwritten, counted by hand and by the poison that is still there."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch


def unwritten(launch: Launch) -> list[Finding]:
    return [found for found in launch.findings if found.kind == "unwritten"]


@triton.jit
def fill_kernel(out_ptr, first, stop, step, BLOCK: tl.constexpr):
    lane = first + (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) * step
    tl.store(out_ptr + lane, 1, mask=lane < stop)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int16], ids=str)
@pytest.mark.parametrize(("first", "stop", "step"), [(0, 40, 1), (3, 40, 1), (0, 33, 1), (1, 40, 2), (2, 30, 5)])
def test_the_holes_are_those_that_the_kernel_leaves(
    wording: Wording, dtype: torch.dtype, first: int, stop: int, step: int
) -> None:
    with triton_lab.record() as launches:
        out = torch.empty(40, dtype=dtype)
        fill_kernel[(3,)](out, first, stop, step, BLOCK=16)
    holes = np.setdiff1d(np.arange(40), np.arange(first, stop, step)).tolist()
    found = unwritten(launches[0])
    assert [one.elements.tolist() for one in found] == ([holes] if holes else [])
    for one in found:
        assert one.severity == "note"
        wording(one.message, holes=len(holes), all="40 elements", element=f"out_ptr[{holes[0]}]")


def test_a_view_that_starts_late_and_has_gaps_counts_its_own_elements() -> None:
    with triton_lab.record() as launches:
        view = torch.empty(10, 6)[3:, 2:5]
        fill_kernel[(1,)](view, 0, 3, 1, BLOCK=4)
    (found,) = unwritten(launches[0])
    assert "out_ptr[1, 0]" in found.message and "18 of 21 elements" in found.message
    assert found.elements[:4].tolist() == [6, 7, 8, 12], "rows lie six elements apart"


def test_what_was_written_before_is_no_hole() -> None:
    with triton_lab.record() as launches:
        fill_kernel[(1,)](torch.zeros(40), 0, 8, 1, BLOCK=8)
        half = torch.empty(40)
        half[8:] = 0
        fill_kernel[(1,)](half, 0, 8, 1, BLOCK=8)
        unseen = torch.empty(40)
        unseen.numpy()[8:] = 0
        fill_kernel[(1,)](unseen, 0, 8, 1, BLOCK=8)
        two = torch.empty(40)
        fill_kernel[(1,)](two, 0, 8, 1, BLOCK=8)
        fill_kernel[(1,)](two, 8, 40, 1, BLOCK=32)
    assert [len(unwritten(launch)) for launch in launches] == [0, 0, 0, 1, 0]


@triton.jit
def halves_kernel(left_ptr, right_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(left_ptr + lane, 1.0)
    tl.store(right_ptr + lane, 2.0)


def test_what_is_stored_through_another_argument_counts() -> None:
    with triton_lab.record() as launches:
        whole = torch.empty(16)
        halves_kernel[(1,)](whole, whole[8:], BLOCK=8)
        halves_kernel[(1,)](torch.empty(16), torch.empty(8), BLOCK=8)
    assert [[found.argument for found in unwritten(launch)] for launch in launches] == [[], ["left_ptr"]]


def test_many_holes_are_counted_and_the_first_hundred_listed() -> None:
    with triton_lab.record() as launches:
        fill_kernel[(1,)](torch.empty(1000), 0, 1000, 2, BLOCK=1024)
    (found,) = unwritten(launches[0])
    assert found.count == 500
    assert found.elements.tolist() == list(range(1, 200, 2))


@triton.jit
def paired_kernel(out_ptr, N, SIDE: tl.constexpr, BOX: tl.constexpr):
    rows = tl.program_id(0) * SIDE + tl.arange(0, SIDE)
    columns = tl.program_id(1) * SIDE + tl.arange(0, SIDE)
    offsets = rows[:, None] * N + columns[None, :] if BOX else rows * N + columns
    tl.store(out_ptr + offsets, 1)


@pytest.mark.parametrize("shape", [(16, 16), (32, 16), (16, 48), (2, 16, 16)])
@pytest.mark.parametrize("parts", [1, 2])
def test_a_diagonal_is_told_as_one(shape: tuple[int, ...], parts: int, wording: Wording) -> None:
    with triton_lab.record(parts=parts) as launches:
        for box in (False, True):
            out = torch.empty(shape)
            paired_kernel[(1, shape[-1] // 16)](out, shape[-1], SIDE=16, BOX=box)
    (found,) = unwritten(launches[0])
    wording(found.hint, name="out_ptr")
    assert not any("diagonal" in one.hint for one in unwritten(launches[1])), "whole tiles"


def test_single_columns_and_short_diagonals_are_none() -> None:
    with triton_lab.record() as launches:
        fill_kernel[(1,)](torch.empty(8, 8), 0, 64, 8, BLOCK=8)  # column 0
        fill_kernel[(1,)](torch.empty(8, 8), 0, 1, 1, BLOCK=8)  # one element
        fill_kernel[(1,)](torch.empty(8, 8), 0, 64, 2, BLOCK=32)  # every other column
        fill_kernel[(1,)](torch.empty(8, 8), 0, 0, 1, BLOCK=8)  # nothing
    assert [["diagonal" in one.hint for one in unwritten(launch)] for launch in launches] == [[False]] * 4
