"""Another right answer to each task, written differently from the teacher's: other blocks, other ways, other words."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.course.clinic_two_others import (  # noqa: F401
    banded_product,
    decay,
    dropout_sum,
    log_sum,
    row_norms,
    scale_gradient,
    scaled_product,
    split_product,
)
from tests.course.gluon_others import (  # noqa: F401
    bias_in_gluon,
    copy_ahead,
    ring_of_three,
    tile_by_tma,
    turn_in_gluon,
)
from tests.course.tensor_core_others import ahead, busy, gluon_attention, gluon_causal, parted  # noqa: F401


@triton.jit
def _map_1d(x_ptr, y_ptr, out_ptr, n, a, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    """Elementwise kernels as one, that walk over a vector with few programs or many."""
    at = BLOCK * tl.program_id(0) + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, at < n)
    if WHAT == "constant":
        y = x + a
    elif WHAT == "axpy":
        y = tl.load(y_ptr + at, at < n) + x * a
    elif WHAT == "relu":
        y = tl.maximum(x, 0)
    elif WHAT == "square":
        y = x * x
    tl.store(out_ptr + at, y, at < n)


def _mapped(x, out, what, y=None, a=0.0, block=128):
    n = x.numel()
    _map_1d[(triton.cdiv(n, block),)](x, x if y is None else y, out, n, a, WHAT=what, BLOCK=block)
    return out


def add_constant(x, value):
    return _mapped(x, torch.empty_like(x), "constant", a=value)


def scale_and_shift(x, y, a):
    return _mapped(x, torch.empty_like(x), "axpy", y=y, a=a, block=256)


def relu(x):
    return _mapped(x, torch.zeros_like(x), "relu", block=32)


def square_in_place(x):
    _mapped(x, x, "square", block=512)


@triton.jit
def _fused_in_turns(x_ptr, y_ptr, out_ptr, n, a, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = a * tl.load(x_ptr + at, mask=at < n)
        tl.store(out_ptr + at, tl.where(x > 0, x, 0.0) + tl.load(y_ptr + at, mask=at < n), mask=at < n)


def fused(x, y, a):
    out = torch.empty_like(y)
    _fused_in_turns[(3,)](x, y, out, len(x), a, BLOCK=128)
    return out


@triton.jit
def _reverse(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + n - 1 - at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


def reverse(x):
    out = torch.empty_like(x)
    _reverse[(triton.cdiv(x.numel(), 32),)](x, out, x.numel(), BLOCK=32)
    return out


@triton.jit
def _pairs(x_ptr, y_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at // columns, mask=mask)
    tl.store(out_ptr + at, x + tl.load(y_ptr + at % columns, mask=mask), mask=mask)


def outer_sum(x, y):
    out = torch.empty(len(x), len(y), dtype=x.dtype)
    _pairs[(triton.cdiv(out.numel(), 128),)](x, y, out, out.numel(), len(y), BLOCK=128)
    return out


@triton.jit
def _bias(x_ptr, bias_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(bias_ptr + at % columns, mask=mask), mask=mask)


def add_bias(x, bias):
    out = torch.empty_like(x)
    _bias[(triton.cdiv(x.numel(), 64),)](x, bias, out, x.numel(), x.shape[1], BLOCK=64)
    return out


@triton.jit
def _double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    share = tl.cdiv(n, tl.num_programs(0))
    first = tl.program_id(0) * share
    last = tl.minimum(first + share, n)
    for start in range(first, last, BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < last) * 2, mask=at < last)


def double_by_four(x):
    out = torch.empty_like(x)
    _double[(4,)](x, out, x.numel(), BLOCK=32)
    return out


@triton.jit
def _strided(x_ptr, out_ptr, rows, columns, x0, x1, o0, o1, PLUS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x0 + column * x1, mask=column < columns)
        tl.store(out_ptr + row * o0 + column * o1, x + PLUS, mask=column < columns)


def _by_rows(x, out, plus=0):
    rows, columns = x.shape
    _strided[(rows,)](x, out, rows, columns, *x.stride(), *out.stride(), PLUS=plus, BLOCK=16)
    return out


def copy_any(x):
    return _by_rows(x, torch.empty(x.shape, dtype=x.dtype))


def add_one_in_place(x):
    _by_rows(x, x, 1)


def transpose(x):
    out = torch.empty(x.shape[::-1], dtype=x.dtype)
    _by_rows(x, out.t())
    return out


def diagonal(x):
    n = min(x.shape)
    out = torch.empty(n, dtype=x.dtype)
    view = torch.as_strided(x, (1, n), (0, sum(x.stride())), x.storage_offset())
    _by_rows(view, out[None])
    return out


@triton.jit
def _shift(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.maximum(at - 1, 0), mask=at < n, other=0)
    tl.store(out_ptr + at, tl.where(at == 0, 0, x).to(x.dtype), mask=at < n)


def shift_right(x):
    out = torch.empty_like(x)
    _shift[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


@triton.jit
def _three(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for step in tl.static_range(-1, 2):
        near = at + step
        total += tl.load(x_ptr + near, mask=(near >= 0) & (near < n), other=0.0)
    tl.store(out_ptr + at, total, mask=at < n)


def sum_of_three(x):
    out = torch.empty_like(x)
    _three[(triton.cdiv(x.numel(), 32),)](x, out, x.numel(), BLOCK=32)
    return out


@triton.jit
def _pad(x_ptr, out_ptr, columns, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0)
    tl.store(out_ptr + row * width + at, x, mask=at < width)


def pad_rows(x, width):
    out = torch.empty(x.shape[0], width, dtype=x.dtype)
    _pad[(x.shape[0],)](x, out, x.shape[1], width, BLOCK=triton.next_power_of_2(width))
    return out


@triton.jit
def _take(table_ptr, index_ptr, out_ptr, size, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + at, mask=at < n, other=0)
    there = (index >= 0) & (index < size)
    found = tl.load(table_ptr + tl.where(there, index, 0))
    tl.store(out_ptr + at, tl.where(there, found, 0.0), mask=at < n)


def take(table, index):
    out = torch.empty(index.shape, dtype=table.dtype)
    _take[(triton.cdiv(index.numel(), 32),)](table, index, out, len(table), index.numel(), BLOCK=32)
    return out


@triton.jit
def _reduce(x_ptr, out_ptr, rows, columns, x0, x1, RANGE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    low = tl.full((BLOCK,), float("inf"), tl.float32)
    high = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = column < columns
        x = tl.load(x_ptr + row * x0 + column * x1, mask=mask, other=0.0)
        low = tl.minimum(low, tl.where(mask, x, float("inf")))
        high = tl.maximum(high, tl.where(mask, x, float("-inf")))
        total += x
    if RANGE:
        tl.store(out_ptr + row, tl.max(high, axis=0) - tl.min(low, axis=0))
    else:
        tl.store(out_ptr + row, tl.sum(total, axis=0))


def _reduced(x, range_, block):
    out = torch.empty(len(x))
    _reduce[(len(x),)](x, out, *x.shape, *x.stride(), RANGE=range_, BLOCK=block)
    return out


def row_sum(x):
    return _reduced(x, False, 32)


def row_range(x):
    return _reduced(x, True, 16)


def long_row_sum(x):
    return _reduced(x, False, 128)


@triton.jit
def _softmax(x_ptr, out_ptr, columns, x0, x1, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * x0 + at * x1, mask=at < columns, other=0.0).to(tl.float32)
    x = tl.where(at < columns, x, float("-inf"))
    y = tl.exp2((x - tl.max(x, axis=0)) * 1.4426950408889634)
    tl.store(out_ptr + tl.program_id(0) * columns + at, y * (1.0 / tl.sum(y, axis=0)), mask=at < columns)


def softmax(x):
    out = torch.empty(x.shape, dtype=x.dtype)
    _softmax[(len(x),)](x, out, x.shape[1], *x.stride(), BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


@triton.jit
def _normalise(x_ptr, out_ptr, columns, x0, x1, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    there = (at < columns).to(tl.float32)
    x = tl.load(x_ptr + tl.program_id(0) * x0 + at * x1, mask=at < columns, other=0.0)
    x = (x - tl.sum(x, axis=0) / columns) * there
    x = x * tl.rsqrt(tl.sum(x * x, axis=0) / columns + 1e-5)
    tl.store(out_ptr + tl.program_id(0) * columns + at, x, mask=at < columns)


def normalise(x):
    out = torch.empty(x.shape)
    _normalise[(len(x),)](x, out, x.shape[1], *x.stride(), BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


@triton.jit
def _triples(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count = count_a + count_b
    share = tl.where(count == 0, 0.0, count_b / count)
    apart = mean_b - mean_a
    return count, mean_a + apart * share, m2_a + m2_b + apart * apart * count_a * share


@triton.jit
def _norm_by_triples(x_ptr, w_ptr, bias_ptr, out_ptr, columns, s0, s1, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * s0 + j * s1, mask=j < columns, other=7.0).to(tl.float32)
    _, mean, m2 = tl.reduce((tl.where(j < columns, 1.0, 0.0), x, tl.zeros_like(x)), 0, _triples)
    y = (x - mean) * tl.rsqrt(m2 / columns + 1e-5)
    y = y * tl.load(w_ptr + j, mask=j < columns) + tl.load(bias_ptr + j, mask=j < columns)
    tl.store(out_ptr + tl.program_id(0) * columns + j, y, mask=j < columns)


def layer_norm(x, weight, bias):
    out = torch.empty(x.shape, dtype=x.dtype)
    block = triton.next_power_of_2(x.shape[1])
    _norm_by_triples[(len(x),)](x, weight, bias, out, x.shape[1], *x.stride(), BLOCK=block)
    return out


@triton.jit
def _moments_by_lanes(x_ptr, mean_ptr, variance_ptr, columns, s0, s1, BLOCK: tl.constexpr):
    """Each lane has a triple of its own; they meet at the end."""
    count, mean, m2 = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + tl.program_id(0) * s0 + j * s1, mask=j < columns, other=0.0)
        one = tl.where(j < columns, 1.0, 0.0)
        count, mean, m2 = _triples(count, mean, m2, one, x, tl.zeros_like(x))
    count, mean, m2 = tl.reduce((count, mean, m2), 0, _triples)
    tl.store(mean_ptr + tl.program_id(0), mean)
    tl.store(variance_ptr + tl.program_id(0), m2 / count)


def moments(x):
    mean, variance = torch.empty(len(x)), torch.empty(len(x))
    _moments_by_lanes[(len(x),)](x, mean, variance, x.shape[1], *x.stride(), BLOCK=64)
    return mean, variance


@triton.jit
def _plus(a, b):
    return a + b


@triton.jit
def _running(x_ptr, out_ptr, columns, s0, s1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * s0 + j * s1, mask=j < columns, other=0)
    tl.store(out_ptr + row * columns + j, tl.associative_scan(x, 0, _plus), mask=j < columns)


def running_sums(x):
    out = torch.empty(x.shape, dtype=x.dtype)
    _running[(len(x),)](x, out, x.shape[1], *x.stride(), BLOCK=max(64, triton.next_power_of_2(x.shape[1])))
    return out


@triton.jit
def _down_the_columns(a_ptr, b_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    """Many rows at once, one step after the other."""
    at = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) * columns
    mask = at < rows * columns
    h = tl.zeros((BLOCK,), tl.float32)
    for t in range(columns):
        h = tl.load(a_ptr + at + t, mask=mask, other=0.0) * h + tl.load(b_ptr + at + t, mask=mask, other=0.0)
        tl.store(out_ptr + at + t, h, mask=mask)


def recurrence(a, b):
    out = torch.empty_like(a)
    _down_the_columns[(triton.cdiv(len(a), 32),)](a, b, out, *a.shape, BLOCK=32)
    return out


@triton.jit
def _bands_by_rows(out_ptr, rows, columns, BAND: tl.constexpr):
    """Each program finds which number its place has."""
    row, column = tl.program_id(0) // columns, tl.program_id(0) % columns
    top = row // BAND * BAND
    height = tl.where(rows - top < BAND, rows - top, BAND)
    tl.store(out_ptr + tl.program_id(0), top * columns + column * height + row - top)


def bands(rows, columns, band):
    out = torch.empty((rows, columns), dtype=torch.int32)
    _bands_by_rows[(rows * columns,)](out, rows, columns, BAND=band)
    return out


@triton.autotune(
    configs=[triton.Config({"BLOCK": block}, num_warps=block // 32) for block in (128, 256, 512)],
    key=[],
    restore_value=["out_ptr"],
)
@triton.jit
def _axpy_in_turns(out_ptr, more_ptr, n, factor, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        more = factor * tl.load(more_ptr + at, mask=at < n)
        tl.store(out_ptr + at, more + tl.load(out_ptr + at, mask=at < n), mask=at < n)


def add_scaled(x, y, factor):
    _axpy_in_turns[(4,)](x, y, len(x), factor)


@triton.jit
def _uniform_by_rows(out_ptr, columns, seed, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + j
    tl.store(out_ptr + at, tl.rand(seed, at), mask=j < columns)


def uniform(rows, columns, seed):
    out = torch.empty((rows, columns))
    _uniform_by_rows[(rows,)](out, columns, seed, BLOCK=triton.next_power_of_2(columns))
    return out


@triton.jit
def _dropped(x_ptr, out_ptr, columns, s0, s1, p, seed, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    """A block of a row by each program; what stays is multiplied by a factor."""
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + j
    factor = (tl.rand(seed, at) > p).to(tl.float32) * (1 / (1 - p))
    x = tl.load(x_ptr + tl.program_id(0) * s0 + j * s1, mask=j < columns)
    if WHAT == "squares":
        factor *= 2 * factor
    tl.store(out_ptr + at, x * factor, mask=j < columns)


def dropout(x, p, seed):
    out = torch.empty(x.shape, dtype=x.dtype)
    block = triton.next_power_of_2(x.shape[1])
    _dropped[(len(x),)](x, out, x.shape[1], *x.stride(), p, seed, WHAT="dropout", BLOCK=block)
    return out


def gradient_of_squares(x, p, seed):
    out = torch.empty_like(x)
    if len(x):
        _dropped[(1, triton.cdiv(len(x), 512))](x, out, len(x), 0, 1, p, seed, WHAT="squares", BLOCK=512)
    return out


@triton.jit
def _darts_in_turns(out_ptr, n, seed, BLOCK: tl.constexpr):
    hits = tl.zeros((BLOCK,), tl.int32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.rand(seed, i * 2)
        y = tl.rand(seed, i * 2 + 1)
        hits += tl.where((i < n) & (1 - x * x > y * y), 1, 0)
    tl.atomic_add(out_ptr, tl.sum(hits))


def darts(n, seed):
    out = torch.zeros(1, dtype=torch.int32)
    if n:
        _darts_in_turns[(min(3, triton.cdiv(n, 128)),)](out, n, seed, BLOCK=128)
    return out


@triton.jit
def _double_rows(x_ptr, out_ptr, M, N, s0, s1, BLOCK: tl.constexpr):
    """Each program takes a quarter of the long row that the matrix is."""
    each = tl.cdiv(M * N, tl.num_programs(0))
    first = tl.program_id(0) * each
    for start in range(first, tl.minimum(first + each, M * N), BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < tl.minimum(first + each, M * N)
        x = tl.load(x_ptr + at // N * s0 + at % N * s1, mask=mask)
        tl.store(out_ptr + at, x + x, mask=mask)


def double_tiles(x):
    out = torch.empty(x.shape, dtype=x.dtype)
    _double_rows[(4,)](x, out, *x.shape, *x.stride(), BLOCK=128)
    return out


@triton.jit
def _turn_strips(x, out, columns, T: tl.constexpr, WIDE: tl.constexpr):
    for j in range(0, columns, WIDE):
        out.store([j, tl.program_id(0) * T], x.load([tl.program_id(0) * T, j]).T)


def turn(x):
    out = torch.empty(x.shape[::-1])
    described = TensorDescriptor.from_tensor(x, [16, 64]), TensorDescriptor.from_tensor(out, [64, 16])
    _turn_strips[(triton.cdiv(len(x), 16),)](*described, x.shape[1], T=16, WIDE=64)
    return out


@triton.jit
def _product_of_strips(a, b, c, tiles, down, K, T: tl.constexpr):
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        i, j = tile % down * T, tile // down * 2 * T
        total = tl.zeros((T, 2 * T), tl.float32)
        for k in range(0, K, 64):
            total += tl.dot(a.load([i, k]), b.load([k, j]), input_precision="ieee")
        c.store([i, j], total.to(c.dtype))


def persistent_product(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype)
    shapes = (a, [16, 64]), (b, [64, 32]), (c, [16, 32])
    down = triton.cdiv(m, 16)
    described = [TensorDescriptor.from_tensor(*one) for one in shapes]
    _product_of_strips[(4,)](*described, down * triton.cdiv(n, 32), down, k, T=16)
    return c


@triton.jit
def _product(
    a_ptr, b_ptr, more_ptr, c_ptr, M, N, K, am, ak, bk, bn, az, bz, WHAT: tl.constexpr, BLOCK: tl.constexpr,
    STEP: tl.constexpr,
):  # fmt: skip
    """c = a @ b, with pointers that move on; in the end a bias and relu, or a scale."""
    tiles = tl.cdiv(N, BLOCK)
    i = tl.program_id(0) // tiles * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(0) % tiles * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, STEP)
    number = tl.program_id(1)
    a_at = a_ptr + number * az + i[:, None] * am + k[None, :] * ak
    b_at = b_ptr + number * bz + k[:, None] * bk + j[None, :] * bn
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for left in range(K, 0, -STEP):
        a = tl.load(a_at, mask=(i < M)[:, None] & (k < left)[None, :], other=0.0)
        b = tl.load(b_at, mask=(k < left)[:, None] & (j < N)[None, :], other=0)
        total += tl.dot(a, b.to(a.dtype), input_precision="ieee")
        a_at += STEP * ak
        b_at += STEP * bk
    if WHAT == "layer":
        total = tl.maximum(total + tl.load(more_ptr + j, mask=j < N, other=0.0)[None, :], 0.0)
    if WHAT == "scale":
        total *= tl.load(more_ptr + j, mask=j < N, other=0.0)[None, :]
    c_at = c_ptr + number * M * N + i[:, None] * N + j[None, :]
    tl.store(c_at, total.to(c_ptr.dtype.element_ty), mask=(i < M)[:, None] & (j < N)[None, :])


def _multiplied(a, b, what="", more=None):
    a, b = (a, b) if a.dim() == 3 else (a[None], b[None])
    (many, M, K), N = a.shape, b.shape[2]
    c = torch.empty(many, M, N, dtype=a.dtype)
    grid = (triton.cdiv(M, 64) * triton.cdiv(N, 64), many)
    strides = (*a.stride()[1:], *b.stride()[1:], a.stride(0), b.stride(0))
    _product[grid](a, b, a if more is None else more, c, M, N, K, *strides, WHAT=what, BLOCK=64, STEP=16)
    return c


def matmul(a, b):
    return _multiplied(a, b)[0]


def layer(x, weight, bias):
    return _multiplied(x, weight.t(), "layer", bias)[0]


def batched(a, b):
    return _multiplied(a, b)


def quantised(a, b, scale):
    return _multiplied(a, b, "scale", scale)[0]


@triton.jit
def _meet(x_ptr, out_ptr, n, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    """A few programs that each walk, and meet once."""
    found = tl.zeros((BLOCK,), tl.int32 if COUNT else tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, BLOCK * tl.num_programs(0)):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n, other=0.0)
        found += tl.where(x > 0, 1, 0) if COUNT else x
    tl.atomic_add(out_ptr, tl.sum(found, axis=0))


def total(x):
    out = torch.zeros(1)
    _meet[(min(3, triton.cdiv(x.numel(), 32)),)](x, out, x.numel(), COUNT=False, BLOCK=32)
    return out


def count_positive(x):
    out = torch.zeros(1, dtype=torch.int32)
    _meet[(min(2, triton.cdiv(x.numel(), 32)),)](x, out, x.numel(), COUNT=True, BLOCK=32)
    return out


@triton.jit
def _histogram(x_ptr, out_ptr, n, bins, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=-1)
    bin = tl.arange(0, BINS)
    counts = tl.sum((x[:, None] == bin[None, :]).to(tl.int32), axis=0)
    tl.atomic_add(out_ptr + bin, counts, mask=bin < bins)


def histogram(x, bins):
    out = torch.zeros(bins, dtype=torch.int32)
    size = triton.next_power_of_2(bins)
    _histogram[(triton.cdiv(x.numel(), 32),)](x, out, x.numel(), bins, BINS=size, BLOCK=32)
    return out


@triton.jit
def _add_at(values_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = at < n
    tl.atomic_add(out_ptr + tl.load(index_ptr + at, there), tl.load(values_ptr + at, there), there, sem="relaxed")


def add_at(values, index, size):
    out = torch.zeros(size)
    _add_at[(triton.cdiv(len(values), 16),)](values, index, out, len(values), BLOCK=16)
    return out


@triton.jit
def _best(x_ptr, best_ptr, ticket_ptr, n, BLOCK: tl.constexpr):
    """The lock as a queue: each waits for its number."""
    me = tl.program_id(0)
    at = me * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=float("-inf"))
    high = tl.max(x, axis=0)
    place = tl.min(tl.where(x == high, at, n), axis=0)
    while tl.atomic_add(ticket_ptr, 0) != me:
        pass
    before = tl.load(best_ptr)
    tl.store(best_ptr + 1, tl.where(high > before, place.to(tl.float32), tl.load(best_ptr + 1)))
    tl.store(best_ptr, tl.maximum(high, before))
    tl.debug_barrier()
    tl.atomic_add(ticket_ptr, 1)


def best(x):
    kept = torch.tensor([float("-inf"), -1.0])
    _best[(triton.cdiv(len(x), 64),)](x, kept, torch.zeros(1, dtype=torch.int32), len(x), BLOCK=64)
    return kept


@triton.jit
def _average(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(a_ptr + at, at < n), tl.load(b_ptr + at, at < n)
    tl.store(out_ptr + at, (a & b) + ((a ^ b) >> 1), at < n)


def average(a, b):
    out = torch.empty_like(a)
    _average[(triton.cdiv(len(a), 32),)](a, b, out, len(a), BLOCK=32)
    return out


@triton.jit
def _scale_any(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, at < n).to(tl.float32) * factor + 1, at < n)  # a store converts, too


def scale_any(x, factor):
    out = torch.empty_like(x)
    _scale_any[(triton.cdiv(len(x), 128),)](x, out, len(x), factor, BLOCK=128)
    return out


@triton.jit
def _dot_of_bytes(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        a, b = tl.load(a_ptr + at, at < n, other=0), tl.load(b_ptr + at, at < n, other=0)
        total += a.to(tl.int16).to(tl.int32) * b
    tl.store(out_ptr, tl.sum(total, axis=0))


def dot_of_bytes(a, b):
    out = torch.empty(1, dtype=torch.int32)
    _dot_of_bytes[(1,)](a, b, out, len(a), BLOCK=32)
    return out


@triton.jit
def _floor(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, at < n)
    cut = x.to(tl.int32)
    tl.store(out_ptr + at, tl.where(cut > x, cut - 1, cut), at < n)


def floor_to_int(x):
    out = torch.empty(len(x), dtype=torch.int32)
    _floor[(triton.cdiv(len(x), 32),)](x, out, len(x), BLOCK=32)
    return out


@triton.jit
def _swap(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        kept = tl.load(y_ptr + at, at < n)
        tl.store(y_ptr + at, tl.load(x_ptr + at, at < n), at < n)
        tl.store(x_ptr + at, kept, at < n)


def swap(x, y):
    _swap[(1,)](x, y, len(x), BLOCK=32)


@triton.jit
def _reverse_in_place(x_ptr, n, BLOCK: tl.constexpr):
    """One program that loads all before it stores any."""
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, at < n)
    tl.debug_barrier()
    tl.store(x_ptr + n - 1 - at, x, at < n)


def reverse_in_place(x):
    _reverse_in_place[(1,)](x, len(x), BLOCK=triton.next_power_of_2(len(x)))


@triton.jit
def _add_transpose(x_ptr, n, x0, x1, BLOCK: tl.constexpr):
    """A program has a row from the diagonal on, and the column below it."""
    i = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    mask = (j >= i) & (j < n)
    total = tl.load(x_ptr + i * x0 + j * x1, mask) + tl.load(x_ptr + j * x0 + i * x1, mask)
    tl.store(x_ptr + i * x0 + j * x1, total, mask)
    tl.store(x_ptr + j * x0 + i * x1, total, mask & (j > i))


def add_transpose(x):
    _add_transpose[(len(x),)](x, len(x), *x.stride(), BLOCK=max(16, triton.next_power_of_2(len(x))))


def negated(x):
    return _mapped(x, torch.empty_like(x), "axpy", y=torch.zeros_like(x), a=-1.0)


def halved(x):
    return _mapped(x, torch.empty_like(x), "axpy", y=torch.zeros_like(x), a=0.5, block=16)


@triton.jit
def _of_rows(x_ptr, out_ptr, rows, columns, x0, x1, WHAT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Several rows for each program, a block of two dimensions."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, BLOCK)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    x = tl.load(x_ptr + i[:, None] * x0 + j[None, :] * x1, mask=mask, other=0.0)
    at = out_ptr + i[:, None] * columns + j[None, :]
    if WHAT == "mean":
        tl.store(out_ptr + i, tl.sum(x, axis=1) / columns, mask=i < rows)
    if WHAT == "max":
        tl.store(out_ptr + i, tl.max(tl.where(mask, x, float("-inf")), axis=1), mask=i < rows)
    if WHAT == "rms":
        tl.store(at, x * tl.rsqrt(tl.sum(x * x, axis=1) / columns + 1e-6)[:, None], mask=mask)
    if WHAT == "softmax":
        x = tl.where((j < columns)[None, :], x, float("-inf"))
        e = tl.exp(x - tl.max(x, axis=1)[:, None])
        tl.store(at, e / tl.sum(e, axis=1)[:, None], mask=mask)


def _rows_of(x, what, out):
    grid = (triton.cdiv(len(x), 4),)
    _of_rows[grid](x, out, *x.shape, *x.stride(), WHAT=what, ROWS=4, BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def row_means(x):
    return _rows_of(x, "mean", torch.empty(len(x)))


def row_maxima(x):
    return _rows_of(x, "max", torch.empty(len(x)))


def rms(x):
    return _rows_of(x, "rms", torch.empty(x.shape))


def shares(x):
    return _rows_of(x, "softmax", torch.empty(x.shape))


def energy(x):
    return dot_of_bytes(x, x)


def counted(x):
    return histogram(x, 8)


def turned(x):
    return transpose(x)


def product(a, b):
    return _multiplied(a, b)[0]


@triton.jit
def _ring(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    following = tl.where(at + 1 == n, 0, at + 1)
    tl.store(out_ptr + at, tl.load(x_ptr + following, at < n) + tl.load(x_ptr + at, at < n), at < n)


def ring(x):
    out = torch.empty_like(x)
    _ring[(triton.cdiv(len(x), 32),)](x, out, len(x), BLOCK=32)
    return out


@triton.jit
def _highest(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    high = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        high = tl.maximum(high, tl.load(x_ptr + at, at < n, other=float("-inf")))
    tl.store(out_ptr, tl.max(high, axis=0))


def highest(x):
    out = torch.empty(1)
    _highest[(1,)](x, out, len(x), BLOCK=32)
    return out


@triton.jit
def _log_sum_exp(x_ptr, out_ptr, columns, x0, x1, BLOCK: tl.constexpr):
    """A maximum and a sum for each lane, put together after the loop."""
    high = tl.full((BLOCK,), -1.0e30, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + tl.program_id(0) * x0 + j * x1, j < columns, other=float("-inf"))
        new = tl.maximum(high, x)
        total = total * tl.exp(high - new) + tl.exp(x - new)
        high = new
    most = tl.max(high, axis=0)
    total = tl.sum(total * tl.exp(high - most), axis=0)
    tl.store(out_ptr + tl.program_id(0), tl.log2(total) / 1.4426950408889634 + most)


def log_sum_exp(x):
    out = torch.empty(len(x))
    _log_sum_exp[(len(x),)](x, out, x.shape[1], *x.stride(), BLOCK=128)
    return out


@triton.jit
def _attention(
    q_ptr, k_ptr, v_ptr, out_ptr, tokens, scale, qh, qt, kh, kt, vh, vt,
    CAUSAL: tl.constexpr, DIM: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    """All keys at once, sixteen queries at a time; no running sums."""
    head = tl.program_id(0)
    query = tl.program_id(1) * 16 + tl.arange(0, 16)
    key = tl.arange(0, KEYS)
    d = tl.arange(0, DIM)
    end = tl.minimum(tokens, (tl.program_id(1) + 1) * 16) if CAUSAL else tokens
    q = tl.load(q_ptr + head * qh + query[:, None] * qt + d[None, :], (query < tokens)[:, None], other=0.0)
    k = tl.load(k_ptr + head * kh + key[None, :] * kt + d[:, None], (key < end)[None, :], other=0.0)
    v = tl.load(v_ptr + head * vh + key[:, None] * vt + d[None, :], (key < end)[:, None], other=0.0)
    seen = (key < end)[None, :] & ((query[:, None] >= key[None, :]) if CAUSAL else (query[:, None] >= 0))
    scores = tl.where(seen, tl.dot(q, k, input_precision="ieee") * scale, float("-inf"))
    weights = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    weights = weights / tl.sum(weights, axis=1)[:, None]
    out = tl.dot(weights.to(v.dtype), v, input_precision="ieee")
    tl.store(out_ptr + head * tokens * DIM + query[:, None] * DIM + d[None, :], out, (query < tokens)[:, None])


def _attended(q, k, v, causal):
    heads, tokens, dim = q.shape
    out = torch.empty(q.shape, dtype=q.dtype)
    strides = (*q.stride()[:2], *k.stride()[:2], *v.stride()[:2])
    keys = max(16, triton.next_power_of_2(tokens))
    grid = (heads, triton.cdiv(tokens, 16))
    _attention[grid](q, k, v, out, tokens, dim**-0.5, *strides, CAUSAL=causal, DIM=dim, KEYS=keys)
    return out


def attention(q, k, v):
    return _attended(q, k, v, False)


def causal_attention(q, k, v):
    return _attended(q, k, v, True)


@triton.jit
def _gradient_of_v(q_ptr, k_ptr, lse_ptr, dout_ptr, dv_ptr, tokens, scale, DIM: tl.constexpr, QUERIES: tl.constexpr):
    """Transposed scores, all queries at once."""
    base = tl.program_id(0) * tokens
    key = tl.program_id(1) * 16 + tl.arange(0, 16)
    query = tl.arange(0, QUERIES)
    d = tl.arange(0, DIM)
    k = tl.load(k_ptr + (base + key)[:, None] * DIM + d[None, :], (key < tokens)[:, None], other=0.0)
    q = tl.load(q_ptr + (base + query)[None, :] * DIM + d[:, None], (query < tokens)[None, :], other=0.0)
    dout = tl.load(dout_ptr + (base + query)[:, None] * DIM + d[None, :], (query < tokens)[:, None], other=0.0)
    lse = tl.load(lse_ptr + base + query, query < tokens, other=float("inf"))
    weights = tl.exp(tl.dot(k, q, input_precision="ieee") * scale - lse[None, :])
    dv = tl.dot(weights, dout, input_precision="ieee")
    tl.store(dv_ptr + (base + key)[:, None] * DIM + d[None, :], dv, (key < tokens)[:, None])


def gradient_of_v(q, k, lse, dout):
    heads, tokens, dim = q.shape
    dv = torch.empty(q.shape)
    grid, queries = (heads, triton.cdiv(tokens, 16)), max(16, triton.next_power_of_2(tokens))
    _gradient_of_v[grid](q, k, lse, dout, dv, tokens, dim**-0.5, DIM=dim, QUERIES=queries)
    return dv


@triton.jit
def _softplus(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = BLOCK * tl.program_id(0) + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, at < n).to(tl.float32)
    tl.store(out_ptr + at, tl.where(x > 0, x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x))), at < n)


def softplus(x):
    out = torch.empty_like(x)
    _softplus[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


@triton.jit
def _straighten(x_ptr, out_ptr, rows, columns, WIDE: tl.constexpr):
    """Tiles of 64 by 16, numbered along one dimension, read as rows of the transpose."""
    across = tl.cdiv(columns, 16)
    r = tl.program_id(0) // across * WIDE + tl.arange(0, WIDE)
    c = tl.program_id(0) % across * 16 + tl.arange(0, 16)
    x = tl.load(x_ptr + c[:, None] * rows + r[None, :], (c < columns)[:, None] & (r < rows)[None, :])
    tl.store(out_ptr + r[:, None] * columns + c[None, :], tl.trans(x), (r < rows)[:, None] & (c < columns)[None, :])


def straighten(x):
    out = torch.empty(x.shape, dtype=x.dtype)
    rows, columns = x.shape
    _straighten[(triton.cdiv(rows, 64) * triton.cdiv(columns, 16),)](x, out, rows, columns, WIDE=64)
    return out


@triton.jit
def _gradient_of_q(
    q_ptr, k_ptr, v_ptr, lse_ptr, delta_ptr, dout_ptr, dq_ptr, tokens, scale, DIM: tl.constexpr, KEYS: tl.constexpr
):  # fmt: skip
    """Transposed scores, all keys at once; the scale goes into q."""
    base = tl.program_id(0) * tokens
    query = tl.program_id(1) * 16 + tl.arange(0, 16)
    key = tl.arange(0, KEYS)
    d = tl.arange(0, DIM)
    across = (base + query)[None, :] * DIM + d[:, None]
    down = (base + key)[:, None] * DIM + d[None, :]
    q = tl.load(q_ptr + across, (query < tokens)[None, :], other=0.0) * scale
    dout = tl.load(dout_ptr + across, (query < tokens)[None, :], other=0.0)
    k = tl.load(k_ptr + down, (key < tokens)[:, None], other=0.0)
    v = tl.load(v_ptr + down, (key < tokens)[:, None], other=0.0)
    lse = tl.load(lse_ptr + base + query, query < tokens, other=float("inf"))
    delta = tl.load(delta_ptr + base + query, query < tokens, other=0.0)
    weights = tl.exp(tl.dot(k, q, input_precision="ieee") - lse[None, :])
    change = weights * (tl.dot(v, dout, input_precision="ieee") - delta[None, :])
    dq = tl.dot(tl.trans(change), k, input_precision="ieee") * scale
    tl.store(dq_ptr + (base + query)[:, None] * DIM + d[None, :], dq, (query < tokens)[:, None])


def gradient_of_q(q, k, v, lse, delta, dout):
    heads, tokens, dim = q.shape
    dq = torch.empty(q.shape)
    grid, keys = (heads, triton.cdiv(tokens, 16)), max(16, triton.next_power_of_2(tokens))
    _gradient_of_q[grid](q, k, v, lse, delta, dout, dq, tokens, dim**-0.5, DIM=dim, KEYS=keys)
    return dq


def band(A, n):
    """Column by column."""
    for column in range(n):
        for row in range(n):
            if row - column < 2 and column - row < 2:
                A[row, column] = 1


def quarter_turn(A, B, n):
    """Element by element of B."""
    for i in range(n):
        for j in range(n):
            B[i, j] = A[n - 1 - j, i]


def fronts(order):
    return order.matrix([[1, 1], [0, 1]]).parallel("t1")


def one_pass(order):
    return order.matrix({"S0": [[2, 0, 0]], "S1": [[2, 0, 3]]})


def few_misses(order):
    """Strips of columns, whole rows of B at a time."""
    return order.split("j", 16).reorder("jo", "i", "ji")


def tiles_in_time(order):
    return order.matrix([[1, 0], [2, 1]]).tile({"t": 8, "i": 8})


def outer_blocks(order):
    return order.split("x", 32).split("y", 16).reorder("yo", "xo", "xi", "yi")


@triton.jit
def _sparse_product(values_ptr, columns_ptr, starts_ptr, x_ptr, out_ptr, stride, longest, BLOCK: tl.constexpr):
    """As many steps in each row, with masks."""
    row = tl.program_id(0)
    begin = tl.load(starts_ptr + row)
    length = tl.load(starts_ptr + row + 1) - begin
    total = 0.0
    for k0 in range(0, longest, BLOCK):
        k = k0 + tl.arange(0, BLOCK)
        there = k < length
        value = tl.load(values_ptr + (begin + k) * stride, mask=there, other=0.0)
        column = tl.load(columns_ptr + begin + k, mask=there, other=0)
        total += tl.sum(value * tl.load(x_ptr + column, mask=there, other=0.0), axis=0)
    tl.store(out_ptr + row, total)


def sparse_product(values, columns, starts, x):
    rows = starts.numel() - 1
    out = torch.zeros(rows)
    longest = int(starts.diff().max()) if rows else 0
    _sparse_product[(rows,)](values, columns, starts, x, out, values.stride(0), longest, BLOCK=64)
    return out


@triton.jit
def _outer_relu(x_ptr, y_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """A program has a row, and walks along it."""
    row = tl.program_id(0)
    x = tl.load(x_ptr + row)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        product = x * tl.load(y_ptr + j, mask=j < columns, other=0.0)
        tl.store(out_ptr + row * columns + j, tl.where(product > 0, product, 0.0), mask=j < columns)


def outer_relu(x, y):
    out = torch.zeros(len(x), len(y), dtype=x.dtype)
    _outer_relu[(len(x),)](x, y, out, len(y), BLOCK=64)
    return out


@triton.jit
def _relu_backward(grad_ptr, x_ptr, y_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    y = tl.load(y_ptr + at % columns, mask=mask)
    alive = (tl.load(x_ptr + at, mask=mask) * y > 0).to(tl.float32)
    tl.store(grad_ptr + at, tl.load(grad_ptr + at, mask=mask) * y * alive, mask=mask)


def relu_backward(grad, x, y):
    _relu_backward[(triton.cdiv(x.numel(), 128),)](grad, x, y, x.numel(), x.shape[1], BLOCK=128)


@triton.jit
def _convolve(
    x_ptr, filter_ptr, out_ptr, n, rows, columns, HIGH: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr
):
    """All elements of all pictures in one row of blocks."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r, c = at // columns % rows, at % columns
    total = tl.zeros((BLOCK,), tl.float32)
    for tap in range(HIGH * WIDE):
        i, j = tap // WIDE, tap % WIDE
        there = (at < n) & (r + i < rows) & (c + j < columns)
        total += tl.load(filter_ptr + tap) * tl.load(x_ptr + at + i * columns + j, mask=there, other=0.0)
    tl.store(out_ptr + at, total, mask=at < n)


