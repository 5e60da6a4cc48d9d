"""Sums that lose what is added to them: many terms in float16 and bfloat16, counters that stand still."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def columns_kernel(x_ptr, out_ptr, rows, TYPE: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=TYPE)
    for row in range(rows):
        total += tl.load(x_ptr + row * 2 * BLOCK + column)  # BUG
    tl.store(out_ptr + column, total)


def columns(type: torch.dtype, mended: bool, wide: tl.dtype, narrow: tl.dtype) -> None:
    x = torch.full((600, 32), 0.75, dtype=type)
    columns_kernel[(2,)](x, torch.zeros(32, dtype=type), 600, TYPE=wide if mended else narrow, BLOCK=16)


@plant(columns_kernel, "lost-precision", None, {0, 1})
def column_sums_in_bfloat16(mended: bool) -> None:
    """600 times 0.75 is 450; a bfloat16 gets no further than 128 by steps of 0.75."""
    columns(torch.bfloat16, mended, tl.float32, tl.bfloat16)


@plant(columns_kernel, "lost-precision", None, {0, 1})
def column_sums_in_float16(mended: bool) -> None:
    """0.3 is rounded up by 2e-5 each time it is added."""
    x = torch.full((600, 32), 0.3, dtype=torch.float16)
    type = tl.float32 if mended else tl.float16
    columns_kernel[(2,)](x, torch.zeros(32, dtype=torch.float16), 600, TYPE=type, BLOCK=16)


@triton.jit
def rounded_each_time_kernel(x_ptr, out_ptr, rows, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32 if MENDED else tl.bfloat16)
    for row in range(rows):
        x = tl.load(x_ptr + row * 2 * BLOCK + column).to(tl.float32)
        if MENDED:
            total += x
        else:
            total = (total.to(tl.float32) + x).to(tl.bfloat16)  # BUG
    tl.store(out_ptr + column, total)


@plant(rounded_each_time_kernel, "lost-precision", None, {1})
def added_in_float32_and_rounded_each_time(mended: bool) -> None:
    """The addition is in float32, and what the loop carries is not."""
    x = torch.zeros(400, 32, dtype=torch.bfloat16)
    x[:, 16:] = 1.0
    rounded_each_time_kernel[(2,)](x, torch.zeros(32), 400, BLOCK=16, MENDED=mended)


@triton.jit
def dots_kernel(x_ptr, y_ptr, out_ptr, DEPTH: tl.constexpr, SIDE: tl.constexpr, TYPE: tl.constexpr):
    row, column = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    total = tl.zeros((SIDE, SIDE), dtype=TYPE)
    for start in range(0, DEPTH, SIDE):
        x = tl.load(x_ptr + row * DEPTH + start + column)
        y = tl.load(y_ptr + (start + row) * SIDE + column)
        total = tl.dot(x, y, total, out_dtype=TYPE)  # BUG
    tl.store(out_ptr + row * SIDE + column, total)


@plant(dots_kernel, "lost-precision", None, {0})
def matmul_accumulated_in_float16(mended: bool) -> None:
    """4096 terms, with a float16 accumulator."""
    x = torch.full((16, 4096), 0.3, dtype=torch.float16)
    type = tl.float32 if mended else tl.float16
    dots_kernel[(1,)](x, x.reshape(4096, 16), torch.zeros(16, 16), DEPTH=4096, SIDE=16, TYPE=type)


@triton.jit
def mean_kernel(x_ptr, out_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros((), dtype=tl.float32 if MENDED else tl.bfloat16)
    for step in range(STEPS):
        x = tl.load(x_ptr + (program * STEPS + step) * BLOCK + lane)
        total += tl.sum(x).to(total.dtype)  # BUG
    tl.store(out_ptr + program, total.to(tl.float32) / (STEPS * BLOCK))


@plant(mean_kernel, "lost-precision", None, {0})
def mean_of_block_sums(mended: bool) -> None:
    """Each block is summed as it should be, and the sums are added in bfloat16."""
    x = torch.ones(2, 400, 16, dtype=torch.bfloat16)
    x[1] = 0.0
    mean_kernel[(2,)](x, torch.zeros(2), STEPS=400, BLOCK=16, MENDED=mended)


@triton.jit
def decayed_kernel(x_ptr, out_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32 if MENDED else tl.bfloat16)
    for step in range(STEPS):
        x = tl.load(x_ptr + step * BLOCK + lane).to(total.dtype)
        total = total * 0.9990234375 + x  # BUG
    tl.store(out_ptr + lane, total.to(tl.float32))


@plant(decayed_kernel, "lost-precision", None, {0})
def decay_in_bfloat16(mended: bool) -> None:
    """A running average: a factor of 1023/1024 is 1 in bfloat16, and more than a sum is lost."""
    decayed_kernel[(1,)](torch.ones(900, 16), torch.zeros(16), STEPS=900, BLOCK=16, MENDED=mended)


@triton.jit
def tally_kernel(x_ptr, out_ptr, STEPS: tl.constexpr, TYPE: tl.constexpr):
    program = tl.program_id(0)
    count = tl.zeros((), dtype=TYPE)
    for step in range(STEPS):
        if tl.load(x_ptr + program * STEPS + step) > 0:
            count += 1  # BUG
    tl.store(out_ptr + program, count)


@plant(tally_kernel, "lost-precision", None, {2})
def tally_in_bfloat16(mended: bool) -> None:
    """256 + 1 is 256."""
    x = torch.zeros(3, 300)
    x[0, :100], x[1, :250], x[2] = 1.0, 1.0, 1.0
    tally_kernel[(3,)](x, torch.zeros(3), STEPS=300, TYPE=tl.int32 if mended else tl.bfloat16)


@triton.jit
def ticks_kernel(out_ptr, start, steps, MENDED: tl.constexpr):
    tick = start.to(tl.int64) if MENDED else start.to(tl.float32)
    for _ in range(steps):
        tick += 1  # BUG
    tl.store(out_ptr, tick.to(tl.int64))


@plant(ticks_kernel, "lost-precision", None, {0})
def ticks_in_float32(mended: bool) -> None:
    """Beyond 2^24 a float32 cannot count."""
    ticks_kernel[(1,)](torch.zeros(1, dtype=torch.int64), (1 << 24) - 3, 20, MENDED=mended)


@triton.jit
def histogram_kernel(x_ptr, count_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    place = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    one = 1 if MENDED else 1.0
    tl.atomic_add(count_ptr + place, one, sem="relaxed")  # BUG


@plant(histogram_kernel, "lost-precision", "count_ptr", None)
def histogram_in_bfloat16(mended: bool) -> None:
    """The counts of 400 values in memory that holds bfloat16."""
    count = torch.zeros(4, dtype=torch.int32 if mended else torch.bfloat16)
    x = torch.zeros(800, dtype=torch.int32)
    x[::2] = 3
    histogram_kernel[(50,)](x, count, BLOCK=16, MENDED=mended)


@triton.jit
def gradient_kernel(x_ptr, out_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)
    tl.atomic_add(out_ptr + lane, x.to(out_ptr.dtype.element_ty), sem="relaxed")  # BUG


@plant(gradient_kernel, "lost-precision", "out_ptr", None)
def gradients_added_in_float16(mended: bool) -> None:
    """The gradient of a bias: 900 rows, each added atomically to float16."""
    out = torch.zeros(16, dtype=torch.float32 if mended else torch.float16)
    gradient_kernel[(900,)](torch.full((900, 16), 0.3), out, ROWS=900, BLOCK=16)
