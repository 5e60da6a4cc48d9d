"""Prefix scans: cumulative sum across programs, and a linear recurrence by an associative scan over pairs.

A program can scan its own block, but needs the total of all blocks before it. The sum of the whole array takes three
steps: scan each block, scan the blocks' totals, and add to each block the total before it. The recurrence
h[t] = a[t] h[t-1] + b[t] looks sequential. But two steps compose to one step of the same form, and composition is
associative: a scan needs no more.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.examples.example import Example, Size


@triton.jit
def scan_blocks_kernel(x_ptr, out_ptr, totals_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.store(out_ptr + offsets, tl.cumsum(x, axis=0), mask=offsets < n)
    tl.store(totals_ptr + program, tl.sum(x, axis=0))


@triton.jit
def add_carry_kernel(out_ptr, scanned_totals_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0) + 1  # nothing comes before block 0
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    carry = tl.load(scanned_totals_ptr + program - 1)
    tl.store(out_ptr + offsets, tl.load(out_ptr + offsets, mask=mask) + carry, mask=mask)


def prefix_sum(x: torch.Tensor, block: int = 256) -> torch.Tensor:
    """The cumulative sum of a contiguous int32 or float32 vector, of any length."""
    assert x.is_contiguous()
    n, blocks = x.numel(), triton.cdiv(x.numel(), block)
    out, totals = torch.empty_like(x), x.new_empty(blocks)
    if n:
        scan_blocks_kernel[(blocks,)](x, out, totals, n, BLOCK=block)
    if blocks > 1:
        add_carry_kernel[(blocks - 1,)](out, prefix_sum(totals, block), n, BLOCK=block)
    return out


@triton.jit
def compose(a_first, b_first, a_then, b_then):
    """h -> a h + b twice: a_then (a_first h + b_first) + b_then."""
    return a_then * a_first, a_then * b_first + b_then


@triton.jit
def recurrence_kernel(a_ptr, b_ptr, out_ptr, steps, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    h = 0.0
    for start in range(0, steps, BLOCK):
        step = start + tl.arange(0, BLOCK)
        mask = step < steps
        # The padding is the identity, h -> 1 h + 0, so that the last lane holds the last real h.
        a = tl.load(a_ptr + row * row_stride + step, mask=mask, other=1.0)
        b = tl.load(b_ptr + row * row_stride + step, mask=mask, other=0.0)
        a, b = tl.associative_scan((a, b), 0, compose)
        block = a * h + b
        tl.store(out_ptr + row * row_stride + step, block, mask=mask)
        h = tl.sum(tl.where(tl.arange(0, BLOCK) == BLOCK - 1, block, 0.0), axis=0)


def recurrence(a: torch.Tensor, b: torch.Tensor, block: int = 64) -> torch.Tensor:
    """h[t] = a[t] h[t-1] + b[t] along the rows of two contiguous float32 (rows, steps) tensors, from h = 0."""
    assert a.is_contiguous() and b.is_contiguous() and a.shape == b.shape
    out = torch.empty_like(a)
    rows, steps = a.shape
    recurrence_kernel[(rows,)](a, b, out, steps, steps, BLOCK=block)
    return out


def sum_inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """int32 numbers from -50 to 50: 1,000 in blocks of 16 (three levels of totals), or 2^20 in blocks of 1,024."""
    n, block = {"small": (1000, 16), "bench": (2**20, 1024)}[size]
    generator = torch.Generator().manual_seed(seed)
    return {"x": torch.randint(-50, 51, (n,), generator=generator, dtype=torch.int32).to(device), "block": block}


def recurrence_inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """a in [0.5, 1) and normal b: (5, 150), or (256, 2048)."""
    shape = {"small": (5, 150), "bench": (256, 2048)}[size]
    generator = torch.Generator().manual_seed(seed)
    a = torch.rand(shape, generator=generator) / 2 + 0.5
    return {"a": a.to(device), "b": torch.randn(shape, generator=generator).to(device)}


def sum_reference(x: torch.Tensor, block: int = 256) -> torch.Tensor:
    """The same in torch."""
    return torch.cumsum(x, dim=0, dtype=x.dtype)


def recurrence_reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same in torch, one step after the other, in float64."""
    h, out = torch.zeros(len(a), device=a.device, dtype=torch.float64), []
    for step in range(a.shape[1]):
        h = a[:, step].double() * h + b[:, step].double()
        out.append(h)
    return torch.stack(out, dim=1).float()


# The sum is of integers: equal. The recurrence forgets (a < 1), so errors do not pile up: a few units of 2^-24 of
# numbers of order 1 to 10.
EXAMPLES = (
    Example("prefix_sum", "Prefix sum", prefix_sum, sum_reference, sum_inputs),
    Example(
        "recurrence", "Linear recurrence", recurrence, recurrence_reference, recurrence_inputs, rtol=1e-5, atol=1e-5
    ),
)