def convolve(x, filter):
    out = torch.empty_like(x)
    n, (high, wide) = x.numel(), filter.shape
    _convolve[(triton.cdiv(n, 64),)](x, filter, out, n, *x.shape[1:], HIGH=high, WIDE=wide, BLOCK=64)
    return out


@triton.jit
def _column_sums(x_ptr, out_ptr, rows, columns, stride, BLOCK: tl.constexpr):
    """One row after the other, of BLOCK columns."""
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(rows):
        total += tl.load(x_ptr + j, mask=j < columns, other=0.0)
        x_ptr += stride
    tl.store(out_ptr + j, total, mask=j < columns)


def sum_columns(x):
    out = torch.zeros(x.shape[1])
    _column_sums[(triton.cdiv(x.shape[1], 128),)](x, out, *x.shape, x.stride(0), BLOCK=128)
    return out


@triton.jit
def _long_row_sums(x_ptr, out_ptr, columns, stride, BLOCK: tl.constexpr):
    """Eight programs go through a row in turns."""
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(tl.program_id(0) * BLOCK, columns, tl.num_programs(0) * BLOCK):
        j = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + tl.program_id(1) * stride + j, mask=j < columns, other=0.0)
    tl.atomic_add(out_ptr + tl.program_id(1), tl.sum(total))


