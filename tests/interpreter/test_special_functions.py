"""Special functions by NumPy and the C library: as exact as their formats allow, and never torch's operators."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tests.interpreter.support import evaluate
from triton_lab.interpreter import special_functions
from triton_lab.interpreter.number_conversion import float_to_float, widen

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def apart(actual: np.ndarray, expected: np.ndarray) -> float:
    """The greatest distance in units in the last place of ``actual``'s format; ``expected`` is float64."""
    gap = np.abs(actual.astype(np.float64) - expected)
    unit = np.spacing(np.abs(expected.astype(actual.dtype))).astype(np.float64)
    return float(np.max(gap / unit, initial=0.0))


def values(low: float, high: float, count: int = 3000) -> np.ndarray:
    return np.random.default_rng(0).uniform(low, high, count)


@pytest.mark.parametrize("name", ["erf", "erfc"])
@pytest.mark.parametrize("reach", [0.01, 1.5, 6.0, 26.0])
def test_the_error_function_is_the_c_librarys(name, reach):
    x = values(-reach, reach)
    exact = np.array([getattr(math, name)(v) for v in x])
    # Python's is within an ulp itself.
    assert apart(getattr(special_functions, name)(x), exact) <= (2 if name == "erf" else 4)
    single = x.astype(np.float32)
    exact = np.array([getattr(math, name)(float(v)) for v in single])
    assert apart(getattr(special_functions, name)(single), exact) <= 0.501, "not the nearest float32"


@pytest.mark.parametrize("reach", [1e-300, 1e-20, 1e-5])
def test_the_error_function_of_small_numbers_keeps_its_digits(reach):
    x = values(-reach, reach)
    assert apart(special_functions.erf(x), np.array([math.erf(v) for v in x])) <= 1


@pytest.mark.parametrize(
    ("name", "theirs", "low", "high", "ulps"),
    [
        ("erfinv", "erfinv", -1, 1, 4),
        ("erfcx", "erfcx", 0, 50, 16),
        ("normcdf", "ndtr", -0.5, 8, 4),
        ("normcdfinv", "ndtri", 0, 1, 8),
        ("lgamma", "gammaln", 0.01, 100, 4),
        ("i0", "i0", -30, 30, 8),
        ("i1", "i1", -30, 30, 16),
    ],
)
def test_others_agree_with_torch(name, theirs, low, high, ulps):
    x = values(low, high)
    assert (
        apart(getattr(special_functions, name)(x), getattr(torch.special, theirs)(torch.from_numpy(x)).numpy()) <= ulps
    )


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-300, 1.0))
def test_inverses_lead_back(z):
    x = np.array([z])
    # A step in the last place of the inverse changes the function by its own condition.
    root = special_functions.erfcinv(x)
    condition = 2 / math.sqrt(math.pi) * np.exp(-(root**2)) * np.abs(root) / x
    assert abs(special_functions.erfc(root) / x - 1) <= (4 + 4 * condition) * np.finfo(float).eps
    assert abs(special_functions.erf(special_functions.erfinv(x * 0.999)) / (x * 0.999) - 1) <= 16 * np.finfo(float).eps


def test_tails_that_torch_loses():
    x = np.array([-10.0, -20.0, -37.0])
    exact = np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in x])
    np.testing.assert_allclose(special_functions.normcdf(x), exact, rtol=1e-13)
    np.testing.assert_allclose(special_functions.normcdfinv(special_functions.normcdf(x)), x, rtol=1e-15)


def test_bessel_functions_by_their_wronskians():
    x = values(0.1, 60)
    np.testing.assert_allclose(
        special_functions.j1(x) * special_functions.y0(x) - special_functions.j0(x) * special_functions.y1(x),
        2 / (np.pi * x),
        rtol=1e-12,
    )
    # I0' = I1, by a difference of both sides.
    step = 1e-4
    slope = (special_functions.i0(x + step) - special_functions.i0(x - step)) / (2 * step)
    np.testing.assert_allclose(special_functions.i1(x), slope, rtol=1e-7)


