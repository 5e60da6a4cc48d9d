"""Mistakes in kernels whose values come through control flow: functions of lanes, loops, helpers, choices."""

from __future__ import annotations

import ctypes
import functools

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def clipped(x):
    if x > 7:
        return x * 0 + 7
    return x


@triton.jit
def halved(x):
    steps = 0
    while x > 1:
        x = x // 2
        steps += 1
    return steps


@triton.jit
def ordered(a, b):
    if a > b:
        return b, a
    return a, b


@triton.jit
def clipped_gather_kernel(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at = tl.map_elementwise(clipped, tl.load(index_ptr + lane))
    if not MENDED:
        at += 1
    tl.store(out_ptr + lane, tl.load(x_ptr + at))  # BUG


@plant(clipped_gather_kernel, "out-of-bounds", "x_ptr", {0})
def one_after_the_clip(mended: bool) -> None:
    """The branch keeps indices below 8, and then one is added."""
    index = torch.arange(16, dtype=torch.int32)
    clipped_gather_kernel[(1,)](torch.ones(8), index, torch.zeros(16), BLOCK=16, MENDED=mended)


@triton.jit
def clipped_scatter_kernel(out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    row = tl.map_elementwise(clipped, lane * 0 + program + 6)
    if MENDED:
        row = lane * 0 + program + 6
    tl.store(out_ptr + row * BLOCK + lane, program)  # BUG


@plant(clipped_scatter_kernel, "race", "out_ptr", {1, 2, 3})
def rows_that_a_branch_makes_equal(mended: bool) -> None:
    """Rows 7, 8 and 9 are all clipped to 7: three programs store there."""
    clipped_scatter_kernel[(4,)](torch.zeros(10, 16, dtype=torch.int32), BLOCK=16, MENDED=mended)


@triton.jit
def mapped_reciprocal_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    steps = tl.map_elementwise(halved, tl.load(x_ptr + lane)).to(tl.float32)
    if MENDED:
        steps += 1
    tl.store(out_ptr + lane, 1 / steps)  # BUG


@plant(mapped_reciprocal_kernel, "non-finite", "out_ptr", {0})
def one_over_no_steps(mended: bool) -> None:
    """The loop of a lane that holds 0 or 1 never runs, and one over its steps is infinite."""
    mapped_reciprocal_kernel[(1,)](torch.arange(16, dtype=torch.int32), torch.zeros(16), BLOCK=16, MENDED=mended)


@triton.jit
def sorted_pair_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    low, high = tl.map_elementwise(ordered, tl.load(x_ptr + lane), tl.load(y_ptr + lane))  # BUG
    tl.store(out_ptr + lane, high - low)


@plant(sorted_pair_kernel, "uninitialized", "y_ptr", {0})
def second_operand_of_a_map(mended: bool) -> None:
    """Both operands go through the branch, and nobody has written one of them."""
    y = torch.empty(16, dtype=torch.int32)
    sorted_pair_kernel[(1,)](
        torch.ones(16, dtype=torch.int32), y.zero_() if mended else y, torch.zeros(16, dtype=torch.int32), BLOCK=16
    )


@triton.jit
def mapped_rows_kernel(x_ptr, out_ptr, n, row_stride, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    weight = tl.map_elementwise(clipped, lane)
    row = tl.program_id(0)
    if MENDED:
        row = row.to(tl.int64)
    start = row * row_stride  # BUG
    offsets = start + lane
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + lane, x * weight)


@plant(mapped_rows_kernel, "overflow", "x_ptr", {2, 3})
def product_beside_a_map(mended: bool) -> None:
    """A branch elsewhere in the kernel does not hide that 2 times 2^30 leaves int32."""
    mapped_rows_kernel[(4,)](torch.ones(64), torch.zeros(64), 64, 1 << 30, BLOCK=16, MENDED=mended)


@triton.jit
def chosen_stride_kernel(x_ptr, flag_ptr, n, small, large, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    if tl.load(flag_ptr) > 0:
        stride = large
    else:
        stride = small
    row = program.to(tl.int64) if MENDED else program
    offsets = row * stride + tl.arange(0, BLOCK)  # BUG
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + program * BLOCK + tl.arange(0, BLOCK), x)


@plant(chosen_stride_kernel, "overflow", "x_ptr", {2, 3})
def stride_from_a_branch(mended: bool) -> None:
    """Which stride it is depends on memory; the large one is too large for int32."""
    flag = torch.ones(1, dtype=torch.int32)
    chosen_stride_kernel[(4,)](torch.ones(64), flag, 64, 16, 1 << 30, torch.zeros(64), BLOCK=16, MENDED=mended)


@triton.jit
def doubling_kernel(x_ptr, out_ptr, n, rounds, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    stride = tl.program_id(0) + 1
    if MENDED:
        stride = stride.to(tl.int64)
    step = 0
    while step < rounds:
        stride = stride * 2  # BUG
        step += 1
    offsets = stride + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), x + tl.load(x_ptr + tl.arange(0, BLOCK)))


@plant(doubling_kernel, "overflow", "x_ptr", {1, 2})
def doubled_in_a_while_loop(mended: bool) -> None:
    """Doubled 30 times, 1 still fits; 2 and 3 do not."""
    doubling_kernel[(3,)](torch.ones(64), torch.zeros(64), 64, 30, BLOCK=16, MENDED=mended)


@triton.jit(noinline=True)
def row_start(row, stride):
    if row == 0:
        return row * 0
    return row * stride  # BUG


@triton.jit
def helped_kernel(x_ptr, out_ptr, n, row_stride, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row = tl.program_id(0)
    if MENDED:
        row = row.to(tl.int64)
    start = row_start(row, row_stride)
    offsets = start + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), x)


