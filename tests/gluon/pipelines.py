"""Right Gluon kernels that wait, fence and count: what `tests.gluon.plant` puts bugs into, one at a time."""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import blackwell
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)

# Triton 3.7 renamed the copies.
copy = getattr(async_copy, "async_load", None) or async_copy.async_copy_global_to_shared
load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global
add_to = getattr(tma, "async_atomic_add", None)
gather = blackwell.tma.async_gather
scatter = blackwell.tma.async_scatter

LINE = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
TILE = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))
ROWS = gl.constexpr(gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0])))


# --- Copies in groups ------------------------------------------------------------------------------------------


@gluon.jit
def copies(x, y, n, BLOCK: gl.constexpr, DEPTH: gl.constexpr):
    """A ring: DEPTH copies are under way while one buffer is read."""
    buffers = gl.allocate_shared_memory(gl.float32, [DEPTH + 1, BLOCK], PLAIN)
    lanes = gl.arange(0, BLOCK, layout=LINE)
    for k in gl.static_range(DEPTH):
        copy(buffers.index(k), x + k * BLOCK + lanes, mask=k * BLOCK + lanes < n)
        async_copy.commit_group()
    for k in range(gl.cdiv(n, BLOCK)):
        ahead = k + DEPTH
        at = ahead * BLOCK + lanes
        copy(buffers.index(ahead % (DEPTH + 1)), x + at, mask=at < n)
        async_copy.commit_group()
        async_copy.wait_group(DEPTH)
        now = k * BLOCK + lanes
        gl.store(y + now, buffers.index(k % (DEPTH + 1)).load(LINE) + 1, mask=now < n)


@gluon.jit
def copies_to_a_barrier(x, y, n, BLOCK: gl.constexpr, DEPTH: gl.constexpr):
    """Copies that report to a barrier instead of groups."""
    buffer = gl.allocate_shared_memory(gl.float32, [BLOCK], PLAIN)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    lanes = gl.arange(0, BLOCK, layout=LINE)
    for k in range(gl.cdiv(n, BLOCK)):
        at = k * BLOCK + lanes
        copy(buffer, x + at, mask=at < n)
        async_copy.mbarrier_arrive(bar)
        mbarrier.arrive(bar, count=1)
        mbarrier.wait(bar, k & 1)
        gl.store(y + at, buffer.load(LINE) + 1, mask=at < n)
    mbarrier.invalidate(bar)


# --- TMA -------------------------------------------------------------------------------------------------------


