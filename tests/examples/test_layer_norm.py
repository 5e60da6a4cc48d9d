"""Layer norm, forward and backward, against torch and its autograd."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example
from triton_lab.examples.layer_norm import LayerNorm, layer_norm_backward

FORWARD, BACKWARD = example("layer_norm"), example("layer_norm_backward")


@pytest.mark.parametrize("shape", [(1, 1), (5, 64), (33, 65), (7, 1000)])
def test_shapes_that_no_block_divides(shape: tuple[int, int], normal: Callable[..., torch.Tensor]) -> None:
    FORWARD.check_on(x=normal(*shape), weight=normal(shape[1]), bias=normal(shape[1]))


def test_rows_apart_in_storage(normal: Callable[..., torch.Tensor]) -> None:
    FORWARD.check_on(x=normal(20, 150)[::3, 10:90], weight=normal(80), bias=normal(80))


@pytest.mark.parametrize("groups", [1, 4, 32])
def test_any_number_of_locks_gives_the_same_sums(groups: int) -> None:
    """Fewer groups than rows: programs must take turns. More: every row has its own lock."""
    BACKWARD.check_on(**BACKWARD.inputs("small", 0, "cpu"), groups=groups)


def test_an_offset_does_not_cancel_away(normal: Callable[..., torch.Tensor]) -> None:
    """Centring before squaring keeps the variance of 100 +- 1; the difference of two sums would lose it."""
    x = normal(4, 256) + 100
    y, _, _ = FORWARD.run(x=x, weight=torch.ones(256), bias=torch.zeros(256))
    exact = torch.nn.functional.layer_norm(x.double(), [256]).float()
    torch.testing.assert_close(y, exact, rtol=0, atol=1e-4)


def test_half_precision_in_and_out(normal: Callable[..., torch.Tensor]) -> None:
    """Computed in float32 and rounded once: one unit in the last place of float16, and of 1 near zero."""
    half = torch.float16
    x, weight, bias = normal(9, 100, dtype=half), normal(100, dtype=half), normal(100, dtype=half)
    y, _, _ = FORWARD.run(x=x, weight=weight, bias=bias)
    exact = torch.nn.functional.layer_norm(x.double(), [100], weight.double(), bias.double())
    torch.testing.assert_close(y, exact.to(half), rtol=2.0**-10, atol=2.0**-20)


def test_autograd(normal: Callable[..., torch.Tensor]) -> None:
    leaves = [tensor.requires_grad_() for tensor in (normal(12, 50), normal(50), normal(50))]
    weight = normal(12, 50)
    ours = torch.autograd.grad((LayerNorm.apply(*leaves, 1e-5) * weight).sum(), leaves)
    x, scale, bias = leaves
    y = torch.nn.functional.layer_norm(x, [50], scale, bias, 1e-5)
    theirs = torch.autograd.grad((y * weight).sum(), leaves)
    torch.testing.assert_close(ours, theirs, rtol=2e-5, atol=1e-5)


def test_locks_are_open_again() -> None:
    """Two backwards in a row: a lock left closed would hang the second."""
    given = BACKWARD.inputs("small", 0, "cpu")
    torch.testing.assert_close(layer_norm_backward(**given), layer_norm_backward(**given), rtol=1e-6, atol=1e-5)
