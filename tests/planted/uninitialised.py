"""Reads of memory that nobody wrote: `torch.empty` is not zeros."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

ALL = range(4)


@triton.jit
def accumulate_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, tl.load(out_ptr + offsets) + x)  # BUG


@plant(accumulate_kernel, "uninitialized", "out_ptr", ALL, shown=True)
def accumulate_into_empty(mended: bool) -> None:
    """The output is added to, so it should begin as zeros."""
    out = torch.zeros(128) if mended else torch.empty(128)
    accumulate_kernel[(4,)](torch.ones(128), out, BLOCK=32)


@triton.jit
def count_kernel(x_ptr, count_ptr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(count_ptr + program, tl.sum((x > 0).to(tl.int32)))  # BUG


@plant(count_kernel, "uninitialized", "count_ptr", ALL)
def atomic_into_empty(mended: bool) -> None:
    """An atomic addition reads, too."""
    counts = torch.zeros(4, dtype=torch.int32) if mended else torch.empty(4, dtype=torch.int32)
    count_kernel[(4,)](torch.ones(128), counts, BLOCK=32)


@triton.jit
def sum_rows_kernel(x_ptr, total_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + column, mask=column < columns, other=0.0)  # BUG
    tl.store(total_ptr + row, tl.sum(x))


@plant(sum_rows_kernel, "uninitialized", "x_ptr", ALL)
def padding_never_filled(mended: bool) -> None:
    """Rows of 30 in a buffer 40 wide: torch filled the 30, the kernel sums 40."""
    x = torch.empty(4, 40)
    x[:, :30] = 1.0
    sum_rows_kernel[(4,)](x, torch.zeros(4), 30 if mended else 40, 40, BLOCK=64)


@plant(sum_rows_kernel, "uninitialized", "x_ptr", {1})
def one_row_never_filled(mended: bool) -> None:
    """A loop in Python that skips a row."""
    x = torch.empty(4, 16)
    for row in range(4):
        if mended or row != 1:
            x[row] = float(row)
    sum_rows_kernel[(4,)](x, torch.zeros(4), 16, 16, BLOCK=16)


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)  # BUG
    tl.store(out_ptr + offsets, x * 2, mask=offsets < n)


@plant(double_kernel, "uninitialized", "x_ptr", {3})
def grid_rounded_down(mended: bool) -> None:
    """The first of two launches has n // 32 programs, so nobody writes the tail that the second reads."""
    x, middle, out = torch.ones(100), torch.empty(100), torch.empty(100)
    double_kernel[(4 if mended else 3,)](x, middle, 100, BLOCK=32)
    double_kernel[(4,)](middle, out, 100, BLOCK=32)


@triton.jit
def lower_triangle_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    mask = column <= row
    tl.store(out_ptr + row * n + column, tl.load(x_ptr + row * n + column, mask=mask), mask=mask)


@plant(sum_rows_kernel, "uninitialized", "x_ptr", range(7))
def upper_triangle(mended: bool) -> None:
    """Only the lower triangle was written, and whole rows are read: all but the last lack something."""
    x, lower = torch.ones(8, 8), torch.zeros(8, 8) if mended else torch.empty(8, 8)
    lower_triangle_kernel[(8,)](x, lower, 8, BLOCK=8)
    sum_rows_kernel[(8,)](lower, torch.zeros(8), 8, 8, BLOCK=8)


@triton.jit
def scratch_kernel(x_ptr, scratch_ptr, out_ptr, n, stored, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(scratch_ptr + offsets, x, mask=offsets < stored)
    tl.debug_barrier()
    back = tl.load(scratch_ptr + offsets, mask=offsets < n, other=0.0)  # BUG
    tl.store(out_ptr + offsets, back, mask=offsets < n)


@plant(scratch_kernel, "uninitialized", "scratch_ptr", {2, 3})
def scratch_half_written(mended: bool) -> None:
    """A program reads more of its scratch space than it has written."""
    scratch = torch.empty(100)
    scratch_kernel[(4,)](torch.ones(100), scratch, torch.empty(100), 100, 100 if mended else 70, BLOCK=32)


@triton.jit
def centre_kernel(x_ptr, mean_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK))
    if MENDED:
        tl.store(mean_ptr + row, tl.sum(x) / BLOCK)
        tl.debug_barrier()  # one thread has stored what all will load
    mean = tl.load(mean_ptr + row)  # BUG
    tl.store(out_ptr + row * BLOCK + tl.arange(0, BLOCK), x - mean)
    if not MENDED:
        tl.store(mean_ptr + row, tl.sum(x) / BLOCK)


@plant(centre_kernel, "uninitialized", "mean_ptr", ALL)
def read_before_write(mended: bool) -> None:
    """The mean is written, but after it was read."""
    centre_kernel[(4,)](torch.ones(4, 32), torch.empty(4), torch.empty(4, 32), BLOCK=32, MENDED=mended)


@triton.jit
def skip_kernel(skip_ptr, out_ptr):
    program = tl.program_id(0)
    if tl.load(skip_ptr + program) == 0:  # BUG
        tl.store(out_ptr + program, 1.0)


@plant(skip_kernel, "uninitialized", "skip_ptr", {2, 3})
def branch_on_garbage(mended: bool) -> None:
    """A branch on flags of which only half were set."""
    skip = torch.empty(4, dtype=torch.int32)
    skip[: 4 if mended else 2] = 0
    skip_kernel[(4,)](skip, torch.zeros(4))


@triton.jit
def magnitude_kernel(z_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    real = tl.load(z_ptr + 2 * offsets)
    imaginary = tl.load(z_ptr + 2 * offsets + 1)  # BUG
    tl.store(out_ptr + offsets, real * real + imaginary * imaginary)


@plant(magnitude_kernel, "uninitialized", "z_ptr", {0, 1})
def imaginary_parts(mended: bool) -> None:
    """Complex numbers of which only the real parts were set."""
    z = torch.empty(64, 2)
    z[:, 0] = 1.0
    if mended:
        z[:, 1] = 0.0
    magnitude_kernel[(2,)](z, torch.zeros(64), BLOCK=32)


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + offsets)
    tl.store(out_ptr + offsets, tl.load(x_ptr + index))  # BUG


@plant(gather_kernel, "uninitialized", "x_ptr", {1})
def gather_from_the_unwritten(mended: bool) -> None:
    """A table points at one place of a cache that has not been filled yet."""
    cache = torch.empty(100)
    cache[:64] = 1.0
    index = torch.arange(64)
    index[40] = 12 if mended else 77
    gather_kernel[(2,)](cache, index, torch.empty(64), BLOCK=32)
