"""The kernels of `small`: their lines are in what is approved."""

# A kernel's parameters have no Python types to give them.
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    from_where = tl.load(index_ptr + at, mask=at < n, other=0)
    found = tl.load(x_ptr + from_where, mask=at < n)
    tl.store(out_ptr + at, found + 1, mask=at < n)


@triton.jit
def turn_kernel(x_ptr, out_ptr, rows, columns, across, down, B: tl.constexpr):
    row = tl.program_id(1) * B + tl.arange(0, B)[:, None]
    column = tl.program_id(0) * B + tl.arange(0, B)[None, :]
    inside = (row < rows) & (column < columns)
    tile = tl.load(x_ptr + row * down + column * across, mask=inside)
    tl.store(out_ptr + column * rows + row, tile, mask=inside)


@triton.jit
def cube_kernel(x_ptr, out_ptr, s0, s1, s2, DEEP: tl.constexpr):
    i, j, k = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    deep = k * DEEP + tl.arange(0, DEEP)
    line = tl.load(x_ptr + i * s0 + j * s1 + deep * s2)
    tl.store(out_ptr + (i * 3 + j) * 4 + deep, -line)


@triton.jit
def count_kernel(x_ptr, bins_ptr, n, rounds, BLOCK: tl.constexpr):
    for turn in range(rounds):
        at = (tl.program_id(0) * rounds + turn) * BLOCK + tl.arange(0, BLOCK)
        which = tl.load(x_ptr + at, mask=at < n, other=0)
        tl.atomic_add(bins_ptr + which, 1, mask=at < n)


@triton.jit
def prefix_kernel(x_ptr, out_ptr, B: tl.constexpr):
    program = tl.program_id(0)
    last = 2 * program + 1
    total = tl.zeros((B,), tl.float32)
    at = 0
    while at < last:
        total += tl.load(x_ptr + at * B + tl.arange(0, B))
        at += 1
    tl.store(out_ptr + program * B + tl.arange(0, B), total)


@triton.jit
def add_in_place_kernel(x_ptr, scale_ptr, n, step, BLOCK: tl.constexpr):
    at = tl.program_id(0) * step + tl.arange(0, BLOCK)
    scale = tl.load(scale_ptr)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) + scale.to(tl.float32), mask=at < n)


@triton.jit
def beyond_kernel(x_ptr, out_ptr, columns, stride, BLOCK: tl.constexpr):
    for turn in range(3):
        at = turn * BLOCK + tl.arange(0, BLOCK)
        row = tl.load(x_ptr + tl.program_id(0) * stride + at, mask=at < columns, other=0.0)
        tl.store(out_ptr + tl.program_id(0) * columns + at, row)


@triton.jit
def widen_kernel(a_ptr, b_ptr, c_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c = tl.load(a_ptr + at), tl.load(b_ptr + at), tl.load(c_ptr + at)
    total = a.to(tl.float64) + b.to(tl.float64) / c.to(tl.float64)
    tl.store(out_ptr + at, total)
