"""Right Gluon kernels for Hopper whose warps are parted: an attention, two consumers, and persistent programs."""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from tests.gluon.partitioned import barriers
from tests.gluon.pipelines import load, loaded, store, stored


@gluon.jit
def bringing(q_desc, k_desc, v_desc, keys, values, full, empty, n):
    KEYS: gl.constexpr = k_desc.block_type.shape[0]
    for k in range(n):
        mbarrier.wait(empty.index(k % 2), k // 2 & 1 ^ 1)
        mbarrier.expect(full.index(k % 2), k_desc.block_type.nbytes + v_desc.block_type.nbytes)
        load(k_desc, [k * KEYS, 0], full.index(k % 2), keys.index(k % 2))
        load(v_desc, [k * KEYS, 0], full.index(k % 2), values.index(k % 2))


@gluon.jit
def attending(q, o_desc, keys, values, full, empty, row, n, scale):
    ROWS: gl.constexpr = q.shape[0]
    WIDTH: gl.constexpr = q.shape[1]
    KEYS: gl.constexpr = keys.shape[1]
    score: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, KEYS, 16])
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, WIDTH, 16])
    left: gl.constexpr = gl.DotOperandLayout(0, mma, 2)
    acc = gl.zeros((ROWS, WIDTH), gl.float32, mma)
    most = gl.full((ROWS,), -1.0e30, gl.float32, gl.SliceLayout(1, score))
    total = gl.zeros((ROWS,), gl.float32, gl.SliceLayout(1, score))
    for k in range(n):
        mbarrier.wait(full.index(k % 2), k // 2 & 1)
        turned = keys.index(k % 2).permute((1, 0))
        s = warpgroup_mma(q, turned, gl.zeros((ROWS, KEYS), gl.float32, score), is_async=True)
        s = warpgroup_mma_wait(num_outstanding=0, deps=(s,)) * scale
        higher = gl.maximum(most, gl.max(s, 1))
        p = gl.exp(s - higher[:, None])
        shrink = gl.exp(most - higher)
        total = total * shrink + gl.sum(p, 1)
        most = higher
        acc = acc * gl.convert_layout(shrink, gl.SliceLayout(1, mma))[:, None]
        acc = warpgroup_mma(gl.convert_layout(p.to(q.dtype), left), values.index(k % 2), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
        mbarrier.arrive(empty.index(k % 2), count=1)
    acc = acc / gl.convert_layout(total, gl.SliceLayout(1, mma))[:, None]
    stored(o_desc, acc, row, 0)


@gluon.jit
def parted_attention(q_desc, k_desc, v_desc, o_desc, n, scale):
    """One partition loads keys and values, the other attends to them."""
    q = gl.allocate_shared_memory(q_desc.dtype, q_desc.block_type.shape, q_desc.layout)
    keys = gl.allocate_shared_memory(k_desc.dtype, [2] + k_desc.block_type.shape, k_desc.layout)
    values = gl.allocate_shared_memory(v_desc.dtype, [2] + v_desc.block_type.shape, v_desc.layout)
    first = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(first, count=1)
    full = barriers(2, 1)
    empty = barriers(2, 1)
    row = gl.program_id(0) * q_desc.block_type.shape[0]
    mbarrier.expect(first, q_desc.block_type.nbytes)
    load(q_desc, [row, 0], first, q)
    mbarrier.wait(first, 0)
    gl.warp_specialize(
        [
            (attending, (q, o_desc, keys, values, full, empty, row, n, scale)),
            (bringing, (q_desc, k_desc, v_desc, keys, values, full, empty, n)),
        ],
        [1],
        [24],
    )


@gluon.jit
def halving(c_desc, a, b, full, empty, m, n, steps, HALF: gl.constexpr):
    """The product of one half of the rows."""
    ROWS: gl.constexpr = c_desc.block_type.shape[0]
    N: gl.constexpr = c_desc.block_type.shape[1]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    acc = gl.zeros((ROWS, N), gl.float32, mma)
    for k in range(steps):
        mbarrier.wait(full.index(k % 2), k // 2 & 1)
        part = a.index(k % 2).slice(HALF * ROWS, ROWS, 0)
        acc = warpgroup_mma(part, b.index(k % 2), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
        mbarrier.arrive(empty.index(k % 2), count=1)
    stored(c_desc, acc, m + HALF * ROWS, n)


@gluon.jit
def sourcing(a_desc, b_desc, a, b, full, empty, m, n, steps):
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    for k in range(steps):
        mbarrier.wait(empty.index(k % 2), k // 2 & 1 ^ 1)
        loaded(a_desc, b_desc, a.index(k % 2), b.index(k % 2), full.index(k % 2), m, n, k * STEP)


@gluon.jit
def two_consumers(a_desc, b_desc, c_desc, K):
    """One partition loads; two of four warps each multiply one half of the rows, and both free the buffers."""
    a = gl.allocate_shared_memory(a_desc.dtype, [2] + a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [2] + b_desc.block_type.shape, b_desc.layout)
    full = barriers(2, 1)
    empty = barriers(2, 2)
    m = gl.program_id(0) * a_desc.block_type.shape[0]
    n = gl.program_id(1) * b_desc.block_type.shape[1]
    steps = gl.cdiv(K, a_desc.block_type.shape[1])
    gl.warp_specialize(
        [
            (halving, (c_desc, a, b, full, empty, m, n, steps, 0)),
            (halving, (c_desc, a, b, full, empty, m, n, steps, 1)),
            (sourcing, (a_desc, b_desc, a, b, full, empty, m, n, steps)),
        ],
        [4, 1],
        [168, 24],
    )


@gluon.jit
def tile_after_tile(a_desc, b_desc, a, b, full, empty, M_, N_, K):
    M: gl.constexpr = a_desc.block_type.shape[0]
    N: gl.constexpr = b_desc.block_type.shape[1]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    across = gl.cdiv(N_, N)
    count = 0
    for tile in range(gl.program_id(0), gl.cdiv(M_, M) * across, gl.num_programs(0)):
        for k in range(0, K, STEP):
            slot = count % 3
            mbarrier.wait(empty.index(slot), count // 3 & 1 ^ 1)
            loaded(
                a_desc, b_desc, a.index(slot), b.index(slot), full.index(slot), tile // across * M, tile % across * N, k
            )
            count += 1


@gluon.jit
def sum_after_sum(a_desc, c_desc, a, b, c, full, empty, M_, N_, K):
    M: gl.constexpr = c_desc.block_type.shape[0]
    N: gl.constexpr = c_desc.block_type.shape[1]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    across = gl.cdiv(N_, N)
    count = 0
    for tile in range(gl.program_id(0), gl.cdiv(M_, M) * across, gl.num_programs(0)):
        acc = gl.zeros((M, N), gl.float32, mma)
        for _k in range(0, K, a_desc.block_type.shape[1]):
            slot = count % 3
            mbarrier.wait(full.index(slot), count // 3 & 1)
            acc = warpgroup_mma(a.index(slot), b.index(slot), acc, is_async=True)
            acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
            mbarrier.arrive(empty.index(slot), count=1)
            count += 1
        tma.store_wait(0)
        c.store(acc.to(c_desc.dtype))
        fence_async_shared()
        store(c_desc, [tile // across * M, tile % across * N], c)
    tma.store_wait(0)


@gluon.jit
def persistent_partitions(a_desc, b_desc, c_desc, M_, N_, K):
    """Fewer programs than tiles: one partition already loads for the next tile while the other stores the last."""
    a = gl.allocate_shared_memory(a_desc.dtype, [3] + a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [3] + b_desc.block_type.shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    full = barriers(3, 1)
    empty = barriers(3, 1)
    gl.warp_specialize(
        [
            (sum_after_sum, (a_desc, c_desc, a, b, c, full, empty, M_, N_, K)),
            (tile_after_tile, (a_desc, b_desc, a, b, full, empty, M_, N_, K)),
        ],
        [1],
        [24],
    )
