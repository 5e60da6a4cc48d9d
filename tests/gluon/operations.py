"""Gluon kernels of one operation each: elements that values choose, tensor memory, products that are scaled."""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import blackwell
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    warpgroup_mma,
    warpgroup_mma_wait,
)

LINE = gl.constexpr(gl.BlockedLayout([2], [32], [4], [0]))
TILE = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))


@gluon.jit
def gathered(x, y):
    i = gl.arange(0, 256, LINE)
    buffer = gl.allocate_shared_memory(gl.float32, [256], PLAIN)
    buffer.store(gl.load(x + i))
    gl.store(y + i, buffer.gather((i * 3) % 256, 0))


@gluon.jit
def scattered(x, y):
    i = gl.arange(0, 256, LINE)
    buffer = gl.allocate_shared_memory(gl.float32, [256], PLAIN)
    buffer.scatter(gl.load(x + i), 255 - i, 0)
    gl.store(y + i, buffer.load(LINE))


@gluon.jit
def counted(x, y, found):
    i = gl.arange(0, 256, LINE)
    buffer = gl.allocate_shared_memory(gl.int32, [256], PLAIN)
    buffer.store(gl.zeros([256], gl.int32, LINE))
    before = buffer.atomic_scatter_add(gl.load(x + i), i // 4, 0, mask=i < 100)
    gl.store(y + i, buffer.load(LINE))
    gl.store(found + i, before)


@gluon.jit
def gathered_outside(x, y):
    i = gl.arange(0, 256, LINE)
    buffer = gl.allocate_shared_memory(gl.float32, [256], PLAIN)
    buffer.store(gl.load(x + i))
    gl.store(y + i, buffer.gather(i + 1, 0))


@gluon.jit
def index_outside(x, y):
    i = gl.arange(0, 256, LINE)
    buffers = gl.allocate_shared_memory(gl.float32, [2, 256], PLAIN)
    for k in range(3):
        buffers.index(k).store(gl.load(x + i))


@gluon.jit
def viewed(x, y):
    """A tile, written row by row, and read as a transposed view, a slice and other bytes."""
    m = gl.arange(0, 32, gl.SliceLayout(1, TILE))
    n = gl.arange(0, 32, gl.SliceLayout(0, TILE))
    swizzled: gl.constexpr = gl.SwizzledSharedLayout(4, 1, 8, [1, 0])
    buffer = gl.allocate_shared_memory(gl.float32, [32, 32], swizzled)
    buffer.store(gl.load(x + m[:, None] * 32 + n[None, :]))
    turned = buffer.permute((1, 0)).load(TILE)
    gl.store(y + m[:, None] * 32 + n[None, :], turned)
    k = gl.arange(0, 16, gl.SliceLayout(0, TILE))
    gl.store(y + 1024 + m[:, None] * 16 + k[None, :], buffer.slice(16, 16, 1).load(TILE))


@gluon.jit
def summed_wrongly(a, b, y):
    """The sum is used while its product is pending."""
    layout: gl.constexpr = gl.NVMMASharedLayout(128, 16, 2)
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    m = gl.arange(0, 64, gl.SliceLayout(1, TILE))
    n = gl.arange(0, 64, gl.SliceLayout(0, TILE))
    x = gl.allocate_shared_memory(gl.float16, [64, 64], layout, gl.load(a + m[:, None] * 64 + n[None, :]))
    z = gl.allocate_shared_memory(gl.float16, [64, 64], layout, gl.load(b + m[:, None] * 64 + n[None, :]))
    fence_async_shared()
    acc = warpgroup_mma(x, z, gl.zeros((64, 64), gl.float32, mma), is_async=True)
    acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc,))
    down = gl.arange(0, 64, gl.SliceLayout(1, mma))
    along = gl.arange(0, 64, gl.SliceLayout(0, mma))
    gl.store(y + down[:, None] * 64 + along[None, :], acc)


