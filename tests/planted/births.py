"""NaN and infinity that are born in a kernel which means others: those that a mask, an argument or a constant bring."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

INFINITY = float("inf")


@triton.jit
def logsumexp_kernel(x_ptr, out_ptr, n, row_stride, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + lane, mask=lane < n, other=float("-inf"))
    largest = tl.max(x) if MENDED else 0.0
    tl.store(out_ptr + row, largest + tl.log(tl.sum(tl.exp(x - largest))))  # BUG


@plant(logsumexp_kernel, "non-finite", "out_ptr", {2})
def logsumexp_without_maximum(mended: bool) -> None:
    """The masked lanes are -inf on purpose, and exp(200) overflows all the same."""
    x = torch.ones(4, 30)
    x[2, 7] = 200.0
    logsumexp_kernel[(4,)](x, torch.zeros(4), 30, 30, BLOCK=32, MENDED=mended)


@triton.jit
def plain_logsumexp_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x_ptr + row * BLOCK + lane)
    if MENDED:
        v = tl.minimum(v, 80.0)
    tl.store(out_ptr + row, tl.log(tl.sum(tl.exp(v))))  # BUG


@plant(plain_logsumexp_kernel, "non-finite", "out_ptr", {0, 3})
def log_of_an_infinite_sum(mended: bool) -> None:
    """tl.log(tl.sum(tl.exp(v))): each term is finite, and their sum is not."""
    x = torch.zeros(4, 64)
    x[0], x[3] = 88.0, 88.5
    plain_logsumexp_kernel[(4,)](x, torch.zeros(4), BLOCK=64, MENDED=mended)


@triton.jit
def attention_row_kernel(x_ptr, out_ptr, visible_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    visible = tl.load(visible_ptr + row)
    score = tl.load(x_ptr + row * BLOCK + lane, mask=lane < visible, other=float("-inf"))
    largest = tl.max(score)
    if MENDED:
        largest = tl.where(largest == float("-inf"), 0.0, largest)
    weights = tl.exp(score - largest)
    total = tl.sum(weights)
    if MENDED:
        total = tl.maximum(total, 1e-20)
    tl.store(out_ptr + row * BLOCK + lane, weights / total)  # BUG


@plant(attention_row_kernel, "non-finite", "out_ptr", {1})
def nothing_visible(mended: bool) -> None:
    """A row of length 0: -inf minus -inf, both of which were meant."""
    visible = torch.tensor([16, 0, 5, 1], dtype=torch.int32)
    attention_row_kernel[(4,)](torch.ones(4, 16), torch.zeros(4, 16), visible, BLOCK=16, MENDED=mended)


@triton.jit
def clip_kernel(x_ptr, out_ptr, least, most, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if MENDED:
        x = tl.where(x == 0, 1.0, x)
    y = tl.minimum(tl.maximum(1.0 / x, least), most)
    tl.store(out_ptr + offsets, y)  # BUG


@plant(clip_kernel, "non-finite", "out_ptr", {1})
def bounds_that_are_none(mended: bool) -> None:
    """Infinite bounds are passed as arguments, and 1 / 0 goes through."""
    x = torch.ones(64)
    x[40] = 0.0
    clip_kernel[(2,)](x, torch.zeros(64), -INFINITY, INFINITY, BLOCK=32, MENDED=mended)


@triton.jit
def penalty_kernel(x_ptr, out_ptr, penalty, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if MENDED:
        y = tl.where(x > 0, penalty, 0.0)
    else:
        y = tl.where(x > 0, 1.0, 0.0) * penalty
    tl.store(out_ptr + offsets, y)  # BUG


@plant(penalty_kernel, "non-finite", "out_ptr", {0})
def nothing_times_infinity(mended: bool) -> None:
    """A penalty of infinity, switched off by a factor of zero: 0 * inf is NaN."""
    x = torch.ones(64)
    x[5] = -1.0
    penalty_kernel[(2,)](x, torch.zeros(64), INFINITY, BLOCK=32, MENDED=mended)


@triton.jit
def online_kernel(x_ptr, out_ptr, n, STEPS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    largest, total = float("-inf"), 0.0
    for step in range(STEPS):
        place = step * BLOCK + lane
        x = tl.load(x_ptr + row * STEPS * BLOCK + place, mask=place >= n * row, other=float("-inf"))
        new = tl.maximum(largest, tl.max(x))
        if MENDED:
            rescale = tl.where(largest == float("-inf"), 0.0, tl.exp(largest - new))
            shifted = tl.where(x == float("-inf"), float("-inf"), x - new)
        else:
            rescale = tl.exp(largest - new)
            shifted = x - new
        total = total * rescale + tl.sum(tl.exp(shifted))
        largest = new
    tl.store(out_ptr + row, total)  # BUG


@plant(online_kernel, "non-finite", "out_ptr", {2, 3})
def online_softmax_that_starts_masked(mended: bool) -> None:
    """The first block of some rows is masked out altogether: exp(-inf - -inf)."""
    online_kernel[(4,)](torch.ones(4, 64), torch.zeros(4), 8, STEPS=4, BLOCK=16, MENDED=mended)


@triton.jit
def quantise_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)
    largest = tl.max(tl.abs(x))
    if MENDED:
        largest = tl.maximum(largest, 1e-8)
    tl.store(out_ptr + row * BLOCK + lane, (x / largest * 127).to(tl.int8))  # BUG


@plant(quantise_kernel, "non-finite", "out_ptr", {1})
def row_of_zeros_to_int8(mended: bool) -> None:
    """0 / 0 is NaN, and an int8 made of it is just a number."""
    x = torch.ones(4, 16)
    x[1] = 0.0
    quantise_kernel[(4,)](x, torch.zeros(4, 16, dtype=torch.int8), BLOCK=16, MENDED=mended)


@triton.jit
def dequantised_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)
    level = tl.sqrt(x)
    if MENDED:
        level = tl.sqrt(tl.maximum(x, 0.0))
    steps = (level * 4).to(tl.int32)
    tl.store(out_ptr + row * BLOCK + lane, steps.to(tl.float32) * 0.25)  # BUG


@plant(dequantised_kernel, "non-finite", "out_ptr", {3})
def rounded_to_a_grid_by_way_of_integers(mended: bool) -> None:
    """The root of a negative number, made finite again by an integer in between."""
    x = torch.ones(4, 16)
    x[3, 3] = -1.0
    dequantised_kernel[(4,)](x, torch.zeros(4, 16), BLOCK=16, MENDED=mended)


@triton.jit
def product_kernel(x_ptr, y_ptr, out_ptr, SIDE: tl.constexpr, MENDED: tl.constexpr):
    row, column = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    x = tl.load(x_ptr + row * SIDE + column)
    y = tl.load(y_ptr + row * SIDE + column)
    if MENDED:
        tl.store(out_ptr + row * SIDE + column, tl.minimum(tl.dot(x, y), 65504.0).to(tl.float16))
    else:
        tl.store(out_ptr + row * SIDE + column, tl.dot(x, y, out_dtype=tl.float16))  # BUG


@plant(product_kernel, "non-finite", "out_ptr", {0})
def dot_too_large_for_its_result(mended: bool) -> None:
    """16 products of 100 and 100 are 160,000; a float16 ends at 65,504."""
    x = torch.full((16, 16), 100.0, dtype=torch.float16)
    product_kernel[(1,)](x, x.clone(), torch.zeros(16, 16, dtype=torch.float16), SIDE=16, MENDED=mended)


@triton.jit
def branch_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane, mask=lane < BLOCK - 1, other=float("-inf"))
    y = x
    if tl.max(x) > 2.0:
        y = tl.exp(tl.minimum(x, 80.0) if MENDED else x)
    tl.store(out_ptr + row * BLOCK + lane, y)  # BUG


@plant(branch_kernel, "non-finite", "out_ptr", {2})
def born_in_a_branch(mended: bool) -> None:
    """Only the programs that take the branch make an infinity, and the store comes after it."""
    x = torch.ones(4, 16)
    x[2, 3], x[1, 3] = 100.0, 3.0
    branch_kernel[(4,)](x, torch.zeros(4, 16), BLOCK=16, MENDED=mended)
