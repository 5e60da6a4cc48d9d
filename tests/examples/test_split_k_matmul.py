"""Split-K: the same product for any split, up to the order of its additions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example

SPLIT_K = example("split_k_matmul")


@pytest.mark.parametrize("split", [1, 2, 7, 16])
def test_any_split(split: int) -> None:
    """16 shares of 10 blocks of K: some programs have nothing to add."""
    given = SPLIT_K.inputs("small", 0, "cpu")
    actual = SPLIT_K.run(**given, split=split)
    torch.testing.assert_close(actual, SPLIT_K.reference(**given), rtol=SPLIT_K.rtol, atol=SPLIT_K.atol)


@pytest.mark.parametrize("shape", [(1, 1, 1), (32, 32, 128), (33, 65, 129)])
def test_shapes_and_strides(shape: tuple[int, int, int], normal: Callable[..., torch.Tensor]) -> None:
    m, n, k = shape
    SPLIT_K.check_on(a=normal(k, m, dtype=torch.float16).T, b=normal(k, 2 * n, dtype=torch.float16)[:, ::2])


def test_float32(normal: Callable[..., torch.Tensor]) -> None:
    SPLIT_K.check_on(a=normal(20, 100), b=normal(100, 30))
