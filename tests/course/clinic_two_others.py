"""Other right answers to the exercises of the clinic's second half, written differently from the teacher's."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from functools import cache

import torch
import triton
import triton.language as tl


@triton.jit
def _tile(a_ptr, b_ptr, i, j, part, k_step, M, N, K, STEP: tl.constexpr):
    """One tile of a product. Rows and columns beyond the end wrap around, and only K has a mask."""
    k = part * STEP + tl.arange(0, STEP)
    a_at = a_ptr + (i % M)[:, None] * K + k[None, :]
    b_at = b_ptr + k[:, None] * N + (j % N)[None, :]
    total = tl.zeros((i.shape[0], j.shape[0]), tl.float32)
    for _ in range(part * STEP, K, k_step):
        a = tl.load(a_at, mask=k[None, :] < K, other=0.0)
        b = tl.load(b_at, mask=k[:, None] < K, other=0.0).to(tl.float32)
        total += tl.dot(a, b, input_precision="ieee")
        k += k_step
        a_at += k_step
        b_at += k_step * N
    return total


@triton.jit
def _banded(a_ptr, b_ptr, c_ptr, M, N, K, BAND: tl.constexpr, SIDE: tl.constexpr, STEP: tl.constexpr):
    """All bands but the last are full: the last one is treated by itself."""
    rows, columns = tl.cdiv(M, SIDE), tl.cdiv(N, SIDE)
    program = tl.program_id(0)
    full = rows // BAND * BAND
    if program < full * columns:
        tile_i = program // (BAND * columns) * BAND + program % BAND
        tile_j = program % (BAND * columns) // BAND
    else:
        rest = program - full * columns
        tile_i = full + rest % (rows - full)
        tile_j = rest // (rows - full)
    i, j = tile_i * SIDE + tl.arange(0, SIDE), tile_j * SIDE + tl.arange(0, SIDE)
    total = _tile(a_ptr, b_ptr, i, j, 0, STEP, M, N, K, STEP)
    tl.store(c_ptr + i[:, None] * N + j[None, :], total, mask=(i[:, None] < M) & (j[None, :] < N))


def banded_product(a, b):
    c = a.new_empty(len(a), b.shape[1])
    grid = (triton.cdiv(len(a), 32) * triton.cdiv(b.shape[1], 32),)
    _banded[grid](a, b, c, len(a), b.shape[1], len(b), 3, 32, 16)
    return c


@triton.jit
def _two_passes(x_ptr, out_ptr, columns, step_0, step_1, BLOCK: tl.constexpr):
    """The maximum of each lane, then the sum of each lane: lanes meet at the ends of the loops."""
    at = x_ptr + tl.program_id(0) * step_0
    lanes = tl.arange(0, BLOCK)
    high = tl.full((BLOCK,), float("-inf"), tl.float32)
    for first in range(0, columns, BLOCK):
        there = first + lanes < columns
        high = tl.maximum(high, tl.load(at + (first + lanes) * step_1, there, other=float("-inf")))
    top = tl.max(high, 0)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, columns, BLOCK):
        there = first + lanes < columns
        x = tl.load(at + (first + lanes) * step_1, there, other=0.0)
        total += tl.where(there, tl.exp2((x - top) * 1.4426950408889634), 0.0)
    tl.store(out_ptr + tl.program_id(0), top + tl.log2(tl.sum(total, 0)) * 0.6931471805599453)


def log_sum(x):
    out = x.new_empty(len(x))
    _two_passes[(len(x),)](x, out, x.shape[1], x.stride(0), x.stride(1), 16)
    return out


@triton.jit
def _gradients_of_rows(x_ptr, grad_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """A program has some rows as a block of two dimensions, and makes one update for each column."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, BLOCK)[None, :]
    there = (i < rows) & (j < columns)
    x = tl.load(x_ptr + i * columns + j, mask=there, other=0.0)
    centred = tl.where(there, x - (tl.sum(x, 1) / columns)[:, None], 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 1) / columns + 1e-5)
    grad = tl.load(grad_ptr + i * columns + j, mask=there, other=0.0)
    sums = tl.sum(grad * centred * scale[:, None], 0)
    j = tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + j, sums, mask=j < columns, sem="relaxed")


def scale_gradient(x, grad):
    rows, columns = x.shape
    out = x.new_zeros(columns)
    _gradients_of_rows[(triton.cdiv(rows, 4),)](x, grad, out, rows, columns, 4, max(8, triton.next_power_of_2(columns)))
    return out


