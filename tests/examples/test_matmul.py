"""Grouped-order matrix product in three precisions, and its backward."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example
from triton_lab.examples.matmul import MatMul, matmul

NAMES = {torch.float32: "matmul_float32", torch.float16: "matmul_float16", torch.bfloat16: "matmul_bfloat16"}
dtypes = pytest.mark.parametrize("dtype", NAMES, ids=lambda dtype: str(dtype).removeprefix("torch."))


@dtypes
@pytest.mark.parametrize("shape", [(1, 1, 1), (64, 64, 32), (65, 63, 33), (200, 30, 100)])
def test_shapes_that_no_block_divides(
    shape: tuple[int, int, int], dtype: torch.dtype, normal: Callable[..., torch.Tensor]
) -> None:
    m, n, k = shape
    example(NAMES[dtype]).check_on(a=normal(m, k, dtype=dtype), b=normal(k, n, dtype=dtype))


@dtypes
def test_strides(dtype: torch.dtype, normal: Callable[..., torch.Tensor]) -> None:
    product = example(NAMES[dtype])
    product.check_on(a=normal(40, 70, dtype=dtype).T, b=normal(50, 40, dtype=dtype).T)
    product.check_on(a=normal(140, 80, dtype=dtype)[::2, ::2], b=normal(1, 50, dtype=dtype).expand(40, 50))


@pytest.mark.parametrize(("block_m", "block_n", "block_k"), [(128, 128, 32), (16, 64, 16), (32, 16, 64)])
@pytest.mark.parametrize("group_m", [1, 3, 8])
def test_tiles_and_groups(
    block_m: int, block_n: int, block_k: int, group_m: int, normal: Callable[..., torch.Tensor]
) -> None:
    """Whatever the order of the programs, each tile is computed once and in the same way."""
    blocks = {"block_m": block_m, "block_n": block_n, "block_k": block_k, "group_m": group_m}
    half = torch.float16
    example("matmul_float16").check_on(a=normal(150, 70, dtype=half), b=normal(70, 140, dtype=half), **blocks)


def test_no_inner_dimension_gives_zeros() -> None:
    assert torch.equal(matmul(torch.empty(3, 0), torch.empty(0, 4)), torch.zeros(3, 4))


def test_autograd(normal: Callable[..., torch.Tensor]) -> None:
    a, b = normal(33, 20).requires_grad_(), normal(20, 17).requires_grad_()
    weight = normal(33, 17)
    ours = torch.autograd.grad((MatMul.apply(a, b) * weight).sum(), (a, b))
    theirs = torch.autograd.grad(((a @ b) * weight).sum(), (a, b))
    torch.testing.assert_close(ours, theirs, rtol=2e-5, atol=2e-5)
