"""Races that no synchronisation was meant to prevent: programs that were thought to be apart, and are not.

What is marked is the plain store. Values differ between programs, so that no race is a harmless one.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

ALL = range(4)


def numbers(*shape: int) -> torch.Tensor:
    return torch.arange(float(torch.Size(shape).numel())).reshape(shape)


@triton.jit
def one_cell_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    largest = tl.max(tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK)))
    place = program if MENDED else 0
    tl.store(out_ptr + place, largest)  # BUG


@plant(one_cell_kernel, "race", "out_ptr", ALL)
def one_cell(mended: bool) -> None:
    """Every program stores its result to the same element."""
    one_cell_kernel[(4,)](numbers(128), numbers(4), BLOCK=32, MENDED=mended)


@triton.jit
def running_total_kernel(x_ptr, total_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    part = tl.sum(tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)))
    if MENDED:
        tl.atomic_add(total_ptr, part)
    else:
        tl.store(total_ptr, tl.load(total_ptr) + part)  # BUG


@plant(running_total_kernel, "race", "total_ptr", ALL, shown=True)
def running_total(mended: bool) -> None:
    """Load, add, store: what others add in between is lost."""
    running_total_kernel[(4,)](numbers(128), torch.zeros(1), BLOCK=32, MENDED=mended)


@triton.jit
def window_kernel(x_ptr, out_ptr, n, STEP: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * STEP + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + offsets, x + program, mask=offsets < n)  # BUG


@plant(window_kernel, "race", "out_ptr", ALL)
def overlapping_blocks(mended: bool) -> None:
    """Blocks of 32 that begin every 24 elements: neighbours share 8."""
    window_kernel[(4,)](numbers(128), numbers(128), 128, STEP=32 if mended else 24, BLOCK=32)


@triton.jit
def slots_kernel(x_ptr, partial_ptr, SLOTS: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    part = tl.sum(tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK)))
    slot = partial_ptr + program % SLOTS
    tl.store(slot, tl.load(slot) + part)  # BUG


@plant(slots_kernel, "race", "partial_ptr", ALL)
def too_few_slots(mended: bool) -> None:
    """Two partial sums for four programs, and no lock."""
    slots_kernel[(4,)](numbers(128), torch.zeros(4), SLOTS=4 if mended else 2, BLOCK=32)


@triton.jit
def smooth_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x_ptr + offsets - 1, mask=offsets > 0, other=0.0)
    tl.store(out_ptr + offsets, left + tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0))  # BUG


@triton.jit
def smooth_in_place_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x_ptr + offsets - 1, mask=offsets > 0, other=0.0)  # BUG
    right = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)  # BUG
    tl.store(x_ptr + offsets, left + right)  # BUG


@plant(smooth_in_place_kernel, "race", "x_ptr", ALL)
def smooth_in_place(mended: bool) -> None:
    """A stencil in place: a neighbour across the block's edge may be old or new."""
    x = numbers(128)
    if mended:
        smooth_kernel[(4,)](x, numbers(128), 128, BLOCK=32)
    else:
        smooth_in_place_kernel[(4,)](x, 128, BLOCK=32)


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + n - 1 - offsets, tl.load(x_ptr + offsets))


@triton.jit
def reverse_in_place_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + n - 1 - offsets, tl.load(x_ptr + offsets))  # BUG


@plant(reverse_in_place_kernel, "race", "x_ptr", ALL)
def reverse_in_place(mended: bool) -> None:
    """The first program overwrites what the last has yet to read, and the other way round."""
    x = numbers(128)
    if mended:
        reverse_kernel[(4,)](x, numbers(128), 128, BLOCK=32)
    else:
        reverse_in_place_kernel[(4,)](x, 128, BLOCK=32)


