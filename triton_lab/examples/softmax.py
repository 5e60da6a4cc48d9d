"""Softmax of rows, fused: each row is read once and written once. Forward and backward.

In plain torch operations, softmax passes over memory five times (max, subtract, exp, sum, divide). Here a program
holds its whole row in registers, so that only the first read and the last write access memory.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.examples.example import Example, Size


@triton.jit
def softmax_kernel(
    x_ptr, y_ptr, columns, x_row_stride, x_column_stride, y_row_stride, y_column_stride, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    # Lanes past the end must not win the maximum nor add to the sum: exp(-inf) is 0.
    x = tl.load(x_ptr + row * x_row_stride + column * x_column_stride, mask=mask, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))  # without the maximum, exp overflows from x = 89 on
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + row * y_row_stride + column * y_column_stride, y, mask=mask)


@triton.jit
def softmax_backward_kernel(
    y_ptr,
    dy_ptr,
    dx_ptr,
    columns,
    y_row_stride,
    y_column_stride,
    dy_row_stride,
    dy_column_stride,
    dx_row_stride,
    dx_column_stride,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    y = tl.load(y_ptr + row * y_row_stride + column * y_column_stride, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * dy_row_stride + column * dy_column_stride, mask=mask, other=0.0).to(tl.float32)
    # dy_i/dx_j = y_i (delta_ij - y_j), so the row's gradient needs one scalar product of the whole row.
    dx = y * (dy - tl.sum(y * dy, axis=0))
    tl.store(dx_ptr + row * dx_row_stride + column * dx_column_stride, dx, mask=mask)


def softmax_forward(x: torch.Tensor) -> torch.Tensor:
    """Softmax of each row of a 2-D floating-point tensor of any strides; computed in float32, returned in x's dtype."""
    rows, columns = x.shape
    y = torch.empty_like(x)
    if x.numel():
        softmax_kernel[(rows,)](x, y, columns, *x.stride(), *y.stride(), BLOCK=triton.next_power_of_2(columns))
    return y


def softmax_backward(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """The gradient of softmax's input, from its output `y` and the output's gradient `dy`, both (rows, columns)."""
    rows, columns = y.shape
    dx = torch.empty_like(y)
    if y.numel():
        softmax_backward_kernel[(rows,)](
            y, dy, dx, columns, *y.stride(), *dy.stride(), *dx.stride(), BLOCK=triton.next_power_of_2(columns)
        )
    return dx


class Softmax(torch.autograd.Function):
    """`Softmax.apply(x)`: the two kernels under autograd."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = softmax_forward(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        (y,) = ctx.saved_tensors
        return softmax_backward(y, gradients[0])


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """One float32 matrix, (13, 100) or (1823, 781)."""
    generator = torch.Generator().manual_seed(seed)
    shape = {"small": (13, 100), "bench": (1823, 781)}[size]
    return {"x": torch.randn(shape, generator=generator).to(device)}


def backward_inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """A softmax output and a gradient for it, of the shapes of `inputs`."""
    y = inputs(size, seed, device)["x"].softmax(dim=1)
    return {"y": y, "dy": inputs(size, seed + 1, device)["x"]}


def reference(x: torch.Tensor) -> torch.Tensor:
    """The same in torch."""
    return torch.softmax(x, dim=1)


def backward_reference(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """The gradient, written out in torch."""
    return y * (dy - (y * dy).sum(dim=1, keepdim=True))


# float32: exp and the division are good to a few units in the last place (2^-24 = 6e-8 each), and the sum of
# hundreds of positive terms adds a few more. The gradient subtracts numbers of order 1, hence the absolute part.
EXAMPLES = (
    Example("softmax", "Fused softmax", softmax_forward, reference, inputs, rtol=2e-6, atol=1e-7),
    Example(
        "softmax_backward",
        "Fused softmax, backward",
        softmax_backward,
        backward_reference,
        backward_inputs,
        rtol=1e-5,
        atol=1e-6,
    ),
)
