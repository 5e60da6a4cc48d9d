"""Results of reductions that meet the axis that the reduction has removed, where all sizes fit."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def row_sums_kernel(x_ptr, out_ptr, columns, MENDED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=column[None, :] < columns, other=0.0)
    if MENDED:
        total = tl.sum(x, axis=1)
    else:
        total = tl.sum(x)  # BUG
    tl.store(out_ptr + row, total)


@plant(row_sums_kernel, "wrong-axis", "out_ptr")
def sum_without_an_axis(mended: bool) -> None:
    """One number is stored to all rows of a block."""
    row_sums_kernel[(2,)](torch.rand(16, 20), torch.zeros(16), 20, MENDED=mended, ROWS=8, COLUMNS=32)


@triton.jit
def shares_kernel(x_ptr, out_ptr, MENDED: tl.constexpr, SIDE: tl.constexpr):
    row, column = tl.arange(0, SIDE), tl.arange(0, SIDE)
    at = row[:, None] * SIDE + column[None, :]
    x = tl.load(x_ptr + at)
    if MENDED:
        x /= tl.sum(x, axis=1, keep_dims=True)
    else:
        x /= tl.sum(x, axis=1)  # BUG
    tl.store(out_ptr + at, x)


@plant(shares_kernel, "wrong-axis", shown=True)
def square_block_by_the_sums_of_its_rows(mended: bool) -> None:
    """Column j is divided by the sum of row j: axes are matched from the last one on."""
    shares_kernel[(1,)](torch.rand(16, 16), torch.zeros(16, 16), MENDED=mended, SIDE=16)


@triton.jit
def largest_kernel(x_ptr, out_ptr, MENDED: tl.constexpr, SIDE: tl.constexpr):
    row, column = tl.program_id(0) * SIDE + tl.arange(0, SIDE), tl.arange(0, SIDE)
    x = tl.load(x_ptr + row[:, None] * SIDE + column[None, :])
    if MENDED:
        largest = tl.max(x, axis=1)
    else:
        largest = tl.max(x, axis=0)  # BUG
    tl.store(out_ptr + row, largest)


@plant(largest_kernel, "wrong-axis", "out_ptr")
def largest_of_columns_in_the_places_of_rows(mended: bool) -> None:
    """The other axis was meant; a square block takes both."""
    largest_kernel[(2,)](torch.rand(32, 16), torch.zeros(32), MENDED=mended, SIDE=16)
