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
