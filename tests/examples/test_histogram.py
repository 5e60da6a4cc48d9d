"""Histogram against torch's bincount."""

from __future__ import annotations

import pytest
import torch

from triton_lab.examples import example
from triton_lab.examples.histogram import histogram


@pytest.mark.parametrize("n", [1, 1023, 1024, 1025, 5000])
def test_lengths_around_the_block(n: int) -> None:
    x = torch.randint(0, 256, (n,), generator=torch.Generator().manual_seed(n), dtype=torch.uint8)
    example("histogram").check_on(x=x)


def test_all_in_one_bin() -> None:
    counts = histogram(torch.full((3000,), 255, dtype=torch.uint8))
    assert counts[255] == 3000 and counts.sum() == 3000


def test_masked_lanes_are_not_counted_as_zeros() -> None:
    assert histogram(torch.ones(5, dtype=torch.uint8))[0] == 0


def test_fewer_bins() -> None:
    x = torch.arange(100).remainder(16).to(torch.uint8)
    assert torch.equal(histogram(x, bins=16), torch.bincount(x).to(torch.int32))
