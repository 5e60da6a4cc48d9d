"""Vector addition against torch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example
from triton_lab.examples.vector_add import add

ADD = example("vector_add")


@pytest.mark.parametrize("n", [1, 127, 128, 129, 5000])
def test_lengths_around_the_block(n: int, normal: Callable[..., torch.Tensor]) -> None:
    ADD.check_on(x=normal(n), y=normal(n), block=128)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.int8, torch.int64])
def test_dtypes(dtype: torch.dtype) -> None:
    x = torch.arange(-100, 100).to(dtype)
    ADD.check_on(x=x, y=x.flip(0) + 1, block=64)


def test_bfloat16(normal: Callable[..., torch.Tensor]) -> None:
    ADD.check_on(x=normal(300, dtype=torch.bfloat16), y=normal(300, dtype=torch.bfloat16), block=64)


def test_empty() -> None:
    assert add(torch.empty(0), torch.empty(0)).shape == (0,)


def test_infinities_and_nan() -> None:
    inf, nan = float("inf"), float("nan")
    out = add(torch.tensor([inf, inf, nan, 1.0]), torch.tensor([1.0, -inf, 1.0, inf]))
    torch.testing.assert_close(out, torch.tensor([inf, nan, nan, inf]), equal_nan=True)