@plant(row_start, "overflow", "x_ptr", {2, 3})
def product_in_a_helper_that_returns_early(mended: bool) -> None:
    """The helper is a function of its own, with two ends."""
    helped_kernel[(4,)](torch.ones(64), torch.zeros(64), 64, 1 << 30, BLOCK=16, MENDED=mended)


@triton.jit
def either_kernel(x_ptr, y_ptr, out_ptr, flag, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    source = x_ptr
    for _ in range(2):
        if flag > 0:
            source = y_ptr
    shift = 0 if MENDED else 4
    tl.store(out_ptr + lane, tl.load(source + lane + shift))  # BUG


@plant(either_kernel, "out-of-bounds", "y_ptr", {0})
def pointer_carried_round_a_loop(mended: bool) -> None:
    """The pointer may be either argument; it is the second that is left."""
    either_kernel[(1,)](torch.ones(64), torch.ones(16), torch.zeros(16), 1, BLOCK=16, MENDED=mended)


@triton.jit
def before_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = at if MENDED else at - 1
    tl.store(out_ptr + at, tl.load(x_ptr + left))  # BUG


@plant(before_kernel, "out-of-bounds", "x_ptr", {0})
def left_neighbour_of_the_first(mended: bool) -> None:
    """Element -1: only the first program leaves the storage, at its beginning."""
    before_kernel[(4,)](torch.ones(64), torch.zeros(64), BLOCK=16, MENDED=mended)


@triton.jit
def count_kernel(count_ptr, value_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    value = tl.load(value_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    if MENDED:
        value = value % 8
    tl.atomic_add(count_ptr + value, 1)  # BUG


@plant(count_kernel, "out-of-bounds", "count_ptr", {1})
def atomic_without_a_mask(mended: bool) -> None:
    """A value above the greatest bin, and no mask that could stop it."""
    values = torch.arange(32, dtype=torch.int32) // 2
    values[:16] = 3
    count_kernel[(2,)](torch.zeros(8, dtype=torch.int32), values, BLOCK=16, MENDED=mended)


class Bare:
    """An object that knows an address and keeps nothing alive."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.dtype, self.address = tensor.dtype, tensor.data_ptr()

    def data_ptr(self) -> int:
        return self.address


@triton.jit
def bare_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.load(x_ptr + lane))  # BUG


@functools.cache
def storage_that_stays() -> ctypes.Array[ctypes.c_float]:
    """Stands for memory that malloc keeps: one address, which findings name, however often the kernel is run."""
    return (ctypes.c_float * 4096)(*[1.0] * 4096)


@plant(bare_kernel, "unverified", "x_ptr", {0})
def address_of_what_is_gone(mended: bool) -> None:
    """The tensor that the address was taken from is no longer alive; its memory is still mapped."""
    tensor = torch.frombuffer(storage_that_stays(), dtype=torch.float32)
    bare = Bare(tensor)
    if not mended:
        del tensor
    bare_kernel[(1,)](bare, torch.zeros(16), BLOCK=16)
