"""Dropout that stores a seed instead of a mask: the backward pass computes the random bits again.

Philox is a counter-based generator: random number i of a seed is a function of (seed, i) alone, without state. So
programs need not communicate, and the backward pass computes the same numbers again instead of storing them.
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
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p  # uniform in [0, 1), number `offset` of this seed
    # Scaling the survivors keeps the expected value: nothing needs rescaling when dropout is off.
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def dropout(x: torch.Tensor, p: float, seed: int, block: int = 1024) -> torch.Tensor:
    """Zero each element of a contiguous float32 tensor with probability p < 1 and scale the others by 1 / (1 - p)."""
    assert x.is_contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        dropout_kernel[(triton.cdiv(n, block),)](x, out, n, p, seed, BLOCK=block)
    return out


class Dropout(torch.autograd.Function):
    """`Dropout.apply(x, p, seed)`. Dropout is linear in x, so its backward is itself, with the same seed."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
        ctx.p, ctx.seed = p, seed
        return dropout(x, p, seed)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return dropout(gradients[0].contiguous(), ctx.p, ctx.seed), None, None


def gradient(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """d sum(dropout(x)^2) / dx, through autograd and the kernel's own backward."""
    leaf = x.detach().clone().requires_grad_()
    y: torch.Tensor = Dropout.apply(leaf, p, seed)  # type: ignore[no-untyped-call]  # torch leaves `apply` untyped
    return torch.autograd.grad(y.square().sum(), leaf)[0]


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """A float32 vector of 1,500 or 2^20 elements; the seed is also Philox's."""
    n = {"small": 1500, "bench": 2**20}[size]
    x = torch.randn(n, generator=torch.Generator().manual_seed(seed)).to(device)
    return {"x": x, "p": 0.3, "seed": seed + 123}


def philox(seed: int, counter: torch.Tensor) -> torch.Tensor:
    """The first 32 bits of Philox4x32-10 (Salmon et al., 2011) for counters (i, 0, 0, 0), as int64 in [0, 2^32)."""
    word = 0xFFFFFFFF
    c0 = counter.to(torch.int64)
    c1, c2, c3 = (torch.zeros_like(c0) for _ in range(3))
    k0, k1 = seed & word, seed >> 32 & word
    for _ in range(10):
        high_b, low_b = _multiply(0xCD9E8D57, c2)
        high_a, low_a = _multiply(0xD2511F53, c0)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = k0 + 0x9E3779B9 & word, k1 + 0xBB67AE85 & word
    return c0


def _multiply(constant: int, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(high, low) words of a 32x32-bit product. Split in halves: the whole product would overflow int64."""
    low = (constant & 0xFFFF) * value
    high = (constant >> 16) * value
    carried = (low >> 16) + (high & 0xFFFF)
    return (high >> 16) + (carried >> 16), (carried << 16 | low & 0xFFFF) & 0xFFFFFFFF


def reference(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """The same in torch, bits included: 31 of Philox's 32 bits become a number in [0, 1)."""
    bits = philox(seed, torch.arange(x.numel(), device=x.device))
    folded = torch.where(bits >= 2**31, 2**32 - 1 - bits, bits)
    uniform = folded.to(torch.float32) * 4.6566127342e-10
    return torch.where(uniform > p, x / (1 - p), 0.0)


def gradient_reference(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """The gradient in torch: 2 dropout(x), scaled and masked once more."""
    return reference(2 * reference(x, p, seed), p, seed)


# The same elements survive, exactly. 1 - p is rounded in the kernel and in torch at different places, and a GPU
# divides approximately: two units in the last place.
EXAMPLES = (
    Example("dropout", "Dropout from a seed", dropout, reference, inputs, rtol=3e-7),
    Example("dropout_backward", "Dropout from a seed, backward", gradient, gradient_reference, inputs, rtol=6e-7),
)
