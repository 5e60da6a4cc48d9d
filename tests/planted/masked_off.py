"""Masks that are false in all lanes, so that a launch never touches a tensor; and masks that are rightly false."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def turned_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MENDED:
        inside = offsets < n
    else:
        inside = offsets < n - 4096
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + offsets, x * 2, mask=inside)  # BUG


@plant(turned_kernel, "always-false-mask", "out_ptr")
def size_less_a_constant(mended: bool) -> None:
    """The mask of the store compares with a size that is too small."""
    turned_kernel[(4,)](torch.rand(100), torch.zeros(100), 100, BLOCK=32, MENDED=mended)


@triton.jit
def added_block_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    columns = tl.arange(0, BLOCK)
    step = BLOCK if MENDED else 2 * BLOCK
    shifted = first + step + columns
    x = tl.load(x_ptr + shifted, mask=shifted < n, other=0.0)  # BUG
    tl.store(out_ptr + first + columns, x)


@plant(added_block_kernel, "always-false-mask", "x_ptr", shown=True)
def neighbour_two_blocks_on(mended: bool) -> None:
    """Each of two programs wants its right neighbour's block, and adds the block twice."""
    added_block_kernel[(2,)](torch.rand(64), torch.zeros(64), 64, BLOCK=32, MENDED=mended)


@triton.jit
def left_of_kernel(a_ptr, out_ptr, K, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    k = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, K, BLOCK):
        left = K - start if MENDED else start - K
        total += tl.load(a_ptr + start + k, mask=k < left, other=0.0)  # BUG
    tl.store(out_ptr, tl.sum(total, axis=0))


@plant(left_of_kernel, "always-false-mask", "a_ptr")
def difference_turned_round(mended: bool) -> None:
    """start - K is never positive."""
    left_of_kernel[(1,)](torch.rand(100), torch.zeros(1), 100, BLOCK=32, MENDED=mended)


@triton.jit
def halo_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    left = tl.load(x_ptr + offsets - 1, mask=inside & (offsets > 0), other=0.0)
    far = tl.load(x_ptr + offsets + 1000, mask=offsets + 1000 < n, other=0.0)
    tl.store(out_ptr + offsets, x + left + far, mask=inside)


def neighbour_that_none_has() -> None:
    """A stencil wider than the tensor: other accesses read it."""
    halo_kernel[(2,)](torch.rand(50), torch.zeros(50), 50, BLOCK=32)


@triton.jit
def chosen_kernel(x_ptr, chosen_ptr, bias_ptr, out_ptr, n, with_bias, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    inside = offsets < n
    chosen = tl.load(chosen_ptr + offsets, mask=inside, other=0)
    x = tl.load(x_ptr + offsets, mask=inside & (chosen > 0), other=0.0)
    bias = tl.load(bias_ptr + offsets, mask=inside & with_bias, other=0.0)
    tl.store(out_ptr + offsets, x + bias, mask=inside)


def rows_that_memory_leaves_out() -> None:
    """What is read is decided by another tensor, and by a flag of the launch."""
    x, chosen, bias, out = torch.rand(50), torch.zeros(50, dtype=torch.int32), torch.rand(50), torch.zeros(50)
    chosen_kernel[(1,)](x, chosen, bias, out, 50, torch.rand(1).item() > 2, BLOCK=64)


@triton.jit
def earlier_kernel(totals_ptr, out_ptr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    before = tl.load(totals_ptr + program - 1, mask=program > 0, other=0.0)
    tl.store(out_ptr + program * BLOCK + tl.arange(0, BLOCK), before)


def one_block_that_has_none_before_it() -> None:
    """The mask is of a program, which has no block before it."""
    earlier_kernel[(1,)](torch.rand(1), torch.zeros(16), BLOCK=16)


def length_of_nothing() -> None:
    """The tensor has no elements."""
    turned_kernel[(1,)](torch.rand(0), torch.zeros(0), 0, BLOCK=32, MENDED=True)


@triton.jit
def tail_kernel(x_ptr, tail_ptr, out_ptr, whole, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    if whole < n:
        x = tl.load(tail_ptr + offsets, mask=offsets < n - whole, other=0.0)
    else:
        x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x)


def tail_in_a_branch_that_is_not_taken() -> None:
    """The access never runs."""
    tail_kernel[(1,)](torch.rand(32), torch.rand(8), torch.zeros(32), 32, 32, BLOCK=32)


def _stencil(n: int, block: int) -> Callable[[], None]:
    def run() -> None:
        halo_kernel[(triton.cdiv(n, block),)](torch.rand(n), torch.zeros(n), n, BLOCK=block)

    run.__name__ = f"stencil over {n} in blocks of {block}"
    return run


def _shifted(programs: int, n: int) -> Callable[[], None]:
    def run() -> None:
        x, out = torch.rand(n), torch.zeros(programs * 16)
        added_block_kernel[(programs,)](x, out, n, BLOCK=16, MENDED=True)

    run.__name__ = f"next block of {programs} programs, {n} elements"
    return run


INNOCENTS = [
    *(_stencil(n, block) for n in (1, 7, 64) for block in (16, 32)),
    *(_shifted(programs, n) for programs in (2, 3, 5) for n in (17, 31, 40)),
    neighbour_that_none_has,
    rows_that_memory_leaves_out,
    one_block_that_has_none_before_it,
    length_of_nothing,
    tail_in_a_branch_that_is_not_taken,
]
