"""Softmax, forward and backward, against torch and its autograd."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example
from triton_lab.examples.softmax import Softmax, softmax_forward

FORWARD, BACKWARD = example("softmax"), example("softmax_backward")


@pytest.mark.parametrize("shape", [(1, 1), (5, 64), (3, 65), (40, 781)])
def test_shapes_that_no_block_divides(shape: tuple[int, int], normal: Callable[..., torch.Tensor]) -> None:
    FORWARD.check_on(x=normal(*shape))
    BACKWARD.check_on(y=normal(*shape).softmax(1), dy=normal(*shape))


def test_transposed_and_sliced_inputs(normal: Callable[..., torch.Tensor]) -> None:
    FORWARD.check_on(x=normal(50, 7).T)
    FORWARD.check_on(x=normal(14, 100)[::2, 3::5])
    BACKWARD.check_on(y=normal(7, 50).softmax(1), dy=normal(50, 7).T)


def test_expanded_gradient(normal: Callable[..., torch.Tensor]) -> None:
    """`sum().backward()` hands a gradient of stride 0."""
    BACKWARD.check_on(y=normal(7, 50).softmax(1), dy=torch.ones(()).expand(7, 50))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precisions(dtype: torch.dtype, normal: Callable[..., torch.Tensor]) -> None:
    """Both compute in float32 and round once: equal up to one unit in the last place."""
    x = normal(9, 130, dtype=dtype)
    ulp = torch.finfo(dtype).eps
    torch.testing.assert_close(softmax_forward(x), torch.softmax(x, dim=1), rtol=ulp, atol=0)


def test_large_values_do_not_overflow() -> None:
    x = torch.tensor([[1000.0, 1000.0, -1000.0], [-1e30, 0.0, 1.0]])
    FORWARD.check_on(x=x)


def test_autograd(normal: Callable[..., torch.Tensor]) -> None:
    x, weight = normal(6, 33), normal(6, 33)
    ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    (Softmax.apply(ours) * weight).sum().backward()
    (torch.softmax(theirs, dim=1) * weight).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-5, atol=1e-6)
