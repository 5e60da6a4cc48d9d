"""Blocks that are stored in one layout and loaded in another, so that warps exchange them; and those that are not."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

ROWS, COLUMNS = 8, 256


@triton.jit
def cast_kernel(half_ptr, work_ptr, out_ptr, MENDED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(work_ptr + at, tl.load(half_ptr + at).to(tl.float32) * 2)
    if MENDED:
        tl.debug_barrier()
    doubled = tl.load(work_ptr + at)  # BUG
    tl.store(out_ptr + at, (doubled + 1).to(tl.float16))


@plant(cast_kernel, "layout-order", "work_ptr", {0}, shown=True)
def workspace_of_another_dtype(mended: bool) -> None:
    """The store has four floats for each thread, and the load eight, as the float16 results have."""
    half, work, out = (torch.zeros(ROWS, COLUMNS, dtype=dtype) for dtype in (torch.half, torch.float, torch.half))
    cast_kernel[(1,)](half, work, out, MENDED=mended, ROWS=ROWS, COLUMNS=COLUMNS)


@triton.jit
def product_kernel(a_ptr, b_ptr, work_ptr, out_ptr, MENDED: tl.constexpr, SIDE: tl.constexpr):
    at = tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    tl.store(work_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at)))
    if MENDED:
        tl.debug_barrier()
    product = tl.load(work_ptr + at)  # BUG
    tl.store(out_ptr + at, (product + 1).to(tl.float16))


@plant(product_kernel, "layout-order", "work_ptr", {0})
def product_kept_in_memory(mended: bool) -> None:
    """The tensor cores' result is stored and loaded again in the layout of the float16 output."""
    half = [torch.zeros(64, 64, dtype=torch.half) for _ in range(3)]
    product_kernel[(1,)](half[0], half[1], torch.zeros(64, 64), half[2], MENDED=mended, SIDE=64)


