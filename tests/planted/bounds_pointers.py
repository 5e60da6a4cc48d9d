"""Pointers that are wrong themselves: cast, null, misaligned; and atomics out of bounds."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def bins_kernel(x_ptr, counts_ptr, BINS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bin_ = tl.load(x_ptr + offsets)
    if MENDED:
        bin_ = tl.minimum(bin_, BINS - 1)
    tl.atomic_add(counts_ptr + bin_, 1)  # BUG


@plant(bins_kernel, "out-of-bounds", "counts_ptr", {1})
def bin_past_the_last(mended: bool) -> None:
    """A value of 16 for 16 bins."""
    x = torch.arange(64, dtype=torch.int32) % 16
    x[50] = 16
    bins_kernel[(2,)](x, torch.zeros(16, dtype=torch.int32), BINS=16, BLOCK=32, MENDED=mended)


@triton.jit
def count_group_kernel(count_ptr, GROUPS: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    group = program % GROUPS if MENDED else program
    tl.atomic_add(count_ptr + group, 1)  # BUG


@plant(count_group_kernel, "out-of-bounds", "count_ptr", {2, 3})
def group_of_program(mended: bool) -> None:
    """Counters for two groups, indexed by program."""
    count_group_kernel[(4,)](torch.zeros(2, dtype=torch.int32), GROUPS=2, MENDED=mended)


@triton.jit
def widen_kernel(x_ptr, out_ptr, pairs):
    wide_ptr = x_ptr.to(tl.pointer_type(tl.int64))
    pair = tl.arange(0, 8)
    x = tl.load(wide_ptr + pair, mask=pair < pairs, other=0)  # BUG
    tl.store(out_ptr + pair, x)


@plant(widen_kernel, "out-of-bounds", "x_ptr", {0})
def half_an_element(mended: bool) -> None:
    """Nine int32 read as five int64: the last one ends four bytes after the tensor."""
    x = torch.zeros(9, dtype=torch.int32)
    widen_kernel[(1,)](x, torch.zeros(8, dtype=torch.int64), 4 if mended else 5)


@triton.jit
def grey_kernel(pixels_ptr, grey_ptr, PIXELS: tl.constexpr, MENDED: tl.constexpr):
    pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    channel = tl.arange(0, 4)[None, :]  # 3 channels; block sizes are powers of two
    places = pixels_ptr + pixel[:, None] * 3 + channel
    if MENDED:
        colours = tl.load(places, mask=channel < 3, other=0)
    else:
        colours = tl.load(places)  # BUG
    tl.store(grey_ptr + pixel, tl.sum(colours.to(tl.int32), axis=1))


@plant(grey_kernel, "out-of-bounds", "pixels_ptr", {1})
def fourth_channel(mended: bool) -> None:
    """Four lanes for three channels: the last pixel's fourth lies one byte past the end."""
    pixels = torch.zeros(32, 3, dtype=torch.uint8)
    grey_kernel[(2,)](pixels, torch.zeros(32, dtype=torch.int32), PIXELS=16, MENDED=mended)


@triton.jit
def table_load_kernel(addresses_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    entry = tl.program_id(0)
    address = tl.load(addresses_ptr + entry)
    lane = tl.arange(0, BLOCK)
    x_ptr = address.to(tl.pointer_type(tl.float32))
    if MENDED:
        x = tl.load(x_ptr + lane, mask=(lane >= 0) & (address != 0), other=0.0)
    else:
        x = tl.load(x_ptr + lane)  # BUG
    tl.store(out_ptr + entry * BLOCK + lane, x)


@plant(table_load_kernel, "null-pointer", None, {2})
def null_entry(mended: bool) -> None:
    """A table of addresses has a null for a tensor that is missing."""
    parts = [torch.ones(16) for _ in range(4)]
    addresses = torch.tensor([part.data_ptr() for part in parts])
    addresses[2] = 0
    table_load_kernel[(4,)](addresses, torch.zeros(4, 16), BLOCK=16, MENDED=mended)


@triton.jit
def table_store_kernel(addresses_ptr, MENDED: tl.constexpr):
    entry = tl.program_id(0)
    address = tl.load(addresses_ptr + entry)
    out_ptr = address.to(tl.pointer_type(tl.int32)) + 5  # the sixth field of a record
    if MENDED:
        tl.store(out_ptr, entry, mask=address != 0)
    else:
        tl.store(out_ptr, entry)  # BUG


@plant(table_store_kernel, "null-pointer", None, {1, 3})
def null_field(mended: bool) -> None:
    """A field of a record that is not there: the address is small, not zero."""
    parts = [torch.zeros(8, dtype=torch.int32) for _ in range(4)]
    addresses = torch.tensor([part.data_ptr() for part in parts])
    addresses[1::2] = 0
    table_store_kernel[(4,)](addresses, MENDED=mended)


@triton.jit
def header_kernel(bytes_ptr, out_ptr, HEADER: tl.constexpr):
    lane = tl.arange(0, 8)
    x = tl.load((bytes_ptr + HEADER).to(tl.pointer_type(tl.int32)) + lane)  # BUG
    tl.store(out_ptr + lane, x)


@plant(header_kernel, "misaligned", "bytes_ptr", {0})
def odd_header(mended: bool) -> None:
    """int32 numbers after a header of 3 bytes."""
    packed = torch.zeros(64, dtype=torch.uint8)
    header_kernel[(1,)](packed, torch.zeros(8, dtype=torch.int32), HEADER=4 if mended else 3)


@triton.jit
def record_kernel(bytes_ptr, out_ptr, RECORD: tl.constexpr):
    record = tl.program_id(0)
    x = tl.load((bytes_ptr + record * RECORD).to(tl.pointer_type(tl.int32)))  # BUG
    tl.store(out_ptr + record, x)


@plant(record_kernel, "misaligned", "bytes_ptr", {1, 3})
def packed_records(mended: bool) -> None:
    """Records of 6 bytes that begin with an int32: every second one is crooked."""
    packed = torch.zeros(64, dtype=torch.uint8)
    record_kernel[(4,)](packed, torch.zeros(4, dtype=torch.int32), RECORD=8 if mended else 6)


@triton.jit
def odd_store_kernel(bytes_ptr, STEP: tl.constexpr):
    program = tl.program_id(0)
    place = (bytes_ptr + program * STEP).to(tl.pointer_type(tl.float16))
    tl.store(place, 1.0)  # BUG


@plant(odd_store_kernel, "misaligned", "bytes_ptr", {1, 3})
def odd_store(mended: bool) -> None:
    """float16 written at every third byte."""
    odd_store_kernel[(4,)](torch.zeros(16, dtype=torch.uint8), STEP=4 if mended else 3)
