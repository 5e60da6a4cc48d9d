"""Lanes that the mask of a load turns off, that no ``other=`` gives a value, and that a result hangs on."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def row_kernel(x_ptr, out_ptr, length_ptr, COLUMNS: tl.constexpr, OF: tl.constexpr, OTHER: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, COLUMNS)
    mask = lane < tl.load(length_ptr + row)
    x = tl.load(x_ptr + row * COLUMNS + lane, mask=mask, other=OTHER)  # BUG
    if OF == "sum":
        found = tl.sum(x)
    elif OF == "maximum":
        found = tl.max(x)
    else:
        found = tl.argmin(x, 0)
    tl.store(out_ptr + row, found)


def reduced(of: str, other: float | None, type: torch.dtype = torch.float32) -> None:
    x = -1 - torch.arange(64).reshape(4, 16).to(type)
    lengths = torch.tensor([16, 3, 16, 15], dtype=torch.int32)
    row_kernel[(4,)](x, torch.zeros(4, dtype=type), lengths, COLUMNS=16, OF=of, OTHER=other)


@plant(row_kernel, "undefined", "out_ptr", {1, 3})
def maximum_over_padding(mended: bool) -> None:
    """All numbers are below zero, and so the padding is the maximum; -inf would not be."""
    reduced("maximum", float("-inf") if mended else None)


@plant(row_kernel, "undefined", "out_ptr", {1, 3})
def sum_over_padding(mended: bool) -> None:
    """The sum is right as long as such lanes are zero."""
    reduced("sum", 0.0 if mended else None, torch.float16)


@plant(row_kernel, "undefined", "out_ptr", {1, 3})
def place_of_the_least(mended: bool) -> None:
    """Of integers."""
    reduced("argmin", 0 if mended else None, torch.int64)


@triton.jit
def running_kernel(x_ptr, out_ptr, n, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + lane, mask=start + lane < n)  # BUG
        if MENDED:
            x = tl.where(start + lane < n, x, 0.0)
        total += x
    tl.store(out_ptr + lane, total)


@plant(running_kernel, "undefined", "out_ptr", {0})
def last_block_of_a_loop(mended: bool) -> None:
    """Only the last of three blocks has lanes beyond the end."""
    running_kernel[(1,)](torch.ones(40), torch.zeros(16), 40, MENDED=mended, BLOCK=16)


@triton.jit
def reversed_kernel(x_ptr, out_ptr, n, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane, mask=lane < n)  # BUG
    at = n - 1 - lane if MENDED else BLOCK - 1 - lane
    tl.store(out_ptr + lane, tl.gather(x, tl.maximum(at, 0), 0), mask=lane < n)


@plant(reversed_kernel, "undefined", "out_ptr", {0})
def moved_to_other_lanes(mended: bool) -> None:
    """The store has the mask of the load, and the lanes have changed their places in between."""
    reversed_kernel[(1,)](torch.rand(20), torch.zeros(20), 20, MENDED=mended, BLOCK=32)


@triton.jit
def wider_kernel(x_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)  # BUG
    tl.store(out_ptr + offsets, x + 1.0, mask=offsets < m)


@plant(wider_kernel, "undefined", "out_ptr", {2})
def stored_under_a_wider_mask(mended: bool) -> None:
    """The mask of the store lets lanes through that were not loaded."""
    wider_kernel[(4,)](torch.rand(64), torch.zeros(64), 40, 40 if mended else 45, BLOCK=16)


@triton.jit
def length_kernel(length_ptr, x_ptr, out_ptr, n, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    lengths = tl.load(length_ptr + lane, mask=lane < n)  # BUG
    if MENDED:
        lengths = tl.where(lane < n, lengths, 0)
    total = 0.0
    for k in range(tl.max(lengths)):
        total += tl.load(x_ptr + k)
    tl.store(out_ptr, total)


@plant(length_kernel, "undefined", None, {0})
def length_of_a_loop(mended: bool) -> None:
    """The loop runs as long as the greatest of all lanes says, and would go out of bounds."""
    length_kernel[(1,)](torch.tensor([3, 1, 2, 5, 4]), torch.ones(8), torch.zeros(1), 5, MENDED=mended, BLOCK=8)
