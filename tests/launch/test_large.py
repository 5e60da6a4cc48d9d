"""Tensors larger than what a record keeps: what was never touched costs nothing, and what is not known is said."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.interpreter.memory_regions import MemoryRegion
from triton_lab.launch.diagnosis.launch_assertion import CheckFailed, CheckIncomplete
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.poison import POISONED
from triton_lab.launch.recording.snapshot import PAGE, SavedRegion, untouched

HUGE = 3 << 30  # bytes, of which only what is touched exists


@triton.jit
def rows_kernel(x_ptr, out_ptr, n, row_stride, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    offsets = row * row_stride + lane
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0)
    tl.store(out_ptr + row * BLOCK + lane, x)


@triton.jit
def fill_kernel(x_ptr, start, value, BLOCK: tl.constexpr):
    tl.store(x_ptr + start + tl.arange(0, BLOCK), value)


def touched(space: mmap.mmap, pages: list[int]) -> int:
    for page in pages:
        space[page * PAGE] = 1
    return np.frombuffer(space, np.uint8).ctypes.data


@pytest.mark.parametrize("pages", [[], [0], [63], [0, 1, 2, 17, 40, 41, 63], list(range(64))])
def test_untouched_pages_are_those_that_nobody_wrote(pages: list[int]) -> None:
    with mmap.mmap(-1, 64 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as space:
        space.madvise(mmap.MADV_NOHUGEPAGE)
        start = touched(space, pages)
        found = untouched(start, start + 64 * PAGE)
        at = start + np.arange(64) * PAGE
        assert np.flatnonzero(~found.covers(at)).tolist() == pages
        inside = untouched(start + 1, start + 64 * PAGE - 1)
        assert not len(inside) or (inside.start[0] >= start + PAGE and inside.stop[-1] <= start + 63 * PAGE)


def test_what_holds_something_before_it_is_touched_is_never_untouched(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(8 * PAGE))
    with (tmp_path / "data").open("r+b") as file:
        for flags in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            with mmap.mmap(file.fileno(), 8 * PAGE, flags=flags) as space:
                start = touched(space, [])
                assert not len(untouched(start, start + 8 * PAGE))
    with mmap.mmap(-1, 8 * PAGE) as space:  # shared with children
        start = touched(space, [])
        assert not len(untouched(start, start + 8 * PAGE))


def test_a_huge_tensor_that_is_hardly_touched_is_kept_and_replayed_at_once() -> None:
    x = torch.empty(HUGE, dtype=torch.uint8)
    x[: 1 << 16] = 7
    x[-(1 << 16) :] = 9
    began = time.perf_counter()
    with lab.check(strict=True) as launches:
        rows_kernel[(2,)](x, torch.zeros(128, dtype=torch.uint8), HUGE, HUGE - 64, BLOCK=64)
    (launch,) = launches
    assert not launch.dropped
    assert launch.snapshot is not None
    assert launch.snapshot.nbytes < 1 << 20
    assert launch.variables
    x[-64:] = 0
    assert launch.accesses[0].values()[:, 0].tolist() == [7, 9]
    assert time.perf_counter() - began < 30


def test_offsets_that_leave_int32_are_found_in_a_tensor_of_that_size() -> None:
    x = torch.empty(HUGE, dtype=torch.uint8)
    x[:64] = x[1 << 30 : (1 << 30) + 64] = 1
    with lab.record() as launches:
        rows_kernel[(4,)](x, torch.zeros(256, dtype=torch.uint8), HUGE, 1 << 30, BLOCK=64)
    (found,) = [each for each in launches[0].findings if each.kind == "overflow"]
    assert "2 * 1073741824 = 2147483648 " in found.message and "int32" in found.message
    assert launches[0].unchecked == []


@pytest.mark.parametrize("keep", [1 << 20, 64 << 20], ids=["dropped", "kept"])
def test_a_replay_and_a_look_at_the_run_tell_the_same(keep: int) -> None:
    with lab.record(max_bytes=keep) as launches:
        x = torch.full((5 << 20,), 3.0)  # 20 MB, all of it touched
        x[4 << 20 :: 7] = 0
        _zero_over(x)
    (launch,) = launches
    assert bool(launch.dropped) == (keep == 1 << 20)
    (found,) = [each for each in launch.findings if each.kind == "non-finite"]
    assert (found.line, found.argument, found.count) == (_LINE, "x_ptr", 10)
    assert found.programs.tolist() == [1] * 10
    assert launch.unchecked == []


@triton.jit
def inverse_kernel(x_ptr, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * stride + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 1 / tl.load(x_ptr + at))


_LINE = inverse_kernel.starting_line_number + 3


def _zero_over(x: torch.Tensor) -> None:
    inverse_kernel[(2,)](x, 4 << 20, BLOCK=64)
    x[:64] = 3.0


def test_a_replay_leaves_what_is_kept_as_it_was() -> None:
    data = np.random.default_rng(0).integers(0, 256, 20 << 20, np.uint8)
    held = SavedRegion.of(MemoryRegion(data.ctypes.data, data))
    assert held.file is not None
    region = held.region()
    assert np.array_equal(region.data, data)
    region.data[:] = 0
    assert np.array_equal(held.data, data)
    assert np.array_equal(held.region().data, data)


def test_what_is_kept_is_given_back() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with lab.record() as launches:
            x = torch.zeros(5 << 20)
            inverse_kernel[(1,)](x + 1, 0, BLOCK=64)
            fill_kernel[(1,)](x, 0, 1.0, BLOCK=64)
        assert launches[0].findings is not None
        del launches, x
    assert len(os.listdir("/proc/self/fd")) <= before


def big(write: Callable[[torch.Tensor], object] = lambda x: None) -> Launch:
    """The launch of a kernel that reads 64 bytes in the middle of a large tensor of `torch.empty`."""
    with lab.record() as launches:
        x = torch.empty(HUGE, dtype=torch.uint8)
        write(x)
        rows_kernel[(1,)](x[HUGE // 2 :], torch.zeros(64, dtype=torch.uint8), 64, 0, BLOCK=64)
    return launches[-1]


HALF = HUGE // 2


def kinds(launch: Launch) -> list[str]:
    return [found.kind for found in launch.findings if found.severity != "note"]


def test_reads_of_a_large_tensor_that_nobody_wrote_are_found_without_filling_it() -> None:
    launch = big()
    assert kinds(launch) == ["uninitialized"]
    assert launch.findings[0].count == 64
    assert launch.unchecked == []


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x[HALF : HALF + 64].fill_(1),
        lambda x: fill_kernel[(1,)](x[HALF:], 0, 1, BLOCK=64),
    ],
    ids=["torch", "kernel"],
)
def test_what_was_seen_being_written_is_initialised(write: Callable[[torch.Tensor], object]) -> None:
    launch = big(write)
    assert kinds(launch) == []
    assert launch.unchecked == []


def test_where_nobody_can_tell_it_is_said(wording: Wording) -> None:
    """NumPy writes unseen, and a page is touched whole."""
    launch = big(lambda x: x.numpy().__setitem__(slice(HALF, HALF + 32), 1))
    assert kinds(launch) == []
    (unchecked,) = launch.unchecked
    assert "uninitialized" in unchecked.what
    wording(unchecked.why, size="256 MB")


def test_what_a_cut_record_leaves_unchecked_is_said_and_check_can_insist() -> None:
    def run() -> None:
        for start in range(40):
            fill_kernel[(1,)](torch.zeros(64), start % 2, 1.0, BLOCK=32)
        lengths = torch.randperm(1 << 12)
        scatter_kernel[(4,)](torch.zeros(1 << 12), lengths, BLOCK=1 << 10)

    told = r"scatter_kernel.*races, .*after that point: 1 access was not kept: use record\(max_bytes="
    with pytest.warns(CheckIncomplete, match=told), lab.check(max_bytes=12_000):
        run()
    with pytest.raises(CheckFailed, match="not checked: races"), lab.check(max_bytes=12_000, strict=True):
        run()


@triton.jit
def scatter_kernel(out_ptr, index_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.load(index_ptr + at), 1.0)


@triton.jit
def both_kernel(large_ptr, small_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.load(large_ptr + 5000 + lane))
    tl.store(out_ptr + BLOCK + lane, tl.load(small_ptr + lane))


@pytest.mark.parametrize("room", [1 << 12, 1 << 30])
def test_memory_that_nobody_wrote_is_found_in_large_and_small_tensors_of_one_launch(room: int) -> None:
    """Large ones are untouched, small ones are filled; with a copy of memory and without."""
    with lab.record(max_bytes=room) as launches:
        large, small = torch.empty((POISONED >> 2) + (1 << 20)), torch.empty(64)
        both_kernel[(1,)](large, small, torch.zeros(32), BLOCK=16)
    (launch,) = launches
    found = {one.argument: one for one in launch.findings}
    assert {one.kind for one in launch.findings} == {"uninitialized"} and set(found) == {"large_ptr", "small_ptr"}
    assert found["large_ptr"].elements.tolist() == list(range(5000, 5016)) and found["small_ptr"].count == 16
    assert not launch.unchecked
