"""The measurements that the chapters about Gluon show, as `lab.sweep` makes them.

    python -m tests.gpu.gluon_sweeps FILE    # on a machine with a GPU: about a minute
    python -m tests.gpu.gluon_sweeps FILE --small --on cpu    # anywhere: whether all of them run

The file has each sweep with its rows, as JSON. On a GPU, it also prints how often a copy without its wait is wrong.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

import triton_lab as lab
from tests.gluon.cases import described
from tests.gpu.course_sweeps import main
from triton_lab.launch.benchmark.benchmark_result import Sweep

# Triton 3.7 renamed the copies.
copy = getattr(async_copy, "async_load", None) or async_copy.async_copy_global_to_shared
load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared

SMS = 132
SECONDS = 0.05  # for each point

ROWS = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))
COLUMNS = gl.constexpr(gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1]))
LINE = gl.constexpr(gl.BlockedLayout([4], [32], [4], [0]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))


@gluon.jit
def places(across, down, n, layout: gl.constexpr, T: gl.constexpr):
    """The offsets of a tile of T x T in a matrix with n columns."""
    i = down * T + gl.arange(0, T, gl.SliceLayout(1, layout))
    j = across * T + gl.arange(0, T, gl.SliceLayout(0, layout))
    return i[:, None] * n + j[None, :]


@gluon.jit
def transpose_kernel(x, y, n, WAY: gl.constexpr, shared: gl.constexpr, T: gl.constexpr):
    """Registers alone, or from one layout to the other by ``convert_layout`` or by a buffer."""
    i, j = gl.program_id(1), gl.program_id(0)
    tile = gl.load(x + places(j, i, n, ROWS, T))
    if WAY == "registers":
        down = j * T + gl.arange(0, T, gl.SliceLayout(0, ROWS))
        across = i * T + gl.arange(0, T, gl.SliceLayout(1, ROWS))
        gl.store(y + down[None, :] * n + across[:, None], tile)
    else:
        if WAY == "convert_layout":
            turned = gl.convert_layout(tile, COLUMNS)
        else:
            buffer = gl.allocate_shared_memory(gl.float32, [T, T], shared, tile)
            turned = buffer.load(COLUMNS)
        down = j * T + gl.arange(0, T, gl.SliceLayout(0, COLUMNS))
        across = i * T + gl.arange(0, T, gl.SliceLayout(1, COLUMNS))
        gl.store(y + down[None, :] * n + across[:, None], turned)


@gluon.jit
def conflict_kernel(y, steps, count, shared: gl.constexpr):
    """Columns of a few tiles, again and again."""
    tiles = gl.allocate_shared_memory(gl.float32, [2, 32, 32], shared)
    tiles.index(0).store(gl.full([32, 32], 1.0, gl.float32, ROWS))
    tiles.index(1).store(gl.full([32, 32], 2.0, gl.float32, ROWS))
    total = gl.zeros([32, 32], gl.float32, COLUMNS)
    for k in range(steps):
        total += tiles.index(k % count).load(COLUMNS)
    gl.store(y + places(0, gl.program_id(0), 32, COLUMNS, 32), total)


@gluon.jit
def groups_kernel(x, y, steps, BLOCK: gl.constexpr, BUFFERS: gl.constexpr, WAITS: gl.constexpr):
    """x + 1 by copies in groups: ``BUFFERS`` - 1 copies run ahead."""
    ring = gl.allocate_shared_memory(gl.float32, [BUFFERS, BLOCK], PLAIN)
    lanes = gl.arange(0, BLOCK, layout=LINE)
    first = gl.program_id(0).to(gl.int64) * steps * BLOCK
    for k in gl.static_range(BUFFERS - 1):
        copy(ring.index(k), x + first + k * BLOCK + lanes)
        async_copy.commit_group()
    for k in range(steps):
        ahead = k + BUFFERS - 1
        copy(ring.index(ahead % BUFFERS), x + first + ahead * BLOCK + lanes, mask=lanes < (steps - ahead) * BLOCK)
        async_copy.commit_group()
        if WAITS:
            async_copy.wait_group(BUFFERS - 1)
        gl.store(y + first + k * BLOCK + lanes, ring.index(k % BUFFERS).load(LINE) + 1)
    async_copy.wait_group(0)


@gluon.jit
def tma_kernel(x_desc, y, steps, BUFFERS: gl.constexpr):
    """x + 1 by TMA: ``BUFFERS`` loads run ahead."""
    ROW: gl.constexpr = x_desc.block_type.shape[0]
    COLUMN: gl.constexpr = x_desc.block_type.shape[1]
    ring = gl.allocate_shared_memory(gl.float32, [BUFFERS, ROW, COLUMN], x_desc.layout)
    bars = gl.allocate_shared_memory(gl.int64, [BUFFERS, 1], mbarrier.MBarrierLayout())
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    first = gl.program_id(0) * steps
    for k in gl.static_range(BUFFERS):
        mbarrier.init(bars.index(k), count=1)
    for k in gl.static_range(BUFFERS - 1):
        mbarrier.expect(bars.index(k), x_desc.block_type.nbytes)
        load(x_desc, [(first + k) * ROW, 0], bars.index(k), ring.index(k))
    for k in range(steps):
        ahead = k + BUFFERS - 1
        slot = ahead % BUFFERS
        mbarrier.expect(bars.index(slot), x_desc.block_type.nbytes, pred=ahead < steps)
        load(x_desc, [(first + ahead) * ROW, 0], bars.index(slot), ring.index(slot), pred=ahead < steps)
        mbarrier.wait(bars.index(k % BUFFERS), k // BUFFERS & 1)
        i = (first + k) * ROW + gl.arange(0, ROW, gl.SliceLayout(1, layout))
        j = gl.arange(0, COLUMN, gl.SliceLayout(0, layout))
        value = ring.index(k % BUFFERS).load(layout) + 1
        fence_async_shared()
        gl.store(y + i[:, None] * COLUMN + j[None, :], value)
    for k in gl.static_range(BUFFERS):
        mbarrier.invalidate(bars.index(k))


def swizzled(phases: int) -> gl.SwizzledSharedLayout:
    return gl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=phases, order=[1, 0])


WAYS = {
    "registers alone": ("registers", 1),
    "a buffer, 32 in a bank": ("buffer", 1),
    "a buffer, swizzled": ("buffer", 32),
    "convert_layout": ("convert_layout", 1),
}


def transposes(device: str, small: bool) -> Sweep:
    """The transpose of a float32 matrix, by tiles of 32 x 32."""

    def made(way, phases):
        def transpose(n):
            x, y = torch.rand(n, n, device=device), torch.empty(n, n, device=device)
            grid = (n // 32, n // 32)
            transpose_kernel[grid](x, y, n, WAY=way, shared=swizzled(phases), T=32)
            assert torch.equal(y, x.t()), way
            return lambda: transpose_kernel[grid](x, y, n, WAY=way, shared=swizzled(phases), T=32)

        return transpose

    sizes = [64] if small else [1024, 2048, 4096, 8192, 16384]
    ways = {name: made(*way) for name, way in WAYS.items()}
    return lab.sweep(ways, sizes, bytes=lambda n: 8.0 * n * n, seconds=SECONDS, axis="rows and columns")


def conflicts(device: str, small: bool) -> Sweep:
    """Reads of shared memory by all multiprocessors, by how many lanes of a warp meet in a bank."""
    programs, steps = (1, 4) if small else (8 * SMS, 4096)

    def read(ways):
        y = torch.empty(programs, 32, 32, device=device)
        return lambda: conflict_kernel[(programs,)](y, steps, 2, shared=swizzled(32 // ways))

    sizes = [1, 2] if small else [1, 2, 4, 8, 16, 32]
    return lab.sweep(
        {"reads of columns": read},
        sizes,
        bytes=lambda n: 4096.0 * programs * steps,
        seconds=SECONDS,
        axis="lanes in a bank",
    )


def buffers(device: str, small: bool) -> Sweep:
    """A copy of 256 MiB by 132 programs, in steps of 4 KiB, by the number of buffers."""
    programs, steps = (2, 8) if small else (SMS, 496)

    def inputs():
        x = torch.rand(programs * steps * 32, 32, device=device)
        return x, torch.empty_like(x)

    def groups(count):
        x, y = inputs()
        return lambda: groups_kernel[(programs,)](x, y, steps, BLOCK=1024, BUFFERS=count, WAITS=True)

    def by_tma(count):
        x, y = inputs()
        return lambda: tma_kernel[(programs,)](described(x, [32, 32]), y, steps, BUFFERS=count)

    sizes = [1, 2, 3] if small else [1, 2, 3, 4, 6, 8, 12, 16]
    moved = 8.0 * programs * steps * 1024
    ways: dict[str, Callable] = {"copies in groups": groups, "TMA": by_tma}
    return lab.sweep(ways, sizes, bytes=lambda count: moved, seconds=SECONDS, axis="buffers")


SWEEPS: dict[str, Callable[[str, bool], Sweep]] = {one.__name__: one for one in (transposes, conflicts, buffers)}


def missing_waits() -> None:
    """Print what share of a copy is wrong with its waits, and what without."""
    programs, steps = SMS, 496
    x = torch.rand(programs * steps * 32, 32, device="cuda")
    for count in (1, 2, 3, 4, 8):
        for waits in (True, False):
            wrong = []
            for _ in range(5):
                y = torch.zeros_like(x)
                groups_kernel[(programs,)](x, y, steps, BLOCK=1024, BUFFERS=count, WAITS=waits)
                wrong.append(float((y != x + 1).double().mean()))
            print(f"{count} buffers, {'with' if waits else 'without'} waits: wrong share {wrong}", flush=True)
        y = torch.zeros_like(x)
        tma_kernel[(programs,)](described(x, [32, 32]), y, steps, BUFFERS=count)
        print(f"{count} buffers, TMA: right {torch.equal(y, x + 1)}", flush=True)


if __name__ == "__main__":
    main(sweeps=SWEEPS)
    if torch.cuda.is_available():
        with lab.target("gpu"):
            missing_waits()
    sys.exit()
