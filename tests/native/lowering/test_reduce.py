"""Reductions: NumPy's bits where the order cannot show, sums within the bound of adding up in any order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tests.native.harness import both, same_bits


@triton.jit
def farther(a, b):
    return tl.where(tl.abs(a) >= tl.abs(b), a, b)


@triton.jit
def merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    """Welford's way of variances, which has three operands."""
    count = count_a + count_b
    difference = mean_b - mean_a
    share = count_b / count
    return count, mean_a + difference * share, m2_a + m2_b + difference * difference * count_a * share


@triton.jit
def one(x, out, WHAT: tl.constexpr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    block = tl.load(x + (tl.arange(0, M) * N)[:, None] + tl.arange(0, N)[None, :])
    if WHAT == "sum":
        found = tl.sum(block, AXIS)
    elif WHAT == "max":
        found = tl.max(block, AXIS)
    elif WHAT == "min":
        found = tl.min(block, AXIS)
    elif WHAT == "argmax":
        found = tl.argmax(block, AXIS)
    elif WHAT == "argmin":
        found = tl.argmin(block, AXIS, tie_break_left=False)
    elif WHAT == "xor":
        found = tl.xor_sum(block, AXIS)
    else:
        found = tl.reduce(block, AXIS, farther)
    tl.store(out + tl.arange(0, N if AXIS == 0 else M), found)


@triton.jit
def three(x, out, N: tl.constexpr):
    block = tl.load(x + tl.arange(0, N))
    count, mean, m2 = tl.reduce((tl.full((N,), 1.0, tl.float32), block, tl.zeros((N,), tl.float32)), 0, merged)
    tl.store(out, count)
    tl.store(out + 1, mean)
    tl.store(out + 2, m2)


def numbers(shape, dtype):
    """With ties, zeros of both signs, infinities and NaN among them."""
    torch.manual_seed(1)
    if not dtype.is_floating_point:
        return torch.randint(-100, 100, shape).to(dtype)
    x = torch.randint(-9, 9, shape).to(dtype)
    x[torch.rand(shape) < 0.1] = -0.0
    x[torch.rand(shape) < 0.02] = float("inf")
    x[torch.rand(shape) < 0.02] = float("nan")
    return x


SHAPES = [((1, 512), 1), ((8, 4), 1), ((16, 32), 0), ((64, 2), 0)]
TYPES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.int32: "i32", torch.int8: "i8", torch.float64: "f64"}


@pytest.mark.parametrize("what", ["max", "min", "argmax", "argmin", "xor", "farther"])
@pytest.mark.parametrize("dtype", TYPES, ids=TYPES.get)
def test_what_has_no_rounding_has_numpys_bits(what, dtype):
    if what == "xor" and dtype.is_floating_point:
        pytest.skip("no bits of floats")
    for shape, axis in SHAPES:
        x = numbers(shape, dtype)

        def launch(x=x, shape=shape, axis=axis):
            kept = torch.int32 if what.startswith("arg") or not dtype.is_floating_point else dtype
            out = torch.zeros(shape[1 - axis], dtype=kept)
            one[(1,)](x, out, what, axis, *shape)
            return out

        expected, found, _ = both(launch)
        assert same_bits(expected, found), (shape, x, expected, found)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(("shape", "axis"), [((1, 8192), 1), ((1, 512), 1), ((256, 4), 0), ((2, 16), 1)])
@pytest.mark.parametrize("falls", [False, True])
def test_sums_are_within_a_bound_that_grows_with_the_logarithm(dtype, shape, axis, falls):
    """Also of a large number and many that are lost if they are added to it one by one."""
    unit = 2.0**-24 if dtype == torch.float32 else 2.0**-53
    torch.manual_seed(2)
    x = (torch.rand(shape, dtype=torch.float64) + 0.1).to(dtype)
    if falls:
        x[:] = unit / 2
        # Of any order, the first numbers.
        first = (slice(None), slice(0, 32)) if axis == 1 else slice(0, 1)
        x[first] = 1.0

    def launch():
        out = torch.zeros(shape[1 - axis], dtype=dtype)
        one[(1,)](x, out, "sum", axis, *shape)
        return out

    _, found, _ = both(launch)
    exact = x.numpy().astype(np.longdouble).sum(axis=axis)
    error = np.abs(found.numpy().astype(np.longdouble) - exact) / exact
    assert error.max() <= (16 + 2 * np.log2(shape[axis])) * unit


def test_a_function_of_three_operands():
    x = torch.randn(1024)

    def launch():
        out = torch.zeros(3)
        three[(1,)](x, out, 1024)
        return out

    expected, found, _ = both(launch)
    assert same_bits(expected, found)


@triton.jit
def ends_of_row(x, out, B: tl.constexpr):
    row = tl.load(x + tl.arange(0, B))
    tl.store(out, tl.max(row, axis=0))
    tl.store(out + 1, tl.min(row, axis=0))


@pytest.mark.parametrize("length", [2, 16, 512])
def test_of_nothing_but_nan_the_greatest_and_the_least_are_nan(length: int) -> None:
    def launch() -> torch.Tensor:
        out = torch.ones(2)
        ends_of_row[(1,)](torch.full((length,), torch.nan), out, B=length)
        return out

    expected, found, _ = both(launch)
    assert same_bits(expected, found) and found.isnan().all()
