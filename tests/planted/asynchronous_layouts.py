"""Gluon kernels whose layouts, registers, boxes or barriers cost time, or are not what was meant."""

from __future__ import annotations

import torch
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import mma_v2
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from tests.planted.plant import plant

# Triton 3.7 renamed the copies.
load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global

LINE = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
ROWS = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))
COLUMNS = gl.constexpr(gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
SWIZZLED = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 32, [1, 0]))
SUM = gl.constexpr(gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16]))


def described(x: torch.Tensor) -> TensorDescriptor:
    return TensorDescriptor.from_tensor(x, [128], gl.NVMMASharedLayout.get_default_for([128], gl.float32))


@gluon.jit
def turned_kernel(x_ptr, y_ptr, MENDED: tl.constexpr):
    rows = gl.arange(0, 32, gl.SliceLayout(1, ROWS))[:, None] * 32 + gl.arange(0, 32, gl.SliceLayout(0, ROWS))[None, :]
    down = gl.arange(0, 32, gl.SliceLayout(1, COLUMNS))[:, None]
    across = gl.arange(0, 32, gl.SliceLayout(0, COLUMNS))[None, :]
    layout: gl.constexpr = SWIZZLED if MENDED else PLAIN
    buffer = gl.allocate_shared_memory(gl.float32, [32, 32], layout)
    buffer.store(gl.load(x_ptr + rows))
    gl.store(y_ptr + across * 32 + down, buffer.load(COLUMNS))  # BUG


@plant(turned_kernel, "bank-conflicts")
def columns_of_plain_rows(mended: bool) -> None:
    """A warp reads a column of a tile whose rows all begin in the same bank."""
    turned_kernel[(1,)](torch.randn(32, 32), torch.zeros(32, 32), MENDED=mended)


@gluon.jit
def operand_kernel(x_ptr, y_ptr, MENDED: tl.constexpr):
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    rows = gl.arange(0, 64, gl.SliceLayout(1, wide))[:, None] * 64 + gl.arange(0, 64, gl.SliceLayout(0, wide))[None, :]
    down = gl.arange(0, 64, gl.SliceLayout(1, mma))[:, None]
    swizzled: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    layout: gl.constexpr = swizzled if MENDED else PLAIN
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], layout, gl.load(x_ptr + rows))
    left = tile.load(gl.DotOperandLayout(0, mma, 2))  # BUG
    right = gl.full([64, 64], 1.0, gl.float16, gl.DotOperandLayout(1, mma, 2))
    acc = mma_v2(left, right, gl.zeros([64, 64], gl.float32, mma))
    gl.store(y_ptr + down * 64 + gl.arange(0, 64, gl.SliceLayout(0, mma))[None, :], acc)


@plant(operand_kernel, "bank-conflicts")
def an_operand_from_plain_rows(mended: bool) -> None:
    """The rows of a matrix that ldmatrix moves all begin in the same bank."""
    operand_kernel[(1,)](torch.randn(64, 64).half(), torch.zeros(64, 64), MENDED=mended)


@gluon.jit
def down_a_box_kernel(x_desc, y_ptr):
    wide: gl.constexpr = gl.BlockedLayout([1, 4], [32, 1], [1, 4], [0, 1])
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, x_desc.block_type.nbytes)
    load(x_desc, [0, 0], bar, tile)
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)
    down = gl.arange(0, 32, gl.SliceLayout(1, wide))[:, None]
    gl.store(y_ptr + down * 32 + gl.arange(0, 32, gl.SliceLayout(0, wide))[None, :], tile.load(wide))  # BUG


@plant(down_a_box_kernel, "bank-conflicts")
def a_box_without_a_swizzle(mended: bool) -> None:
    """TMA brings a tile in plain rows, of which a warp takes a column of four; the descriptor has no swizzle."""
    layout = gl.NVMMASharedLayout(128 if mended else 0, 32, 2)
    x = TensorDescriptor.from_tensor(torch.randn(32, 32), [32, 32], layout)
    down_a_box_kernel[(1,)](x, torch.zeros(32, 32))


@gluon.jit
def starting(bar):
    mbarrier.arrive(bar, count=1)


@gluon.jit
def multiplying(bar, y_ptr):
    mbarrier.wait(bar, 0)
    down = gl.arange(0, 64, gl.SliceLayout(1, SUM))
    places = y_ptr + down[:, None] * 128 + gl.arange(0, 128, gl.SliceLayout(0, SUM))[None, :]
    total = gl.zeros([64, 128], gl.float32, SUM)
    for k in range(20):
        total = total * k + gl.load(places)
    gl.store(places, total)


@gluon.jit
def narrow_kernel(y_ptr, MENDED: tl.constexpr):
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    registers: gl.constexpr = 232 if MENDED else 40
    gl.warp_specialize([(starting, (bar,)), (multiplying, (bar, y_ptr))], [4], [registers])  # BUG


@plant(narrow_kernel, "register-budget")
def fewer_registers_than_the_sum_takes(mended: bool) -> None:
    """A partition asks for 40 registers, and its sum alone takes 64."""
    narrow_kernel[(1,)](torch.zeros(64, 128), MENDED=mended)


@gluon.jit
def resting(bar):
    mbarrier.wait(bar, 0)


@gluon.jit
def greedy_kernel(MENDED: tl.constexpr):
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    many: gl.constexpr = 168 if MENDED else 248
    gl.warp_specialize([(starting, (bar,)), (resting, (bar,)), (resting, (bar,))], [4, 4], [many, many])  # BUG


