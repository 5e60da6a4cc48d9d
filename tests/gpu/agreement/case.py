"""A kernel to run on both sides, and the numbers that it gets."""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Case:
    """``run(device)`` launches one kernel on tensors of that device."""

    name: str
    run: Callable[[str], object]


def normal(*shape: int, seed: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Random numbers around zero, always the same for a seed."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def wild(count: int, seed: int) -> torch.Tensor:
    """float32 of all kinds: any exponent, subnormal numbers, numbers around 1, zeros, infinities and NaN."""
    generator = torch.Generator().manual_seed(seed)
    any_bits = torch.randint(-(2**31), 2**31 - 1, (count // 4,), generator=generator).to(torch.int32)
    subnormal = torch.randint(1, 2**23, (count // 4,), generator=generator).to(torch.int32)
    special = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1.0, -1.0, 1e-45, -1e-45])
    rest = torch.randn(count - 2 * (count // 4) - len(special), generator=generator) * 8
    parts = [any_bits.view(torch.float32), subnormal.view(torch.float32), special, rest]
    return torch.cat(parts)[torch.randperm(count, generator=generator)]
