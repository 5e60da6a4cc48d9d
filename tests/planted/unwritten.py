"""Outputs with holes: grids that are too small, masks that are too narrow, strides that skip."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)  # BUG


@plant(double_kernel, "small-grid", "out_ptr")
def grid_rounded_down(mended: bool) -> None:
    """100 // 32 programs: the last four elements have no program."""
    grid = triton.cdiv(100, 32) if mended else 100 // 32
    double_kernel[(grid,)](torch.ones(100), torch.empty(100), 100, BLOCK=32)


@triton.jit
def rows_kernel(x_ptr, out_ptr, columns, row_stride, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask)
    tl.store(out_ptr + row * row_stride + column, x, mask=mask if MENDED else column < columns - 1)  # BUG


@plant(rows_kernel, "unwritten", "out_ptr")
def mask_one_too_narrow(mended: bool) -> None:
    """The last column of a view with gaps is never written; the gaps are nobody's business."""
    out = torch.empty(4, 16)[:, :10]
    rows_kernel[(4,)](torch.ones(4, 10), out, 10, 16, BLOCK=16, MENDED=mended)
