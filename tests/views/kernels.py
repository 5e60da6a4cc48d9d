"""The kernels of `pictures`: their lines are in what is approved."""

# A kernel's parameters have no Python types to give them.
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def sums_kernel(x_ptr, y_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row + offsets * stride, mask=offsets < columns, other=0.0)
    tl.store(y_ptr + row, tl.sum(total))


@triton.jit
def tiles_kernel(x_ptr, out_ptr, rows, columns, B: tl.constexpr):
    row = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    column = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0)
    tl.store(out_ptr + column * rows + row, x / (x - 5.0), mask=inside)


@triton.jit
def line_kernel(x_ptr, out_ptr, n, step, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    offsets = tl.program_id(0) * step + tl.arange(0, BLOCK)
    mask = (offsets < n) & MASKED if MASKED else offsets >= 0
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2, mask=mask)


@triton.jit
def slices_kernel(x_ptr, out_ptr, B: tl.constexpr):
    offsets = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + offsets)))


@triton.jit
def pointers_kernel(x_ptr, out_ptr, last, B: tl.constexpr):
    program = tl.program_id(0)
    places = x_ptr + program * B + tl.arange(0, B)
    if program < last:
        later = places + B
        tl.store(out_ptr + program, tl.sum(tl.load(later)))


@triton.jit
def gathers_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    here = tl.load(x_ptr + tl.load(index_ptr + offsets, mask=mask, other=0), mask=mask)
    after = tl.load(x_ptr + offsets + 1, mask=mask)
    tl.store(out_ptr + offsets, here + after, mask=mask)


@triton.jit
def counts_kernel(count_ptr, seen_ptr):
    before = tl.load(count_ptr)
    tl.store(count_ptr, before + 1)
    tl.store(seen_ptr + tl.program_id(0), before)
