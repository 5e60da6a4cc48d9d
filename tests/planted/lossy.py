"""Numbers that a store changes, since the tensor has another type than what is stored."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.planted.plant import plant


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * factor, mask=mask)  # BUG


def scaled(x: torch.Tensor, type: torch.dtype, factor: float) -> None:
    scale_kernel[(4,)](x, torch.zeros(len(x), dtype=type), len(x), factor, BLOCK=32)


@plant(scale_kernel, "lossy-store", "out_ptr", {1, 2})
def floats_into_integers(mended: bool) -> None:
    """The output was made like the indices, and is no tensor of floats."""
    x = torch.ones(100)
    x[40:70] = 1.5
    scaled(x, torch.float32 if mended else torch.int32, 1.0)


@plant(scale_kernel, "lossy-store", "out_ptr", {3})
def halves_into_integers(mended: bool) -> None:
    """float16 goes by float32."""
    x = torch.full((100,), 2.0, dtype=torch.float16)
    x[99] = 0.25
    scaled(x, torch.float16 if mended else torch.int64, 1.0)


@plant(scale_kernel, "lossy-store", "out_ptr", {0})
def more_than_32_bits(mended: bool) -> None:
    """Whole numbers all, and one is too large."""
    x = torch.zeros(100)
    x[3] = 4e9
    scaled(x, torch.int64 if mended else torch.int32, 1.0)


@plant(scale_kernel, "lossy-store", "out_ptr", {2})
def wide_sums_into_bytes(mended: bool) -> None:
    """Products of int32 in a tensor of uint8."""
    x = torch.full((100,), 85, dtype=torch.int32)
    x[64] = 86
    scaled(x, torch.int32 if mended else torch.uint8, 3)


@triton.jit
def total_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(out_ptr, tl.sum(x))  # BUG


@plant(total_kernel, "lossy-store", "out_ptr", {1})
def atomic_into_a_counter(mended: bool) -> None:
    """A counter of integers takes the sum of floats."""
    x = torch.ones(4, 16)
    x[1] = 0.1
    total_kernel[(4,)](x, torch.zeros(1, dtype=torch.float32 if mended else torch.int32), BLOCK=16)


@triton.jit
def keep(pointers, x, mask):
    tl.store(pointers, x, mask=mask)  # BUG


@triton.jit
def helped_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    keep(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), offsets < n)


@plant(keep, "lossy-store", "out_ptr", {0})
def in_a_helper(mended: bool) -> None:
    """The store is in a helper, which the kernel hands the value."""
    helped_kernel[(1,)](torch.full((20,), 0.7), torch.zeros(20, dtype=torch.float32 if mended else torch.int8), 20, 32)


@triton.jit
def constant_kernel(out_ptr, VALUE: tl.constexpr, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), VALUE)  # BUG


@plant(constant_kernel, "lossy-store", "out_ptr", {0, 1})
def constant_with_a_fraction(mended: bool) -> None:
    """0.7 is a constant of the compiler, which stores 0."""
    constant_kernel[(2,)](torch.zeros(32, dtype=torch.float32 if mended else torch.int32), 0.7, BLOCK=16)


@triton.jit
def tile_kernel(x_ptr, out, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    out.store([0, 0], tl.load(x_ptr + rows * BLOCK + columns))  # BUG


@plant(tile_kernel, "lossy-store", "out", {0})
def through_a_descriptor(mended: bool) -> None:
    """A descriptor's store converts as a pointer's does."""
    out = torch.zeros(16, 16, dtype=torch.float32 if mended else torch.int32)
    tile_kernel[(1,)](torch.full((16, 16), 0.4), TensorDescriptor.from_tensor(out, [16, 16]), BLOCK=16)