@triton.jit
def transpose_kernel(x_ptr, n, TILE: tl.constexpr, MENDED: tl.constexpr):
    row = (tl.program_id(0) * TILE + tl.arange(0, TILE))[:, None]
    column = (tl.program_id(1) * TILE + tl.arange(0, TILE))[None, :]
    if MENDED:
        if tl.program_id(0) > tl.program_id(1):
            return  # the partner swaps both tiles
        upper = tl.load(x_ptr + row * n + column)
        lower = tl.load(x_ptr + column * n + row)
        tl.debug_barrier()  # a tile on the diagonal is its own partner
        tl.store(x_ptr + row * n + column, lower)
        if tl.program_id(0) != tl.program_id(1):
            tl.store(x_ptr + column * n + row, upper)
    else:
        tl.store(x_ptr + column * n + row, tl.load(x_ptr + row * n + column))  # BUG


@plant(transpose_kernel, "race", "x_ptr", {1, 2})
def transpose_in_place(mended: bool) -> None:
    """Each tile off the diagonal is read by one program and overwritten by another."""
    transpose_kernel[(2, 2)](numbers(8, 8), 8, TILE=4, MENDED=mended)


@triton.jit
def zero_first_kernel(x_ptr, total_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    if not MENDED:
        if program == 0:
            tl.store(total_ptr, 0.0)  # BUG
    tl.atomic_add(total_ptr, tl.sum(tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK))))


@plant(zero_first_kernel, "race", "total_ptr", ALL)
def zero_in_the_same_launch(mended: bool) -> None:
    """Program 0 clears the sum that all add to: it need not be the first to run."""
    zero_first_kernel[(4,)](numbers(128), torch.zeros(1), BLOCK=32, MENDED=mended)


@triton.jit
def tiles_kernel(out_ptr, width, TILE: tl.constexpr, MENDED: tl.constexpr):
    x, y = tl.program_id(0), tl.program_id(1)
    row = (y if MENDED else x) * TILE + tl.arange(0, TILE)[:, None]
    column = x * TILE + tl.arange(0, TILE)[None, :]
    tl.store(out_ptr + row * width + column, (x + 10 * y).to(tl.float32))  # BUG


@plant(tiles_kernel, "race", "out_ptr", ALL)
def axis_mixed_up(mended: bool) -> None:
    """Rows from the wrong grid axis: two programs write each tile of the diagonal, none the others."""
    tiles_kernel[(2, 2)](numbers(8, 8), 8, TILE=4, MENDED=mended)


@triton.jit
def rows_kernel(out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * row_stride + column, row * 100.0 + column, mask=column < columns)  # BUG


@plant(rows_kernel, "race", "out_ptr", {0, 1, 2})
def row_stride_too_small(mended: bool) -> None:
    """Rows of 20 that begin every 18 elements."""
    rows_kernel[(3,)](numbers(3, 20), 20, 20 if mended else 18, BLOCK=32)


@triton.jit
def bins_kernel(x_ptr, counts_ptr, BINS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    found = tl.histogram(x, BINS)
    places = counts_ptr + tl.arange(0, BINS)
    if MENDED:
        tl.atomic_add(places, found)
    else:
        tl.store(places, tl.load(places) + found)  # BUG


@plant(bins_kernel, "race", "counts_ptr", ALL)
def histogram_without_atomics(mended: bool) -> None:
    """Each program counts rightly, and adds its counts as if it were alone."""
    x = (torch.arange(128, dtype=torch.int32) * 7) % 16
    bins_kernel[(4,)](x, torch.zeros(16, dtype=torch.int32), BINS=16, BLOCK=32, MENDED=mended)


@triton.jit
def compact_kernel(x_ptr, out_ptr, cursor_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK))
    if MENDED:
        slot = tl.atomic_add(cursor_ptr, 1)
    else:
        slot = tl.atomic_add(cursor_ptr, 0)
    tl.store(out_ptr + slot, tl.sum(x) + program)  # BUG


@plant(compact_kernel, "race", "out_ptr", ALL)
def cursor_that_stays(mended: bool) -> None:
    """A shared cursor that is read atomically and never moved on: all take slot 0."""
    compact_kernel[(4,)](numbers(128), numbers(4), torch.zeros(1, dtype=torch.int32), BLOCK=32, MENDED=mended)
