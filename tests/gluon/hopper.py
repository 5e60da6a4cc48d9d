"""Right Gluon kernels for Hopper: products of all types, TMA reductions, persistent programs, parted attention."""

from __future__ import annotations

from triton._C.libtriton import ir
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language._core import builtin
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)

from tests.gluon.partitioned import barriers
from tests.gluon.pipelines import load, loaded, store, stored

TILE = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))


@builtin
def reduce_into(tensor_desc, coord, src, kind, _semantic=None):
    """A reduction of TMA, for which the Gluon of Triton 3.6 has no name."""
    kind = getattr(ir.DESCRIPTOR_REDUCE_KIND, gl._core._unwrap_if_constexpr(kind))
    coord = _semantic._convert_to_ir_values(coord, require_i64=False)
    _semantic.builder.create_async_tma_reduce(kind, tensor_desc.handle, coord, src.handle)


# --- TMA -------------------------------------------------------------------------------------------------------


@gluon.jit
def reduced(x_desc, y_desc, KIND: gl.constexpr):
    """Every program puts its tile into the same one, by a reduction."""
    tile = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_type.shape, x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, x_desc.block_type.nbytes)
    load(x_desc, [gl.program_id(0) * x_desc.block_type.shape[0], 0], bar, tile)
    mbarrier.wait(bar, 0)
    reduce_into(y_desc, [0, 0], tile, KIND)
    tma.store_wait(0)


@gluon.jit
def boxes(x_desc, y_desc):
    """Boxes of three dimensions; the last ones reach over the edges of the tensor."""
    box = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_type.shape, x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    at = gl.program_id(0) * x_desc.block_type.shape[0]
    for k in range(2):
        mbarrier.expect(bar, x_desc.block_type.nbytes)
        load(x_desc, [at, 0, k * x_desc.block_type.shape[2]], bar, box)
        mbarrier.wait(bar, k)
        store(y_desc, [at, 0, k * x_desc.block_type.shape[2]], box)
        tma.store_wait(0)


@gluon.jit
def line_boxes(x_desc, y_desc):
    """Boxes of one dimension, each waited for at a barrier of its own; the last one reaches over the end."""
    COUNT: gl.constexpr = 4
    ring = gl.allocate_shared_memory(x_desc.dtype, [COUNT] + x_desc.block_type.shape, x_desc.layout)
    bars = barriers(COUNT, 1)
    for k in gl.static_range(COUNT):
        mbarrier.expect(bars.index(k), x_desc.block_type.nbytes)
        load(x_desc, [k * x_desc.block_type.shape[0]], bars.index(k), ring.index(k))
    for k in gl.static_range(COUNT):
        mbarrier.wait(bars.index(COUNT - 1 - k), 0)
        store(y_desc, [(COUNT - 1 - k) * x_desc.block_type.shape[0]], ring.index(COUNT - 1 - k))
    tma.store_wait(0)


@gluon.jit
def described_inside(x, y, n):
    """The kernel itself makes the descriptors."""
    layout: gl.constexpr = gl.NVMMASharedLayout(128, 32, 2)
    x_desc = tma.make_tensor_descriptor(x, [32, n], [n, 1], [32, 32], layout)
    y_desc = tma.make_tensor_descriptor(y, [32, n], [n, 1], [32, 32], layout)
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, x_desc.block_type.nbytes)
    load(x_desc, [0, gl.program_id(0) * 32], bar, tile)
    mbarrier.wait(bar, 0)
    tile.store(-tile.load(TILE))
    fence_async_shared()
    store(y_desc, [0, gl.program_id(0) * 32], tile)
    tma.store_wait(0)


# --- Products --------------------------------------------------------------------------------------------------


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


# --- Partitions ------------------------------------------------------------------------------------------------


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
