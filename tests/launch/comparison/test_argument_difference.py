"""One argument in two results: errors, patterns and verdicts, by brute force."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wordings import Wording
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR, UNKNOWN, Compared
from triton_lab.launch.comparison.bounds.bound import Bound

some_floats = st.lists(st.floats(width=32), min_size=1, max_size=12)
INF, NAN = math.inf, math.nan


def of(a: list[float], b: list[float], dtype: Any = np.float32, bound: list[float] | None = None) -> Compared:
    return Compared(
        "x", np.array(a, dtype), np.array(b, dtype), bound=None if bound is None else Bound.around(np.array(bound))
    )


@given(some_floats, st.randoms())
def test_the_worst_errors_are_those_of_a_search(numbers: list[float], random: Any) -> None:
    with np.errstate(over="ignore"):  # half as much again may be infinite
        others = np.float32([random.choice([number, number * 1.5, -number, 0.0]) for number in numbers]).tolist()
    one = of(numbers, others)
    a, b = (np.float32(side).astype(np.float64) for side in (numbers, others))
    apart = [abs(p - q) if p != q else 0.0 for p, q in zip(a, b, strict=True) if math.isfinite(p) and math.isfinite(q)]
    assert (one.largest_absolute is None) == (not apart)
    if one.largest_absolute is not None:
        assert one.largest_absolute.value == max(apart)
        at = one.largest_absolute.index
        assert abs(a[at] - b[at]) == max(apart)


@given(some_floats)
def test_a_thing_equals_itself(numbers: list[float]) -> None:
    one = of(numbers, numbers)
    assert one.verdict == EQUAL and not one.nan.any() and not one.infinite.any()


def test_patterns_are_counted_as_such(wording: Wording) -> None:
    one = of([NAN, 1, INF, INF, 0.0, NAN], [NAN, NAN, 1, -INF, -0.0, INF])
    assert one.nan.tolist() == [False, True, False, False, False, True]
    assert one.infinite.tolist() == [False, False, True, True, False, False]
    assert one.zeros == 1 and one.count == 5
    wording(one.told(), elements="5 of 6 elements", nan="2 in NaN", infinity="2 in infinity", zeros="1 in the sign")


def test_rounding_explains_no_nan_but_an_overflow() -> None:
    most = float(np.finfo(np.float32).max)
    assert of([NAN], [1.0], bound=[10.0]).verdict == DIFFERENT
    assert of([INF], [most], bound=[most / 1e6]).verdict == NEAR
    assert of([INF], [1.0], bound=[10.0]).verdict == DIFFERENT


def test_an_error_within_the_bound_is_near_and_beyond_it_different() -> None:
    up = float(np.nextafter(np.float32(1), np.float32(2)))
    assert of([1.0], [up], bound=[2e-7]).verdict == NEAR
    assert of([1.0], [up], bound=[1e-7]).verdict == DIFFERENT
    assert of([1.0], [up]).verdict == DIFFERENT
    assert of([0.0], [-0.0], bound=[0.0]).verdict == NEAR


def test_where_a_choice_hangs_on_rounding_nothing_is_called_near(wording: Wording) -> None:
    one = of([1.0], [2.0], bound=[INF])
    assert one.verdict == UNKNOWN and one.undecided == 1
    wording(one.told(), name="x", elements="1 of 1 element", undecided="1 depend")


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.bool_, ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16])
def test_every_dtype_has_units(dtype: Any) -> None:
    one = Compared("x", np.array([0, 1, 1]).astype(dtype), np.array([0, 1, 0]).astype(dtype))
    assert one.verdict == DIFFERENT and one.count == 1
    assert one.largest_absolute is not None and one.largest_absolute.value == 1 and one.largest_absolute.index == (2,)


def test_two_dtypes_are_compared_in_the_units_of_the_coarser() -> None:
    exact = np.array([1 / 3, 2 / 3])
    one = Compared("x", exact.astype(np.float16), exact)
    assert one.dtype == np.float16 and one.verdict == EQUAL
    off = np.nextafter(exact.astype(np.float16), np.float16(1))
    worse = Compared("x", off, exact)
    assert worse.largest_ulps is not None and 0.5 <= worse.largest_ulps.value <= 1.5


@pytest.mark.parametrize("shape", [(), (0, 3), (1,)])
def test_every_shape_can_be_compared(shape: tuple[int, ...]) -> None:
    one = Compared("x", np.zeros(shape, np.float32), np.ones(shape, np.float32))
    assert one.count == math.prod(shape)
    assert one.told()
