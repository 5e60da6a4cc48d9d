"""Prefix sum over several levels, and the linear recurrence."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example
from triton_lab.examples.prefix_scan import prefix_sum


@pytest.mark.parametrize("n", [1, 15, 16, 17, 256, 257, 5000])
def test_lengths_around_the_block_and_its_powers(n: int) -> None:
    x = torch.arange(n, dtype=torch.int32) % 7 - 3
    example("prefix_sum").check_on(x=x, block=16)


def test_sums_wrap_as_torch_does() -> None:
    example("prefix_sum").check_on(x=torch.full((10,), 2**30, dtype=torch.int32), block=16)


def test_float_sums(normal: Callable[..., torch.Tensor]) -> None:
    """float32 sums of 1,000 terms of order 1, in blocks: errors of some 2^-24 of sums of order 30."""
    x = normal(1000)
    torch.testing.assert_close(prefix_sum(x, block=64), x.double().cumsum(0).float(), rtol=1e-5, atol=2e-5)


def test_empty() -> None:
    assert prefix_sum(torch.empty(0, dtype=torch.int32)).shape == (0,)


@pytest.mark.parametrize("steps", [1, 63, 64, 65, 200])
def test_recurrence_lengths(steps: int, normal: Callable[..., torch.Tensor]) -> None:
    example("recurrence").check_on(a=normal(3, steps).sigmoid(), b=normal(3, steps))


def test_recurrence_with_constant_one_is_a_cumulative_sum() -> None:
    b = torch.arange(100.0)[None, :]
    assert torch.equal(example("recurrence").run(a=torch.ones(1, 100), b=b), b.cumsum(1))
