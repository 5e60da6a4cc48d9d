"""Right Gluon kernels for Hopper's tensor core: products of all types, persistent, split, scaled and batched."""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)

from tests.gluon.hopper_copies import reduce_into
from tests.gluon.partitioned import barriers
from tests.gluon.pipelines import copy, load, loaded, store, stored


@gluon.jit
def product_of_rows(a_desc, b_desc, y, K, IN_REGISTERS: gl.constexpr):
    """Rows of one matrix times rows of the other, in the type of the descriptors."""
    M: gl.constexpr = a_desc.block_type.shape[0]
    N: gl.constexpr = b_desc.block_type.shape[0]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_type.shape, b_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    bits: gl.constexpr = a_desc.dtype.primitive_bitwidth
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 256 // bits])
    acc = gl.zeros((M, N), gl.float32, mma)
    for k in range(gl.cdiv(K, STEP)):
        mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes)
        load(a_desc, [0, k * STEP], bar, a)
        load(b_desc, [0, k * STEP], bar, b)
        mbarrier.wait(bar, k & 1)
        if IN_REGISTERS:
            left = a.load(gl.DotOperandLayout(0, mma, 32 // bits))
            acc = warpgroup_mma(left, b.permute((1, 0)), acc, is_async=True)
        else:
            acc = warpgroup_mma(a, b.permute((1, 0)), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    down = gl.arange(0, M, gl.SliceLayout(1, mma))[:, None]
    gl.store(y + down * N + gl.arange(0, N, gl.SliceLayout(0, mma))[None, :], acc)


@gluon.jit
def product_in_flight(a_desc, b_desc, c_desc, K):
    """One product is still running while the next is started; its buffers are not loaded again before it has ended."""
    M: gl.constexpr = a_desc.block_type.shape[0]
    N: gl.constexpr = b_desc.block_type.shape[1]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [3] + a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [3] + b_desc.block_type.shape, b_desc.layout)
    bars = barriers(3, 1)
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    acc = warpgroup_mma_init(gl.zeros((M, N), gl.float32, mma))
    m = gl.program_id(0) * M
    n = gl.program_id(1) * N
    steps = gl.cdiv(K, STEP)
    loaded(a_desc, b_desc, a.index(0), b.index(0), bars.index(0), m, n, 0)
    for k in range(steps):
        acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc,))
        ahead = (k + 1) % 3
        loaded(
            a_desc, b_desc, a.index(ahead), b.index(ahead), bars.index(ahead), m, n, (k + 1) * STEP, pred=k + 1 < steps
        )
        mbarrier.wait(bars.index(k % 3), k // 3 & 1)
        acc = warpgroup_mma(a.index(k % 3), b.index(k % 3), acc, is_async=True)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    stored(c_desc, acc, m, n)


@gluon.jit
def two_products(a_desc, b_desc, y):
    """(a b) b: the first result is an operand of the second, in registers."""
    SIDE: gl.constexpr = a_desc.block_type.shape[0]
    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_type.shape, b_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, SIDE, 16])
    loaded(a_desc, b_desc, a, b, bar, 0, 0, 0)
    mbarrier.wait(bar, 0)
    first = warpgroup_mma(a, b, gl.zeros((SIDE, SIDE), gl.float32, mma), is_async=True)
    first = warpgroup_mma_wait(num_outstanding=0, deps=(first,))
    left = gl.convert_layout(first.to(a_desc.dtype), gl.DotOperandLayout(0, mma, 2))
    acc = warpgroup_mma(left, b, gl.full((SIDE, SIDE), 1.0, gl.float32, mma), use_acc=False)
    down = gl.arange(0, SIDE, gl.SliceLayout(1, mma))[:, None]
    gl.store(y + down * SIDE + gl.arange(0, SIDE, gl.SliceLayout(0, mma))[None, :], acc)


