"""Elementary functions stay within a few units in the last place of a wider computation."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from tests.interpreter.support import all_bits, bf16, evaluate, same
from tests.interpreter.test_floats import patterns

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
FUNCTIONS = {
    "tl.exp(a)": np.exp,
    "tl.exp2(a)": np.exp2,
    "tl.log(a)": np.log,
    "tl.log2(a)": np.log2,
    "tl.sin(a)": np.sin,
    "tl.cos(a)": np.cos,
    "tl.sqrt(a)": np.sqrt,
    "tl.rsqrt(a)": lambda x: 1 / np.sqrt(x),
    "tl.erf(a)": np.vectorize(math.erf, otypes=[np.longdouble]),
    "tl.sigmoid(a)": lambda x: 1 / (1 + np.exp(-x)),
}


def distance(actual, expected):
    """How many units in the last place of its format ``actual`` is off, at most."""
    reference = expected.astype(actual.dtype)
    both = np.isnan(actual) & np.isnan(reference)
    infinite = np.isinf(reference) & (actual == reference)
    gap = np.abs(actual.astype(np.longdouble) - expected) / np.spacing(np.abs(reference))
    return float(np.max(np.where(both | infinite, 0, gap), initial=0))


@pytest.mark.parametrize("expression", FUNCTIONS)
@pytest.mark.parametrize("dtype", [F32, F64])
def test_elementary_functions(expression, dtype):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-20, 20, 2000), rng.uniform(0, 1e-3, 500), [0.0, 1.0, -1.0]]).astype(dtype)
    if "log" in expression or "sqrt" in expression:
        x = np.abs(x)
    expected = FUNCTIONS[expression](x.astype(np.longdouble))
    assert distance(evaluate(expression, x, out=dtype), expected) <= 4


@pytest.mark.parametrize("dtype", [F32, F64])
def test_rounding_to_whole_numbers_is_exact(dtype):
    x = patterns(dtype)
    if dtype == F32:
        # Triton has CUDA's library compiled to take subnormals for zero.
        x = np.where(np.abs(x) < np.finfo(F32).tiny, np.copysign(np.float32(0), x), x)
    same(evaluate("tl.floor(a)", x, out=dtype), np.floor(x))
    same(evaluate("tl.ceil(a)", x, out=dtype), np.ceil(x))


def test_the_precise_square_root_is_the_nearest():
    x = np.abs(patterns(F32))
    same(evaluate("tl.sqrt_rn(a)", x, out=F32), np.sqrt(x))


@pytest.mark.parametrize("expression", ["tl.fdiv(a, b)", "tl.div_rn(a, b)"])
def test_division_rounds_to_nearest(expression):
    a, b = patterns(F32, seed=1), patterns(F32, seed=2)
    same(evaluate(expression, a, b, out=F32), a / b)


@pytest.mark.parametrize(("dtype", "name"), [(F32, "fmaf"), (F64, "fma")])
def test_fma_rounds_once_as_the_c_library_does(dtype, name):
    c_type = {F32: ctypes.c_float, F64: ctypes.c_double}[dtype]
    function = getattr(ctypes.CDLL("libm.so.6"), name)
    function.restype, function.argtypes = c_type, [c_type] * 3
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(2048).astype(dtype) for _ in range(2))
    # Where the sum cancels, the bits that a second rounding loses are all there is.
    c = -(a * b) * (1 + rng.integers(-3, 4, 2048) * np.finfo(dtype).eps).astype(dtype)
    c[::2] = rng.standard_normal(1024).astype(dtype)
    expected = np.array([function(*(float(v) for v in row)) for row in zip(a, b, c, strict=True)], dtype)
    same(evaluate("tl.fma(a, b, c)", a, b, c, out=dtype), expected)


def test_floor_and_ceil_of_every_half():
    x = all_bits(np.float16)
    # Triton's own floor is for wider floats.
    same(evaluate("tl.floor(a.to(tl.float32)).to(tl.float16)", x, out=np.float16), np.floor(x))


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), bf16])
def test_sixteen_bit_arguments_go_through_float32(dtype):
    """exp of float32 lies within 1 ulp of the exact value on either engine; that is then rounded once more."""
    x = all_bits(dtype)
    with np.errstate(over="ignore"):
        near = np.exp(x.astype(np.float64)).astype(np.float32)
        low, high = (np.nextafter(near, np.float32(end)).astype(dtype) for end in (-np.inf, np.inf))
    found = evaluate("tl.exp(a.to(tl.float32)).to(a.dtype)", x, out=dtype)
    finite = np.isfinite(near)
    same(found[~finite], near[~finite].astype(dtype))
    assert (low.astype(np.float32) <= found.astype(np.float32))[finite].all()
    assert (found.astype(np.float32) <= high.astype(np.float32))[finite].all()


@pytest.mark.parametrize("dtype", [F32, F64])
def test_softmax_sums_to_one(dtype):
    x = np.random.default_rng(0).standard_normal(256).astype(dtype)
    result = evaluate("tl.softmax(a)", x, out=dtype, block=256)
    expected = np.exp(x - x.max())
    np.testing.assert_allclose(result, expected / expected.sum(), rtol=1e-5)
