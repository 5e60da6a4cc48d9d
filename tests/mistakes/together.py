"""Programs and lanes that get in each other's way."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.mistakes.mistake import box, mistake


@triton.jit
def label_kernel(out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * (BLOCK // 2)
    offsets = start + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.program_id(0), mask=offsets < n)  # BUG


@mistake(label_kernel, "race", "out_ptr", range(8, 32), {0, 1, 2, 3}, "comes last, out_ptr[8] is 1")
def overlapping_tiles() -> None:
    """The programs go on by half a block: each tile is stored by two of them."""
    out = torch.zeros(40, dtype=torch.int32)
    label_kernel[(4,)](out, 40, BLOCK=16)


@triton.jit
def total_kernel(x_ptr, sum_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + offsets))
    tl.store(sum_ptr, tl.load(sum_ptr) + total)  # BUG


@mistake(total_kernel, "race", "sum_ptr", [0], {0, 1, 2, 3}, "comes last, sum_ptr[0] is")
def sum_without_an_atomic() -> None:
    """Load, add, store: another program may come in between."""
    x, total = torch.arange(128.0), torch.zeros(1)
    total_kernel[(4,)](x, total, BLOCK=32)


@triton.jit
def running_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    total = tl.sum(tl.load(x_ptr + p * BLOCK + tl.arange(0, BLOCK)))
    before = tl.load(out_ptr + p - 1, mask=p > 0, other=0.0)  # BUG
    tl.store(out_ptr + p, before + total)  # BUG


@mistake(running_kernel, "race", "out_ptr", range(3), {0, 1, 2, 3}, "out_ptr[")
def program_before_is_not_done() -> None:
    """A running sum that waits for nobody."""
    x, out = torch.arange(64.0), torch.zeros(4)
    running_kernel[(4,)](x, out, BLOCK=16)


@triton.jit
def shift_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)  # BUG
    tl.store(x_ptr + offsets, x, mask=offsets < n)  # BUG


@mistake(shift_kernel, "race", "x_ptr", [16, 32, 48], {0, 1, 2, 3}, "x_ptr[16]")
def shifted_in_place() -> None:
    """Input and output are one tensor: at each border it is chance who comes first."""
    x = torch.arange(64.0)
    shift_kernel[(4,)](x, 64, BLOCK=16)


@triton.jit
def transpose_kernel(x_ptr, out_ptr, size, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + row * size + column)
    tl.store(out_ptr + row + column, x)  # BUG


# Of the sums of a row and a column, 0 to 14, only the first and the last belong to one lane of a program: row + column
# is 0 to 6 in the first program, 4 to 10 in the next two, 8 to 14 in the last. In 4 to 10 programs meet, too,
# which the picture marks as races.
@mistake(
    transpose_kernel, "lane-collision", "out_ptr", box([0], range(1, 4)) + box([1], range(3, 6)), None, "out_ptr[0, 1]"
)
def stride_forgotten() -> None:
    """`row + column` for `column * size + row`: the tiles fall on each other."""
    x, out = torch.randn(8, 8), torch.zeros(8, 8)
    transpose_kernel[(2, 2)](x, out, 8, BLOCK=4)


@triton.jit
def histogram_kernel(x_ptr, count_ptr, BLOCK: tl.constexpr):
    bins = tl.load(x_ptr + tl.arange(0, BLOCK))
    counts = tl.load(count_ptr + bins)
    tl.store(count_ptr + bins, counts + tl.arange(0, BLOCK))  # BUG


@mistake(histogram_kernel, "lane-collision", "count_ptr", [2, 5], {0}, "count_ptr[")
def two_lanes_one_bin() -> None:
    """Several lanes of one block store to one element, each its own number; one of them stays."""
    x = torch.tensor([0, 2, 5, 2, 5, 5, 1, 7])
    counts = torch.zeros(8, dtype=torch.int64)
    histogram_kernel[(1,)](x, counts, BLOCK=8)


@triton.jit
def locked_kernel(x_ptr, lock_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:  # BUG
        pass
    tl.store(x_ptr, tl.load(x_ptr) + 1)


@mistake(locked_kernel, "deadlock", "lock_ptr", [0], {1, 2}, "wait for lock_ptr[0]")
def lock_never_released() -> None:
    """The first program takes the lock and keeps it."""
    x, lock = torch.zeros(1), torch.zeros(1, dtype=torch.int32)
    locked_kernel[(3,)](x, lock)
