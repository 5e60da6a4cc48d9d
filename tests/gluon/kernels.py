"""Gluon kernels: element-wise with layouts, asynchronous copies, TMA with wgmma, two partitions of warps."""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as TensorDescriptor

# Triton 3.7 renamed the copies.
_copy = getattr(async_copy, "async_load", None) or async_copy.async_copy_global_to_shared
_tma_load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
_tma_store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global


@gluon.jit
def scale(x, y, n, factor, BLOCK: gl.constexpr, layout: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    value = gl.load(x + at, mask=at < n)
    gl.store(y + at, value * factor, mask=at < n)


@gluon.jit
def copied(x, y, n, BLOCK: gl.constexpr, layout: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    plain: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffer = gl.allocate_shared_memory(gl.float32, [BLOCK], plain)
    _copy(buffer, x + at, mask=at < n)
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(y + at, buffer.load(layout), mask=at < n)


@gluon.jit
def product(a_desc, b_desc, c_desc, K, num_warps: gl.constexpr):
    dtype: gl.constexpr = a_desc.dtype
    a = gl.allocate_shared_memory(dtype, a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(dtype, b_desc.block_type.shape, b_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    M: gl.constexpr = a_desc.block_type.shape[0]
    N: gl.constexpr = b_desc.block_type.shape[1]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [num_warps, 1], [16, N, 16])
    acc = gl.zeros((M, N), gl.float32, mma)
    m = gl.program_id(0) * M
    n = gl.program_id(1) * N
    phase = 0
    for k in range(0, K, STEP):
        mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes)
        _tma_load(a_desc, [m, k], bar, a)
        _tma_load(b_desc, [k, n], bar, b)
        mbarrier.wait(bar, phase)
        phase ^= 1
        acc = warpgroup_mma(a, b, acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    mbarrier.invalidate(bar)
    c = gl.allocate_shared_memory(dtype, c_desc.block_type.shape, c_desc.layout)
    c.store(acc.to(dtype))
    fence_async_shared()
    _tma_store(c_desc, [m, n], c)
    tma.store_wait(0)


def product_types(m: int = 128, n: int = 128, step: int = 64) -> dict[str, str]:
    """The types of `product` for tiles of m x n in steps of ``step``."""
    layout = gl.NVMMASharedLayout(128, 16, 2)
    shapes = {"a_desc": (m, step), "b_desc": (step, n), "c_desc": (m, n)}
    return {name: f"tensordesc<fp16[{rows},{columns}],{layout!r}>" for name, (rows, columns) in shapes.items()} | {
        "K": "i32"
    }


@gluon.jit
def _loading(x, buffer, ready, free, BLOCK: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    for k in range(N):
        mbarrier.wait(free, (k & 1) ^ 1)
        value = gl.load(x + k * BLOCK + gl.arange(0, BLOCK, layout=layout))
        buffer.store(value)
        mbarrier.arrive(ready, count=1)


@gluon.jit
def _storing(y, buffer, ready, free, BLOCK: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    for k in range(N):
        mbarrier.wait(ready, k & 1)
        value = buffer.load(layout)
        mbarrier.arrive(free, count=1)
        gl.store(y + k * BLOCK + gl.arange(0, BLOCK, layout=layout), value + 1)


@gluon.jit
def specialized(x, y, BLOCK: gl.constexpr, N: gl.constexpr):
    plain: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffer = gl.allocate_shared_memory(gl.float32, [BLOCK], plain)
    bars = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(bars.index(0), count=1)
    mbarrier.init(bars.index(1), count=1)
    gl.warp_specialize(
        [
            (_storing, (y, buffer, bars.index(0), bars.index(1), BLOCK, N)),
            (_loading, (x, buffer, bars.index(0), bars.index(1), BLOCK, N)),
        ],
        [1],
        [24],
    )


@gluon.jit
def mismatched(x, y):
    one: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    other: gl.constexpr = gl.BlockedLayout([2], [32], [4], [0])
    value = gl.load(x + gl.arange(0, 256, layout=one)) + gl.load(x + gl.arange(0, 256, layout=other))
    gl.store(y + gl.arange(0, 256, layout=one), value)


@gluon.jit
def ring(x, y, n, BLOCK: gl.constexpr, layout: gl.constexpr, BUFFERS: gl.constexpr):
    """A pipeline of copies: BUFFERS - 1 are under way while one buffer is read."""
    plain: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffers = gl.allocate_shared_memory(gl.float32, [BUFFERS, BLOCK], plain)
    lanes = gl.arange(0, BLOCK, layout=layout)
    steps = gl.cdiv(n, BLOCK)
    for k in gl.static_range(BUFFERS - 1):
        at = k * BLOCK + lanes
        _copy(buffers.index(k), x + at, mask=at < n)
        async_copy.commit_group()
    for k in range(steps):
        ahead = k + BUFFERS - 1
        at = ahead * BLOCK + lanes
        _copy(buffers.index(ahead % BUFFERS), x + at, mask=at < n)
        async_copy.commit_group()
        async_copy.wait_group(BUFFERS - 1)
        now = k * BLOCK + lanes
        gl.store(y + now, buffers.index(k % BUFFERS).load(layout), mask=now < n)


# --- Kernels with one bug each ---------------------------------------------------------------------------------


@gluon.jit
def without_a_wait(x, y):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    plain: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffer = gl.allocate_shared_memory(gl.float32, [128], plain)
    _copy(buffer, x + gl.arange(0, 128, layout=layout))
    async_copy.commit_group()
    gl.store(y + gl.arange(0, 128, layout=layout), buffer.load(layout))


@gluon.jit
def without_a_commit(x, y):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    plain: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    buffer = gl.allocate_shared_memory(gl.float32, [128], plain)
    _copy(buffer, x + gl.arange(0, 128, layout=layout))
    async_copy.wait_group(0)
    gl.store(y + gl.arange(0, 128, layout=layout), buffer.load(layout))


@gluon.jit
def written_too_early(x_desc, y_desc):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    c = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_type.shape, x_desc.layout)
    for k in range(2):
        c.store(gl.full([32], 1.0, gl.float32, layout) * k)
        fence_async_shared()
        _tma_store(y_desc, [32 * k], c)
    tma.store_wait(0)


@gluon.jit
def of_the_wrong_phase(x_desc, y_desc):
    buffer = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_type.shape, x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, x_desc.block_type.nbytes)
    _tma_load(x_desc, [0], bar, buffer)
    mbarrier.wait(bar, 0)
    mbarrier.wait(bar, 1)


@gluon.jit
def never_initialised(x_desc, y_desc):
    buffer = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_type.shape, x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.expect(bar, x_desc.block_type.nbytes)
    _tma_load(x_desc, [0], bar, buffer)
    mbarrier.wait(bar, 0)


@gluon.jit
def too_many_bytes(x_desc, y_desc):
    buffer = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_type.shape, x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, 2 * x_desc.block_type.nbytes)
    _tma_load(x_desc, [0], bar, buffer)
    mbarrier.wait(bar, 0)


@gluon.jit
def _first(one, other):
    mbarrier.wait(one, 0)
    mbarrier.arrive(other, count=1)


@gluon.jit
def both_wait(x, y):
    bars = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(bars.index(0), count=1)
    mbarrier.init(bars.index(1), count=1)
    gl.warp_specialize([(_first, (bars.index(0), bars.index(1))), (_first, (bars.index(1), bars.index(0)))], [1], [24])


@gluon.jit
def _counting(x, n):
    k = 0
    while k < n:
        gl.store(x, k.to(gl.float32))
        k = k * 1


@gluon.jit
def endless(x, n):
    gl.warp_specialize([(_counting, (x, n)), (_counting, (x + 1, n))], [1], [24])