@gluon.jit
def summed_in_a_loop(a, b, y, LEFT: gl.constexpr):
    """The sum of a loop, whose last product may be pending after it."""
    layout: gl.constexpr = gl.NVMMASharedLayout(128, 16, 2)
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    m = gl.arange(0, 64, gl.SliceLayout(1, TILE))
    n = gl.arange(0, 64, gl.SliceLayout(0, TILE))
    x = gl.allocate_shared_memory(gl.float16, [64, 64], layout, gl.load(a + m[:, None] * 64 + n[None, :]))
    z = gl.allocate_shared_memory(gl.float16, [64, 64], layout, gl.load(b + m[:, None] * 64 + n[None, :]))
    fence_async_shared()
    acc = gl.zeros((64, 64), gl.float32, mma)
    for _ in range(3):
        acc = warpgroup_mma(x, z, acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=LEFT, deps=(acc,))
    down = gl.arange(0, 64, gl.SliceLayout(1, mma))
    along = gl.arange(0, 64, gl.SliceLayout(0, mma))
    gl.store(y + down[:, None] * 64 + along[None, :], acc * 2)


@gluon.jit
def shared_by_a_cluster(x, y):
    buffer = gl.allocate_shared_memory(gl.float32, [256], gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout=[[1]]))
    at = gl.arange(0, 256, gl.BlockedLayout([2], [32], [4], [0], cga_layout=[[1]]))
    buffer.store(gl.load(x + at))
    gl.store(y + at, buffer.load(gl.BlockedLayout([2], [32], [4], [0], cga_layout=[[1]])))


# --- Blackwell -------------------------------------------------------------------------------------------------


@gluon.jit
def packed(x, y):
    i = gl.arange(0, 256, LINE)
    value = gl.load(x + i)
    gl.store(y + i, blackwell.fma2(value, value, blackwell.sub2(blackwell.add2(value, value), value)))


@gluon.jit
def kept(x, y):
    """A tile in tensor memory: changed, and read in part."""
    layout: gl.constexpr = blackwell.TensorMemoryLayout([128, 64], col_stride=1)
    m = gl.arange(0, 128, gl.SliceLayout(1, TILE))
    n = gl.arange(0, 64, gl.SliceLayout(0, TILE))
    memory = blackwell.allocate_tensor_memory(gl.float32, [128, 64], layout)
    registers: gl.constexpr = memory.get_reg_layout()
    memory.store(gl.convert_layout(gl.load(x + m[:, None] * 64 + n[None, :]), registers))
    half = memory.slice(32, 32)
    half.store(half.load() + 1)
    gl.store(y + m[:, None] * 64 + n[None, :], gl.convert_layout(memory.load(), TILE))


@gluon.jit
def scaled(a, b, a_scale, b_scale, y, KIND: gl.constexpr, WIDTH: gl.constexpr):
    """A product of 128 x 128 x 128 in a microscaling format; scales go to tensor memory by a copy."""
    layout: gl.constexpr = gl.NVMMASharedLayout(WIDTH, 8, 2)
    m = gl.arange(0, 128, gl.SliceLayout(1, TILE))
    k = gl.arange(0, WIDTH, gl.SliceLayout(0, TILE))
    n = gl.arange(0, 128, gl.SliceLayout(0, TILE))
    s = gl.arange(0, 4, gl.SliceLayout(0, TILE))
    x = gl.allocate_shared_memory(gl.uint8, [128, WIDTH], layout, gl.load(a + m[:, None] * WIDTH + k[None, :]))
    z = gl.allocate_shared_memory(gl.uint8, [128, WIDTH], layout, gl.load(b + m[:, None] * WIDTH + k[None, :]))
    plain: gl.constexpr = gl.NVMMASharedLayout(0, 8, 2)
    xs = gl.allocate_shared_memory(gl.uint8, [128, 4], plain, gl.load(a_scale + m[:, None] * 4 + s[None, :]))
    zs = gl.allocate_shared_memory(gl.uint8, [128, 4], plain, gl.load(b_scale + m[:, None] * 4 + s[None, :]))
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    fence_async_shared()
    scales: gl.constexpr = blackwell.TensorMemoryScalesLayout()
    left = blackwell.allocate_tensor_memory(gl.uint8, [128, 4], scales)
    right = blackwell.allocate_tensor_memory(gl.uint8, [128, 4], scales)
    blackwell.tcgen05_copy(xs, left)
    blackwell.tcgen05_copy(zs, right)
    memory: gl.constexpr = blackwell.TensorMemoryLayout([128, 128], col_stride=1)
    acc = blackwell.allocate_tensor_memory(gl.float32, [128, 128], memory)
    blackwell.tcgen05_mma_scaled(x, z.permute((1, 0)), acc, left, right, KIND, KIND, use_acc=False)
    blackwell.tcgen05_commit(bar)
    mbarrier.wait(bar, 0)
    gl.store(y + m[:, None] * 128 + n[None, :], gl.convert_layout(acc.load(), TILE))
