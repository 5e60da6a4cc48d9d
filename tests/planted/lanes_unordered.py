"""Threads of one program that meet in memory, with no barrier where one is needed."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


def numbers(n: int) -> torch.Tensor:
    return torch.arange(1.0, n + 1)


def zeros(n: int) -> torch.Tensor:
    return torch.zeros(n, dtype=torch.int32)


@triton.jit
def exchange_kernel(
    x_ptr, scratch_ptr, out_ptr, shift, BLOCK: tl.constexpr, REVERSE: tl.constexpr, MENDED: tl.constexpr
):
    first, lane = tl.program_id(0) * BLOCK, tl.arange(0, BLOCK)
    tl.store(scratch_ptr + first + lane, tl.load(x_ptr + first + lane))
    if MENDED:
        tl.debug_barrier()
    other = BLOCK - 1 - lane if REVERSE else (lane + shift) % BLOCK
    tl.store(out_ptr + first + lane, tl.load(scratch_ptr + first + other))  # BUG


@plant(exchange_kernel, "lane-order", "scratch_ptr", {0, 1})
def reversed_through_memory(mended: bool) -> None:
    """A block is stored, and loaded in the opposite order."""
    exchange_kernel[(2,)](numbers(64), numbers(64), numbers(64), 0, BLOCK=32, REVERSE=True, MENDED=mended)


@plant(exchange_kernel, "lane-order", "scratch_ptr", {0, 1})
def rotated_through_memory(mended: bool) -> None:
    """A block is stored, and each lane loads what its neighbour stored."""
    exchange_kernel[(2,)](numbers(64), numbers(64), numbers(64), 1, BLOCK=32, REVERSE=False, MENDED=mended)


@triton.jit
def transpose_kernel(x_ptr, scratch_ptr, out_ptr, SIZE: tl.constexpr, MENDED: tl.constexpr):
    row, column = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    tl.store(scratch_ptr + row * SIZE + column, tl.load(x_ptr + row * SIZE + column))
    if MENDED:
        tl.debug_barrier()
    tl.store(out_ptr + row * SIZE + column, tl.load(scratch_ptr + column * SIZE + row))  # BUG


@plant(transpose_kernel, "lane-order", "scratch_ptr", {0})
def transposed_through_memory(mended: bool) -> None:
    """A tile is stored by rows and loaded by columns."""
    transpose_kernel[(1,)](numbers(64), numbers(64), numbers(64), SIZE=8, MENDED=mended)


@triton.jit
def reshape_kernel(x_ptr, scratch_ptr, out_ptr, SIZE: tl.constexpr, MENDED: tl.constexpr):
    row, column = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    flat = tl.arange(0, SIZE * SIZE)
    tl.store(scratch_ptr + flat, tl.load(x_ptr + flat))
    if MENDED:
        tl.debug_barrier()
    tile = tl.load(scratch_ptr + row * SIZE + column)  # BUG
    tl.store(out_ptr + tl.arange(0, SIZE), tl.sum(tile, 1))


@plant(reshape_kernel, "lane-order", "scratch_ptr", {0})
def reshaped_through_memory(mended: bool) -> None:
    """Stored as a line, loaded as a tile: another layout, so other threads."""
    reshape_kernel[(1,)](numbers(64), numbers(64), numbers(8), SIZE=8, MENDED=mended)


@triton.jit
def centre_kernel(x_ptr, mean_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)
    tl.store(mean_ptr + row, tl.sum(x) / BLOCK)
    if MENDED:
        tl.debug_barrier()
    tl.store(out_ptr + row * BLOCK + lane, x - tl.load(mean_ptr + row))  # BUG


@plant(centre_kernel, "lane-order", "mean_ptr", {0, 1, 2})
def mean_through_memory(mended: bool) -> None:
    """One thread stores the mean, all load it."""
    centre_kernel[(3,)](numbers(96), numbers(3), numbers(96), BLOCK=32, MENDED=mended)


@triton.jit
def branch_kernel(flag_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane)
    tl.store(flag_ptr, (tl.max(x) > 3).to(tl.int32))
    if MENDED:
        tl.debug_barrier()
    if tl.load(flag_ptr) == 1:  # BUG
        tl.store(out_ptr + lane, x)


@plant(branch_kernel, "lane-order", "flag_ptr", {0})
def branch_on_a_stored_flag(mended: bool) -> None:
    """One thread stores a flag; the others may take the branch by what was there before."""
    branch_kernel[(1,)](zeros(1), numbers(32), numbers(32), BLOCK=32, MENDED=mended)


@triton.jit
def first_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.load(x_ptr + lane) * 2)
    if MENDED:
        tl.debug_barrier()
    first = tl.load(out_ptr)  # BUG
    tl.store(out_ptr + BLOCK + lane, lane * first)


@plant(first_kernel, "lane-order", "out_ptr", {0})
def first_element_for_all(mended: bool) -> None:
    """A block is stored, and all threads load its first element."""
    first_kernel[(1,)](numbers(32), numbers(64), BLOCK=32, MENDED=mended)


@triton.jit
def fill_kernel(index_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr, HOW: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    place = tl.load(index_ptr + lane)
    x = tl.load(x_ptr + lane)
    tl.store(out_ptr + lane, lane * 0.0)
    if MENDED:
        tl.debug_barrier()
    if HOW == "scatter":
        tl.store(out_ptr + place, x)  # BUG
    else:
        tl.atomic_add(out_ptr + place, x, sem="relaxed")  # BUG


def fill(how: str, mended: bool) -> None:
    index = torch.arange(31, -1, -1, dtype=torch.int32)
    fill_kernel[(1,)](index, numbers(32), numbers(32), BLOCK=32, HOW=how, MENDED=mended)


@plant(fill_kernel, "lane-order", "out_ptr", {0})
def cleared_then_scattered(mended: bool) -> None:
    """A zero that comes late wipes out what another lane has put there."""
    fill("scatter", mended)


@plant(fill_kernel, "lane-order", "out_ptr", {0})
def cleared_then_added_to(mended: bool) -> None:
    """The same with atomics: a plain zero waits for none of them."""
    fill("add", mended)


@triton.jit
def own_bins_kernel(x_ptr, bins_ptr, out_ptr, BINS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK))
    place = program * BINS + tl.arange(0, BINS)
    tl.atomic_add(bins_ptr + program * BINS + x, 1, sem="relaxed")
    if MENDED:
        tl.debug_barrier()
    tl.store(out_ptr + place, tl.load(bins_ptr + place) * 2)  # BUG


@plant(own_bins_kernel, "lane-order", "bins_ptr", {0, 1})
def own_counts_loaded_at_once(mended: bool) -> None:
    """No other program counts here, but other threads do."""
    x = torch.arange(63, -1, -1, dtype=torch.int32) % 16
    own_bins_kernel[(2,)](x, zeros(32), zeros(32), BINS=16, BLOCK=32, MENDED=mended)


@triton.jit
def reverse_kernel(x_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    first, lane = tl.program_id(0) * BLOCK, tl.arange(0, BLOCK)
    x = tl.load(x_ptr + first + BLOCK - 1 - lane)
    if MENDED:
        tl.debug_barrier()
    tl.store(x_ptr + first + lane, x)  # BUG


@plant(reverse_kernel, "lane-order", "x_ptr", {0, 1})
def reversed_in_place(mended: bool) -> None:
    """A warp that is ahead overwrites what another has yet to load."""
    reverse_kernel[(2,)](numbers(64), BLOCK=32, MENDED=mended)


@triton.jit
def relax_kernel(x_ptr, n, STEPS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for _ in range(STEPS):
        left = tl.load(x_ptr + lane - 1, mask=(lane > 0) & (lane < n), other=0.0)
        if MENDED:
            tl.debug_barrier()
        tl.store(x_ptr + lane, left / 2, mask=lane < n)  # BUG
        if MENDED:
            tl.debug_barrier()


@plant(relax_kernel, "lane-order", "x_ptr", {0})
def stencil_in_place(mended: bool) -> None:
    """A neighbour may be of this step or of the last one."""
    relax_kernel[(1,)](numbers(32), 30, STEPS=1, BLOCK=32, MENDED=mended)


@triton.jit
def counter_kernel(next_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    place = tl.load(next_ptr + program)
    if MENDED:
        tl.debug_barrier()
    tl.store(next_ptr + program, place + 1)  # BUG
    tl.store(out_ptr + program * 4 * BLOCK + place * BLOCK + lane, lane)


@plant(counter_kernel, "lane-order", "next_ptr", {0, 1})
def counter_moved_on_too_early(mended: bool) -> None:
    """All threads load a counter that one of them moves on."""
    counter_kernel[(2,)](zeros(2), zeros(256), BLOCK=32, MENDED=mended)


@triton.jit
def relative_kernel(x_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    first = tl.load(x_ptr)
    x = tl.load(x_ptr + lane)
    if MENDED:
        tl.debug_barrier()
    tl.store(x_ptr + lane, x - first)  # BUG


@plant(relative_kernel, "lane-order", "x_ptr", {0})
def relative_to_the_first_in_place(mended: bool) -> None:
    """The first element becomes zero while others have yet to subtract it."""
    relative_kernel[(1,)](numbers(32), BLOCK=32, MENDED=mended)


@triton.jit
def rounds_kernel(x_ptr, scratch_ptr, out_ptr, ROUNDS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for turn in range(ROUNDS):
        tl.store(scratch_ptr + lane, tl.load(x_ptr + turn * BLOCK + lane))  # BUG
        tl.debug_barrier()
        tl.store(out_ptr + turn * BLOCK + lane, tl.load(scratch_ptr + BLOCK - 1 - lane))
        if MENDED:
            tl.debug_barrier()


@plant(rounds_kernel, "lane-order", "scratch_ptr", {0})
def one_barrier_where_two_are_needed(mended: bool) -> None:
    """The next round's block overwrites the scratch space while others still load from it."""
    rounds_kernel[(1,)](numbers(96), numbers(32), numbers(96), ROUNDS=3, BLOCK=32, MENDED=mended)


@triton.jit
def overlap_kernel(x_ptr, out_ptr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for turn in range(3):
        x = tl.load(x_ptr + turn * BLOCK + lane)
        tl.store(out_ptr + turn * STEP + lane, x)  # BUG


@plant(overlap_kernel, "lane-order", "out_ptr", {0})
def rounds_that_overlap(mended: bool) -> None:
    """Each round stores 32 elements and moves on by 24: whose value stays in the other 8?"""
    overlap_kernel[(1,)](numbers(96), numbers(96), STEP=32 if mended else 24, BLOCK=32)
