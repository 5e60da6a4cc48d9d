"""Address arithmetic that leaves int32. The mask is no help: it looks at the wrapped offset, too.

What is marked is the operation that wraps, which is where a cast to int64 belongs. All tensors here are small: the
wrapped offsets land inside them or are masked, so nothing else betrays the mistake.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

BIG = 65536


@triton.jit
def rows_kernel(x_ptr, out_ptr, n, row_stride, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row = tl.program_id(0) * 65536
    if MENDED:
        row = row.to(tl.int64)
    offsets = row * row_stride + tl.arange(0, BLOCK)  # BUG
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), x)


@plant(rows_kernel, "overflow", "x_ptr", {1, 2, 3}, shown=True)
def row_times_stride(mended: bool) -> None:
    """65,536 rows of 65,536 elements: 2^32 wraps to 0, and every program reads row 0."""
    rows_kernel[(4,)](torch.ones(64), torch.zeros(64), 64, BIG, BLOCK=16, MENDED=mended)


@triton.jit
def indexed_rows_kernel(x_ptr, index_ptr, out_ptr, n, row_stride, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    row = tl.load(index_ptr + program)
    if MENDED:
        row = row.to(tl.int64)
    start = row * row_stride  # BUG
    offsets = start + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + program * BLOCK + tl.arange(0, BLOCK), x)


@plant(indexed_rows_kernel, "overflow", "x_ptr", {2, 3})
def index_from_memory(mended: bool) -> None:
    """Row numbers from a table of int32: 40,000 and 70,000 times 65,536 are too much."""
    index = torch.tensor([0, 1, 40_000, 70_000], dtype=torch.int32)
    indexed_rows_kernel[(4,)](torch.ones(64), index, torch.zeros(64), 64, BIG, BLOCK=16, MENDED=mended)


@triton.jit
def far_base_kernel(x_ptr, out_ptr, n, base, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    if MENDED:
        base = base.to(tl.int64)
    start = base + program * 100_000_000  # BUG
    offsets = start + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + program * BLOCK + tl.arange(0, BLOCK), x + tl.load(x_ptr + tl.arange(0, BLOCK)))


@plant(far_base_kernel, "overflow", "x_ptr", {2, 3})
def sum_of_two(mended: bool) -> None:
    """Two offsets that fit, and a sum that does not."""
    far_base_kernel[(4,)](torch.ones(64), torch.zeros(64), 64, 2_000_000_000, BLOCK=16, MENDED=mended)


@triton.jit
def below_zero_kernel(x_ptr, out_ptr, n, base, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    if MENDED:
        base = base.to(tl.int64)
    start = base - program * 100_000_000  # BUG
    offsets = start + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + program * BLOCK + tl.arange(0, BLOCK), x + tl.load(x_ptr + tl.arange(0, BLOCK)))


@plant(below_zero_kernel, "overflow", "x_ptr", {2, 3})
def difference(mended: bool) -> None:
    """Below the least int32 the offset turns positive."""
    below_zero_kernel[(4,)](torch.ones(64), torch.zeros(64), 64, -2_000_000_000, BLOCK=16, MENDED=mended)


@triton.jit
def stepping_kernel(x_ptr, total_ptr, n, step, STEPS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MENDED:
        offsets = offsets.to(tl.int64)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for _ in range(STEPS):
        total += tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
        offsets += step  # BUG
    tl.store(total_ptr + tl.program_id(0), tl.sum(total))


@plant(stepping_kernel, "overflow", "x_ptr", {0, 1})
def carried_through_a_loop(mended: bool) -> None:
    """Steps of 2^29: the fourth leaves int32, the ninth would be back at the start."""
    stepping_kernel[(2,)](torch.ones(64), torch.zeros(2), 64, 2**29, STEPS=6, BLOCK=32, MENDED=mended)


@triton.jit
def lane_stride_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    if MENDED:
        lane = lane.to(tl.int64)
    offsets = lane * stride  # BUG
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), x)


@plant(lane_stride_kernel, "overflow", "x_ptr", {0, 1})
def lanes_far_apart(mended: bool) -> None:
    """The lanes of one block reach too far: 32 times 2^26 is 2^31."""
    lane_stride_kernel[(2,)](torch.ones(64), torch.zeros(128), 64, 2**26, BLOCK=64, MENDED=mended)


@triton.jit
def rows_and_columns_kernel(
    x_ptr, out_ptr, n, row_stride, ROWS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    if MENDED:
        row = row.to(tl.int64)
    starts = row[:, None] * row_stride  # BUG
    offsets = starts + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(x))


@plant(rows_and_columns_kernel, "overflow", "x_ptr", {1})
def second_block_of_rows(mended: bool) -> None:
    """Rows 0 to 15 of 2^27 elements each still fit; the second program's do not."""
    rows_and_columns_kernel[(2,)](torch.ones(64), torch.zeros(2), 64, 2**27, ROWS=16, BLOCK=16, MENDED=mended)


@triton.jit
def planes_kernel(x_ptr, out_ptr, n, height, width, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    image = tl.program_id(0)
    if MENDED:
        height = height.to(tl.int64)
    plane = height * width  # BUG
    offsets = image * plane + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + image * BLOCK + tl.arange(0, BLOCK), x)


@plant(planes_kernel, "overflow", "x_ptr", {0, 1, 2})
def product_of_sizes(mended: bool) -> None:
    """Height times width of the arguments alone is 2^32, in every program."""
    planes_kernel[(3,)](torch.ones(64), torch.zeros(48), 64, BIG, BIG, BLOCK=16, MENDED=mended)


@triton.jit
def shifted_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    page = program.to(tl.int64) if MENDED else program
    start = page << 30  # BUG
    offsets = start + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + program * BLOCK + tl.arange(0, BLOCK), x)


@plant(shifted_kernel, "overflow", "x_ptr", {2, 3})
def pages_by_shift(mended: bool) -> None:
    """Pages of 2^30 elements: page 2 begins at 2^31."""
    shifted_kernel[(4,)](torch.ones(64), torch.zeros(64), 64, BLOCK=16, MENDED=mended)


@triton.jit
def scatter_rows_kernel(x_ptr, out_ptr, n, row_stride, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK))
    row = program.to(tl.int64) if MENDED else program
    place = row * row_stride * 8  # BUG
    offsets = place + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, x, mask=(offsets >= 0) & (offsets < n))


@plant(scatter_rows_kernel, "overflow", "out_ptr", {1})
def store_that_is_lost(mended: bool) -> None:
    """A product of three: 2^28 still fits, 8 times that is 2^31. The store is lost instead of going there."""
    scatter_rows_kernel[(2,)](torch.ones(32), torch.zeros(16), 16, 2**28, BLOCK=16, MENDED=mended)
