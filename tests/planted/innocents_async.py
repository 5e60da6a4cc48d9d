"""Gluon kernels that wait, fence and count as they should, with rings of several depths."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from tests.planted.asynchronous import LINE, PLAIN, copy, described, load, store


@gluon.jit
def ring_kernel(x_ptr, y_ptr, TURNS: tl.constexpr, DEPTH: tl.constexpr):
    at = gl.arange(0, 128, layout=LINE)
    ring = gl.allocate_shared_memory(gl.float32, [DEPTH, 128], PLAIN)
    for k in gl.static_range(DEPTH - 1):
        if k < TURNS:
            copy(ring.index(k), x_ptr + k * 128 + at)
        async_copy.commit_group()
    for k in gl.static_range(TURNS):
        async_copy.wait_group(DEPTH - 2)
        gl.store(y_ptr + k * 128 + at, ring.index(k % DEPTH).load(LINE))
        if k + DEPTH - 1 < TURNS:
            copy(ring.index((k + DEPTH - 1) % DEPTH), x_ptr + (k + DEPTH - 1) * 128 + at)
        async_copy.commit_group()


@gluon.jit
def tiles_kernel(x_desc, y_desc, TURNS: tl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    for k in gl.static_range(TURNS):
        mbarrier.expect(bar, x_desc.block_type.nbytes)
        load(x_desc, [128 * k], bar, buffer)
        mbarrier.wait(bar, k % 2)
        value = buffer.load(LINE)
        buffer.store(value * 2)
        fence_async_shared()
        store(y_desc, [128 * k], buffer)
        tma.store_wait(0)
    mbarrier.invalidate(bar)


def _ring(turns: int, depth: int) -> Callable[[], None]:
    def run() -> None:
        ring_kernel[(1,)](torch.randn(128 * turns), torch.zeros(128 * turns), TURNS=turns, DEPTH=depth)

    run.__name__ = f"ring of {depth}, {turns} turns"
    return run


def _tiles(turns: int) -> Callable[[], None]:
    def run() -> None:
        tiles_kernel[(1,)](described(torch.randn(128 * turns)), described(torch.zeros(128 * turns)), TURNS=turns)

    run.__name__ = f"{turns} tiles"
    return run


INNOCENTS: list[Callable[[], None]] = [
    *(_ring(turns, depth) for depth in (2, 3, 4) for turns in (1, 3, 5)),
    *(_tiles(turns) for turns in (1, 2, 3, 4)),
]
