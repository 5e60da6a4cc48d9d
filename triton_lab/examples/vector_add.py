"""Vector addition: the smallest useful kernel. One program adds one block of consecutive elements."""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.examples.example import Example, Size


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n  # the last block reaches past the end unless BLOCK divides n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x: torch.Tensor, y: torch.Tensor, block: int = 1024) -> torch.Tensor:
    """x + y for two contiguous tensors of one shape and dtype."""
    assert x.is_contiguous() and y.is_contiguous() and x.shape == y.shape
    out = torch.empty_like(x)
    n = x.numel()
    if n:  # an empty grid cannot be launched
        add_kernel[(triton.cdiv(n, block),)](x, y, out, n, BLOCK=block)
    return out


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """Two float32 vectors: 1,000 elements with blocks of 128, or 2^20 with blocks of 1,024."""
    n, block = {"small": (1000, 128), "bench": (2**20, 1024)}[size]
    generator = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(n, generator=generator).to(device) for _ in range(2))
    return {"x": x, "y": y, "block": block}


def reference(x: torch.Tensor, y: torch.Tensor, block: int = 1024) -> torch.Tensor:
    """The same in torch."""
    return x + y


# One IEEE addition per element: equal to the last bit.
EXAMPLES = (Example("vector_add", "Vector addition", add, reference, inputs),)