@gluon.jit
def persistent(a_desc, b_desc, c_desc, M_, N_, K):
    """Fewer programs than tiles: each goes on with the next; its store runs while that is loaded."""
    M: gl.constexpr = a_desc.block_type.shape[0]
    N: gl.constexpr = b_desc.block_type.shape[1]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [2] + a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [2] + b_desc.block_type.shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    bars = barriers(2, 1)
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    across = gl.cdiv(N_, N)
    count = 0
    for tile in range(gl.program_id(0), gl.cdiv(M_, M) * across, gl.num_programs(0)):
        m = tile // across * M
        n = tile % across * N
        acc = gl.zeros((M, N), gl.float32, mma)
        for k in range(0, K, STEP):
            slot = count % 2
            loaded(a_desc, b_desc, a.index(slot), b.index(slot), bars.index(slot), m, n, k)
            mbarrier.wait(bars.index(slot), count // 2 & 1)
            acc = warpgroup_mma(a.index(slot), b.index(slot), acc, is_async=True)
            acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
            count += 1
        tma.store_wait(0)
        c.store(acc.to(c_desc.dtype))
        fence_async_shared()
        store(c_desc, [m, n], c)
    tma.store_wait(0)


@gluon.jit
def product_of_bytes(a_desc, b_desc, y, K):
    """Whole numbers of 8 bits, added up in 32: rows of one matrix times rows of the other."""
    SIDE: gl.constexpr = a_desc.block_type.shape[0]
    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_type.shape, b_desc.layout)
    bar = barriers(1, 1).index(0)
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, SIDE, 32])
    acc = gl.zeros((SIDE, SIDE), gl.int32, mma)
    for k in range(gl.cdiv(K, a_desc.block_type.shape[1])):
        mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes)
        load(a_desc, [0, k * a_desc.block_type.shape[1]], bar, a)
        load(b_desc, [0, k * a_desc.block_type.shape[1]], bar, b)
        mbarrier.wait(bar, k & 1)
        acc = warpgroup_mma(a, b.permute((1, 0)), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    down = gl.arange(0, SIDE, gl.SliceLayout(1, mma))[:, None]
    gl.store(y + down * SIDE + gl.arange(0, SIDE, gl.SliceLayout(0, mma))[None, :], acc)


@gluon.jit
def scaled_product(a_desc, b_desc, a_scales, b_scales, y, K):
    """Numbers of 8 bits with a scale for each step: the product of a step is scaled before it is added."""
    SIDE: gl.constexpr = a_desc.block_type.shape[0]
    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_type.shape, b_desc.layout)
    bar = barriers(1, 1).index(0)
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, SIDE, 32])
    down = gl.arange(0, SIDE, gl.SliceLayout(1, mma))
    across = gl.arange(0, SIDE, gl.SliceLayout(0, mma))
    acc = gl.zeros((SIDE, SIDE), gl.float32, mma)
    steps = gl.cdiv(K, a_desc.block_type.shape[1])
    for k in range(steps):
        mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes)
        load(a_desc, [0, k * a_desc.block_type.shape[1]], bar, a)
        load(b_desc, [0, k * a_desc.block_type.shape[1]], bar, b)
        left = gl.load(a_scales + down * steps + k)
        right = gl.load(b_scales + across * steps + k)
        mbarrier.wait(bar, k & 1)
        part = warpgroup_mma(a, b.permute((1, 0)), gl.zeros((SIDE, SIDE), gl.float32, mma), is_async=True)
        acc += warpgroup_mma_wait(num_outstanding=0, deps=(part,)) * left[:, None] * right[None, :]
    gl.store(y + down[:, None] * SIDE + across[None, :], acc)


@gluon.jit
def split_product(a_desc, b_desc, c_desc, K):
    """Each program takes a part of the steps, and adds its sum to the result by TMA."""
    SIDE: gl.constexpr = a_desc.block_type.shape[0]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_type.shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    bar = barriers(1, 1).index(0)
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, SIDE, 16])
    acc = gl.zeros((SIDE, SIDE), gl.float32, mma)
    phase = 0
    for k in range(gl.program_id(0) * STEP, K, gl.num_programs(0) * STEP):
        loaded(a_desc, b_desc, a, b, bar, 0, 0, k)
        mbarrier.wait(bar, phase)
        phase ^= 1
        acc = warpgroup_mma(a, b, acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    c.store(acc)
    fence_async_shared()
    reduce_into(c_desc, [0, 0], c, "ADD")
    tma.store_wait(0)


@gluon.jit
def batched_product(a_desc, b_desc, c_desc, K):
    """Boxes of three dimensions, one matrix of a batch each."""
    SIDE: gl.constexpr = a_desc.block_type.shape[1]
    STEP: gl.constexpr = a_desc.block_type.shape[2]
    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_type.shape, b_desc.layout)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    bar = barriers(1, 1).index(0)
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, SIDE, 16])
    acc = gl.zeros((SIDE, SIDE), gl.float32, mma)
    batch = gl.program_id(0)
    for k in range(gl.cdiv(K, STEP)):
        mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes)
        load(a_desc, [batch, 0, k * STEP], bar, a)
        load(b_desc, [batch, k * STEP, 0], bar, b)
        mbarrier.wait(bar, k & 1)
        acc = warpgroup_mma(a.reshape([SIDE, STEP]), b.reshape([STEP, SIDE]), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    c.reshape([SIDE, SIDE]).store(acc.to(c_desc.dtype))
    fence_async_shared()
    store(c_desc, [batch, 0, 0], c)
    tma.store_wait(0)


@gluon.jit
def product_of_copies(a, b, y, K):
    """cp.async fills a ring of two; what it has written needs a fence before wgmma may read it."""
    SIDE: gl.constexpr = 64
    layout: gl.constexpr = gl.NVMMASharedLayout(128, 16, 2)
    lanes: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    x = gl.allocate_shared_memory(gl.float16, [2, SIDE, SIDE], layout)
    z = gl.allocate_shared_memory(gl.float16, [2, SIDE, SIDE], layout)
    down = gl.arange(0, SIDE, gl.SliceLayout(1, lanes))[:, None]
    across = gl.arange(0, SIDE, gl.SliceLayout(0, lanes))[None, :]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, SIDE, 16])
    acc = gl.zeros((SIDE, SIDE), gl.float32, mma)
    steps = K // SIDE
    copy(x.index(0), a + down * K + across)
    copy(z.index(0), b + down * SIDE + across)
    async_copy.commit_group()
    for k in range(steps):
        ahead = (k + 1) % steps  # what the last step brings is not used
        copy(x.index((k + 1) % 2), a + down * K + ahead * SIDE + across)
        copy(z.index((k + 1) % 2), b + (ahead * SIDE + down) * SIDE + across)
        async_copy.commit_group()
        async_copy.wait_group(1)
        fence_async_shared()
        acc = warpgroup_mma(x.index(k % 2), z.index(k % 2), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    async_copy.wait_group(0)
    rows = gl.arange(0, SIDE, gl.SliceLayout(1, mma))[:, None]
    gl.store(y + rows * SIDE + gl.arange(0, SIDE, gl.SliceLayout(0, mma))[None, :], acc)
