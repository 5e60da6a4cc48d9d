"""What the kernel's own text gives away: assertions that fail, results that are returned, comparisons read wrongly."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, MENDED: tl.constexpr):
    program = tl.program_id(0)
    index = tl.load(index_ptr + program)
    if MENDED:
        index = tl.minimum(index, n - 1)
    tl.device_assert(index < n, "index beyond the end")  # BUG
    tl.store(out_ptr + program, tl.load(x_ptr + index))


@plant(gather_kernel, "assertion", None, {2})
def index_beyond_the_end(mended: bool) -> None:
    """Program 2 finds an index that x does not have."""
    index = torch.tensor([1, 3, 4, 0])
    gather_kernel[(4,)](torch.ones(4), index, torch.zeros(4), 4, MENDED=mended, debug=True)


@triton.jit
def total_kernel(x_ptr, out_ptr, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK)))
    if MENDED:
        tl.store(out_ptr, total)
    else:
        return total  # BUG


@plant(total_kernel, "lost-result")
def returned_and_not_stored(mended: bool) -> None:
    """The sum is returned, as from a function of Python."""
    total_kernel[(1,)](torch.ones(32), torch.zeros(1), MENDED=mended, BLOCK=32)


@triton.jit
def window_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets >= 4 & offsets < n  # BUG
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask, other=0.0), mask=mask)


@triton.jit
def grouped_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = (offsets >= 4) & (offsets < n)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask, other=0.0), mask=mask)


@plant(window_kernel, "precedence")
def and_between_comparisons(mended: bool) -> None:
    """`&` binds more tightly than `>=` and `<`, so the mask is another one."""
    kernel = grouped_kernel if mended else window_kernel
    kernel[(1,)](torch.ones(32), torch.zeros(32), 20, BLOCK=32)
