"""A value that a loop should carry from one iteration to the next, and does not, is named with what it should be."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn


@triton.jit
def running_total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, so_far = tl.program_id(0), 0.0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
        tl.store(out_ptr + row * n + i, tl.cumsum(x, axis=0) + so_far, mask=i < n)  # SLIP: it stays 0


@triton.jit
def running_greatest(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, so_far = tl.program_id(0), float("-inf")
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
        tl.store(out_ptr + row * n + i, tl.maximum(tl.max(x, axis=0), so_far) + 0.0 * x, mask=i < n)  # SLIP: it stays


@triton.jit
def squares_of_rows(x_ptr, y_ptr, out_ptr, rows, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(rows):
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)  # noqa: F841
    tl.store(out_ptr + i, tl.sqrt(total + y), mask=i < n)  # SLIP: it stays 0


def is_named(cause: str, edit: str, line: int) -> bool:
    return edit in cause and f"line {line}" in cause


def test_what_a_loop_does_not_add_up_is_named() -> None:
    x, y = randn(6, 30), randn(30, seed=1).abs()
    launch = recorded(lambda: squares_of_rows[(1,)](x, y, torch.empty(30), 6, 30, BLOCK=32))
    causes = lab.compare(launch, {"out_ptr": ((x * x).sum(0) + y).sqrt()}).causes()
    assert is_named(causes.cause, "total = total + x * x", squares_of_rows.starting_line_number + 7)


@pytest.mark.parametrize(
    ("kernel", "told"),
    [(running_total, "so_far + tl.sum(x)"), (running_greatest, "tl.maximum(so_far, tl.max(x))")],
)
def test_what_is_not_carried_on_is_named(kernel, told: str) -> None:
    x = randn(5, 48)
    right = torch.cumsum(x, 1)
    if kernel is running_greatest:
        right = x.reshape(5, 3, 16).amax(2).cummax(1).values.repeat_interleave(16, 1)
    launch = recorded(lambda: kernel[(5,)](x, torch.empty_like(x), 48, BLOCK=16))
    causes = lab.compare(launch, {"out_ptr": right}).causes()
    assert is_named(causes.cause, f"so_far = {told}", kernel.starting_line_number + 6)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, K, N, T: tl.constexpr):
    m, k = tl.arange(0, T), tl.arange(0, T)
    a_at = a_ptr + m[:, None] * K + k[None, :]
    b_at = b_ptr + k[:, None] * N + m[None, :]
    total = tl.zeros((T, T), tl.float32)
    left = K
    while left > 0:
        a = tl.load(a_at, mask=k[None, :] < left, other=0.0)
        b = tl.load(b_at, mask=(k[:, None] < left) & (m[None, :] < N), other=0.0)  # SLIP: it stays
        total += tl.dot(a, b, input_precision="ieee")
        a_at += T
        left -= T
    tl.store(c_ptr + m[:, None] * N + m[None, :], total, mask=m[None, :] < N)


def test_a_pointer_that_a_while_loop_does_not_move_is_named() -> None:
    a, b = randn(16, 40), randn(40, 13, seed=1)
    launch = recorded(lambda: product[(1,)](a, b, torch.empty(16, 13), 40, 13, T=16))
    causes = lab.compare(launch, {"c_ptr": a @ b}).causes()
    assert is_named(causes.cause, "b_ptr", product.starting_line_number + 9) and "axis 0" in causes.cause
