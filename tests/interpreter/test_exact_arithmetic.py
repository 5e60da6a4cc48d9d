"""Roundings and their errors, against exact fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.interpreter import exact_arithmetic

F16, F32, F64 = (np.dtype(kind) for kind in (np.float16, np.float32, np.float64))
doubles = st.floats(min_value=-(2.0**300), max_value=2.0**300).filter(lambda x: x == 0 or abs(x) > 2.0**-300)
pairs = st.lists(st.tuples(doubles, doubles), min_size=1, max_size=8)


def columns(rows: Sequence[Sequence[float]], dtype: np.dtype = F64) -> list[np.ndarray]:
    return [np.array(column, dtype) for column in zip(*rows, strict=True)]


def fraction(x: float) -> Fraction:
    return Fraction(float(x))


@given(pairs)
@settings(deadline=None)
def test_a_sum_and_a_product_are_exact_with_what_is_missing(rows: list[tuple[float, float]]) -> None:
    a, b = columns(rows)
    for found, together in (
        (exact_arithmetic.two_sum(a, b), lambda x, y: x + y),
        (exact_arithmetic.two_product(a, b), lambda x, y: x * y),
    ):
        for x, y, near, missing in zip(a, b, *found, strict=True):
            assert fraction(near) + fraction(missing) == together(fraction(x), fraction(y))
    assert np.array_equal(exact_arithmetic.two_sum(a, b)[0], a + b) and np.array_equal(
        exact_arithmetic.two_product(a, b)[0], a * b
    )


def to_odd(value: Fraction) -> float:
    """The two floats around ``value``, of which the odd one."""
    near = float(value)
    if fraction(near) == value:
        return near
    other = math.nextafter(near, math.inf if fraction(near) < value else -math.inf)
    return next(each for each in (near, other) if int(np.float64(each).view(np.int64)) & 1)


@given(st.lists(st.tuples(doubles, st.integers(-3, 3)), min_size=1, max_size=8))
@settings(deadline=None, max_examples=200)
def test_an_inexact_sum_is_cut_to_the_odd_neighbour(rows: list[tuple[float, int]]) -> None:
    nearest = np.array([x for x, _ in rows if x] or [1.0])
    # Quarters of the distance to the next float: less than half of it either way, also at a power of two.
    error = np.array([k for x, k in rows if x] or [1.0]) * np.spacing(np.abs(nearest)) / 16
    found = exact_arithmetic.to_odd(nearest, error)
    assert found.tolist() == [to_odd(fraction(x) + fraction(e)) for x, e in zip(nearest, error, strict=True)]


def test_what_is_not_finite_or_exact_stays() -> None:
    x = np.array([np.inf, -np.inf, 2.0, -0.0, 3.0])
    assert np.array_equal(exact_arithmetic.to_odd(x, np.array([1.0, -1.0, 0.0, 0.0, 0.0])), x)


def rounded(value: Fraction, dtype: np.dtype, mode: str) -> float:
    """By comparing the neighbours of the nearest, as fractions."""
    near = dtype.type(float(value))
    below = near if fraction(near) <= value else np.nextafter(near, dtype.type(-np.inf))
    above = near if fraction(near) >= value else np.nextafter(near, dtype.type(np.inf))
    assert fraction(below) <= value <= fraction(above)
    if mode == "rn":
        low, high = value - fraction(below), fraction(above) - value
        even = below if int(below.view(f"i{dtype.itemsize}")) % 2 == 0 else above
        return float(below if low < high else above if high < low else even)
    towards_zero = below if value > 0 else above
    return float({"rd": below, "ru": above, "rz": towards_zero}[mode])


singles = st.floats(min_value=-(2.0**30), max_value=2.0**30, width=32).filter(lambda x: x == 0 or abs(x) > 2.0**-30)
triples = st.lists(st.tuples(singles, singles, singles), min_size=1, max_size=6)


@pytest.mark.parametrize("dtype", [F32, F64])
@given(rows=triples, near=st.booleans())
@settings(deadline=None, max_examples=150)
def test_a_fused_product_and_sum_is_rounded_once(
    dtype: np.dtype, rows: list[tuple[float, float, float]], near: bool
) -> None:
    a, b, c = columns(rows, dtype)
    if dtype == F64:
        a, b = a * (1 + 2.0**-40), b * (1 - 2.0**-45)
    if near:  # what is left after most of it has cancelled
        c = -(a * b) * (1 + c * dtype.type(2.0**-50))
    found = exact_arithmetic.multiply_add(a, b, c).astype(dtype)
    for x, y, z, got in zip(a, b, c, found, strict=True):
        value = fraction(x) * fraction(y) + fraction(z)
        if value == 0:
            assert got == 0
        else:
            assert float(got) == rounded(value, dtype, "rn")


def test_a_fused_product_and_sum_of_what_is_not_finite_is_the_ordinary_one() -> None:
    inf, nan = np.inf, np.nan
    for dtype in (F32, F64):
        a, b, c = columns([(inf, 1, 1), (inf, 0, 1), (inf, 1, -inf), (1, 2, inf), (nan, 1, 1), (1, 1, nan)], dtype)
        with np.errstate(all="ignore"):
            assert np.array_equal(exact_arithmetic.multiply_add(a, b, c).astype(dtype), a * b + c, equal_nan=True)
    huge = np.array([2.0**1000])
    with np.errstate(all="ignore"):
        assert exact_arithmetic.multiply_add(huge, huge, np.array([1.0])).tolist() == [inf]
        assert exact_arithmetic.multiply_add(huge, huge, -huge).tolist() == [inf]


@pytest.mark.parametrize("dtype", [F16, F32, F64], ids=str)
def test_a_fused_product_of_zero_has_the_sign_of_the_ordinary_sum(dtype: np.dtype) -> None:
    a, b, c = columns(list(itertools.product((0.0, -0.0, 1.5, -1.5), (0.0, -0.0), (0.0, -0.0, 1.5))), dtype)
    for product in ((a, b, c), (b, a, c)):
        found = exact_arithmetic.multiply_add(*product).astype(dtype)
        assert found.tobytes() == (a * b + c).tobytes()


@pytest.mark.parametrize("mode", ["rn", "rz", "rd", "ru"])
@pytest.mark.parametrize("target", [F16, F32])
@given(
    st.lists(st.tuples(st.integers(-(2**14), 2**14), st.integers(-8, 8)), min_size=1, max_size=8),
    st.sampled_from([1.0, 2.0**-13]),
)
@settings(deadline=None)
def test_narrowing_goes_in_the_direction_asked_for(
    mode: str, target: np.dtype, rows: list[tuple[int, int]], scale: float
) -> None:
    step = 2.0**-4 if target == F16 else 2.0**-12
    x = np.array([whole + part * step / 64 for whole, part in rows]) * scale
    found = exact_arithmetic.narrowed(x, target, mode)
    assert found.dtype == target
    assert found.tolist() == [0.0 if v == 0 else rounded(fraction(v), target, mode) for v in x]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("rn", [np.inf, -np.inf, np.inf, -np.inf]),
        ("rz", [65504, -65504, np.inf, -np.inf]),
        ("rd", [65504, -np.inf, np.inf, -np.inf]),
        ("ru", [np.inf, -65504, np.inf, -np.inf]),
    ],
)
def test_what_is_too_great_is_the_greatest_or_infinite(mode: str, expected: list[float]) -> None:
    with np.errstate(over="ignore"):
        assert exact_arithmetic.narrowed(np.array([1e9, -1e9, np.inf, -np.inf]), F16, mode).tolist() == expected


everything = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(min_value=-(2.0**-1000), max_value=2.0**-1000),
    st.tuples(st.sampled_from([-1.0, 1.0, 1.5, -1.25, 1 + 2.0**-52]), st.integers(-1074, 1022)).map(
        lambda pair: math.ldexp(*pair)
    ),
    st.integers(-(2**54), 2**54).map(lambda n: math.ldexp(n, -1074)),
)  # fmt: skip


def with_small_product(drawn: tuple[float, int, float, int]) -> tuple[float, float, float]:
    """Factors whose product has about that exponent, and so many times the least number."""
    a, exponent, b, times = drawn
    return a, math.ldexp(b, max(-1074, min(1023, exponent - math.frexp(a)[1]))), math.ldexp(times, -1074)


factors = st.sampled_from([1.0, -1.0, 1.5, 1 + 2.0**-52, -1 - 3 * 2.0**-52])
ends = st.tuples(everything.filter(bool), st.integers(-1074, -968), factors, st.integers(-(2**53), 2**53)).map(
    with_small_product
)

# What is left of the product where all that a float64 holds of it is taken away.
cancelling = (
    st.tuples(everything, everything)
    .filter(lambda pair: math.isfinite(pair[0] * pair[1]))
    .map(lambda pair: (*pair, -pair[0] * pair[1]))
)


def nearest_double(value: Fraction) -> float:
    """The nearest float64, infinity beyond the greatest."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@given(st.lists(st.one_of(st.tuples(everything, everything, everything), ends, cancelling), min_size=1, max_size=8))
@settings(deadline=None, max_examples=400)
def test_a_fused_multiply_add_is_rounded_once_at_the_ends_of_the_range_too(rows: list[tuple[float, ...]]) -> None:
    with np.errstate(all="ignore"):
        found = exact_arithmetic.multiply_add(*columns(rows))
    for (a, b, c), result in zip(rows, found.tolist(), strict=True):
        value = fraction(a) * fraction(b) + fraction(c)
        assert result == nearest_double(value), (a, b, c)
        if value:
            assert math.copysign(1, result) == (1 if value > 0 else -1)
        elif not a * b and not c and math.copysign(1, a) * math.copysign(1, b) == math.copysign(1, c):
            assert math.copysign(1, result) == math.copysign(1, c)
