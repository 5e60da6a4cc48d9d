"""Right Gluon kernels whose warps are parted: producers and consumers, on Hopper and on Blackwell."""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import blackwell
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global

LINE = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
WARP = gl.constexpr(gl.BlockedLayout([1], [32], [1], [0]))
TILE = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))


@gluon.jit
def barriers(SLOTS: gl.constexpr, count: gl.constexpr):
    bars = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    for k in gl.static_range(SLOTS):
        mbarrier.init(bars.index(k), count=count)
    return bars


# --- Through registers -----------------------------------------------------------------------------------------


@gluon.jit
def reading(x, buffers, full, empty, n, BLOCK: gl.constexpr, SLOTS: gl.constexpr):
    for k in range(n):
        mbarrier.wait(empty.index(k % SLOTS), k // SLOTS & 1 ^ 1)
        buffers.index(k % SLOTS).store(gl.load(x + k * BLOCK + gl.arange(0, BLOCK, layout=WARP)))
        mbarrier.arrive(full.index(k % SLOTS), count=1)


@gluon.jit
def writing(y, buffers, full, empty, n, BLOCK: gl.constexpr, SLOTS: gl.constexpr):
    for k in range(n):
        mbarrier.wait(full.index(k % SLOTS), k // SLOTS & 1)
        value = buffers.index(k % SLOTS).load(LINE)
        mbarrier.arrive(empty.index(k % SLOTS), count=1)
        gl.store(y + k * BLOCK + gl.arange(0, BLOCK, layout=LINE), value + 1)


@gluon.jit
def handed_over(x, y, n, BLOCK: gl.constexpr, DEPTH: gl.constexpr):
    """One partition loads and stores to shared memory, the other takes it from there."""
    buffers = gl.allocate_shared_memory(gl.float32, [DEPTH, BLOCK], PLAIN)
    full = barriers(DEPTH, 1)
    empty = barriers(DEPTH, 1)
    gl.warp_specialize(
        [(writing, (y, buffers, full, empty, n, BLOCK, DEPTH)), (reading, (x, buffers, full, empty, n, BLOCK, DEPTH))],
        [1],
        [24],
    )


# --- By TMA ----------------------------------------------------------------------------------------------------


@gluon.jit
def fetching(x_desc, y_desc, ring, out, full, empty, ready, free, n, SLOTS: gl.constexpr):
    for k in range(n):
        mbarrier.wait(empty.index(k % SLOTS), k // SLOTS & 1 ^ 1)
        mbarrier.expect(full.index(k % SLOTS), x_desc.block_type.nbytes)
        load(x_desc, [0, k * x_desc.block_type.shape[1]], full.index(k % SLOTS), ring.index(k % SLOTS))


@gluon.jit
def computing(ring, out, full, empty, ready, free, n, SLOTS: gl.constexpr):
    for k in range(n):
        mbarrier.wait(full.index(k % SLOTS), k // SLOTS & 1)
        value = ring.index(k % SLOTS).load(TILE)
        fence_async_shared()
        mbarrier.arrive(empty.index(k % SLOTS), count=1)
        mbarrier.wait(free, k & 1 ^ 1)
        out.store(value + 1)
        fence_async_shared()
        mbarrier.arrive(ready, count=1)


@gluon.jit
def sending(x_desc, y_desc, ring, out, full, empty, ready, free, n, SLOTS: gl.constexpr):
    for k in range(n):
        mbarrier.wait(ready, k & 1)
        store(y_desc, [0, k * y_desc.block_type.shape[1]], out)
        tma.store_wait(0)
        mbarrier.arrive(free, count=1)


@gluon.jit
def three_partitions(x_desc, y_desc, n, DEPTH: gl.constexpr):
    """One partition fetches, one computes, one sends."""
    ring = gl.allocate_shared_memory(x_desc.dtype, [DEPTH] + x_desc.block_type.shape, x_desc.layout)
    out = gl.allocate_shared_memory(y_desc.dtype, y_desc.block_type.shape, y_desc.layout)
    full = barriers(DEPTH, 1)
    empty = barriers(DEPTH, 1)
    ends = barriers(2, 1)
    gl.warp_specialize(
        [
            (computing, (ring, out, full, empty, ends.index(0), ends.index(1), n, DEPTH)),
            (fetching, (x_desc, y_desc, ring, out, full, empty, ends.index(0), ends.index(1), n, DEPTH)),
            (sending, (x_desc, y_desc, ring, out, full, empty, ends.index(0), ends.index(1), n, DEPTH)),
        ],
        [1, 1],
        [24, 24],
    )


# --- Products --------------------------------------------------------------------------------------------------


@gluon.jit
def feeding(a_desc, b_desc, a, b, full, empty, m, n, steps, SLOTS: gl.constexpr):
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    for k in range(steps):
        mbarrier.wait(empty.index(k % SLOTS), k // SLOTS & 1 ^ 1)
        mbarrier.expect(full.index(k % SLOTS), a_desc.block_type.nbytes + b_desc.block_type.nbytes)
        load(a_desc, [m, k * STEP], full.index(k % SLOTS), a.index(k % SLOTS))
        load(b_desc, [k * STEP, n], full.index(k % SLOTS), b.index(k % SLOTS))


@gluon.jit
def multiplying(c_desc, a, b, full, empty, m, n, steps, SLOTS: gl.constexpr):
    M: gl.constexpr = c_desc.block_type.shape[0]
    N: gl.constexpr = c_desc.block_type.shape[1]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    acc = gl.zeros((M, N), gl.float32, mma)
    for k in range(steps):
        mbarrier.wait(full.index(k % SLOTS), k // SLOTS & 1)
        acc = warpgroup_mma(a.index(k % SLOTS), b.index(k % SLOTS), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
        mbarrier.arrive(empty.index(k % SLOTS), count=1)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    c.store(acc.to(c_desc.dtype))
    fence_async_shared()
    store(c_desc, [m, n], c)
    tma.store_wait(0)


@gluon.jit
def fed_product(a_desc, b_desc, c_desc, K, DEPTH: gl.constexpr):
    """One partition loads, the other multiplies by wgmma."""
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_type.shape, b_desc.layout)
    full = barriers(DEPTH, 1)
    empty = barriers(DEPTH, 1)
    m = gl.program_id(0) * a_desc.block_type.shape[0]
    n = gl.program_id(1) * b_desc.block_type.shape[1]
    steps = gl.cdiv(K, a_desc.block_type.shape[1])
    gl.warp_specialize(
        [
            (multiplying, (c_desc, a, b, full, empty, m, n, steps, DEPTH)),
            (feeding, (a_desc, b_desc, a, b, full, empty, m, n, steps, DEPTH)),
        ],
        [1],
        [24],
    )


if hasattr(blackwell, "get_tmem_reg_layout"):  # up to Triton 3.8

    @gluon.jit
    def whole(acc):
        layout: gl.constexpr = blackwell.get_tmem_reg_layout(gl.float32, acc.shape, acc.layout, 4)
        return acc.load(layout)

else:

    @gluon.jit
    def whole(acc):
        return acc.load()


@gluon.jit
def emptying(c_desc, acc, done, m, n):
    mbarrier.wait(done, 0)
    value = whole(acc)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    c.store(value.to(c_desc.dtype))
    fence_async_shared()
    store(c_desc, [m, n], c)
    tma.store_wait(0)


@gluon.jit
def driving(a_desc, b_desc, a, b, acc, full, empty, done, m, n, steps, SLOTS: gl.constexpr):
    for k in range(steps):
        mbarrier.wait(full.index(k % SLOTS), k // SLOTS & 1)
        blackwell.tcgen05_mma(a.index(k % SLOTS), b.index(k % SLOTS), acc, use_acc=k > 0)
        blackwell.tcgen05_commit(empty.index(k % SLOTS))
    blackwell.tcgen05_commit(done)


@gluon.jit
def supplying(a_desc, b_desc, a, b, acc, full, empty, done, m, n, steps, SLOTS: gl.constexpr):
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    for k in range(steps):
        mbarrier.wait(empty.index(k % SLOTS), k // SLOTS & 1 ^ 1)
        mbarrier.expect(full.index(k % SLOTS), a_desc.block_type.nbytes + b_desc.block_type.nbytes)
        load(a_desc, [m, k * STEP], full.index(k % SLOTS), a.index(k % SLOTS))
        load(b_desc, [k * STEP, n], full.index(k % SLOTS), b.index(k % SLOTS))


@gluon.jit
def in_tensor_memory(a_desc, b_desc, c_desc, K, DEPTH: gl.constexpr):
    """Three partitions: loads, products in tensor memory, and what becomes of the sum (Blackwell)."""
    M: gl.constexpr = a_desc.block_type.shape[0]
    N: gl.constexpr = b_desc.block_type.shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [DEPTH] + a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [DEPTH] + b_desc.block_type.shape, b_desc.layout)
    layout: gl.constexpr = blackwell.TensorMemoryLayout([M, N], col_stride=1)
    acc = blackwell.allocate_tensor_memory(gl.float32, [M, N], layout)
    full = barriers(DEPTH, 1)
    empty = barriers(DEPTH, 1)
    done = barriers(1, 1)
    m = gl.program_id(0) * M
    n = gl.program_id(1) * N
    steps = gl.cdiv(K, a_desc.block_type.shape[1])
    given = (a_desc, b_desc, a, b, acc, full, empty, done.index(0), m, n, steps, DEPTH)
    gl.warp_specialize(
        [(emptying, (c_desc, acc, done.index(0), m, n)), (supplying, given), (driving, given)], [1, 1], [24, 24]
    )
