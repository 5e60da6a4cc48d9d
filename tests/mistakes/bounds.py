"""Lanes that leave their tensor."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.mistakes.mistake import box, mistake


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)  # BUG
    tl.store(out_ptr + offsets, x, mask=offsets < n)


@mistake(copy_kernel, "out-of-bounds", "x_ptr", range(100, 128), {3}, "lanes 4 to 31 reach for elements 100 to 127")
def missing_mask() -> None:
    """The tail of the last block: 100 is no multiple of 32."""
    x, out = torch.randn(100), torch.zeros(100)
    copy_kernel[(4,)](x, out, 100, BLOCK=32)


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets <= n
    x = tl.load(x_ptr + offsets, mask=mask)  # BUG
    tl.store(out_ptr + offsets, factor * x, mask=mask)


@mistake(scale_kernel, "out-of-bounds", "x_ptr", [100], {3}, "lane 4 reaches for element 100, past its end")
def at_most_n() -> None:
    """`<=` for `<`."""
    x, out = torch.randn(100), torch.zeros(100)
    scale_kernel[(4,)](x, out, 100, 2.0, BLOCK=32)


@triton.jit
def tile_kernel(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    row, column = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    offsets = row * columns + column
    mask = (row < rows) & (column < rows)
    x = tl.load(x_ptr + offsets, mask=mask)  # BUG
    tl.store(out_ptr + offsets, x, mask=mask)


@mistake(tile_kernel, "out-of-bounds", "x_ptr", box([5], [4, 5]), {0}, "from (5, 4) to (5, 5)")
def rows_for_columns() -> None:
    """Columns are held against the number of rows: they go on in the next row, and in the last past the end."""
    x, out = torch.randn(6, 4), torch.zeros(6, 4)
    tile_kernel[(1,)](x, out, 6, 4, BLOCK=8)


@triton.jit
def row_sums_kernel(x_ptr, out_ptr, row_stride, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * row_stride + tl.arange(0, COLUMNS))  # BUG
    tl.store(out_ptr + row, tl.sum(x))


@mistake(row_sums_kernel, "out-of-bounds", "x_ptr", box([8, 10, 12, 14], range(4)), {4, 5, 6, 7}, "past its end")
def wrong_stride() -> None:
    """The number of rows for the stride of a row: from the fifth program on there is nothing."""
    x, out = torch.randn(8, 4), torch.zeros(8)
    row_sums_kernel[(8,)](x, out, x.shape[0], COLUMNS=4)


@triton.jit
def difference_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    right = tl.load(x_ptr + offsets + 1, mask=mask)  # BUG
    tl.store(out_ptr + offsets, right - x, mask=mask)


@mistake(difference_kernel, "out-of-bounds", "x_ptr", [64], {3}, "lane 15 reaches for element 64, past its end")
def no_right_neighbour() -> None:
    """The last element has none."""
    x, out = torch.randn(64), torch.zeros(64)
    difference_kernel[(4,)](x, out, 64, BLOCK=16)


@triton.jit
def smooth_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    left = tl.load(x_ptr + offsets - 1, mask=mask)  # BUG
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, (left + x) / 2, mask=mask)


@mistake(smooth_kernel, "out-of-bounds", "x_ptr", [-1], {0}, "lane 0 reaches for element -1, before its start")
def negative_offset() -> None:
    """The first element has no left neighbour."""
    x, out = torch.randn(64), torch.zeros(64)
    smooth_kernel[(4,)](x, out, 64, BLOCK=16)


@triton.jit
def fill_kernel(out_ptr, value, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, value)  # BUG


@mistake(fill_kernel, "out-of-bounds", "out_ptr", range(128, 160), {4}, "reach for elements 128 to 159, past its end")
def grid_too_large() -> None:
    """`n // BLOCK + 1` programs, also where the blocks divide n."""
    out = torch.zeros(128)
    fill_kernel[(128 // 32 + 1,)](out, 1.0, BLOCK=32)


@triton.jit
def blocks_kernel(x_ptr, out_ptr, columns, R: tl.constexpr, C: tl.constexpr):
    row = tl.program_id(1) * R + tl.arange(0, R)[:, None]
    column = tl.program_id(0) * C + tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + row * columns + column)  # BUG
    tl.store(out_ptr + row * columns + column, x)


@mistake(blocks_kernel, "out-of-bounds", "x_ptr", box(range(4, 8), range(8)), {4, 5, 6, 7}, "past its end")
def wrong_program_id() -> None:
    """The grid has rows first, the kernel takes axis 1 for them."""
    x, out = torch.randn(4, 16), torch.zeros(4, 16)
    blocks_kernel[(2, 4)](x, out, 16, R=2, C=4)


@triton.jit
def embedding_kernel(ids_ptr, table_ptr, out_ptr, WIDTH: tl.constexpr):
    token = tl.program_id(0)
    columns = tl.arange(0, WIDTH)
    word = tl.load(ids_ptr + token)
    row = tl.load(table_ptr + word * WIDTH + columns)  # BUG
    tl.store(out_ptr + token * WIDTH + columns, row)


@mistake(embedding_kernel, "out-of-bounds", "table_ptr", box([10], range(8)), {2}, "elements 80 to 87, past its end")
def index_from_a_table() -> None:
    """Words are counted from 1 in one place and from 0 in the other."""
    ids = torch.tensor([3, 7, 10, 1])
    table, out = torch.randn(10, 8), torch.zeros(4, 8)
    embedding_kernel[(4,)](ids, table, out, WIDTH=8)
