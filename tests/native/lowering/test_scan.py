"""Scans have NumPy's bits: sums along an axis, of every type, and functions of several operands."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from tests.native.harness import both, same_bits


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def greater(a, b):
    return tl.maximum(a, b)


@triton.jit
def recurrence(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def last_not_zero(a, b):
    return tl.where(b != 0, b, a)


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def rows(x, out, AXIS: tl.constexpr, REVERSE: tl.constexpr, FUNCTION: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = (tl.arange(0, M) * N)[:, None] + tl.arange(0, N)[None, :]
    block = tl.load(x + at)
    if FUNCTION == "add":
        found = tl.associative_scan(block, AXIS, add, reverse=REVERSE)
    elif FUNCTION == "greater":
        found = tl.associative_scan(block, AXIS, greater, reverse=REVERSE)
    elif FUNCTION == "either":
        found = tl.associative_scan(block, AXIS, either, reverse=REVERSE)
    else:
        found = tl.associative_scan(block, AXIS, last_not_zero, reverse=REVERSE)
    tl.store(out + at, found)


@triton.jit
def pairs(a, b, p, q, AXIS: tl.constexpr, REVERSE: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = (tl.arange(0, M) * N)[:, None] + tl.arange(0, N)[None, :]
    x, y = tl.associative_scan((tl.load(a + at), tl.load(b + at)), AXIS, recurrence, reverse=REVERSE)
    tl.store(p + at, x)
    tl.store(q + at, y)


# Shape, axis, and whether it goes backwards: registers that are full, partly, and columns beside each other.
CASES = [((1, 128), 1, False), ((4, 8), 1, True), ((64, 2), 0, False), ((2, 64), 1, True), ((16, 8), 0, True)]


def numbers(shape, dtype):
    torch.manual_seed(0)
    if dtype.is_floating_point:
        return torch.randn(shape).to(dtype)
    return torch.randint(-100, 100, shape).to(dtype)


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        ("add", torch.float32),
        ("add", torch.bfloat16),
        ("add", torch.int32),
        ("greater", torch.float16),
        ("greater", torch.int64),
        ("last_not_zero", torch.float32),
        ("last_not_zero", torch.int16),
        ("either", torch.bool),
    ],
    ids=str,
)
def test_a_scan_of_one_operand(function, dtype):
    for shape, axis, reverse in CASES:
        x = numbers(shape, dtype)

        def launch(x=x, shape=shape, axis=axis, reverse=reverse):
            out = torch.zeros_like(x)
            rows[(1,)](x, out, axis, reverse, function, *shape)
            return out

        expected, found, _ = both(launch)
        assert same_bits(expected, found), (shape, expected, found)


def test_a_scan_of_two_operands():
    for shape, axis, reverse in CASES:
        a, b = numbers(shape, torch.float32), numbers(shape, torch.float64)

        def launch(a=a, b=b, shape=shape, axis=axis, reverse=reverse):
            p, q = torch.zeros_like(a), torch.zeros_like(b)
            pairs[(1,)](a, b, p, q, axis, reverse, *shape)
            return p, q

        expected, found, _ = both(launch)
        assert all(same_bits(x, y) for x, y in zip(expected, found, strict=True)), shape
