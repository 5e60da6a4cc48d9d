"""Other right answers to the tasks of the chapters about Gluon: other layouts, other waits, other ways."""

from __future__ import annotations

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

ACROSS = gl.constexpr(gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0]))
ROWS = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))
DOWN = gl.constexpr(gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1]))
LINE = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
SQUARE = gl.constexpr(gl.BlockedLayout([1, 1], [4, 8], [2, 2], [1, 0]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))


@gluon.jit
def _biased_rows(x_ptr, bias_ptr, out_ptr, rows, columns, x0, x1, T: gl.constexpr, W: gl.constexpr):
    """A strip of rows for each program, and the bias converted instead of loaded with the slice."""
    i = gl.program_id(0) * T + gl.arange(0, T, gl.SliceLayout(1, ACROSS))
    for start in range(0, columns, W):
        j = start + gl.arange(0, W, gl.SliceLayout(0, ACROSS))
        line = start + gl.arange(0, W, layout=LINE)
        bias = gl.convert_layout(gl.load(bias_ptr + line, mask=line < columns), gl.SliceLayout(0, ACROSS))
        mask = (i < rows)[:, None] & (j < columns)[None, :]
        x = gl.load(x_ptr + i[:, None] * x0 + j[None, :] * x1, mask=mask)
        gl.store(out_ptr + i[:, None] * columns + j[None, :], x + bias[None, :], mask=mask)


def bias_in_gluon(x, bias):
    out = torch.empty(x.shape)
    _biased_rows[(triton.cdiv(x.shape[0], 8),)](x, bias, out, *x.shape, *x.stride(), T=8, W=64)
    return out


@gluon.jit
def _turned_by_conversion(x_ptr, out_ptr, rows, columns, T: gl.constexpr):
    i = gl.program_id(0) * T + gl.arange(0, T, gl.SliceLayout(1, ROWS))
    j = gl.program_id(1) * T + gl.arange(0, T, gl.SliceLayout(0, ROWS))
    x = gl.load(x_ptr + i[:, None] * columns + j[None, :], mask=(i < rows)[:, None] & (j < columns)[None, :])
    x = gl.convert_layout(x, DOWN)
    i = gl.convert_layout(i, gl.SliceLayout(1, DOWN))
    j = gl.convert_layout(j, gl.SliceLayout(0, DOWN))
    at = j[None, :] * rows + i[:, None]
    gl.store(out_ptr + at, x, mask=(i < rows)[:, None] & (j < columns)[None, :])


def turn_in_gluon(x):
    rows, columns = x.shape
    out = torch.empty((columns, rows))
    _turned_by_conversion[(triton.cdiv(rows, 32), triton.cdiv(columns, 32))](x, out, rows, columns, T=32)
    return out


@gluon.jit
def _copied_ahead(x_ptr, out_ptr, n, BLOCK: gl.constexpr):
    """Three buffers; the programs all take as many steps, and the places move along."""
    ring = gl.allocate_shared_memory(gl.float32, [3, BLOCK], PLAIN)
    lanes = gl.arange(0, BLOCK, layout=LINE)
    for k in gl.static_range(2):
        at = (gl.program_id(0) + 4 * k) * BLOCK + lanes
        async_copy.async_load(ring.index(k), x_ptr + at, mask=at < n)
        async_copy.commit_group()
    here = gl.program_id(0) * BLOCK + lanes
    for k in range(gl.cdiv(n, 4 * BLOCK)):
        later = here + 8 * BLOCK
        async_copy.async_load(ring.index((k + 2) % 3), x_ptr + later, mask=later < n)
        async_copy.commit_group()
        async_copy.wait_group(2)
        x = ring.index(k % 3).load(LINE)
        gl.store(out_ptr + here, x + x, mask=here < n)
        here += 4 * BLOCK
    async_copy.wait_group(0)


def copy_ahead(x):
    out = torch.empty_like(x)
    _copied_ahead[(4,)](x, out, len(x), BLOCK=256)
    return out


def _described(tensor, block):
    return TensorDescriptor.from_tensor(tensor, block, gl.NVMMASharedLayout.get_default_for(block, gl.float32))


@gluon.jit
def _tile_by_two_buffers(x_desc, out_desc):
    """Another buffer for the result, and a barrier for two loads, of the halves of a tile."""
    ROW: gl.constexpr = x_desc.block_type.shape[0]
    halves = gl.allocate_shared_memory(gl.float32, [2, ROW, 32], x_desc.layout)
    results = gl.allocate_shared_memory(gl.float32, [2, ROW, 32], out_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    i, j = gl.program_id(1) * 2 * ROW, gl.program_id(0) * 32
    mbarrier.expect(bar, 2 * x_desc.block_type.nbytes)
    tma.async_load(x_desc, [i, j], bar, halves.index(0))
    tma.async_load(x_desc, [i + ROW, j], bar, halves.index(1))
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)
    for k in gl.static_range(2):
        results.index(k).store(halves.index(k).load(SQUARE) * 2)
    fence_async_shared()
    for k in gl.static_range(2):
        tma.async_store(out_desc, [i + k * ROW, j], results.index(k))
    tma.store_wait(0)


def tile_by_tma(x):
    out = torch.empty(x.shape)
    grid = (triton.cdiv(x.shape[1], 32), triton.cdiv(x.shape[0], 32))
    _tile_by_two_buffers[grid](_described(x, [16, 32]), _described(out, [16, 32]))
    return out


@gluon.jit
def _ring_with_counters(x_desc, out_ptr, rows, columns):
    """Buffer and phase are counted along, and the result is stored by the warps."""
    ring = gl.allocate_shared_memory(gl.float32, [4, 32, 32], x_desc.layout)
    bars = gl.allocate_shared_memory(gl.int64, [4, 1], mbarrier.MBarrierLayout())
    for k in gl.static_range(4):
        mbarrier.init(bars.index(k), count=1)
    row = gl.program_id(0) * 32
    i = row + gl.arange(0, 32, gl.SliceLayout(1, ROWS))
    buffer, phase = 0, 0
    for k in gl.static_range(3):
        mbarrier.expect(bars.index(k), x_desc.block_type.nbytes)
        tma.async_load(x_desc, [row, k * 32], bars.index(k), ring.index(k))
    for start in range(0, columns, 32):
        free = (buffer + 3) % 4
        mbarrier.expect(bars.index(free), x_desc.block_type.nbytes)
        tma.async_load(x_desc, [row, start + 96], bars.index(free), ring.index(free))
        mbarrier.wait(bars.index(buffer), phase)
        x = ring.index(buffer).load(ROWS)
        fence_async_shared()
        j = start + gl.arange(0, 32, gl.SliceLayout(0, ROWS))
        mask = (i < rows)[:, None] & (j < columns)[None, :]
        gl.store(out_ptr + i[:, None] * columns + j[None, :], x * 2, mask=mask)
        buffer += 1
        if buffer == 4:
            buffer = 0
            phase ^= 1
    for k in gl.static_range(3):  # what was loaded in vain has landed before the program ends
        last = (buffer + k) % 4
        mbarrier.wait(bars.index(last), phase ^ (buffer + k) // 4)


def ring_of_three(x):
    out = torch.empty(x.shape)
    _ring_with_counters[(triton.cdiv(x.shape[0], 32),)](_described(x, [32, 32]), out, *x.shape)
    return out
