"""Inside the storage, outside the view: memory that exists, but is not what was passed."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def sum_rows_kernel(x_ptr, total_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + column, mask=column < columns, other=0.0)  # BUG
    tl.store(total_ptr + row, tl.sum(x))


@plant(sum_rows_kernel, "assumed-contiguous", "x_ptr", {1, 2, 3, 4})
def slice_as_contiguous(mended: bool) -> None:
    """A column slice read as if its rows followed one another: rows 0 and 5 happen to be right."""
    x = torch.ones(6, 10)[:, :4]
    sum_rows_kernel[(6,)](x, torch.zeros(6), 4, x.stride(0) if mended else 4, BLOCK=4)


@plant(sum_rows_kernel, "outside-view", "x_ptr", {0, 1, 2}, shown=True)
def padding_read(mended: bool) -> None:
    """Rows of 10 padded to 12: the mask knows the pitch instead of the columns."""
    x = torch.ones(3, 12)[:, :10]
    sum_rows_kernel[(3,)](x, torch.zeros(3), 10 if mended else 12, 12, BLOCK=16)


@triton.jit
def left_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    has_left = mask & (offsets > 0) if MENDED else mask
    left = tl.load(x_ptr + offsets - 1, mask=has_left, other=0.0)  # BUG
    tl.store(out_ptr + offsets, left, mask=mask)


@plant(left_kernel, "outside-view", "x_ptr", {0})
def before_the_view(mended: bool) -> None:
    """The view begins at element 8 of its storage, so its element -1 is element 7: no fault, and not ours."""
    left_kernel[(4,)](torch.ones(108)[8:], torch.zeros(100), 100, BLOCK=32, MENDED=mended)


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MENDED:
        x = tl.load(x_ptr + offsets, mask=offsets < n)
    else:
        x = tl.load(x_ptr + offsets)  # BUG
    tl.store(out_ptr + offsets, x, mask=offsets < n)


@plant(copy_kernel, "outside-view", "x_ptr", {3})
def past_the_view(mended: bool) -> None:
    """A missing mask that no fault betrays: the storage goes on behind the view."""
    copy_kernel[(4,)](torch.ones(128)[:100], torch.zeros(100), 100, BLOCK=32, MENDED=mended)


@triton.jit
def strided_copy_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets * stride, mask=offsets < n)  # BUG
    tl.store(out_ptr + offsets, x, mask=offsets < n)


@plant(strided_copy_kernel, "outside-view", "x_ptr", {0, 1})
def stride_ignored(mended: bool) -> None:
    """Every other element, read with stride 1."""
    x = torch.ones(100)[::2]
    strided_copy_kernel[(2,)](x, torch.zeros(50), 50, x.stride(0) if mended else 1, BLOCK=32)


@triton.jit
def fill_kernel(out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * row_stride + column, 1.0, mask=column < columns)  # BUG


@plant(fill_kernel, "outside-view", "out_ptr", {0, 1})
def store_into_the_neighbour(mended: bool) -> None:
    """The left half of a tensor was passed; the store covers the right half, too."""
    out = torch.zeros(2, 8)[:, :4]
    fill_kernel[(2,)](out, 4 if mended else 8, 8, BLOCK=8)
