"""Blocks that are loaded and never used; and those that are used late, in a mask, or in the next iteration."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def biased_kernel(x_ptr, bias_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    bias = tl.load(bias_ptr + offsets)  # BUG  # noqa: F841
    tl.store(out_ptr + offsets, x + x)


@triton.jit
def with_bias_kernel(x_ptr, bias_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    bias = tl.load(bias_ptr + offsets)
    tl.store(out_ptr + offsets, x + bias)


@plant(biased_kernel, "unused-load", None)
def bias_that_is_not_added(mended: bool) -> None:
    """x is added to itself, and the bias is not."""
    kernel = with_bias_kernel if mended else biased_kernel
    kernel[(2,)](torch.ones(64), torch.ones(64), torch.zeros(64), BLOCK=32)


@triton.jit
def replaced_kernel(x_ptr, bias_ptr, out_ptr, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + offsets)
    if MENDED:
        value += tl.load(bias_ptr + offsets)
    tl.store(out_ptr + offsets, value)


@triton.jit
def replacing_kernel(x_ptr, bias_ptr, out_ptr, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + offsets)  # BUG
    value = tl.load(bias_ptr + offsets)
    tl.store(out_ptr + offsets, value)


@plant(replacing_kernel, "unused-load", None)
def replaced_by_the_next_load(mended: bool) -> None:
    """The second load goes to the name of the first."""
    kernel = replaced_kernel if mended else replacing_kernel
    kernel[(2,)](torch.ones(64), torch.ones(64), torch.zeros(64), MENDED=mended, BLOCK=32)


@triton.jit
def scaled_kernel(x_ptr, scale_ptr, out_ptr, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x: tl.tensor = tl.load(x_ptr + offsets)
    scale = tl.load(scale_ptr + offsets)
    scaled = x * scale
    tl.store(out_ptr + offsets, scaled)


@triton.jit
def half_scaled_kernel(x_ptr, scale_ptr, out_ptr, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    scale = tl.load(scale_ptr + offsets)  # BUG
    scaled = tl.exp(scale) * 2  # noqa: F841
    tl.store(out_ptr + offsets, x)


@plant(half_scaled_kernel, "unused-load", None)
def what_is_made_of_it_is_not_used(mended: bool) -> None:
    """The scale goes into a product, and the product nowhere."""
    kernel = scaled_kernel if mended else half_scaled_kernel
    kernel[(2,)](torch.ones(64), torch.ones(64), torch.zeros(64), MENDED=mended, BLOCK=32)


@triton.jit
def late_kernel(x_ptr, flag_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    flag = tl.load(flag_ptr)
    limit = tl.load(flag_ptr + 1)
    _unused = tl.load(flag_ptr)
    before = tl.load(x_ptr + offsets)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(n):
        total += before
        before = tl.load(x_ptr + k * BLOCK + offsets)
    count = tl.load(flag_ptr)
    count += 1
    if flag > 0:
        tl.store(out_ptr + offsets, total, mask=offsets < limit)


def loads_used_in_conditions_masks_and_later_iterations() -> None:
    """Each name is read somewhere, or says that it is not."""
    flags = torch.tensor([1, 20], dtype=torch.int32)
    late_kernel[(1,)](torch.ones(96), flags, torch.zeros(32), 3, BLOCK=32)


INNOCENTS = [loads_used_in_conditions_masks_and_later_iterations]
