"""Mistakes that only happen in tensors of 2^31 elements and more, of which hardly a page is ever touched.

Unlike in `overflow` the elements are there that the wrapped offsets miss.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

ELEMENTS = (1 << 31) + (1 << 20)


def huge(*filled: int) -> torch.Tensor:
    """Bytes, of which the 64 from each place in ``filled`` on are written."""
    x = torch.empty(ELEMENTS, dtype=torch.uint8)
    for start in filled:
        x[start : start + 64] = 1
    return x


def small(count: int) -> torch.Tensor:
    return torch.zeros(count, dtype=torch.uint8)


@triton.jit
def tail_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    block = program.to(tl.int64) if MENDED else program
    offsets = block * (1 << 21) * 512 + tl.arange(0, BLOCK)  # BUG
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0)
    tl.store(out_ptr + program * BLOCK + tl.arange(0, BLOCK), x)


@plant(tail_kernel, "overflow", "x_ptr", {2})
def last_block(mended: bool) -> None:
    """Block 2 begins at 2^31: its offset turns negative, the mask hides that, and the tail is left out."""
    tail_kernel[(3,)](huge(0, 1 << 30, 1 << 31), small(192), ELEMENTS, BLOCK=64, MENDED=mended)


@triton.jit
def crossing_kernel(x_ptr, out_ptr, start, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    if MENDED:
        lane = lane.to(tl.int64)
    at = start + lane  # BUG
    tl.store(out_ptr + lane, tl.load(x_ptr + at, mask=at >= 0, other=0))


@plant(crossing_kernel, "overflow", "x_ptr", {0})
def half_a_block(mended: bool) -> None:
    """The block crosses 2^31: its first 32 lanes are right, the others are masked out as negative."""
    start = (1 << 31) - 32
    crossing_kernel[(1,)](huge(start), small(64), start, BLOCK=64, MENDED=mended)


@triton.jit
def part_kernel(x_ptr, out_ptr, start, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.load(x_ptr + start + lane))  # BUG


@plant(part_kernel, "uninitialized", "x_ptr", {0})
def middle_that_nobody_wrote(mended: bool) -> None:
    """Written are the beginning and the end, of two gigabytes."""
    x = huge(0, ELEMENTS - 64)
    part_kernel[(1,)](x, small(64), ELEMENTS - 64 if mended else ELEMENTS // 2, BLOCK=64)


@plant(part_kernel, "out-of-bounds", "x_ptr", {0})
def just_past_the_end(mended: bool) -> None:
    """The last block begins 32 elements too late."""
    part_kernel[(1,)](huge(ELEMENTS - 64), small(64), ELEMENTS - (64 if mended else 32), BLOCK=64)


@triton.jit
def overlap_kernel(out_ptr, distance, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * distance + tl.arange(0, BLOCK)
    tl.store(out_ptr + 2147483648 + at, tl.program_id(0).to(tl.uint8))  # BUG


@plant(overlap_kernel, "race", "out_ptr", {0, 1, 2})
def blocks_that_overlap_above_two_gigabytes(mended: bool) -> None:
    """Blocks of 64 stored 48 apart, where offsets need 64 bits."""
    overlap_kernel[(3,)](huge(), 64 if mended else 48, BLOCK=64)


@triton.jit
def index_kernel(x_ptr, index_ptr, out_ptr, width, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    row = tl.load(index_ptr + lane)
    if MENDED:
        row = row.to(tl.int64)
    at = row * width  # BUG
    x = tl.load(x_ptr + at, mask=at >= 0, other=0)
    tl.store(out_ptr + lane, x)


@plant(index_kernel, "overflow", "x_ptr", {0})
def row_numbers_from_a_table(mended: bool) -> None:
    """An embedding of 2^21 rows of 1024: the last row's offset needs 64 bits."""
    index = torch.arange(64, dtype=torch.int32)
    index[-1] = 1 << 21
    x = huge(1 << 31)
    x[: 1 << 16] = 1
    index_kernel[(1,)](x, index, small(64), 1024, BLOCK=64, MENDED=mended)
