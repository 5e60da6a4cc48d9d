"""The measurements of Gluon kernels that the course shows: products and attention on an H100.

    python -m tests.gpu.tensor_core_sweeps FILE    # on a machine with a GPU of compute capability 9.0: under a minute
    python -m tests.gpu.tensor_core_sweeps FILE --small --on cpu    # anywhere: whether all of them run

Before it is measured each kernel is compared with torch. The file has each sweep with its rows, as JSON.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

import triton_lab as lab
from tests.gpu import course_sweeps
from triton_lab.examples.attention import attention as attention_in_triton
from triton_lab.launch.benchmark.benchmark_result import Sweep

# Triton 3.7 renamed the copies.
load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global


@gluon.jit
def barriers(COUNT: gl.constexpr, ARRIVALS: gl.constexpr):
    bars = gl.allocate_shared_memory(gl.int64, [COUNT, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(COUNT):
        mbarrier.init(bars.index(slot), count=ARRIVALS)
    return bars


@gluon.jit
def load_pair(x_desc, y_desc, x, y, bar, x_at, y_at, pred=True):
    mbarrier.expect(bar, x_desc.block_type.nbytes + y_desc.block_type.nbytes, pred=pred)
    load(x_desc, x_at, bar, x, pred=pred)
    load(y_desc, y_at, bar, y, pred=pred)


@gluon.jit
def store_tile(desc, tile, at, value):
    tile.store(value.to(desc.dtype))
    fence_async_shared()
    store(desc, at, tile)
    tma.store_wait(0)


# --- Products ---------------------------------------------------------------------------------------------------


@gluon.jit
def product_kernel(a_desc, b_desc, c_desc, K, BUFFERS: gl.constexpr, IN_FLIGHT: gl.constexpr):
    """One partition: loads run BUFFERS - 1 - IN_FLIGHT steps ahead, and IN_FLIGHT products are in flight."""
    M: gl.constexpr = c_desc.block_type.shape[0]
    N: gl.constexpr = c_desc.block_type.shape[1]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    AHEAD: gl.constexpr = BUFFERS - 1 - IN_FLIGHT
    a = gl.allocate_shared_memory(a_desc.dtype, [BUFFERS, M, STEP], a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [BUFFERS, STEP, N], b_desc.layout)
    full = barriers(BUFFERS, 1)
    i, j = gl.program_id(0) * M, gl.program_id(1) * N
    steps = gl.cdiv(K, STEP)
    for k in gl.static_range(AHEAD):
        load_pair(a_desc, b_desc, a.index(k), b.index(k), full.index(k), [i, k * STEP], [k * STEP, j], k < steps)
    SUM: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    total = gl.zeros((M, N), gl.float32, SUM)
    for k in range(steps):
        late = k + AHEAD
        into = late % BUFFERS
        load_pair(
            a_desc, b_desc, a.index(into), b.index(into), full.index(into), [i, late * STEP], [late * STEP, j],
            late < steps,
        )  # fmt: skip
        mbarrier.wait(full.index(k % BUFFERS), k // BUFFERS & 1)
        total = warpgroup_mma(a.index(k % BUFFERS), b.index(k % BUFFERS), total, is_async=True)
        total = warpgroup_mma_wait(num_outstanding=IN_FLIGHT, deps=(total,))
    total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
    c = gl.allocate_shared_memory(c_desc.dtype, [M, N], c_desc.layout)
    store_tile(c_desc, c, [i, j], total)


@gluon.jit
def load_tiles(a_desc, b_desc, a, b, full, empty, i, j, steps, BUFFERS: gl.constexpr):
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    for k in range(steps):
        at = k % BUFFERS
        mbarrier.wait(empty.index(at), k // BUFFERS & 1 ^ 1)
        load_pair(a_desc, b_desc, a.index(at), b.index(at), full.index(at), [i, k * STEP], [k * STEP, j])


@gluon.jit
def multiply_tiles(c_desc, a, b, full, empty, i, j, steps, BUFFERS: gl.constexpr, IN_FLIGHT: gl.constexpr):
    M: gl.constexpr = c_desc.block_type.shape[0]
    N: gl.constexpr = c_desc.block_type.shape[1]
    SUM: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    total = gl.zeros((M, N), gl.float32, SUM)
    for k in range(steps):
        mbarrier.wait(full.index(k % BUFFERS), k // BUFFERS & 1)
        total = warpgroup_mma(a.index(k % BUFFERS), b.index(k % BUFFERS), total, is_async=True)
        total = warpgroup_mma_wait(num_outstanding=IN_FLIGHT, deps=(total,))
        mbarrier.arrive(empty.index((k - IN_FLIGHT + BUFFERS) % BUFFERS), count=1, pred=k >= IN_FLIGHT)
    total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
    c = gl.allocate_shared_memory(c_desc.dtype, [M, N], c_desc.layout)
    store_tile(c_desc, c, [i, j], total)


@gluon.jit
def parted_product_kernel(a_desc, b_desc, c_desc, K, BUFFERS: gl.constexpr, IN_FLIGHT: gl.constexpr):
    """Two partitions: one warp loads, four multiply and leave IN_FLIGHT products in flight."""
    M: gl.constexpr = c_desc.block_type.shape[0]
    N: gl.constexpr = c_desc.block_type.shape[1]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    a = gl.allocate_shared_memory(a_desc.dtype, [BUFFERS, M, STEP], a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, [BUFFERS, STEP, N], b_desc.layout)
    full = barriers(BUFFERS, 1)
    empty = barriers(BUFFERS, 1)
    i, j = gl.program_id(0) * M, gl.program_id(1) * N
    steps = gl.cdiv(K, STEP)
    gl.warp_specialize(
        [
            (multiply_tiles, (c_desc, a, b, full, empty, i, j, steps, BUFFERS, IN_FLIGHT)),
            (load_tiles, (a_desc, b_desc, a, b, full, empty, i, j, steps, BUFFERS)),
        ],
        [1],
        [24],
    )


# --- Attention --------------------------------------------------------------------------------------------------


@gluon.jit
def attend(q, o_desc, out, keys, values, full, empty, row, n, scale, BUFFERS: gl.constexpr, WARPS: gl.constexpr):
    """The result of the queries in q; ``scale`` has the factor log2(e), since exp2 is what the hardware has."""
    ROWS: gl.constexpr = q.shape[0]
    DIM: gl.constexpr = q.shape[1]
    KEYS: gl.constexpr = keys.shape[1]
    SCORES: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, KEYS, 16])
    SUM: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, DIM, 16])
    WEIGHTS: gl.constexpr = gl.DotOperandLayout(0, SUM, 2)
    result = gl.zeros((ROWS, DIM), gl.float32, SUM)
    highest = gl.full((ROWS,), -1.0e30, gl.float32, gl.SliceLayout(1, SCORES))
    total = gl.zeros((ROWS,), gl.float32, gl.SliceLayout(1, SCORES))
    for k in range(n):
        at = k % BUFFERS
        mbarrier.wait(full.index(at), k // BUFFERS & 1)
        start = gl.zeros((ROWS, KEYS), gl.float32, SCORES)
        scores = warpgroup_mma(q, keys.index(at).permute((1, 0)), start, is_async=True)
        scores = warpgroup_mma_wait(num_outstanding=0, deps=(scores,)) * scale
        higher = gl.maximum(highest, gl.max(scores, 1))
        shrink = gl.exp2(highest - higher)
        weights = gl.exp2(scores - higher[:, None])
        total = total * shrink + gl.sum(weights, 1)
        highest = higher
        result = result * gl.convert_layout(shrink, gl.SliceLayout(1, SUM))[:, None]
        weights = gl.convert_layout(weights.to(o_desc.dtype), WEIGHTS)
        result = warpgroup_mma(weights, values.index(at), result, is_async=True)
        result = warpgroup_mma_wait(num_outstanding=0, deps=(result,))
        mbarrier.arrive(empty.index(at), count=1)
    store_tile(o_desc, out, [row, 0], result / gl.convert_layout(total, gl.SliceLayout(1, SUM))[:, None])


@gluon.jit
def load_keys(k_desc, v_desc, keys, values, full, empty, first, n, BUFFERS: gl.constexpr):
    KEYS: gl.constexpr = k_desc.block_type.shape[0]
    for k in range(n):
        at = k % BUFFERS
        row = first + k * KEYS
        mbarrier.wait(empty.index(at), k // BUFFERS & 1 ^ 1)
        load_pair(k_desc, v_desc, keys.index(at), values.index(at), full.index(at), [row, 0], [row, 0])


@gluon.jit
def attention_kernel(
    q_desc, k_desc, v_desc, o_desc, tokens, scale, BUFFERS: gl.constexpr, COMPUTERS: gl.constexpr, WARPS: gl.constexpr
):
    """One warp loads keys and values; one partition or two, of WARPS warps each, compute ROWS queries each."""
    ROWS: gl.constexpr = o_desc.block_type.shape[0]
    KEYS: gl.constexpr = k_desc.block_type.shape[0]
    DIM: gl.constexpr = k_desc.block_type.shape[1]
    q = gl.allocate_shared_memory(q_desc.dtype, q_desc.block_type.shape, q_desc.layout)
    keys = gl.allocate_shared_memory(k_desc.dtype, [BUFFERS, KEYS, DIM], k_desc.layout)
    values = gl.allocate_shared_memory(v_desc.dtype, [BUFFERS, KEYS, DIM], v_desc.layout)
    ready = barriers(1, 1)
    full = barriers(BUFFERS, 1)
    empty = barriers(BUFFERS, COMPUTERS)
    first = gl.program_id(1) * tokens
    row = first + gl.program_id(0) * q_desc.block_type.shape[0]
    n = gl.cdiv(tokens, KEYS)
    mbarrier.expect(ready.index(0), q_desc.block_type.nbytes)
    load(q_desc, [row, 0], ready.index(0), q)
    mbarrier.wait(ready.index(0), 0)
    if COMPUTERS == 1:
        gl.warp_specialize(
            [
                (attend, (q, o_desc, q, keys, values, full, empty, row, n, scale, BUFFERS, WARPS)),
                (load_keys, (k_desc, v_desc, keys, values, full, empty, first, n, BUFFERS)),
            ],
            [1],
            [24],
        )
    else:
        upper = q.slice(0, ROWS, 0)
        lower = q.slice(ROWS, ROWS, 0)
        gl.warp_specialize(
            [
                (attend, (upper, o_desc, upper, keys, values, full, empty, row, n, scale, BUFFERS, WARPS)),
                (attend, (lower, o_desc, lower, keys, values, full, empty, row + ROWS, n, scale, BUFFERS, WARPS)),
                (load_keys, (k_desc, v_desc, keys, values, full, empty, first, n, BUFFERS)),
            ],
            [WARPS, 1],
            [240, 24],
        )


def described(tensor: torch.Tensor, block: list[int]) -> TensorDescriptor:
    return TensorDescriptor.from_tensor(tensor, block, gl.NVMMASharedLayout.get_default_for(block, gl.float16))


def checked(run: Callable[[], torch.Tensor], right: torch.Tensor) -> Callable[[], torch.Tensor]:
    """``run``, if its result is ``right`` up to the rounding of float16; else ValueError."""
    found = run()
    if not torch.allclose(found.float(), right.float(), rtol=1e-2, atol=1e-2 * right.float().abs().max().item()):
        raise ValueError("the result is wrong")
    return run


def _products(side: int, device: str, small: bool) -> Sweep:
    """A product of float16 with tiles of 128 by 128 and steps of 64, by buffers; torch's stands at four.

    A program of one partition or of two waits for each product, or has one in flight.
    """
    side, tile = (128, 64) if small else (side, 128)
    a, b = (torch.randn(side, side, device=device).half() for _ in range(2))

    def ours(kernel, in_flight=0):
        def made(buffers):
            c = torch.empty_like(a)
            tensors = described(a, [tile, 64]), described(b, [64, tile]), described(c, [tile, tile])

            def run():
                kernel[(side // tile, side // tile)](*tensors, side, BUFFERS=buffers, IN_FLIGHT=in_flight)
                return c

            return checked(run, a @ b)

        return made

    ways = {"one partition": ours(product_kernel), "two partitions": ours(parted_product_kernel)}
    four: dict[str, Callable] = {
        "one partition, a product in flight": ours(product_kernel, 1),
        "two partitions, a product in flight": ours(parted_product_kernel, 1),
        "torch": lambda _: lambda: a @ b,
    }
    found, last = (
        lab.sweep(each, sizes, flops=lambda _: 2.0 * side**3, seconds=0.15, axis="buffers")
        for each, sizes in ((ways, [1, 2, 3, 4]), (four, [4]))
    )
    return Sweep((*found.rows, *last.rows), found.target, found.peaks, axis=found.axis)


def gluon_products(device: str, small: bool) -> Sweep:
    """Matrices of 4,096 by 4,096."""
    return _products(4096, device, small)


def gluon_products_8192(device: str, small: bool) -> Sweep:
    """Matrices of 8,192 by 8,192."""
    return _products(8192, device, small)


def gluon_attention(device: str, small: bool) -> Sweep:
    """Attention of 16 heads and 128 channels in float16, by tokens."""
    heads, dim = (1, 64) if small else (16, 128)
    keys = 64 if small else 128

    def inputs(size):
        return (torch.randn(heads, size, dim, device=device).half() for _ in range(3))

    def right(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]

    def ours(buffers, computers, warps):
        def made(size):
            q, k, v = inputs(size)
            out = torch.empty_like(q)
            rows = 16 * warps
            blocks = [rows * computers, dim], [keys, dim], [keys, dim], [rows, dim]
            tensors = [described(one.view(-1, dim), block) for one, block in zip((q, k, v, out), blocks, strict=True)]
            grid = size // (rows * computers), heads
            scale = math.log2(math.e) / math.sqrt(dim)

            def run():
                attention_kernel[grid](
                    *tensors, size, scale, BUFFERS=buffers, COMPUTERS=computers, WARPS=warps, num_warps=warps
                )
                return out

            return checked(run, right(q, k, v))

        return made

    def by_triton(size):
        q, k, v = inputs(size)
        return lambda: attention_in_triton(q, k, v, False, 128, 64)

    def by_torch(size):
        q, k, v = inputs(size)
        return lambda: right(q, k, v)

    ways: dict[str, Callable] = {
        "one computes, 1 buffer": ours(1, 1, 4 if small else 8),
        "one computes, 2 buffers": ours(2, 1, 4 if small else 8),
        "two compute, 1 buffer": ours(1, 2, 4),
        "two compute, 2 buffers": ours(2, 2, 4),
        "the example in Triton": by_triton,
        "torch": by_torch,
    }
    sizes = [128] if small else [1024, 4096, 8192]
    return lab.sweep(ways, sizes, flops=lambda size: 4.0 * heads * dim * size**2, seconds=0.15, axis="tokens")


if __name__ == "__main__":
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    course_sweeps.SWEEPS.clear()
    course_sweeps.SWEEPS.update({one.__name__: one for one in (gluon_products, gluon_products_8192, gluon_attention)})
    sys.exit(course_sweeps.main())
