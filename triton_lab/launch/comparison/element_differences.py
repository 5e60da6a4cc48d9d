"""How far elements of two arrays are apart, and what rounding explains: functions of arrays of one shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.comparison import number_formats
from triton_lab.launch.comparison.bounds.bound import CHOICE, CONTINUOUS, WHOLE
from triton_lab.launch.comparison.number_formats import is_float, is_nan, wide

Array = NDArray[Any]

# Bit-equal; rounding explains it; it is not known whether it does; it does not.
SAME, EXPLAINED, UNCLEAR, BEYOND = range(4)


def comparable(a: Array, b: Array) -> tuple[Array, Array]:
    """Both as arrays that can be subtracted: integers of one type, or float64."""
    return (a, b) if a.dtype == b.dtype and not is_float(a.dtype) else (wide(a), wide(b))


def is_same(a: Array, b: Array) -> Array:
    """Where both are bit-equal (any NaN equals any other); two dtypes are first rounded to the coarser one."""
    if a.dtype != b.dtype:
        coarser = number_formats.coarser(a.dtype, b.dtype)
        with np.errstate(all="ignore"):
            a, b = a.astype(coarser), b.astype(coarser)
    equal = number_formats.bits(a) == number_formats.bits(b)
    return np.asarray(equal | (is_nan(a) & is_nan(b))) if is_float(a.dtype) else np.asarray(equal)


def is_one_nan(a: Array, b: Array) -> Array:
    """Where one is NaN and the other is not."""
    return np.asarray(is_nan(a) != is_nan(b))


def is_infinite(a: Array, b: Array) -> Array:
    """Where one is infinite and the other is a different number."""
    x, y = comparable(a, b)
    some = number_formats.is_infinite(a) | number_formats.is_infinite(b)
    with np.errstate(invalid="ignore"):
        return np.asarray(some & (x != y) & ~(is_nan(a) != is_nan(b)))


def are_finite(a: Array, b: Array) -> Array:
    """Where both are finite."""
    first, second = (np.isfinite(one) if is_float(one.dtype) else np.ones(one.shape, np.bool_) for one in (a, b))
    return np.asarray(first & second)


def absolute(a: Array, b: Array) -> Array:
    """|a - b| in float64; 0 where the two are the same, NaN where they differ and one is not finite."""
    x, y = comparable(a, b)
    if x.dtype == y.dtype and not is_float(x.dtype):
        return number_formats.magnitude(x, y).astype(np.float64)
    with np.errstate(all="ignore"):
        apart = np.abs(x - y)
        if a.dtype == b.dtype and np.isfinite(apart).all():  # then all numbers are finite
            return np.asarray(apart)
        found = np.where(np.isfinite(apart), apart, np.where(are_finite(a, b), apart, np.nan))
        return np.where(is_same(a, b), 0.0, found)


def relative(a: Array, b: Array) -> Array:
    """|a - b| / |b|, infinite where b alone is 0."""
    return _relative(absolute(a, b), b)


def _relative(apart: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.where(apart == 0, 0.0, apart / np.abs(wide(b)))


def ulps(a: Array, b: Array) -> Array:
    """The error in units in the last place: steps of the dtype between the two, or for two dtypes units at b."""
    return _ulps(a, b, absolute(a, b))


def _ulps(a: Array, b: Array, apart: Array) -> Array:
    if a.dtype == b.dtype:
        counted = number_formats.steps(a, b).astype(np.float64)
        if np.isfinite(apart).all():
            return counted
    else:
        with np.errstate(all="ignore"):
            counted = apart / number_formats.ulp(wide(b), number_formats.coarser(a.dtype, b.dtype))
    return np.where(is_same(a, b), 0.0, np.where(are_finite(a, b), counted, np.nan))


def zeros_apart(start: int, a: Array, b: Array) -> int:
    """How many elements are zeros of different signs."""
    x, y = comparable(a, b)
    zeros = (x == 0) & (y == 0)
    return int(np.count_nonzero(zeros & ~is_same(a, b))) if zeros.any() else 0


def worst_of(start: int, a: Array, b: Array) -> list[tuple[float, int]]:
    """The largest absolute, relative and other error between finite numbers, and its element; -1 if there is none.

    ``start`` is the number of the first element.
    """
    apart = absolute(a, b)
    finite = are_finite(a, b)
    found = []
    for error in (apart, _relative(apart, b), _ulps(a, b, apart)):
        at = int(np.argmax(np.where(finite, error, -1.0))) if error.size else 0
        found.append((float(error[at]) if error.size and finite[at] else -1.0, start + at))
    return found


def judged(a: Array, b: Array, below: Array, above: Array, kind: Array) -> Array:
    """For each element `SAME`, `EXPLAINED`, `UNCLEAR` or `BEYOND`; the bound is that of ``a``: see `Bound`."""
    same = is_same(a, b)
    if same.all():
        return np.zeros(a.shape, np.uint8)
    x, y = comparable(a, b)
    apart = absolute(a, b)
    with np.errstate(all="ignore"):
        allowed = below if below is above else np.where(x < y, above, below)
        strange = np.isnan(apart)
        if strange.any():
            allowed = np.where(strange & (is_nan(a) | is_nan(b)), np.maximum(below, above), allowed)
        known = np.isfinite(allowed)
        within = known & (apart <= allowed)
        if strange.any():
            # A number just below the largest one may be rounded to infinity.
            left, right = (np.abs(wide(one)) for one in (a, b))
            size = np.where(np.isfinite(left), left, right)
            largest = number_formats.largest(number_formats.coarser(a.dtype, b.dtype))
            over = is_infinite(a, b) & np.isfinite(size) & (size + allowed >= largest)
            within = within | (known & over & (allowed > 0))
    result = np.where(within, np.uint8(EXPLAINED), np.uint8(BEYOND))
    if kind.any():
        number = wide(b)
        with np.errstate(invalid="ignore"):  # signalling NaNs
            given = (kind <= CONTINUOUS) | ((kind == WHOLE) & (number == np.rint(number)))
        result[within & ~given] = BEYOND
        result[within & (kind == CHOICE)] = UNCLEAR
    result[~known] = UNCLEAR
    result[same] = SAME
    return result
