"""Several programs store the same value to one element: right on GPUs of today, and promised by nobody."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

ALL = range(4)


@triton.jit
def tiles_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    if not MENDED:
        start = tl.minimum(start, n - BLOCK)
    offsets = start + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=inside) * 2, mask=inside)  # BUG


@plant(tiles_kernel, "same-value", "out_ptr", {2, 3})
def last_tile_moved_back(mended: bool) -> None:
    """Instead of a mask the last tile begins earlier, and does again what the one before has done."""
    tiles_kernel[(4,)](torch.arange(100.0), torch.zeros(100), 100, BLOCK=32, MENDED=mended)


@triton.jit
def length_kernel(x_ptr, length_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + 1)
    if program == 0 or not MENDED:
        tl.store(length_ptr, n)  # BUG


@plant(length_kernel, "same-value", "length_ptr", ALL)
def everybody_stores_the_length(mended: bool) -> None:
    """One number that all programs know, and all store."""
    length = torch.zeros(1, dtype=torch.int32)
    length_kernel[(4,)](torch.ones(128), length, torch.zeros(128), 128, BLOCK=32, MENDED=mended)


@triton.jit
def found_kernel(x_ptr, found_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    if tl.max(x) > 50:
        if MENDED:
            tl.atomic_max(found_ptr, 1, sem="relaxed")
        else:
            tl.store(found_ptr, 1)  # BUG


@plant(found_kernel, "same-value", "found_ptr", {1, 2, 3})
def whoever_finds_it_says_so(mended: bool) -> None:
    """Each program that finds a large number raises one flag."""
    found_kernel[(4,)](torch.arange(128.0), torch.zeros(1, dtype=torch.int32), BLOCK=32, MENDED=mended)


@triton.jit
def twice_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, SHARE: tl.constexpr):
    offsets = tl.program_id(0) // SHARE * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 3)  # BUG


@plant(twice_kernel, "same-value", "out_ptr", ALL)
def work_done_twice(mended: bool) -> None:
    """A grid of twice the size, whose neighbours do the same tile."""
    twice_kernel[(4,)](torch.arange(128.0), torch.zeros(128), BLOCK=32, SHARE=1 if mended else 2)


@triton.jit
def scales_kernel(x_ptr, scale_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)
    scale = tl.max(tl.abs(x))
    if part == 0 or not MENDED:
        tl.store(scale_ptr + row, scale)  # BUG
    half = (lane >= part * BLOCK // 2) & (lane < (part + 1) * BLOCK // 2)
    tl.store(out_ptr + row * BLOCK + lane, x / scale, mask=half)


@plant(scales_kernel, "same-value", "scale_ptr", ALL)
def scale_of_a_row_by_each_of_its_parts(mended: bool) -> None:
    """Two programs share a row; both work out its scale and both store it."""
    x = torch.arange(1.0, 65.0).reshape(2, 32)
    scales_kernel[(2, 2)](x, torch.zeros(2), torch.zeros(2, 32), BLOCK=32, MENDED=mended)


@triton.jit
def counted_kernel(x_ptr, count_ptr, version_ptr, out_ptr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    slot = tl.atomic_add(count_ptr, 1)
    tl.store(out_ptr + slot, tl.load(x_ptr + program))
    if slot == 0 or not MENDED:
        tl.store(version_ptr, 7)  # BUG


@plant(counted_kernel, "same-value", "version_ptr", ALL)
def same_value_beside_a_counter(mended: bool) -> None:
    """Atomics elsewhere in the kernel that put these stores in some order, but not all."""
    count, version = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    counted_kernel[(4,)](torch.ones(4), count, version, torch.zeros(4), MENDED=mended)


@triton.jit
def read_back_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    place = x_ptr + lane
    if MENDED:
        place += program * BLOCK
    tl.store(place, (lane + 1).to(tl.float32))  # BUG
    tl.store(out_ptr + program * BLOCK + lane, tl.load(place))


@plant(read_back_kernel, "same-value", "x_ptr", {0, 1, 2})
def same_block_stored_and_read_back(mended: bool) -> None:
    """Each program reads what it stored itself, which is what all others store."""
    read_back_kernel[(3,)](torch.zeros(192), torch.zeros(192), BLOCK=64, MENDED=mended)


@triton.jit
def read_of_another_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    if MENDED:
        x_ptr += program * BLOCK * 2
    tl.store(x_ptr + lane, (lane + 1).to(tl.float32), mask=lane < BLOCK - program % 2)  # BUG
    tl.store(out_ptr + program * BLOCK + lane, tl.load(x_ptr + lane))


@plant(read_of_another_kernel, "race", "x_ptr")
def same_block_of_which_one_program_stores_less(mended: bool) -> None:
    """Program 1 reads an element that only the others store: it may come too early."""
    read_of_another_kernel[(3,)](torch.zeros(384), torch.zeros(192), BLOCK=64, MENDED=mended)
