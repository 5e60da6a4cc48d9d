"""Right Gluon kernels for Hopper's TMA: reductions of all kinds, boxes of one to three dimensions, descriptors."""

from __future__ import annotations

from triton._C.libtriton import ir
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language._core import builtin
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from tests.gluon.partitioned import barriers
from tests.gluon.pipelines import load, store

TILE = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))


@builtin
def reduce_into(tensor_desc, coord, src, kind, _semantic=None):
    """A reduction of TMA, for which the Gluon of Triton 3.6 has no name."""
    kind = getattr(ir.DESCRIPTOR_REDUCE_KIND, gl._core._unwrap_if_constexpr(kind))
    coord = _semantic._convert_to_ir_values(coord, require_i64=False)
    _semantic.builder.create_async_tma_reduce(kind, tensor_desc.handle, coord, src.handle)


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
