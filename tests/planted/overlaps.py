"""Rows that overlap where programs load them; and windows and pieces that rightly do."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def added_stride_kernel(x_ptr, out_ptr, columns, row_stride, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    first = row * row_stride if MENDED else row + row_stride
    x = tl.load(x_ptr + first + column, mask=column < columns, other=0.0)  # BUG
    tl.store(out_ptr + row, tl.sum(x))


@plant(added_stride_kernel, "overlapping-rows", "x_ptr", shown=True)
def stride_that_is_added(mended: bool) -> None:
    """Each row begins one element behind the row before."""
    added_stride_kernel[(10,)](torch.rand(10, 24), torch.zeros(10), 24, 24, BLOCK=32, MENDED=mended)


@triton.jit
def heads_kernel(x_ptr, out_ptr, T, stride_h, stride_t, D: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    head = tl.program_id(0)
    base = x_ptr + head * stride_h if MENDED else x_ptr + head * stride_t
    channel = tl.arange(0, D)
    total = tl.zeros((D,), tl.float32)
    for start in range(0, T, BLOCK):
        token = start + tl.arange(0, BLOCK)
        x = tl.load(base + token[:, None] * stride_t + channel[None, :], mask=(token < T)[:, None], other=0.0)  # BUG
        total += tl.sum(x, axis=0)
    tl.store(out_ptr + head * D + channel, total)


@plant(heads_kernel, "overlapping-rows", "x_ptr")
def heads_by_the_stride_of_tokens(mended: bool) -> None:
    """The second head begins at the second token of the first."""
    x = torch.rand(4, 20, 8)
    heads_kernel[(4,)](x, torch.zeros(4, 8), 20, x.stride(0), x.stride(1), D=8, BLOCK=16, MENDED=mended)


@triton.jit
def tile_kernel(x_ptr, out_ptr, M, N, TILE: tl.constexpr, MENDED: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    if MENDED:
        offsets = rows[:, None] * N + columns[None, :]
    else:
        offsets = rows[:, None] + N + columns[None, :]
    x = tl.load(x_ptr + offsets, mask=mask)  # BUG
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], x, mask=mask)


@plant(tile_kernel, "overlapping-rows", "x_ptr")
def tile_whose_diagonals_are_equal(mended: bool) -> None:
    """The offsets of a tile are its row plus its column."""
    tile_kernel[(3, 2)](torch.rand(40, 24), torch.zeros(40, 24), 40, 24, TILE=16, MENDED=mended)


@triton.jit
def windows_kernel(x_ptr, out_ptr, frames, hop, length, row_stride, BLOCK: tl.constexpr):
    row, frame, lane = tl.program_id(0), tl.program_id(1), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + frame * hop + lane, mask=lane < length, other=0.0)
    tl.store(out_ptr + row * frames + frame, tl.sum(x))


def windows_within_a_row() -> None:
    """Frames of a signal overlap, and the last samples are in none."""
    windows_kernel[(3, 5)](torch.rand(3, 50), torch.zeros(3, 5), 5, 8, 16, 50, BLOCK=16)


def windows_of_a_few_rows() -> None:
    """The same for two of three signals."""
    windows_kernel[(2, 5)](torch.rand(3, 50), torch.zeros(2, 5), 5, 8, 16, 50, BLOCK=16)


@triton.jit
def neighbours_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    both = tl.load(x_ptr + at, mask=at < n) + tl.load(x_ptr + at + 1, mask=at < n)
    tl.store(out_ptr + at, both, mask=at < n)


def neighbours_in_a_part() -> None:
    """The first elements of a buffer of two axes, taken as one axis, each with the next."""
    neighbours_kernel[(3,)](torch.rand(8, 20), torch.zeros(90), 90, BLOCK=32)


@triton.jit
def table_kernel(x_ptr, table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    x = tl.load(x_ptr + row + at, mask=at < n, other=0.0) * tl.load(table_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + row + at, x, mask=at < n)


def table_of_which_the_begin_is_read() -> None:
    """All programs read the same 23 elements of a larger table."""
    table_kernel[(5,)](torch.rand(5, 23), torch.rand(4, 10), torch.zeros(5, 23), 23, BLOCK=32)


@triton.jit
def offsets_kernel(x_ptr, begin_ptr, out_ptr, length, BLOCK: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.load(begin_ptr + program) + lane, mask=lane < length, other=0.0)
    tl.store(out_ptr + program, tl.sum(x))


def windows_that_memory_says() -> None:
    """Where the windows begin is loaded."""
    begins = torch.arange(0, 24, 3, dtype=torch.int32)
    offsets_kernel[(8,)](torch.rand(6, 16), begins, torch.zeros(8), 12, BLOCK=16)


def _frames(rows: int, hop: int, length: int) -> Callable[[], None]:
    def run() -> None:
        frames = (50 - length) // hop + 1
        x, out = torch.rand(rows, 50), torch.zeros(rows, frames)
        windows_kernel[(rows, frames)](x, out, frames, hop, length, 50, BLOCK=32)

    run.__name__ = f"{rows} signals in frames of {length} by {hop}"
    return run


INNOCENTS = [
    *(_frames(rows, hop, length) for rows in (1, 2, 5) for hop, length in ((4, 8), (5, 17), (16, 32), (8, 8))),
    windows_within_a_row,
    windows_of_a_few_rows,
    neighbours_in_a_part,
    table_of_which_the_begin_is_read,
    windows_that_memory_says,
]