@plant(greedy_kernel, "register-budget")
def more_registers_than_there_are(mended: bool) -> None:
    """Two groups of warps ask for 248 registers a thread, which leaves too few for the third."""
    greedy_kernel[(1,)](MENDED=mended)


@gluon.jit
def boxed_kernel(x_desc, y_desc, MENDED: tl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, x_desc.block_type.nbytes)
    at = gl.program_id(0) * 128
    load(x_desc, [at if MENDED else at * 128], bar, buffer)  # BUG
    mbarrier.wait(bar, 0)
    store(y_desc, [at], buffer)
    tma.store_wait(0)


@plant(boxed_kernel, "outside-box", "x_desc", {1})
def coordinates_in_blocks(mended: bool) -> None:
    """The coordinate was multiplied by the size of a block twice, so that all blocks but the first lie outside."""
    boxed_kernel[(2,)](described(torch.randn(200)), described(torch.zeros(200)), MENDED=mended)


@gluon.jit
def before_kernel(x_desc, y_desc, MENDED: tl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, x_desc.block_type.nbytes)
    load(x_desc, [0], bar, buffer)
    mbarrier.wait(bar, 0)
    store(y_desc, [0 if MENDED else -64], buffer)  # BUG
    tma.store_wait(0)


@plant(before_kernel, "outside-box", "y_desc", {0})
def stored_before_the_tensor(mended: bool) -> None:
    """Half of the block lies before the tensor, and is not stored."""
    before_kernel[(1,)](described(torch.randn(128)), described(torch.zeros(128)), MENDED=mended)


@gluon.jit
def half_kernel(x_ptr, y_ptr, MENDED: tl.constexpr):
    at = gl.arange(0, 128, LINE)
    buffers = gl.allocate_shared_memory(gl.float32, [2, 128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    buffers.index(0).store(gl.load(x_ptr + at))
    last: gl.constexpr = 0 if MENDED else 1
    gl.store(y_ptr + at, buffers.index(last).load(LINE))  # BUG


@plant(half_kernel, "unwritten-buffer", programs={0})
def the_other_buffer_is_read(mended: bool) -> None:
    """One buffer of a ring is filled, and the other one read."""
    half_kernel[(1,)](torch.randn(128), torch.zeros(128), MENDED=mended)


@gluon.jit
def stored_kernel(y_desc, MENDED: tl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], y_desc.layout)
    if MENDED:
        buffer.store(gl.full([128], 1.0, gl.float32, LINE))
        fence_async_shared()
    store(y_desc, [0], buffer)  # BUG
    tma.store_wait(0)


@plant(stored_kernel, "unwritten-buffer", programs={0})
def stored_before_it_is_filled(mended: bool) -> None:
    """TMA stores a buffer that was never filled."""
    stored_kernel[(1,)](described(torch.zeros(128)), MENDED=mended)


@gluon.jit
def left_kernel(x_desc, y_desc, MENDED: tl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)  # BUG
    mbarrier.expect(bar, x_desc.block_type.nbytes)
    load(x_desc, [0], bar, buffer)
    mbarrier.wait(bar, 0)
    if MENDED:
        mbarrier.invalidate(bar)
    other = gl.allocate_shared_memory(gl.float32, [128], x_desc.layout, buffer.load(LINE) + 1)
    fence_async_shared()
    store(y_desc, [0], other)
    tma.store_wait(0)


@plant(left_kernel, "barrier-left")
def a_buffer_follows_a_barrier(mended: bool) -> None:
    """A buffer is allocated after the last use of a barrier that is not invalidated."""
    left_kernel[(1,)](described(torch.randn(128)), described(torch.zeros(128)), MENDED=mended)


@gluon.jit
def tail_kernel(x_desc, y_desc):
    """The last block is cut off by the end of the tensor, and the barrier is left at the end of the kernel."""
    buffer = gl.allocate_shared_memory(gl.float32, [128], x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, x_desc.block_type.nbytes)
    load(x_desc, [gl.program_id(0) * 128], bar, buffer)
    mbarrier.wait(bar, 0)
    store(y_desc, [gl.program_id(0) * 128], buffer)
    tma.store_wait(0)


def a_block_is_cut_off() -> None:
    tail_kernel[(2,)](described(torch.randn(200)), described(torch.zeros(200)))


@gluon.jit
def twice_kernel(x_ptr, y_ptr):
    """A buffer is written by rows and read turned: no conflicts, all of it written."""
    rows = gl.arange(0, 32, gl.SliceLayout(1, ROWS))[:, None] * 32 + gl.arange(0, 32, gl.SliceLayout(0, ROWS))[None, :]
    buffer = gl.allocate_shared_memory(gl.float32, [32, 32], SWIZZLED)
    buffer.store(gl.load(x_ptr + rows))
    gl.store(y_ptr + rows, buffer.permute((1, 0)).load(ROWS))


def turned_by_a_swizzle() -> None:
    twice_kernel[(1,)](torch.randn(32, 32), torch.zeros(32, 32))


@gluon.jit
def producing(bar):
    mbarrier.arrive(bar, count=1)


@gluon.jit
def shared_out_kernel(y_ptr):
    """As many registers as Triton's own examples ask for: 24 for those that wait, the rest for the others."""
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    gl.warp_specialize([(multiplying, (bar, y_ptr)), (producing, (bar,))], [1], [24])


def registers_as_in_the_examples() -> None:
    shared_out_kernel[(1,)](torch.zeros(64, 128))


INNOCENTS = (a_block_is_cut_off, turned_by_a_swizzle, registers_as_in_the_examples)
# Notes of these kinds are not expected there, either.
NOTES = ("bank-conflicts", "outside-box", "barrier-left")
