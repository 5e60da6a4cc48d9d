"""Not wrong, but worth a word: programs that do nothing, masks that mask nothing."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def masked_copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@plant(masked_copy_kernel, "idle-program", None, {4, 5})
def grid_too_large(mended: bool) -> None:
    """Six programs for four blocks: in the last two every lane is masked."""
    masked_copy_kernel[(4 if mended else 6,)](torch.ones(100), torch.zeros(100), 100, BLOCK=32)


@triton.jit
def early_return_kernel(x_ptr, out_ptr, used):
    program = tl.program_id(0)
    if program >= used:
        return
    tl.store(out_ptr + program, tl.load(x_ptr + program))


@plant(early_return_kernel, "idle-program", None, {5, 6, 7})
def early_return(mended: bool) -> None:
    """Programs that return before they touch anything."""
    early_return_kernel[(5 if mended else 8,)](torch.ones(5), torch.zeros(5), 5)


@triton.jit
def needless_mask_kernel(x_ptr, out_ptr, N: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MENDED:
        x = tl.load(x_ptr + offsets)
    else:
        x = tl.load(x_ptr + offsets, mask=offsets < N)  # BUG
    tl.store(out_ptr + offsets, x)


@plant(needless_mask_kernel, "always-true-mask", "x_ptr")
def whole_blocks(mended: bool) -> None:
    """BLOCK divides the constant N, so the mask is true everywhere."""
    needless_mask_kernel[(4,)](torch.ones(128), torch.zeros(128), 128, BLOCK=32, MENDED=mended)


@triton.jit
def non_negative_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    if MENDED:
        tl.store(out_ptr + offsets, x)
    else:
        tl.store(out_ptr + offsets, x, mask=offsets >= 0)  # BUG


@plant(non_negative_kernel, "always-true-mask", "out_ptr")
def never_negative(mended: bool) -> None:
    """A mask against what cannot happen; the output is padded, so none is needed."""
    non_negative_kernel[(4,)](torch.ones(100), torch.zeros(128), 100, BLOCK=32, MENDED=mended)
