"""Lengths, narrowed numbers, coordinates and products that wrap: not in the arithmetic of one offset."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.planted.plant import plant

BIG = 1 << 30


@triton.jit
def total_kernel(length_ptr, x_ptr, out_ptr, COUNT: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    length = tl.load(length_ptr + program * COUNT + tl.arange(0, COUNT))
    if MENDED:
        length = length.to(tl.int64)
    total = tl.sum(length)  # BUG
    x = tl.load(x_ptr + lane)
    tl.store(out_ptr + program * BLOCK + lane, x, mask=lane < total)


@plant(total_kernel, "overflow", "out_ptr", {1})
def sum_of_lengths_in_a_mask(mended: bool) -> None:
    """Two lengths of 2^30 are 2^31, which is negative: nothing is stored."""
    length = torch.ones(3, 4, dtype=torch.int32) * 8
    length[1] = BIG
    length[1, 2:] = 0
    total_kernel[(3,)](length, torch.ones(16), torch.zeros(48), COUNT=4, BLOCK=16, MENDED=mended)


@triton.jit
def starts_kernel(length_ptr, x_ptr, out_ptr, n, COUNT: tl.constexpr, MENDED: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, COUNT)
    length = tl.load(length_ptr + program * COUNT + lane)
    if MENDED:
        length = length.to(tl.int64)
    start = tl.cumsum(length, 0)  # BUG
    x = tl.load(x_ptr + start, mask=(start >= 0) & (start < n), other=0.0)
    tl.store(out_ptr + program * COUNT + lane, x)


@plant(starts_kernel, "overflow", "x_ptr", {1})
def running_sum_of_lengths(mended: bool) -> None:
    """Where each sequence begins: the fourth begins at 2^32, which wraps to 0."""
    length = torch.ones(2, 8, dtype=torch.int32)
    length[1, :4] = BIG
    starts_kernel[(2,)](length, torch.ones(64), torch.zeros(16), 64, COUNT=8, MENDED=mended)


@triton.jit
def backwards_kernel(length_ptr, x_ptr, out_ptr, n, COUNT: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, COUNT)
    length = tl.load(length_ptr + lane)
    if MENDED:
        length = length.to(tl.int64)
    left = tl.cumsum(length, 0, reverse=True)  # BUG
    x = tl.load(x_ptr + lane, mask=left < n, other=0.0)
    tl.store(out_ptr + lane, x)


@plant(backwards_kernel, "overflow", "x_ptr", {0})
def running_sum_from_the_end(mended: bool) -> None:
    """What is left from each sequence on."""
    length = torch.full((8,), BIG, dtype=torch.int32)
    backwards_kernel[(1,)](length, torch.ones(8), torch.zeros(8), 64, COUNT=8, MENDED=mended)


@triton.jit
def loop_kernel(length_ptr, out_ptr, COUNT: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    length = tl.load(length_ptr + program * COUNT + tl.arange(0, COUNT))
    if MENDED:
        length = length.to(tl.int64)
    total = tl.sum(length)  # BUG
    count = 0
    for _ in range(0, total, BIG_STEP):
        count += 1
    tl.store(out_ptr + program, count)


BIG_STEP = tl.constexpr(1 << 28)


@plant(loop_kernel, "overflow", None, {0, 2})
def loop_over_all_lengths(mended: bool) -> None:
    """The sum bounds a loop, which does not run at all."""
    length = torch.ones(3, 4, dtype=torch.int32)
    length[0], length[2] = BIG - 1, BIG - 2
    length[0, 3], length[2, 3] = 0, 0
    loop_kernel[(3,)](length, torch.zeros(3, dtype=torch.int32), COUNT=4, MENDED=mended)


@triton.jit
def narrowed_kernel(x_ptr, start_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    start = tl.load(start_ptr + program)
    if not MENDED:
        start = start.to(tl.int32)  # BUG
    offsets = start + lane
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + program * BLOCK + lane, x)


@plant(narrowed_kernel, "overflow", "x_ptr", {1, 3})
def offset_made_narrow(mended: bool) -> None:
    """A table of 64-bit offsets, each cut to 32 bits."""
    start = torch.tensor([0, 1 << 32, 16, (1 << 33) + 8])
    narrowed_kernel[(4,)](torch.ones(64), start, torch.zeros(64), 64, BLOCK=16, MENDED=mended)


@triton.jit
def narrowed_product_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    start = program.to(tl.int64) * stride
    if not MENDED:
        start = start.to(tl.int32)  # BUG
    x = tl.load(x_ptr + start + lane, mask=(start >= 0) & (start + lane < n), other=0.0)
    tl.store(out_ptr + program * BLOCK + lane, x)


@plant(narrowed_product_kernel, "overflow", "x_ptr", {2})
def product_made_narrow(mended: bool) -> None:
    """The product is computed in 64 bits as it should be, and thrown away."""
    narrowed_product_kernel[(3,)](torch.ones(64), torch.zeros(48), 64, 1 << 31 - 1, BLOCK=16, MENDED=mended)


@triton.jit
def narrowed_length_kernel(x_ptr, length_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    length = tl.load(length_ptr + program)
    if not MENDED:
        length = length.to(tl.int16)  # BUG
    x = tl.load(x_ptr + lane, mask=lane < length, other=0.0)
    tl.store(out_ptr + program * BLOCK + lane, x)


@plant(narrowed_length_kernel, "overflow", "x_ptr", {1})
def length_made_narrow(mended: bool) -> None:
    """A length of 40,000 does not fit int16: the mask lets nothing through."""
    length = torch.tensor([10, 40_000, 16], dtype=torch.int32)
    narrowed_length_kernel[(3,)](torch.ones(16), length, torch.zeros(48), BLOCK=16, MENDED=mended)


@triton.jit
def count_kernel(x_ptr, out_ptr, height, width, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MENDED:
        height = height.to(tl.int64)
    count = height * width  # BUG
    x = tl.load(x_ptr + lane % 32)
    tl.store(out_ptr + lane, x, mask=lane < count)


@plant(count_kernel, "overflow", "out_ptr", {0, 1})
def number_of_elements_in_a_mask(mended: bool) -> None:
    """The offsets are right, and what they are compared with has wrapped."""
    count_kernel[(2,)](torch.ones(32), torch.zeros(32), 65536, 40_000, BLOCK=16, MENDED=mended)


@triton.jit
def tile_kernel(x_desc, out_ptr, step, SIDE: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    row = program * SIDE if MENDED else program * step  # BUG
    x = x_desc.load([row, 0])
    place = tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    tl.store(out_ptr + program * SIDE * SIDE + place, x)


@plant(tile_kernel, "overflow", "x_desc", {2, 3, 4})
def coordinate_of_a_tile(mended: bool) -> None:
    """A coordinate is 32 bits wide: 2 and 3 times 2^30 are negative, and 4 times is row 0 again."""
    x = TensorDescriptor.from_tensor(torch.ones(64, 16), [16, 16])
    tile_kernel[(4,) if mended else (5,)](x, torch.zeros(5 * 256), BIG, SIDE=16, MENDED=mended)


@triton.jit
def made_here_kernel(x_ptr, out_ptr, rows, groups, SIDE: tl.constexpr, MENDED: tl.constexpr):
    if MENDED:
        extent = rows
    else:
        extent = rows * groups  # BUG
    x_desc = tl.make_tensor_descriptor(x_ptr, [extent, SIDE], [SIDE, 1], [SIDE, SIDE])
    x = x_desc.load([tl.program_id(0) * SIDE, 0])
    place = tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    tl.store(out_ptr + tl.program_id(0) * SIDE * SIDE + place, x)


@plant(made_here_kernel, "overflow", "x_ptr", {0, 1})
def extent_of_a_descriptor(mended: bool) -> None:
    """Rows times groups is the extent, and wraps to a negative one: all reads as zero."""
    made_here_kernel[(2,)](torch.ones(32, 16), torch.zeros(512), 32, 1 << 26, SIDE=16, MENDED=mended)


@triton.jit
def bytes_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    if MENDED:
        x = x.to(tl.int32)
    product = x * y  # BUG
    tl.store(out_ptr + offsets, product.to(tl.int32))


@plant(bytes_kernel, "overflow", None, {1})
def product_of_bytes(mended: bool) -> None:
    """12 times 11 is more than 127, and is made wide too late."""
    x, y = torch.full((32,), 11, dtype=torch.int8), torch.full((32,), 11, dtype=torch.int8)
    x[20] = 12
    bytes_kernel[(2,)](x, y, torch.zeros(32, dtype=torch.int32), BLOCK=16, MENDED=mended)


@plant(bytes_kernel, "overflow", None, {0})
def product_of_unsigned_bytes(mended: bool) -> None:
    """16 times 16 is 256; 15 times 17 is 255, and fits."""
    x, y = torch.full((32,), 15, dtype=torch.uint8), torch.full((32,), 17, dtype=torch.uint8)
    x[3], y[3] = 16, 16
    bytes_kernel[(2,)](x, y, torch.zeros(32, dtype=torch.int32), BLOCK=16, MENDED=mended)


@triton.jit
def scaled_kernel(x_ptr, y_ptr, scale, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    if MENDED:
        x, y = x.to(tl.float32), y.to(tl.float32)
    product = x * y  # BUG
    tl.store(out_ptr + offsets, product.to(tl.float32) * scale)


@plant(scaled_kernel, "overflow", None, {0, 1})
def product_of_int16_that_is_scaled(mended: bool) -> None:
    """200 times 200 is 40,000: beyond int16."""
    x = torch.full((32,), 200, dtype=torch.int16)
    scaled_kernel[(2,)](x, x.clone(), 0.5, torch.zeros(32), BLOCK=16, MENDED=mended)


@triton.jit
def dot_of_bytes_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + row * BLOCK + lane), tl.load(y_ptr + row * BLOCK + lane)
    if MENDED:
        x = x.to(tl.int32)
    products = x * y  # BUG
    tl.store(out_ptr + row, tl.sum(products))


@plant(dot_of_bytes_kernel, "overflow", None, {2})
def inner_product_of_bytes(mended: bool) -> None:
    """tl.sum adds in int32, but the products were int8."""
    x = torch.full((4, 16), 7, dtype=torch.int8)
    x[2, 5] = -100
    dot_of_bytes_kernel[(4,)](x, x.clone(), torch.zeros(4, dtype=torch.int32), BLOCK=16, MENDED=mended)


@triton.jit
def running_kernel(x_ptr, out_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.int32 if MENDED else tl.int8)
    for step in range(STEPS):
        total += tl.load(x_ptr + step * BLOCK + lane)  # BUG
    tl.store(out_ptr + lane, total.to(tl.int32))


@plant(running_kernel, "overflow", None, {0})
def sum_in_a_byte(mended: bool) -> None:
    """20 times 7 is 140."""
    x = torch.full((20, 16), 7, dtype=torch.int8)
    running_kernel[(1,)](x, torch.zeros(16, dtype=torch.int32), STEPS=20, BLOCK=16, MENDED=mended)


@triton.jit
def unclamped_kernel(x_ptr, out_ptr, scale, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    level = tl.load(x_ptr + offsets) * scale
    if MENDED:
        level = tl.clamp(level, -128.0, 127.0)
    tl.store(out_ptr + offsets, level.to(tl.int8))  # BUG


@plant(unclamped_kernel, "overflow", None, {1})
def quantised_without_a_clamp(mended: bool) -> None:
    """2 times 100 is no int8."""
    x = torch.ones(32)
    x[17] = 2.0
    unclamped_kernel[(2,)](x, torch.zeros(32, dtype=torch.int8), 100.0, BLOCK=16, MENDED=mended)


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)
    index = tl.load(index_ptr + row * BLOCK + lane)
    if MENDED:
        index = tl.minimum(tl.maximum(index, 0), BLOCK - 1)
    tl.store(out_ptr + row * BLOCK + lane, tl.gather(x, index, 0))  # BUG


@plant(gather_kernel, "out-of-bounds", None, {1, 3})
def gather_beyond_its_block(mended: bool) -> None:
    """tl.gather moves elements within one block; 16 and -1 are none of 16."""
    index = torch.arange(16, dtype=torch.int32).repeat(4).reshape(4, 16)
    index[1, 2], index[3, 0] = 16, -1
    gather_kernel[(4,)](torch.ones(4, 16), index, torch.zeros(4, 16), BLOCK=16, MENDED=mended)
