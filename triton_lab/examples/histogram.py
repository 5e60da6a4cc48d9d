"""Histogram: every program counts its own block, then adds its counts to the shared bins with atomics.

With one atomic per element, programs would wait for each other at the frequent bins. Counting locally first leaves
one atomic per bin and program.
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
def histogram_kernel(x_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0).to(tl.int32)
    counts = tl.histogram(x, BINS, mask)
    tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts, mask=counts > 0)


def histogram(x: torch.Tensor, bins: int = 256, block: int = 1024) -> torch.Tensor:
    """How often each value 0 .. bins - 1 (bins a power of two) occurs in a contiguous uint8 tensor; int32 counts."""
    assert x.is_contiguous()
    counts = torch.zeros(bins, device=x.device, dtype=torch.int32)
    n = x.numel()
    if n:
        histogram_kernel[(triton.cdiv(n, block),)](x, counts, n, BINS=bins, BLOCK=block)
    return counts


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """Bytes with a bell-shaped distribution: 3,000 or 2^20."""
    n = {"small": 3000, "bench": 2**20}[size]
    bell = torch.randn(n, generator=torch.Generator().manual_seed(seed)) * 40 + 128
    return {"x": bell.clamp(0, 255).to(torch.uint8).to(device)}


def reference(x: torch.Tensor, bins: int = 256) -> torch.Tensor:
    """The same in torch."""
    return torch.bincount(x.flatten(), minlength=bins).to(torch.int32)


# Integers, and integer additions commute: equal.
EXAMPLES = (Example("histogram", "Histogram", histogram, reference, inputs),)
