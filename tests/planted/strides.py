"""Rows that are loaded as far apart as the tensor has rows; and loads that only look like that."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

ROWS, COLUMNS = 6, 10


@triton.jit
def row_sums_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + column, mask=column < n, other=0.0)  # BUG
    tl.store(out_ptr + row, tl.sum(x))


def row_sums(stride: int, rows: int = ROWS, n: int = COLUMNS, shape: tuple[int, ...] = (ROWS, COLUMNS)) -> None:
    row_sums_kernel[(rows,)](torch.ones(shape), torch.zeros(rows), n, stride, BLOCK=16)


@plant(row_sums_kernel, "wrong-stride", "x_ptr", {1, 2, 3, 4}, shown=True)
def rows_multiplied_by_their_number(mended: bool) -> None:
    """The row is multiplied by the number of rows, 6, and not by their length, 10. Row 5 begins where row 3 does."""
    row_sums(COLUMNS if mended else ROWS)


@triton.jit
def some_rows_kernel(x_ptr, out_ptr, m, n, MENDED: tl.constexpr, SIDE: tl.constexpr, BLOCK: tl.constexpr):
    row, column = tl.program_id(0) * SIDE + tl.arange(0, SIDE)[:, None], tl.arange(0, BLOCK)[None, :]
    stride = n if MENDED else m
    mask = (row < m) & (column < n)
    x = tl.load(x_ptr + row * stride + column, mask=mask, other=0.0)  # BUG
    tl.store(out_ptr + row * n + column, x * 2, mask=mask)


@plant(some_rows_kernel, "wrong-stride", "x_ptr", {0, 1, 2})
def blocks_of_rows(mended: bool) -> None:
    """A block of several rows: the load has M for N, and the store is right."""
    x, out = torch.ones(ROWS, COLUMNS), torch.zeros(ROWS, COLUMNS)
    some_rows_kernel[(3,)](x, out, ROWS, COLUMNS, MENDED=mended, SIDE=2, BLOCK=16)


@triton.jit
def pieces_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + row * stride + start + lane, mask=start + lane < n, other=0.0)  # BUG
    tl.store(out_ptr + row, tl.sum(total))


@plant(pieces_kernel, "wrong-stride", "x_ptr", {1, 2, 3, 4})
def rows_in_pieces(mended: bool) -> None:
    """A loop over pieces of a row."""
    pieces_kernel[(ROWS,)](torch.ones(ROWS, COLUMNS), torch.zeros(ROWS), COLUMNS, COLUMNS if mended else ROWS, BLOCK=4)


@triton.jit
def turns_kernel(x_ptr, out_ptr, m, n, stride, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(m):
        total += tl.load(x_ptr + row * stride + column, mask=column < n, other=0.0)  # BUG
    tl.store(out_ptr + column, total, mask=column < n)


@plant(turns_kernel, "wrong-stride", "x_ptr", {0})
def one_row_after_another(mended: bool) -> None:
    """One program, and a loop over the rows of three axes."""
    stride = COLUMNS if mended else ROWS
    turns_kernel[(1,)](torch.ones(2, 3, COLUMNS), torch.zeros(COLUMNS), ROWS, COLUMNS, stride, BLOCK=16)


@triton.jit
def across_kernel(x_ptr, out_ptr, m, n, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    at = row * n + column if MENDED else row + column * m
    tl.store(out_ptr + row, tl.sum(tl.load(x_ptr + at, mask=column < n, other=0.0)))  # BUG


@plant(across_kernel, "wrong-stride", "x_ptr", range(ROWS))
def columns_for_rows(mended: bool) -> None:
    """The offsets are those of a column-major tensor, which this is not."""
    across_kernel[(ROWS,)](torch.ones(ROWS, COLUMNS), torch.zeros(ROWS), ROWS, COLUMNS, MENDED=mended, BLOCK=16)


# --- Nothing is wrong -------------------------------------------------------------------------------------


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def column_sums_kernel(x_ptr, out_ptr, m, n, BLOCK: tl.constexpr):
    column, row = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + column, tl.sum(tl.load(x_ptr + row * n + column, mask=row < m, other=0.0)))


@triton.jit
def transpose_kernel(x_ptr, out_ptr, m, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    mask = (i < m) & (j < n)
    tl.store(out_ptr + j * m + i, tl.load(x_ptr + i * n + j, mask=mask), mask=mask)


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    start = tl.load(index_ptr + tl.program_id(0))
    tl.store(out_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + start + column, mask=column < n, other=0.0)))


def _copied(name: str, shape: tuple[int, ...], block: int) -> Callable[[], None]:
    def run() -> None:
        x = torch.zeros(shape)
        copy_kernel[(triton.cdiv(x.numel(), block),)](x, torch.zeros(shape), x.numel(), BLOCK=block)

    run.__name__ = name
    return run


def _summed(name: str, shape: tuple[int, ...], stride: int, rows: int, n: int) -> Callable[[], None]:
    def run() -> None:
        row_sums(stride, rows, n, shape)

    run.__name__ = name
    return run


def _columns(name: str, shape: tuple[int, int]) -> Callable[[], None]:
    def run() -> None:
        column_sums_kernel[(shape[1],)](torch.zeros(shape), torch.zeros(shape[1]), *shape, BLOCK=16)

    run.__name__ = name
    return run


def _turned(name: str, shape: tuple[int, int]) -> Callable[[], None]:
    def run() -> None:
        transpose_kernel[(1,)](torch.zeros(shape), torch.zeros(shape[::-1]), *shape, BLOCK=16)

    run.__name__ = name
    return run


def windows_at_places_from_memory() -> None:
    """Windows as long as a row, at places that other data names."""
    index = torch.tensor([0, 10, 20, 30, 40, 50], dtype=torch.int32)
    gather_kernel[(6,)](torch.zeros(6, 10), index, torch.zeros(6), 10, BLOCK=16)


def view_of_columns() -> None:
    """Rows of a view are as far apart as those of the tensor behind it."""
    x = torch.zeros(6, 12)[:, :10]
    row_sums_kernel[(6,)](x, torch.zeros(6), 10, x.stride(0), BLOCK=16)


def transposed_with_its_strides() -> None:
    """The rows of x.t() are 1 apart."""
    x = torch.zeros(10, 6).t()
    across_kernel[(6,)](x, torch.zeros(6), 6, 10, MENDED=False, BLOCK=16)


def frames_of_a_signal() -> None:
    """Overlapping windows of a signal, which has one axis."""
    row_sums_kernel[(6,)](torch.zeros(40), torch.zeros(6), 10, 6, BLOCK=16)


INNOCENTS: tuple[Callable[[], None], ...] = (
    _copied("flat_copy_in_blocks_of_a_row", (4, 8), 8),
    _copied("flat_copy_in_blocks_of_a_column", (4, 8), 4),
    _copied("flat_copy_in_blocks_of_two_rows", (4, 8), 16),
    _copied("flat_copy_in_odd_rows", (5, 7), 8),
    _copied("flat_copy_of_three_axes", (2, 4, 8), 8),
    _summed("rows_of_a_matrix", (6, 10), 10, 6, 10),
    _summed("rows_of_three_axes", (2, 3, 10), 10, 6, 10),
    _summed("rows_of_a_square", (10, 10), 10, 10, 10),
    _summed("two_rows", (2, 3), 3, 2, 3),
    _summed("more_rows_than_columns", (10, 6), 6, 10, 6),
    _summed("part_of_each_row", (6, 10), 10, 6, 7),
    _summed("every_second_row", (6, 10), 20, 3, 10),
    _summed("one_row_for_all", (6, 10), 0, 6, 10),
    _columns("columns_of_a_matrix", (6, 10)),
    _columns("columns_of_a_tall_matrix", (10, 6)),
    _columns("columns_of_a_square", (8, 8)),
    _turned("transposition", (6, 10)),
    _turned("transposition_of_a_tall_matrix", (10, 6)),
    windows_at_places_from_memory,
    view_of_columns,
    transposed_with_its_strides,
    frames_of_a_signal,
)