@triton.jit
def rounds_kernel(work_ptr, out_ptr, n, MENDED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    for k in range(n):
        tl.store(work_ptr + at, at * 0.5 + k)  # BUG
        tl.debug_barrier()
        tl.store(out_ptr + k * ROWS * COLUMNS + at, (tl.load(work_ptr + at) + 1).to(tl.float16))
        if MENDED:
            tl.debug_barrier()


@plant(rounds_kernel, "layout-order", "work_ptr", {0})
def one_barrier_a_round(mended: bool) -> None:
    """The next round's store may come before another warp's load of this round."""
    out = torch.zeros(3, ROWS, COLUMNS, dtype=torch.half)
    rounds_kernel[(1,)](torch.zeros(ROWS, COLUMNS), out, 3, MENDED=mended, ROWS=ROWS, COLUMNS=COLUMNS)


@triton.jit
def put(ptr, at, value):
    tl.store(ptr + at, value)


@triton.jit
def called_kernel(x_ptr, work_ptr, index_ptr, out_ptr, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    own = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(index_ptr + own)
    put(work_ptr, place, tl.load(x_ptr + own).to(tl.float32))
    if MENDED:
        tl.debug_barrier()
    tl.store(out_ptr + own, tl.load(work_ptr + place).to(tl.float16))  # BUG


@plant(called_kernel, "layout-order", "work_ptr", {0, 1})
def scattered_and_gathered(mended: bool) -> None:
    """Through a permutation, and through a helper."""
    half = [torch.zeros(2048, dtype=torch.half) for _ in range(2)]
    index = torch.arange(2047, -1, -1, dtype=torch.int32)
    called_kernel[(2,)](half[0], torch.zeros(2048), index, half[1], MENDED=mended, BLOCK=1024)


@triton.jit
def bytes_kernel(x_ptr, work_ptr, out_ptr, n, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(work_ptr + at, tl.load(x_ptr + at, mask=at < n).to(tl.float32), mask=at < n)
    if MENDED:
        tl.debug_barrier()
    tl.store(out_ptr + at, tl.load(work_ptr + at, mask=at < n).to(tl.int8), mask=at < n)  # BUG


@plant(bytes_kernel, "layout-order", "work_ptr", {0})
def masked_floats_to_bytes(mended: bool) -> None:
    """A thread stores four floats and loads sixteen, since it stores sixteen bytes."""
    half, out = torch.zeros(1024, dtype=torch.half), torch.zeros(1024, dtype=torch.int8)
    bytes_kernel[(1,)](half, torch.zeros(1024), out, 1000, MENDED=mended, BLOCK=1024)


# --- Nothing is wrong -------------------------------------------------------------------------------------


@triton.jit
def again_kernel(x_ptr, work_ptr, out_ptr, n, WAY: tl.constexpr, BLOCK: tl.constexpr):
    """Store a block of ``x``, do something else, load the block and store it to ``out``."""
    own = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + own)
    if WAY == "zeros first":
        tl.store(work_ptr + own, tl.zeros((BLOCK,), tl.float32))
    if WAY == "atomic after":
        tl.store(work_ptr + own, tl.zeros((BLOCK,), tl.float32))
        tl.atomic_add(work_ptr + own, x.to(tl.float32))
    else:
        tl.store(work_ptr + own, x, mask=own < n if WAY == "other lanes" else own >= 0)
    shift = 0
    if WAY == "counter":
        shift = tl.atomic_add(work_ptr + tl.num_programs(0) * 2 * BLOCK, 0.0).to(tl.int32)
    if WAY == "sum":
        shift = (tl.sum(x.to(tl.float32)) * 0).to(tl.int32)
    if WAY == "barrier":
        tl.debug_barrier()
    if WAY == "other memory":
        shift = tl.num_programs(0) * BLOCK
    if WAY == "other lanes":
        again = tl.load(work_ptr + own, mask=own >= n, other=0)
    elif WAY == "atomic after":
        again = tl.load(x_ptr + own)
    else:
        again = tl.load(work_ptr + own + shift)
    tl.store(out_ptr + own, again)


def _again(
    name: str,
    way: str = "",
    work: torch.dtype = torch.float,
    out: torch.dtype = torch.half,
    x: torch.dtype = torch.half,
    lanes: int = 1024,
    warps: int = 4,
    programs: int = 2,
) -> Callable[[], None]:
    def run() -> None:
        count = programs * lanes
        values, memory = torch.zeros(count, dtype=x), torch.zeros(2 * count + 1, dtype=work)
        result = torch.zeros(count, dtype=out)
        again_kernel[(programs,)](values, memory, result, lanes // 2, WAY=way, BLOCK=lanes, num_warps=warps)

    run.__name__ = name
    return run


@triton.jit
def sides_kernel(x_ptr, work_ptr, out_ptr, WAY: tl.constexpr, SIDE: tl.constexpr):
    i, j = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    at = i * SIDE + j
    tl.store(work_ptr + at, tl.load(x_ptr + at) * 2)
    again = tl.load(work_ptr + at)
    if WAY == "transposed":
        tl.store(out_ptr + j * SIDE + i, again + 1)
    if WAY == "summed":
        tl.store(out_ptr + tl.arange(0, SIDE), tl.sum(again, 0))
    if WAY == "multiplied":
        tl.store(out_ptr + at, tl.dot(again, again))
    if WAY == "scanned":
        tl.store(out_ptr + at, tl.cumsum(again, 1))


def _sides(name: str, way: str, dtype: torch.dtype = torch.float, warps: int = 4) -> Callable[[], None]:
    def run() -> None:
        x, memory = torch.zeros(64, 64, dtype=dtype), torch.zeros(64, 64, dtype=dtype)
        sides_kernel[(1,)](x, memory, torch.zeros(64, 64), WAY=way, SIDE=64, num_warps=warps)

    run.__name__ = name
    return run


@triton.jit
def in_place_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n, other=0.0)
        tl.store(x_ptr + at, x * 2, mask=at < n)
        tl.store(out_ptr + at, x.to(tl.float16), mask=at < n)


def updated_in_place() -> None:
    """A block is loaded, then stored to: the value that is stored waits for the load."""
    in_place_kernel[(2,)](torch.zeros(5000), torch.zeros(5000).half(), 5000, BLOCK=1024)


INNOCENTS: tuple[Callable[[], None], ...] = (
    _again("barrier_between", "barrier"),
    _again("sum_between_decides_the_place", "sum"),
    _again("counter_between_decides_the_place", "counter"),
    _again("other_memory", "other memory"),
    _again("other_lanes", "other lanes"),
    _again("one_warp", warps=1),
    _again("one_element_a_thread", lanes=128),
    _again("copies_in_all_warps", lanes=32),
    _again("same_dtype_half", work=torch.half),
    _again("same_dtype_float", x=torch.float, out=torch.float),
    _again("same_dtype_of_eight_warps", x=torch.float, out=torch.float, warps=8),
    _again("zeros_first", "zeros first", x=torch.float, out=torch.float),
    _again("atomic_after_zeros", "atomic after", x=torch.float, out=torch.float),
    _again("wider_result", work=torch.half, out=torch.float, lanes=128),
    _again("one_program_with_a_barrier", "barrier", programs=1),
    _sides("result_transposed", "transposed"),
    _sides("result_summed", "summed"),
    _sides("result_multiplied", "multiplied", torch.half),
    _sides("result_scanned", "scanned"),
    _sides("result_transposed_of_two_warps", "transposed", warps=2),
    _sides("result_summed_of_half", "summed", torch.half),
    updated_in_place,
)
