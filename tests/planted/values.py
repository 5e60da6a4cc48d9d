"""NaN and infinity that the kernel makes out of finite inputs."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def elementwise_kernel(x_ptr, out_ptr, OPERATION: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if OPERATION == "log":
        y = tl.log(x)
    elif OPERATION == "log, guarded":
        y = tl.log(tl.maximum(x, 1e-6))
    elif OPERATION == "inverse":
        y = 1.0 / x
    elif OPERATION == "inverse, guarded":
        y = tl.where(x == 0, 0.0, 1.0 / tl.where(x == 0, 1.0, x))
    elif OPERATION == "sigmoid":
        y = tl.exp(x) / (1.0 + tl.exp(x))
    elif OPERATION == "sigmoid, guarded":
        y = 1.0 / (1.0 + tl.exp(tl.minimum(-x, 80.0)))
    elif OPERATION == "root":
        y = tl.sqrt(x - 0.5)
    elif OPERATION == "root, guarded":
        y = tl.sqrt(tl.maximum(x - 0.5, 0.0))
    tl.store(out_ptr + offsets, y)  # BUG


def elementwise(operation: str, mended: bool, place: int, value: float) -> None:
    x = torch.ones(128)
    x[place] = value
    name = f"{operation}, guarded" if mended else operation
    elementwise_kernel[(4,)](x, torch.zeros(128), OPERATION=name, BLOCK=32)


@plant(elementwise_kernel, "non-finite", "out_ptr", {1})
def log_of_zero(mended: bool) -> None:
    """One element is zero, and its logarithm is -inf."""
    elementwise("log", mended, 40, 0.0)


@plant(elementwise_kernel, "non-finite", "out_ptr", {2})
def division_by_zero(mended: bool) -> None:
    """One divisor is zero."""
    elementwise("inverse", mended, 70, 0.0)


@plant(elementwise_kernel, "non-finite", "out_ptr", {0})
def sigmoid_of_a_large_number(mended: bool) -> None:
    """exp(100) is infinite in float32, and inf / inf is NaN."""
    elementwise("sigmoid", mended, 10, 100.0)


@plant(elementwise_kernel, "non-finite", "out_ptr", {3})
def root_of_a_negative(mended: bool) -> None:
    """A square root just below zero."""
    elementwise("root", mended, 127, 0.4)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if MENDED:
        x -= tl.max(x)
    weights = tl.exp(x)
    tl.store(out_ptr + offsets, weights / tl.sum(weights))  # BUG


@plant(softmax_kernel, "non-finite", "out_ptr", {1}, shown=True)
def softmax_without_maximum(mended: bool) -> None:
    """A row of large numbers; the maximum was not subtracted."""
    x = torch.ones(4, 32)
    x[1] = 200.0
    softmax_kernel[(4,)](x, torch.zeros(4, 32), BLOCK=32, MENDED=mended)


@triton.jit
def masked_softmax_kernel(x_ptr, keep_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.load(keep_ptr + offsets) != 0
    x = tl.where(keep, tl.load(x_ptr + offsets), float("-inf"))
    largest = tl.max(x)
    if MENDED:
        largest = tl.maximum(largest, -1e30)
    weights = tl.exp(x - largest)
    total = tl.sum(weights)
    if MENDED:
        total = tl.where(total == 0, 1.0, total)
    tl.store(out_ptr + offsets, weights / total)  # BUG


@plant(masked_softmax_kernel, "non-finite", "out_ptr", {2})
def row_masked_out(mended: bool) -> None:
    """A row in which nothing is visible: -inf minus -inf."""
    keep = torch.ones(4, 32, dtype=torch.int32)
    keep[2] = 0
    masked_softmax_kernel[(4,)](torch.ones(4, 32), keep, torch.zeros(4, 32), BLOCK=32, MENDED=mended)


@triton.jit
def square_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets).to(tl.float32)
    square = x * x
    if MENDED:
        square = tl.minimum(square, 65504.0)
    tl.store(out_ptr + offsets, square.to(tl.float16))  # BUG


@plant(square_kernel, "non-finite", "out_ptr", {3})
def too_large_for_float16(mended: bool) -> None:
    """300^2 is 90,000; the largest float16 is 65,504."""
    x = torch.ones(128, dtype=torch.float16)
    x[100] = 300.0
    square_kernel[(4,)](x, torch.zeros(128, dtype=torch.float16), BLOCK=32, MENDED=mended)