def sum_long_rows(x):
    out = torch.zeros(len(x))
    _long_row_sums[(8, len(x))](x, out, x.shape[1], x.stride(0), BLOCK=256)
    return out


@triton.jit
def _rows_to_fp8(x_ptr, q_ptr, scale_ptr, columns, BLOCK: tl.constexpr):
    """A loop for the greatest value, and one that multiplies by the inverse of the scale."""
    base = tl.program_id(0) * columns
    most = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        most = tl.maximum(most, tl.abs(tl.load(x_ptr + base + j, mask=j < columns, other=0.0)))
    scale = tl.max(most, axis=0) / 448
    scale = tl.where(scale == 0, 1.0, scale)
    tl.store(scale_ptr + tl.program_id(0), scale)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + j, mask=j < columns)
        tl.store(q_ptr + base + j, (x * (1 / scale)).to(q_ptr.dtype.element_ty), mask=j < columns)


def quantise_rows(x):
    q, scales = torch.empty_like(x, dtype=torch.float8_e4m3fn), x.new_empty(len(x))
    _rows_to_fp8[(len(x),)](x, q, scales, x.shape[1], BLOCK=64)
    return q, scales


@triton.jit
def _scaled_by_hand(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr):
    """One group of 32 after the other: the sum of a group is multiplied by both of its scales."""
    m, n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, 32)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for group in range(K // 32):
        at = group * 32 + k
        a = tl.load(a_ptr + m[:, None] * K + at[None, :], mask=(m < M)[:, None], other=0.0).to(tl.float32)
        b = tl.load(b_ptr + n[:, None] * K + at[None, :], mask=(n < N)[:, None], other=0.0).to(tl.float32)
        s = tl.load(a_scale_ptr + m * (K // 32) + group, mask=m < M, other=127).to(tl.float32)
        t = tl.load(b_scale_ptr + n * (K // 32) + group, mask=n < N, other=127).to(tl.float32)
        scale = tl.exp2(s - 127)[:, None] * tl.exp2(t - 127)[None, :]
        total += tl.dot(a, tl.trans(b), input_precision="ieee") * scale
    tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=(m < M)[:, None] & (n < N)[None, :])


def mx_product(a, a_scale, b, b_scale):
    (m, k), n = a.shape, b.shape[0]
    c = torch.zeros(m, n)
    _scaled_by_hand[(triton.cdiv(n, 16), triton.cdiv(m, 16))](a, a_scale, b, b_scale, c, m, n, k, BLOCK=16)
    return c


@triton.jit
def _find_tile(ends_ptr, out_ptr, experts, tile):
    """Through the experts one by one, until the program's tile is among those of one."""
    left = tl.program_id(0)
    found, first, begin = -1, -1, 0
    for expert in range(experts):
        end = tl.load(ends_ptr + expert)
        tiles = tl.cdiv(end - begin, tile)
        if (found < 0) & (left < tiles):
            found = expert
            first = begin + left * tile
        left -= tiles
        begin = end
    tl.store(out_ptr + tl.program_id(0) * 2 + tl.arange(0, 2), tl.where(tl.arange(0, 2) == 0, found, first))


def tile_table(ends, tile, programs):
    out = torch.zeros((programs, 2), dtype=torch.int32)
    _find_tile[(programs,)](ends, out, ends.numel(), tile)
    return out


@triton.jit
def _delta_of(o_ptr, g_ptr, out_ptr, oh, ot, od, gh, gt, gd, tokens, DIM: tl.constexpr, BLOCK: tl.constexpr):
    """A grid of two dimensions, and the sum as a loop over the channels."""
    head, token = tl.program_id(1), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there, total = token < tokens, tl.zeros((BLOCK,), tl.float32)
    for d in range(DIM):
        o = tl.load(o_ptr + head * oh + token * ot + d * od, there)
        total += o.to(tl.float32) * tl.load(g_ptr + head * gh + token * gt + d * gd, there)
    tl.store(out_ptr + head * tokens + token, total, there)


def delta_of(out, dout):
    heads, tokens, dim = out.shape
    delta = torch.zeros(heads, tokens)
    grid = (triton.cdiv(tokens, 64), heads)
    _delta_of[grid](out, dout, delta, *out.stride(), *dout.stride(), tokens, DIM=dim, BLOCK=64)
    return delta


@triton.jit
def _merge(parts_ptr, lse_ptr, out_ptr, splits, DIM: tl.constexpr):
    """One split after the other, with a running maximum, as in the kernel that makes the parts."""
    head, d = tl.program_id(0), tl.arange(0, DIM)
    high, total, result = float("-inf"), 0.0, tl.zeros((DIM,), tl.float32)
    for split in range(splits):
        at = head * splits + split
        lse, part = tl.load(lse_ptr + at), tl.load(parts_ptr + at * DIM + d)
        new = tl.maximum(high, lse)
        shrink, weight = tl.exp(high - new), tl.exp(lse - new)
        total = total * shrink + weight
        result = result * shrink + weight * part
        high = new
    tl.store(out_ptr + head * DIM + d, result / total)


def merge(parts, lse):
    heads, splits, dim = parts.shape
    out = torch.empty(heads, dim)
    _merge[(heads,)](parts, lse, out, splits, DIM=dim)
    return out


@triton.jit
def _gated(x_ptr, y_ptr, out_ptr, n, xs, ys, BLOCK: tl.constexpr):
    """By exp, and in turns of a small grid."""
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at * xs, at < n).to(tl.float32)
        y = tl.load(y_ptr + at * ys, at < n).to(tl.float32)
        tl.store(out_ptr + at, x * y / (1 + tl.exp(-x)), at < n)


@triton_op("course_others::gated", mutates_args={})
def _gated_op(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.zeros(len(x), dtype=x.dtype)
    wrap_triton(_gated)[(4,)](x, y, out, len(x), *x.stride(), *y.stride(), BLOCK=256)
    return out


@torch.compile(backend="aot_eager", fullgraph=True)
def gated(x, y):
    return _gated_op(x, y)


@triton.jit
def _silu_gradient(x_ptr, grad_ptr, out_ptr, n, grad_stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, at < n)
    s, y = 1 / (1 + tl.exp(-x)), x / (1 + tl.exp(-x))
    tl.store(out_ptr + at, tl.load(grad_ptr + at * grad_stride, at < n) * (s + y - s * y), at < n)


def silu_gradient(x, grad):
    """Without autograd, and with the stride of the gradient."""
    out = torch.empty(len(x))
    _silu_gradient[(triton.cdiv(len(x), 64),)](x, grad, out, len(x), grad.stride(0), BLOCK=64)
    return out


@triton.jit
def _from_ttir(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """From the end of x, in a loop over the grid."""
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, at < n, other=0.0)
        tl.store(out_ptr + n - 1 - at, tl.maximum(x, 0.0) + (tl.exp(tl.minimum(x, 0.0)) - 1.0), at < n)


def from_ttir(x):
    out = torch.empty_like(x)
    _from_ttir[(8,)](x, out, len(x), BLOCK=128)
    return out
