"""Pointers that stand still in a loop, while the mask goes on."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, n, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = row * n + lane
        if MENDED:
            at += start
        total += tl.load(x_ptr + at, mask=start + lane < n, other=0.0)  # BUG
    tl.store(out_ptr + row, tl.sum(total))


@plant(row_sum_kernel, "standing-load", "x_ptr", {0, 1, 2})
def start_is_in_the_mask_alone(mended: bool) -> None:
    """The first block of each row is summed up again and again."""
    row_sum_kernel[(3,)](torch.rand(3, 50), torch.zeros(3), 50, MENDED=mended, BLOCK=16)


@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, K, MENDED: tl.constexpr, SIDE: tl.constexpr, BLOCK: tl.constexpr):
    i, k = tl.arange(0, SIDE), tl.arange(0, BLOCK)
    a_ptrs = a_ptr + i[:, None] * K + k[None, :]
    b_ptrs = b_ptr + k[:, None] * SIDE + i[None, :]
    total = tl.zeros((SIDE, SIDE), tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - step * BLOCK, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - step * BLOCK, other=0.0)  # BUG
        total += tl.dot(a, b)
        a_ptrs += BLOCK
        if MENDED:
            b_ptrs += BLOCK * SIDE
    tl.store(c_ptr + i[:, None] * SIDE + i[None, :], total)


@plant(product_kernel, "standing-load", "b_ptr", {0})
def one_pointer_is_not_moved_on(mended: bool) -> None:
    """The pointers of the first block go on, and those of the second are forgotten."""
    product_kernel[(1,)](
        torch.rand(16, 40), torch.rand(40, 16), torch.zeros(16, 16), 40, MENDED=mended, SIDE=16, BLOCK=16
    )
