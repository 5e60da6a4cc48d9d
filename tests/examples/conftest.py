"""Shared by the tests of the examples: a seeded source of tensors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch


@pytest.fixture
def normal() -> Callable[..., torch.Tensor]:
    """normal(*shape, dtype=float32): normally distributed numbers, the same in every run."""
    generator = torch.Generator().manual_seed(0)

    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, generator=generator).to(dtype)

    return make
