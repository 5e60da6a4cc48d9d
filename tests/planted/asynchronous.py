"""Gluon kernels that do not wait, fence or count as they should."""

from __future__ import annotations

import torch
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from tests.planted.plant import plant

# Triton 3.7 renamed the copies.
copy = getattr(async_copy, "async_load", None) or async_copy.async_copy_global_to_shared
load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global

LINE = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
WARP = gl.constexpr(gl.BlockedLayout([1], [32], [1], [0]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))


def described(x: torch.Tensor) -> TensorDescriptor:
    return TensorDescriptor.from_tensor(x, [128], gl.NVMMASharedLayout.get_default_for([128], gl.float32))


@gluon.jit
def copied_kernel(x_ptr, y_ptr, MENDED: tl.constexpr):
    at = gl.program_id(0) * 128 + gl.arange(0, 128, layout=LINE)
    buffer = gl.allocate_shared_memory(gl.float32, [128], PLAIN)
    copy(buffer, x_ptr + at)
    async_copy.commit_group()
    if MENDED:
        async_copy.wait_group(0)
    gl.store(y_ptr + at, buffer.load(LINE))  # BUG


@plant(copied_kernel, "used-before-wait", programs={0, 1})
def read_before_the_wait(mended: bool) -> None:
    """The buffer is read while the copy into it is pending."""
    copied_kernel[(2,)](torch.randn(256), torch.zeros(256), MENDED=mended)


@gluon.jit
def counted_kernel(y_desc, MENDED: tl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], y_desc.layout)
    for k in range(2):
        buffer.store(gl.full([128], 1.0, gl.float32, LINE) * k)  # BUG
        fence_async_shared()
        store(y_desc, [128 * k], buffer)
        if MENDED:
            tma.store_wait(0)
    tma.store_wait(0)


@plant(counted_kernel, "written-while-read", programs={0})
def written_before_the_store_has_read_it(mended: bool) -> None:
    """The buffer is written again while TMA may still read it."""
    counted_kernel[(1,)](described(torch.zeros(256)), MENDED=mended)


@gluon.jit
def filled_kernel(y_desc, MENDED: tl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], y_desc.layout)
    buffer.store(gl.full([128], 1.0, gl.float32, LINE))
    if MENDED:
        fence_async_shared()
    store(y_desc, [0], buffer)  # BUG
    tma.store_wait(0)


@plant(filled_kernel, "missing-fence", programs={0})
def stored_without_a_fence(mended: bool) -> None:
    """TMA stores what the program has just written, without a fence between the two."""
    filled_kernel[(1,)](described(torch.zeros(128)), MENDED=mended)


@gluon.jit
def left_kernel(y_desc, MENDED: tl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], y_desc.layout)
    buffer.store(gl.full([128], 1.0, gl.float32, LINE))
    fence_async_shared()
    store(y_desc, [0], buffer)  # BUG
    if MENDED:
        tma.store_wait(0)


@plant(left_kernel, "store-not-waited-for", programs={0})
def ended_before_the_store(mended: bool) -> None:
    """The kernel ends while TMA may still read its shared memory."""
    left_kernel[(1,)](described(torch.zeros(128)), MENDED=mended)


@gluon.jit
def uncounted_kernel(x_desc, y_desc, MENDED: tl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    if MENDED:
        mbarrier.init(bar, count=1)
    mbarrier.expect(bar, x_desc.block_type.nbytes)  # BUG
    load(x_desc, [0], bar, buffer)
    mbarrier.wait(bar, 0)
    store(y_desc, [0], buffer)
    tma.store_wait(0)


@plant(uncounted_kernel, "barrier-misuse", programs={0})
def never_initialised(mended: bool) -> None:
    """The barrier is used without mbarrier.init."""
    uncounted_kernel[(1,)](described(torch.randn(128)), described(torch.zeros(128)), MENDED=mended)


@gluon.jit
def expected_kernel(x_desc, y_desc, MENDED: tl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, x_desc.block_type.nbytes if MENDED else 2 * x_desc.block_type.nbytes)
    load(x_desc, [0], bar, buffer)
    mbarrier.wait(bar, 0)  # BUG
    store(y_desc, [0], buffer)
    tma.store_wait(0)


@plant(expected_kernel, "phase-never-ends", programs={0})
def more_bytes_expected_than_come(mended: bool) -> None:
    """The barrier expects twice the bytes that the load brings."""
    expected_kernel[(1,)](described(torch.randn(128)), described(torch.zeros(128)), MENDED=mended)


@gluon.jit
def taking(y_ptr, buffer, full, MENDED: tl.constexpr):
    if MENDED:
        mbarrier.wait(full, 0)
    gl.store(y_ptr + gl.arange(0, 128, layout=LINE), buffer.load(LINE))  # BUG


@gluon.jit
def giving(x_ptr, buffer, full, MENDED: tl.constexpr):
    buffer.store(gl.load(x_ptr + gl.arange(0, 128, layout=WARP)))
    mbarrier.arrive(full, count=1)


@gluon.jit
def parted_kernel(x_ptr, y_ptr, MENDED: tl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], PLAIN)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    gl.warp_specialize([(taking, (y_ptr, buffer, full, MENDED)), (giving, (x_ptr, buffer, full, MENDED))], [1], [24])


@plant(taking, "partition-race", programs={0})
def taken_before_it_is_given(mended: bool) -> None:
    """One partition reads the buffer without waiting for the one that fills it."""
    parted_kernel[(1,)](torch.randn(128), torch.zeros(128), MENDED=mended)