@triton.jit
def _split(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, SPLIT: tl.constexpr, SIDE: tl.constexpr, STEP: tl.constexpr):
    """The part is the first axis of the grid. The last part brings the bias, as a factor of 0 or 1."""
    i = tl.program_id(1) * SIDE + tl.arange(0, SIDE)
    j = tl.program_id(2) * SIDE + tl.arange(0, SIDE)
    total = _tile(a_ptr, b_ptr, i, j, tl.program_id(0), SPLIT * STEP, M, N, K, STEP)
    last = (tl.program_id(0) == SPLIT - 1).to(tl.float32)
    total += last * tl.load(bias_ptr + j % N)[None, :]
    tl.atomic_add(c_ptr + i[:, None] * N + j[None, :], total, mask=(i[:, None] < M) & (j[None, :] < N))


def split_product(a, b, bias):
    c = torch.full((len(a), b.shape[1]), 0.0)
    _split[(2, triton.cdiv(len(a), 16), triton.cdiv(b.shape[1], 16))](
        a, b, bias, c, len(a), b.shape[1], len(b), 2, 16, 32
    )
    return c


@triton.jit
def _both_dropped(x_ptr, y_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    """A loop over the two vectors, in a grid of a fixed size."""
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = first + tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), tl.float32)
        for which in tl.static_range(2):
            source = x_ptr if which == 0 else y_ptr
            keep = tl.rand(seed, which * n + at) > p
            total += tl.load(source + at, mask=(at < n) & keep, other=0.0)
        tl.store(out_ptr + at, total * (1 / (1 - p)), mask=at < n)


def dropout_sum(x, y, p, seed):
    out = torch.empty_like(y)
    _both_dropped[(6,)](x, y, out, len(x), p, seed, 128)
    return out


@triton.jit
def _norms(x_ptr, out_ptr, rows, columns, step_0, step_1, BLOCK: tl.constexpr):
    """Each program has neighbouring rows, and a sum that is a number."""
    share = tl.cdiv(rows, tl.num_programs(0))
    first = tl.program_id(0) * share
    for row in range(first, tl.minimum(first + share, rows)):
        total = 0.0
        for j in range(0, columns, BLOCK):
            lanes = j + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * step_0 + lanes * step_1, mask=lanes < columns, other=0.0)
            total += tl.sum(x * x, 0)
        tl.store(out_ptr + row, tl.sqrt(total))


def row_norms(x):
    out = x.new_empty(len(x))
    _norms[(5,)](x, out, *x.shape, *x.stride(), 32)
    return out


@triton.jit
def _weighted(x_ptr, w_ptr, scale_ptr, out_ptr, M, N, K, SIDE: tl.constexpr, STEP: tl.constexpr):
    """The scale is loaded as a block of one row."""
    i, j = tl.program_id(1) * SIDE + tl.arange(0, SIDE), tl.program_id(0) * SIDE + tl.arange(0, SIDE)
    total = _tile(x_ptr, w_ptr, i, j, 0, STEP, M, N, K, STEP)
    column = j[None, :]
    total *= tl.load(scale_ptr + column, mask=column < N, other=1.0)
    tl.store(out_ptr + i[:, None] * N + column, total, mask=(i[:, None] < M) & (column < N))


def scaled_product(x, w, scale):
    out = x.new_empty(len(x), w.shape[1])
    _weighted[(triton.cdiv(w.shape[1], 32), triton.cdiv(len(x), 32))](
        x, w, scale, out, len(x), w.shape[1], len(w), 32, 16
    )
    return out


@cache
def _decay():
    @triton.autotune(
        [triton.Config({"ROWS": rows}) for rows in (2, 8)], key=["rows", "columns"], restore_value=["x_ptr"]
    )
    @triton.jit
    def kernel(x_ptr, y_ptr, rows, columns, factor, x_0, x_1, y_0, y_1, ROWS: tl.constexpr):
        """Blocks of two dimensions, written as a step from y."""
        i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
        j = tl.program_id(1) * 16 + tl.arange(0, 16)[None, :]
        there = (i < rows) & (j < columns)
        y = tl.load(y_ptr + i * y_0 + j * y_1, mask=there)
        x = tl.load(x_ptr + i * x_0 + j * x_1, mask=there)
        tl.store(x_ptr + i * x_0 + j * x_1, y + factor * (x - y), mask=there)

    return kernel


def decay(x, y, factor):
    rows, columns = x.shape
    _decay()[lambda meta: (triton.cdiv(rows, meta["ROWS"]), triton.cdiv(columns, 16))](
        x, y, rows, columns, factor, *x.stride(), *y.stride()
    )
