"""Kernels whose programs part ways: `while`, `if`, early return, and loop bounds from memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example
from triton_lab.examples.collatz import collatz


def test_collatz_known_values() -> None:
    """27 climbs to 9232 and takes 111 steps; 1 takes none; powers of two only halve."""
    start = torch.tensor([1, 2, 3, 26, 27, 28, 1024, 97])
    assert collatz(start).tolist() == [0, 1, 7, 10, 111, 18, 10, 118]


def test_collatz_in_64_bits() -> None:
    """The way from 2^33 - 1 leaves 32 bits at once."""
    example("collatz").check_on(start=torch.tensor([2**33 - 1, 2**33]))


@pytest.mark.parametrize("width", [1, 64, 65, 200])
def test_sparse_widths(width: int, normal: Callable[..., torch.Tensor]) -> None:
    given = example("sparse_matmul").inputs("small", 1, "cpu")
    example("sparse_matmul").check_on(**{**given, "dense": normal(20, width)})


def test_sparse_rows_of_a_wider_matrix(normal: Callable[..., torch.Tensor]) -> None:
    given = example("sparse_matmul").inputs("small", 1, "cpu")
    example("sparse_matmul").check_on(**{**given, "dense": normal(20, 90)[:, 5:75]})


def test_empty_rows_are_written() -> None:
    out = example("sparse_matmul").run(
        starts=torch.zeros(4, dtype=torch.int32),
        columns=torch.zeros(1, dtype=torch.int32),
        values=torch.ones(1),
        dense=torch.ones(2, 3),
    )
    assert torch.equal(out, torch.zeros(3, 3))


def test_ragged_rows_of_the_related_work() -> None:
    """K = 4, 2, 5, 1, the irregular nest that is no static-control part."""
    lengths = torch.tensor([4, 2, 5, 1])
    starts = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)]).to(torch.int32)
    columns = torch.tensor([0, 2, 3, 5, 1, 4, 0, 1, 2, 3, 4, 5], dtype=torch.int32)
    values = torch.arange(1.0, 13.0)
    dense = torch.arange(24.0).reshape(6, 4)
    example("sparse_matmul").check_on(starts=starts, columns=columns, values=values, dense=dense)