@gluon.jit
def tiles(x_desc, y_desc, n, DEPTH: gl.constexpr):
    """Loads DEPTH ahead; each tile is changed in place and stored."""
    ring = gl.allocate_shared_memory(x_desc.dtype, [DEPTH + 1] + x_desc.block_type.shape, x_desc.layout)
    out = gl.allocate_shared_memory(y_desc.dtype, y_desc.block_type.shape, y_desc.layout)
    bars = gl.allocate_shared_memory(gl.int64, [DEPTH + 1, 1], mbarrier.MBarrierLayout())
    STEP: gl.constexpr = x_desc.block_type.shape[1]
    for k in gl.static_range(DEPTH + 1):
        mbarrier.init(bars.index(k), count=1)
    for k in gl.static_range(DEPTH):
        mbarrier.expect(bars.index(k), x_desc.block_type.nbytes)
        load(x_desc, [0, k * STEP], bars.index(k), ring.index(k))
    for k in range(n):
        ahead = k + DEPTH
        mbarrier.expect(bars.index(ahead % (DEPTH + 1)), x_desc.block_type.nbytes)
        load(x_desc, [0, ahead * STEP], bars.index(ahead % (DEPTH + 1)), ring.index(ahead % (DEPTH + 1)))
        mbarrier.wait(bars.index(k % (DEPTH + 1)), k // (DEPTH + 1) & 1)
        value = ring.index(k % (DEPTH + 1)).load(TILE) + 1
        tma.store_wait(0)
        out.store(value)
        fence_async_shared()
        store(y_desc, [0, k * STEP], out)
    tma.store_wait(0)


@gluon.jit
def in_place(x_desc, y_desc, n, DEPTH: gl.constexpr):
    """One buffer: loaded, changed, stored, and loaded again."""
    STEP: gl.constexpr = x_desc.block_type.shape[1]
    buffer = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_type.shape, x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    for k in range(n):
        mbarrier.expect(bar, x_desc.block_type.nbytes)
        load(x_desc, [0, k * STEP], bar, buffer)
        mbarrier.wait(bar, k & 1)
        buffer.store(buffer.load(TILE) + 1)
        fence_async_shared()
        store(y_desc, [0, k * STEP], buffer)
        tma.store_wait(0)
    mbarrier.invalidate(bar)


@gluon.jit
def added_up(x_desc, y_desc, n, DEPTH: gl.constexpr):
    """Two buffers in turns; every program adds its tiles to one tensor."""
    STEP: gl.constexpr = x_desc.block_type.shape[1]
    buffers = gl.allocate_shared_memory(x_desc.dtype, [2] + x_desc.block_type.shape, x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    for k in range(n):
        buffer = buffers.index(k & 1)
        tma.store_wait(1)
        mbarrier.expect(bar, x_desc.block_type.nbytes)
        load(x_desc, [0, k * STEP], bar, buffer)
        mbarrier.wait(bar, k & 1)
        add_to(y_desc, [0, k * STEP], buffer)
    tma.store_wait(0)


@gluon.jit
def rows(x_desc, y_desc, n, DEPTH: gl.constexpr):
    """Rows of one tensor, gathered and scattered to another (Blackwell)."""
    buffer = gl.allocate_shared_memory(x_desc.dtype, [32, x_desc.block_type.shape[1]], x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    chosen = gl.arange(0, 32, layout=ROWS)
    mbarrier.expect(bar, 32 * x_desc.block_type.nbytes)
    gather(x_desc, 31 - chosen, 0, bar, buffer)
    mbarrier.wait(bar, 0)
    buffer.store(buffer.load(TILE) + 1)
    fence_async_shared()
    scatter(y_desc, chosen, 0, buffer)
    tma.store_wait(0)


# --- Products --------------------------------------------------------------------------------------------------


@gluon.jit
def loaded(a_desc, b_desc, a, b, bar, m, n, k, pred=True):
    mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes, pred=pred)
    load(a_desc, [m, k], bar, a, pred=pred)
    load(b_desc, [k, n], bar, b, pred=pred)


@gluon.jit
def stored(c_desc, acc, m, n):
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    c.store(acc.to(c_desc.dtype))
    fence_async_shared()
    store(c_desc, [m, n], c)
    tma.store_wait(0)


@gluon.jit
def product(a_desc, b_desc, c_desc, K, DEPTH: gl.constexpr):
    """Loads DEPTH ahead of wgmma; the last product runs while the next load is started."""
    M: gl.constexpr = a_desc.block_type.shape[0]
    N: gl.constexpr = b_desc.block_type.shape[1]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    SLOTS: gl.constexpr = DEPTH + 2
    a = gl.allocate_shared_memory(a_desc.dtype, [SLOTS] + a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [SLOTS] + b_desc.block_type.shape, b_desc.layout)
    bars = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    for k in gl.static_range(SLOTS):
        mbarrier.init(bars.index(k), count=1)
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    acc = warpgroup_mma_init(gl.zeros((M, N), gl.float32, mma))
    m = gl.program_id(0) * M
    n = gl.program_id(1) * N
    steps = gl.cdiv(K, STEP)
    for k in gl.static_range(DEPTH):
        loaded(a_desc, b_desc, a.index(k), b.index(k), bars.index(k), m, n, k * STEP)
    for k in range(steps):
        ahead = (k + DEPTH) % SLOTS
        loaded(
            a_desc,
            b_desc,
            a.index(ahead),
            b.index(ahead),
            bars.index(ahead),
            m,
            n,
            (k + DEPTH) * STEP,
            pred=k + DEPTH < steps,
        )
        mbarrier.wait(bars.index(k % SLOTS), k // SLOTS & 1)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
        acc = warpgroup_mma(a.index(k % SLOTS), b.index(k % SLOTS), acc, is_async=True)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    stored(c_desc, acc, m, n)


@gluon.jit
def product_from_registers(a_desc, b_desc, c_desc, K, DEPTH: gl.constexpr):
    """The left factor goes through registers, and is doubled there."""
    M: gl.constexpr = a_desc.block_type.shape[0]
    N: gl.constexpr = b_desc.block_type.shape[1]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_type.shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_type.shape, b_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    left: gl.constexpr = gl.DotOperandLayout(0, mma, 2)
    acc = gl.zeros((M, N), gl.float32, mma)
    m = gl.program_id(0) * M
    n = gl.program_id(1) * N
    for k in range(gl.cdiv(K, STEP)):
        loaded(a_desc, b_desc, a, b, bar, m, n, k * STEP)
        mbarrier.wait(bar, k & 1)
        acc = warpgroup_mma(a.load(left), b, acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    mbarrier.invalidate(bar)
    stored(c_desc, acc, m, n)


@gluon.jit
def product_of_stored(a, b, c_desc, K, DEPTH: gl.constexpr):
    """Both factors are loaded to registers and stored to shared memory, so that wgmma needs a fence."""
    STEP: gl.constexpr = 64
    SIDE: gl.constexpr = 64
    layout: gl.constexpr = gl.NVMMASharedLayout(128, 16, 2)
    x = gl.allocate_shared_memory(gl.float16, [SIDE, STEP], layout)
    y = gl.allocate_shared_memory(gl.float16, [STEP, SIDE], layout)
    down = gl.arange(0, SIDE, layout=gl.SliceLayout(1, TILE))
    along = gl.arange(0, SIDE, layout=gl.SliceLayout(0, TILE))
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, SIDE, 16])
    acc = gl.zeros((SIDE, SIDE), gl.float32, mma)
    m = gl.program_id(0) * SIDE
    n = gl.program_id(1) * SIDE
    N = gl.num_programs(1) * SIDE
    for k in range(0, K, STEP):
        x.store(gl.load(a + (m + down)[:, None] * K + (k + along)[None, :]))
        y.store(gl.load(b + (k + down)[:, None] * N + (n + along)[None, :]))
        fence_async_shared()
        acc = warpgroup_mma(x, y, acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    stored(c_desc, acc, m, n)


@gluon.jit
def attention(q_desc, k_desc, v_desc, o_desc, n, scale):
    """Softmax of one block of queries over n blocks of keys, by wgmma."""
    ROWS_: gl.constexpr = q_desc.block_type.shape[0]
    KEYS: gl.constexpr = k_desc.block_type.shape[0]
    WIDTH: gl.constexpr = q_desc.block_type.shape[1]
    q = gl.allocate_shared_memory(q_desc.dtype, q_desc.block_type.shape, q_desc.layout)
    keys = gl.allocate_shared_memory(k_desc.dtype, k_desc.block_type.shape, k_desc.layout)
    values = gl.allocate_shared_memory(v_desc.dtype, v_desc.block_type.shape, v_desc.layout)
    bars = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(bars.index(0), count=1)
    mbarrier.init(bars.index(1), count=1)
    score: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, KEYS, 16])
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, WIDTH, 16])
    left: gl.constexpr = gl.DotOperandLayout(0, mma, 2)
    row = gl.program_id(0) * ROWS_
    mbarrier.expect(bars.index(0), q_desc.block_type.nbytes)
    load(q_desc, [row, 0], bars.index(0), q)
    mbarrier.wait(bars.index(0), 0)
    acc = gl.zeros((ROWS_, WIDTH), gl.float32, mma)
    most = gl.full((ROWS_,), -1.0e30, gl.float32, gl.SliceLayout(1, score))
    total = gl.zeros((ROWS_,), gl.float32, gl.SliceLayout(1, score))
    for k in range(n):
        mbarrier.expect(bars.index(1), k_desc.block_type.nbytes + v_desc.block_type.nbytes)
        load(k_desc, [k * KEYS, 0], bars.index(1), keys)
        load(v_desc, [k * KEYS, 0], bars.index(1), values)
        mbarrier.wait(bars.index(1), k & 1)
        s = warpgroup_mma(q, keys.permute((1, 0)), gl.zeros((ROWS_, KEYS), gl.float32, score), is_async=True)
        s = warpgroup_mma_wait(num_outstanding=0, deps=(s,)) * scale
        higher = gl.maximum(most, gl.max(s, 1))
        p = gl.exp(s - higher[:, None])
        shrink = gl.exp(most - higher)
        total = total * shrink + gl.sum(p, 1)
        most = higher
        acc = acc * gl.convert_layout(shrink, gl.SliceLayout(1, mma))[:, None]
        acc = warpgroup_mma(gl.convert_layout(p.to(v_desc.dtype), left), values, acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    acc = acc / gl.convert_layout(total, gl.SliceLayout(1, mma))[:, None]
    stored(o_desc, acc, row, 0)
