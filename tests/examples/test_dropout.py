"""Dropout: the bits are Philox's, the survivors are scaled, and backward drops the same elements."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example
from triton_lab.examples.dropout import dropout, philox

DROPOUT = example("dropout")


def test_reference_is_philox() -> None:
    """Known answer of the generator's authors for key 0 and counter 0 (Random123, kat_vectors)."""
    assert philox(0, torch.tensor([0])).item() == 0x6627E8D5


@pytest.mark.parametrize("n", [1, 1023, 1025, 3000])
@pytest.mark.parametrize("seed", [0, 123, 2**31 - 1])
def test_lengths_and_seeds(n: int, seed: int, normal: Callable[..., torch.Tensor]) -> None:
    DROPOUT.check_on(x=normal(n), p=0.5, seed=seed)


def test_block_size_does_not_change_the_bits(normal: Callable[..., torch.Tensor]) -> None:
    x = normal(1000)
    assert torch.equal(dropout(x, 0.5, 7, block=64), dropout(x, 0.5, 7, block=1024))


def test_share_of_survivors() -> None:
    """100,000 draws: the share strays by 0.0014 at one standard deviation; five are allowed."""
    out = dropout(torch.ones(100_000), p=0.3, seed=1)
    assert abs((out != 0).float().mean().item() - 0.7) < 0.0073


def test_keeping_everything(normal: Callable[..., torch.Tensor]) -> None:
    x = normal(100)
    kept = dropout(x, p=0.0, seed=3)
    assert torch.equal(kept[kept != 0], x[kept != 0])


def test_backward_drops_what_forward_dropped() -> None:
    gradient = example("dropout_backward").run(x=torch.ones(500), p=0.4, seed=9)
    assert torch.equal(gradient == 0, dropout(torch.ones(500), p=0.4, seed=9) == 0)
