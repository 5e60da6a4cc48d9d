"""Reductions in which masked-off lanes take part, and kernels that are right with such lanes."""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


def numbers(*shape: int) -> torch.Tensor:
    """Different numbers from 0 to 1, the same each time: findings name them."""
    return (0.37 * torch.arange(math.prod(shape))).sin().abs().reshape(shape)


@triton.jit
def row_norm_kernel(x_ptr, out_ptr, columns, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    centred = x - tl.sum(x, axis=0) / columns
    if MENDED:
        centred = tl.where(column < columns, centred, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns  # BUG
    tl.store(out_ptr + row * columns + column, centred * tl.rsqrt(variance + 1e-5), mask=column < columns)


@plant(row_norm_kernel, "masked-reduction", "out_ptr", programs=range(3))
def variance_of_a_row_with_its_masked_off_lanes(mended: bool) -> None:
    """A masked-off lane is 0, and no longer 0 once the mean is subtracted."""
    row_norm_kernel[(3,)](numbers(3, 20) + 1, torch.zeros(3, 20), 20, MENDED=mended, BLOCK=32)


@triton.jit
def row_maximum_kernel(x_ptr, out_ptr, columns, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    if MENDED:
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=float("-inf"))
    else:
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    tl.store(out_ptr + row, tl.max(x, axis=0))  # BUG


@plant(row_maximum_kernel, "masked-reduction", "out_ptr", programs=[1], shown=True)
def maximum_of_negative_numbers(mended: bool) -> None:
    """`other=0` is greater than all elements of row 1."""
    x = torch.stack([torch.arange(20.0), torch.arange(20.0) - 20])
    row_maximum_kernel[(2,)](x, torch.zeros(2), 20, MENDED=mended, BLOCK=32)


@triton.jit
def unmasked_attention_kernel(q_ptr, k_ptr, out_ptr, keys, MENDED: tl.constexpr, SIDE: tl.constexpr):
    i = tl.arange(0, SIDE)
    q = tl.load(q_ptr + i[:, None] * SIDE + i[None, :])
    k = tl.load(k_ptr + i[None, :] * SIDE + i[:, None], mask=i[None, :] < keys, other=0.0)
    score = tl.dot(q, k)
    if MENDED:
        score = tl.where(i[None, :] < keys, score, float("-inf"))
    weight = tl.exp(score - tl.max(score, axis=1)[:, None])
    tl.store(out_ptr + i, 1 / tl.sum(weight, axis=1))  # BUG


@plant(unmasked_attention_kernel, "masked-reduction", "out_ptr", programs=[0])
def keys_past_the_end_have_a_weight(mended: bool) -> None:
    """The score of a key that is masked off is 0, and its weight is exp(0 - maximum)."""
    unmasked_attention_kernel[(1,)](numbers(16, 16) / 4, numbers(11, 16), torch.zeros(16), 11, MENDED=mended, SIDE=16)


@triton.jit
def pulls_kernel(x_ptr, out_ptr, n, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        apart = tl.load(x_ptr + j, mask=j < n, other=0.0)[None, :] - x[:, None]
        pull = apart / (apart * apart + 0.1)
        if MENDED:
            pull = tl.where(j[None, :] < n, pull, 0.0)
        total += tl.sum(pull, axis=1)  # BUG
    tl.store(out_ptr + i, total, mask=i < n)


@plant(pulls_kernel, "masked-reduction", "out_ptr", programs=range(3))
def points_past_the_end_pull(mended: bool) -> None:
    """Points that do not exist lie at 0, and pull as the others do."""
    pulls_kernel[(3,)](numbers(40) + 1, torch.zeros(40), 40, MENDED=mended, BLOCK=16)


# --- Kernels that are right -------------------------------------------------------------------------------


@triton.jit
def variation_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    before = tl.load(x_ptr + row * columns + column - 1, mask=(column > 0) & (column < columns), other=0.0)
    tl.store(out_ptr + row, tl.sum(tl.abs(x - before), axis=0))


def from_zero_on(columns: int) -> None:
    """The element before the first is 0."""
    variation_kernel[(3,)](numbers(3, columns) + 1, torch.zeros(3), columns, BLOCK=128)


@triton.jit
def window_kernel(x_ptr, weight_ptr, out_ptr, n, WINDOW: tl.constexpr, BLOCK: tl.constexpr):
    at, k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, WINDOW)
    source = at[:, None] + k[None, :] - WINDOW // 2
    x = tl.load(x_ptr + source, mask=(source >= 0) & (source < n), other=0.0)
    tl.store(out_ptr + at, tl.sum(x * tl.load(weight_ptr + k)[None, :], axis=1), mask=at < n)


def over_a_border_of_zeros(n: int) -> None:
    """A convolution: what is beyond the border counts as 0."""
    window_kernel[(triton.cdiv(n, 32),)](numbers(n), numbers(4), torch.zeros(n), n, WINDOW=4, BLOCK=32)


@triton.jit
def weights_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    weight = tl.where(column < columns, tl.exp(x - tl.max(x, axis=0)), 0.0)
    tl.store(out_ptr + row * columns + column, weight / tl.sum(weight, axis=0), mask=column < columns)


def maximum_that_cancels(columns: int) -> None:
    """A softmax is the same whatever is subtracted first."""
    weights_kernel[(3,)](numbers(3, columns) - 3, torch.zeros(3, columns), columns, BLOCK=128)


@triton.jit
def scaled_kernel(x_ptr, scale_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    scale = tl.max(tl.abs(x), axis=0) / 127.0
    tl.store(scale_ptr + row, scale)
    tl.store(out_ptr + row * columns + column, (x / scale).to(tl.int8), mask=column < columns)


def greatest_of_absolute_values(columns: int) -> None:
    """No absolute value is less than 0."""
    out = torch.zeros(3, columns, dtype=torch.int8)
    scaled_kernel[(3,)](numbers(3, columns) - 3, torch.zeros(3), out, columns, BLOCK=128)


@triton.jit
def bag_kernel(index_ptr, table_ptr, out_ptr, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    row, at, d = tl.program_id(0), tl.arange(0, BLOCK), tl.arange(0, WIDTH)
    index = tl.load(index_ptr + row * n + at, mask=at < n, other=0)
    found = tl.load(table_ptr + index[:, None] * WIDTH + d[None, :], mask=at[:, None] < n, other=0.0)
    tl.store(out_ptr + row * WIDTH + d, tl.sum(found, axis=0) / n)


def mean_of_table_rows(n: int) -> None:
    """The index of a masked-off lane is 0, and its row is masked off as well."""
    index = torch.arange(3 * n, dtype=torch.int32).reshape(3, n) % 9
    bag_kernel[(3,)](index, numbers(9, 16), torch.zeros(3, 16), n, WIDTH=16, BLOCK=128)
