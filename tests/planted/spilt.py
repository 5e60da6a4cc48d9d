"""Bytes that are right here, and that a GPU changes together with their neighbour."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def low_bits_kernel(x_ptr, out_ptr, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane)
    if MENDED:
        x = (x.to(tl.int32) & 127).to(tl.float32)
    tl.store(out_ptr + lane, x.to(tl.uint8) & 127)  # BUG


@plant(low_bits_kernel, "spilt-byte", None, {0})
def low_bits_of_a_large_number(mended: bool) -> None:
    """Only the low bits of 918 are wanted, and its upper bits get into the byte of the next lane."""
    x = torch.full((256,), 5.0)
    x[44] = 918.0
    low_bits_kernel[(1,)](x, torch.zeros(256, dtype=torch.uint8), MENDED=mended, BLOCK=256)
