"""Numbers that wrap in 32 bits before they are stored; and hashes, random numbers and checksums, which may."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def keys_kernel(out_ptr, stride, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    if MENDED:
        key = row.to(tl.int64) * stride + lane
    else:
        key = row * stride + lane  # BUG
    tl.store(out_ptr + row * BLOCK + lane, key)


@plant(keys_kernel, "overflow", "out_ptr", {3})
def keys_widened_too_late(mended: bool) -> None:
    """The product is int32, and only the store widens it."""
    keys_kernel[(4,)](torch.zeros(64, dtype=torch.int64), 1_000_000_000 - 7, BLOCK=16, MENDED=mended)


@triton.jit
def flat_kernel(row_ptr, out_ptr, columns, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(row_ptr + offsets)
    if MENDED:
        row = row.to(tl.int64)
    flat = row * columns + offsets  # BUG
    tl.store(out_ptr + offsets, flat.to(tl.int64))


@plant(flat_kernel, "overflow", "out_ptr", {1})
def flat_index_of_loaded_rows(mended: bool) -> None:
    """A row of the last block is large."""
    rows = torch.arange(64, dtype=torch.int32)
    rows[20] = 70_000
    flat_kernel[(4,)](rows, torch.zeros(64, dtype=torch.int64), 50_000, BLOCK=16, MENDED=mended)


@triton.jit
def linear_kernel(out_ptr, stride, BLOCK: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + program * BLOCK + lane, program * stride + lane)  # BUG


@plant(linear_kernel, "overflow", "out_ptr", {5, 6, 7})
def index_stored_in_32_bits(mended: bool) -> None:
    """An index that depends on programs and lanes alone is no random number."""
    linear_kernel[(8,)](torch.zeros(128, dtype=torch.int32), 1000 if mended else 430_000_000, BLOCK=16)


@triton.jit
def numbers_kernel(x_ptr, out_ptr, wide_ptr, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    offsets = program * BLOCK + lane
    x = tl.load(x_ptr + offsets)
    y = x
    if KIND == "generator":
        y = x * 1_103_515_245 + 12_345
    elif KIND == "generator of programs":
        y = offsets * 747_796_405 + 1
    elif KIND == "multiplied hash":
        y = x * 73_856_093
    elif KIND == "hash of pairs":
        y = (offsets * 73_856_093) ^ (x * 19_349_663)
    elif KIND == "polynomial hash":
        for k in range(8):
            y = y * 31 + k
    elif KIND == "shifts":
        y = x ^ (x << 13)
        y = y ^ (y >> 17)
        y = y ^ (y << 5)
    elif KIND == "checksum":
        y = tl.zeros((BLOCK,), tl.int32) + tl.sum(x * 65_521, 0)
    elif KIND == "running":
        y = tl.cumsum(x, 0)
    elif KIND == "scaled data":
        y = x * 100_000
    elif KIND == "squared data":
        y = x * x
    elif KIND == "unsigned":
        y = (x.to(tl.uint32) * 1_000_003).to(tl.int32, bitcast=True)
    elif KIND == "small":
        y = offsets * 1000 + program
    elif KIND == "difference":
        y = x - offsets
    elif KIND == "rand":
        y = tl.randint(n, offsets)
    elif KIND == "bits of a float":
        y = tl.rand(n, offsets).to(tl.int32, bitcast=True)
    tl.store(out_ptr + offsets, y)
    if KIND == "wide":
        tl.store(wide_ptr + offsets, x.to(tl.int64) * x)
    elif KIND == "wide and small":
        tl.store(wide_ptr + offsets, offsets * 3)
    elif KIND == "wide hash":
        tl.store(wide_ptr + offsets, ((x * 73_856_093) ^ (offsets * 19_349_663)).to(tl.int64) % 1024)
    elif KIND == "wide unsigned":
        tl.store(wide_ptr + offsets, (x.to(tl.uint32) * 1_000_003).to(tl.int64))


_KINDS = (
    "generator", "generator of programs", "multiplied hash", "hash of pairs", "polynomial hash", "shifts", "checksum",
    "running", "scaled data", "squared data", "unsigned", "small", "difference", "rand", "bits of a float", "wide",
    "wide and small", "wide hash", "wide unsigned",
)  # fmt: skip


def _innocent(kind: str) -> Callable[[], None]:
    def run() -> None:
        x = torch.arange(64, dtype=torch.int32) * 30_000_000
        out, wide = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int64)
        numbers_kernel[(2,)](x, out, wide, 42, KIND=kind, BLOCK=32)

    run.__name__ = f"numbers: {kind}"
    return run


@triton.jit
def pooled_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    place = lane * (lane <= (-1 + 5 * (lane >= 8)))
    tl.store(out_ptr + lane, tl.load(x_ptr + place))


def sum_of_a_comparison() -> None:
    """-1 + 5 * (a comparison) is signed, although the comparison is widened without a sign."""
    pooled_kernel[(1,)](torch.randn(32), torch.zeros(32), BLOCK=32)


INNOCENTS = [*map(_innocent, _KINDS), sum_of_a_comparison]
