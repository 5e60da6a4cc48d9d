"""The cells that several threads of a program touch, against going through the lanes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import EvidenceLanes
from triton_lab.launch.checks.race import shared_cells as module
from triton_lab.launch.checks.race import thread_conflicts
from triton_lab.launch.checks.race.shared_cells import SharedCells, shared_cells, touch


@st.composite
def touching(draw: st.DrawFn) -> SharedCells:
    count = draw(st.integers(0, 12))
    programs = np.sort(draw_ints(draw, count, 5, draw(st.sampled_from([0, 7, 10**6]))))
    shape = draw(st.integers(0, 2))
    lane = draw_ints(draw, count, 4)
    wide = draw(st.integers(1, 2))
    cell = draw_ints(draw, count, 6, draw(st.sampled_from([-3, 0, 1 << 33])))[:, None] + np.arange(wide)
    thread = lane + (shape << 40) if shape else np.full(count, draw(st.integers(0, 1)))
    return SharedCells(EvidenceLanes(programs, lane, cell[:, 0], np.zeros(count, np.int64)), thread, cell)


def draw_ints(draw: st.DrawFn, count: int, most: int, start: int = 0) -> Ints:
    return np.array(draw(st.lists(st.integers(0, most), min_size=count, max_size=count)), np.int64) + start


@given(st.lists(touching(), min_size=1, max_size=3), st.sampled_from([1, 3, 1 << 20]))
@settings(max_examples=300, deadline=None)
def test_shared_cells_are_those_of_two_threads_of_one_program(found: list[SharedCells], together: int) -> None:
    threads: dict[tuple[int, int], set[int]] = {}
    for one in found:
        for program, thread, cells in zip(one.lanes.program.tolist(), one.thread.tolist(), one.cell, strict=True):
            for cell in cells.tolist():
                threads.setdefault((program, cell), set()).add(thread)
    expected = sorted({cell for (_, cell), who in threads.items() if len(who) > 1})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TOGETHER", together)
        shared = shared_cells(found)
    assert shared is not None and shared.tolist() == expected
    for one in found:
        wanted = [k for k, cells in enumerate(one.cell.tolist()) if set(cells) & set(expected)]
        assert touch(one, shared).tolist() == wanted


def test_numbers_too_large_to_sort_are_left_to_others() -> None:
    lanes = EvidenceLanes(np.array([0, 1]), np.array([0, 1]), np.array([0, 1]), np.zeros(2, np.int64))
    assert shared_cells([SharedCells(lanes, lanes.lane + (1 << 40), np.array([[0], [1 << 61]]))]) is None


@triton.jit
def shuffled(index_ptr, out_ptr, rows, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    lane = tl.arange(0, BLOCK)
    mine = out_ptr + tl.program_id(0) * rows
    at = tl.load(index_ptr + lane)
    tl.store(mine + at, lane)
    tl.store(out_ptr + tl.num_programs(0) * rows + tl.program_id(0) * BLOCK + lane, tl.load(mine + lane))


@pytest.mark.parametrize("apart", [1, 7])
def test_what_is_found_does_not_rest_on_which_lanes_are_looked_at(apart: int, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    block, programs = 256, 20
    rows = block * apart
    index = torch.arange(block, dtype=torch.int32)
    index[:20] = index[:20].flip(0)
    told = []
    for few in (thread_conflicts._FEW, 1 << 60):
        monkeypatch.setattr(thread_conflicts, "_FEW", few)
        with lab.record() as launches:
            shuffled[(programs,)](index, torch.zeros(programs * (rows + block), dtype=torch.int32), rows, BLOCK=block)
        told.append([(one.message, one.count) for one in launches[0].findings if one.kind == "lane-order"])
    assert told[0] == told[1] and [count for _, count in told[0]] == [20 * programs]
