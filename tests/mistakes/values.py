"""Numbers that are not what they were meant to be."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.mistakes.mistake import box, mistake


@triton.jit
def add_into_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    so_far = tl.load(out_ptr + offsets)  # BUG
    tl.store(out_ptr + offsets, so_far + tl.load(x_ptr + offsets))


@mistake(add_into_kernel, "uninitialized", "out_ptr", range(64), {0, 1, 2, 3}, "torch.zeros")
def added_to_empty() -> None:
    """`torch.empty` is not zeros."""
    x, out = torch.randn(64), torch.empty(64)
    add_into_kernel[(4,)](x, out, BLOCK=16)


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)  # BUG


@mistake(double_kernel, "small-grid", "out_ptr", range(96, 100), None, "the grid has 3 programs")
def grid_too_small() -> None:
    """`n // BLOCK` programs: the last four elements belong to nobody."""
    x, out = torch.randn(100), torch.empty(100)
    double_kernel[(100 // 32,)](x, out, 100, BLOCK=32)


@triton.jit
def mean_kernel(x_ptr, out_ptr, n, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * COLUMNS + column, mask=column < n)
    tl.store(out_ptr + row, tl.sum(1 / x) / n)  # BUG


@mistake(mean_kernel, "non-finite", "out_ptr", range(4), {0, 1, 2, 3}, "Guard the division")
def missing_other() -> None:
    """Masked lanes hold 0 here, and anything on a GPU; 1 / 0 is infinite, and the sum has it."""
    x, out = torch.rand(4, 20) + 1, torch.zeros(4)
    mean_kernel[(4,)](x, out, 20, COLUMNS=20, BLOCK=32)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    e = tl.exp(tl.load(x_ptr + row * BLOCK + column))
    tl.store(out_ptr + row * BLOCK + column, e / tl.sum(e))  # BUG


@mistake(softmax_kernel, "non-finite", "out_ptr", [(2, 3)], {2}, "subtract the maximum")
def softmax_without_the_maximum() -> None:
    """exp(100) is infinite in float32, and infinite by infinite is NaN."""
    x, out = torch.randn(4, 16), torch.zeros(4, 16)
    x[2, 3] = 100.0
    softmax_kernel[(4,)](x, out, BLOCK=16)


@triton.jit
def ratio_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask, other=1.0)
    tl.store(out_ptr + offsets, x / y, mask=mask)  # BUG


@mistake(ratio_kernel, "non-finite", "out_ptr", [5, 17, 39], {0, 1, 2}, "stores NaN to out_ptr[5]")
def zero_by_zero() -> None:
    """Three elements of both are zero."""
    x, y, out = torch.ones(40), torch.ones(40), torch.zeros(40)
    x[[5, 17, 39]], y[[5, 17, 39]] = 0.0, 0.0
    ratio_kernel[(3,)](x, y, out, 40, BLOCK=16)


@triton.jit
def square_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x * x)  # BUG


@mistake(square_kernel, "non-finite", "out_ptr", [7, 30], {0, 1}, "stores inf to out_ptr[7]")
def too_large_for_float16() -> None:
    """300 times 300 is 90,000, and the largest float16 is 65,504."""
    x, out = torch.ones(32, dtype=torch.float16), torch.zeros(32, dtype=torch.float16)
    x[[7, 30]] = 300.0
    square_kernel[(2,)](x, out, BLOCK=16)


@triton.jit
def far_rows_kernel(x_ptr, out_ptr, n, row_stride, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    offsets = tl.program_id(0) * 65536 * row_stride + lanes  # BUG
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + lanes, x)


@mistake(far_rows_kernel, "overflow", "x_ptr", range(16), {1, 2, 3}, "int64")
def address_past_int32() -> None:
    """Rows 65,536 apart, of 65,536 elements each: 2^32 wraps to 0, and every program reads row 0."""
    x, out = torch.ones(64), torch.zeros(64)
    far_rows_kernel[(4,)](x, out, 64, 65536, BLOCK=16)


@triton.jit
def sum_kernel(x_ptr, out_ptr, COLUMNS: tl.constexpr, STEPS: tl.constexpr):
    total = tl.zeros((COLUMNS,), tl.float16)
    for step in range(STEPS):
        total += tl.load(x_ptr + step * COLUMNS + tl.arange(0, COLUMNS))  # BUG
    tl.store(out_ptr + tl.arange(0, COLUMNS), total)


@mistake(
    sum_kernel,
    "lost-precision",
    places=range(8),
    programs={0},
    says="adds up 4,096 terms in float16 and gets 2048",
    ends="out_ptr",
)
def accumulator_in_float16() -> None:
    """From 2,048 on float16 has no odd numbers: adding 1 changes nothing."""
    x, out = torch.ones(4096, 8, dtype=torch.float16), torch.zeros(8, dtype=torch.float16)
    sum_kernel[(1,)](x, out, COLUMNS=8, STEPS=4096)


@triton.jit
def counts_kernel(x_ptr, out_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.int16)
    for step in range(STEPS):
        total += tl.load(x_ptr + step * BLOCK + lanes)  # BUG
    tl.store(out_ptr + lanes, total)


@mistake(counts_kernel, "overflow", places=[2, 5], programs={0}, says="does not fit int16", ends="out_ptr")
def sum_in_int16() -> None:
    """Two of eight columns add up to more than 32,767, and come out below zero."""
    x, out = torch.ones(16, 8, dtype=torch.int16), torch.zeros(8, dtype=torch.int16)
    x[:, [2, 5]] = 2100
    counts_kernel[(1,)](x, out, STEPS=16, BLOCK=8)


@triton.jit
def column_kernel(x_ptr, out_ptr, COLUMNS: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + row * COLUMNS + column)  # BUG
    tl.store(out_ptr + row * COLUMNS + column, x + 1)


# Elements 0 to 15 of memory are read: the first two rows of the view, and what lies between them.
@mistake(column_kernel, "assumed-contiguous", "x_ptr", box(range(2), range(4)), says="x_ptr")
def every_other_column() -> None:
    """A view that is not contiguous, read as if it were: every other number belongs to another tensor."""
    x, out = torch.randn(4, 8)[:, ::2], torch.zeros(4, 4)
    column_kernel[(4,)](x, out, COLUMNS=4)


@triton.jit
def average_kernel(x_ptr, out_ptr, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * COLUMNS + tl.arange(0, COLUMNS))
    tl.store(out_ptr + row, tl.sum(x) / COLUMNS)  # BUG


@mistake(average_kernel, "lossy-store", "out_ptr", [1, 3], {1, 3}, "here float32 to int64, and cuts off the fraction")
def output_of_integers() -> None:
    """The means of integers are none, and the output was made with the dtype of the input."""
    x = torch.tensor([2, 5, 4, 1]).repeat_interleave(8).reshape(4, 8)
    x[1::2, 0] = 3
    average_kernel[(4,)](x, torch.zeros_like(x[:, 0]).contiguous(), COLUMNS=8)


@triton.jit
def maximum_kernel(x_ptr, out_ptr, n, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * COLUMNS + column, mask=column < n)  # BUG
    tl.store(out_ptr + row, tl.max(x))


@mistake(maximum_kernel, "undefined", "out_ptr", range(4), {0, 1, 2, 3}, 'other=float("-inf") for a maximum')
def maximum_of_padding() -> None:
    """All numbers are below zero, and zero is what masked lanes hold here."""
    x, out = -1 - torch.rand(4, 20), torch.zeros(4)
    maximum_kernel[(4,)](x, out, 20, COLUMNS=20, BLOCK=32)