def test_the_ends_of_every_function():
    inf, nan = np.inf, np.nan
    for name, x, expected in [
        ("erf", [inf, -inf, -0.0, nan], [1, -1, -0.0, nan]),
        ("erfc", [inf, -inf, 0, nan], [0, 2, 1, nan]),
        ("erfcx", [inf, -inf, 0, nan], [0, inf, 1, nan]),
        ("erfinv", [1, -1, 1.5, 0, nan], [inf, -inf, nan, 0, nan]),
        ("erfcinv", [0, 2, -1, 1, nan], [inf, -inf, nan, 0, nan]),
        ("normcdf", [inf, -inf, 0, nan], [1, 0, 0.5, nan]),
        ("normcdfinv", [0, 1, 0.5, 2, nan], [-inf, inf, 0, nan, nan]),
        ("lgamma", [0, -1, 1, inf, nan], [inf, inf, 0, inf, nan]),
        ("tgamma", [0.0, -0.0, -1, 5, nan], [inf, -inf, nan, 24, nan]),
        ("i0", [0, inf, nan], [1, inf, nan]),
        ("i1", [0, -inf, nan, 713.0], [0, -inf, nan, 6.700424559186402e307]),
        ("y0", [0, -1], [-inf, nan]),
    ]:
        for dtype in (F32, F64) if name != "i1" else (F64,):
            result = getattr(special_functions, name)(np.array(x, dtype))
            assert result.dtype == dtype
            np.testing.assert_allclose(result, np.array(expected, dtype), rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("dtype", [F32, F64])
def test_the_ieee_remainder_is_the_c_librarys_with_the_sign_of_its_zeros(dtype):
    numbers = np.array([0.0, -0.0, 0.5, 1, 1.5, 2, 2.5, 3, 5, 7.25, 1e-30, 1e30, -0.5, -1, -1.5, -2.5, -3, -7], dtype)
    x, y = (each.reshape(-1) for each in np.meshgrid(numbers, numbers[numbers != 0]))
    found = special_functions.remainder(x, y)
    expected = np.array([math.remainder(float(a), float(b)) for a, b in zip(x, y, strict=True)])
    assert found.dtype == dtype and found.tolist() == expected.tolist()
    assert np.signbit(found).tolist() == np.signbit(expected).tolist()


@pytest.mark.parametrize("dtype", [F32, F64])
def test_functions_of_half_turns_and_halves_are_exact_there(dtype):
    halves = np.arange(-9, 10).astype(dtype) / 2
    quarter = [0, 1, 0, -1]  # of sin(pi x), from x = 0 on by halves
    assert special_functions.sinpi(halves).tolist() == [quarter[k % 4] for k in range(-9, 10)]
    assert special_functions.cospi(halves).tolist() == [quarter[(k + 1) % 4] for k in range(-9, 10)]
    assert special_functions.round_half_away(halves).tolist() == [
        math.copysign(math.floor(abs(k) / 2 + 0.5), k) for k in range(-9, 10)
    ]
    zeros = np.array([0.0, -0.0], dtype)
    assert np.signbit(special_functions.sinpi(zeros)).tolist() == [False, True]
    assert np.signbit(special_functions.round_half_away(np.array([0.25, -0.25], dtype))).tolist() == [False, True]
    between = values(-8, 8).astype(dtype)
    np.testing.assert_allclose(
        special_functions.sinpi(between), np.sin(np.pi * between.astype(F64)), rtol=2e-6, atol=1e-14
    )
    np.testing.assert_allclose(
        special_functions.cospi(between), np.cos(np.pi * between.astype(F64)), rtol=2e-6, atol=1e-14
    )


class Seen(TorchDispatchMode):
    """Every operator that torch is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: list[str] = []

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        self.operators.append(str(function))
        return function(*arguments, **(options or {}))


class SeenFunctions(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.functions: list[str] = []

    def __torch_function__(self, function, types, arguments=(), options=None):
        self.functions.append(getattr(function, "__name__", str(function)))
        return function(*arguments, **(options or {}))


def test_a_mode_of_torchs_sees_no_conversion():
    half = np.linspace(-4, 4, 4096).astype(np.float16)
    with Seen() as seen, SeenFunctions() as functions:
        wide = widen(half)
        back = float_to_float(wide, half.dtype)
    assert seen.operators == [] and functions.functions == []
    assert np.array_equal(wide, half.astype(np.float32)) and np.array_equal(back, half)


@triton.jit
def halves(x, out, n, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.erf(tl.load(x + k, mask=k < n).to(tl.float32))
    tl.store(out + k, value.to(tl.float16), mask=k < n)


def test_a_launch_asks_torch_for_no_operator():
    x = torch.linspace(-2, 2, 4096).half()
    out = torch.empty_like(x)
    with Seen() as seen:
        halves[(4,)](x, out, 4096, BLOCK=1024)
    assert seen.operators == []
    torch.testing.assert_close(out, torch.erf(x.float()).half())


@pytest.mark.usefixtures("on_numpy")  # the native engine's own are within 1 ulp
def test_kernels_take_them():
    x = values(-3, 3, 1000).astype(np.float32)
    exact = np.array([math.erf(float(v)) for v in x])
    assert apart(evaluate("tl.erf(a)", x, out=F32), exact) <= 0.501


def test_the_error_function_of_the_greatest_numbers_is_one():
    x = np.array([1.7e308, -1.7e308, 1e308, 3.0e154])
    assert (special_functions.erf(x) == np.sign(x)).all()
