"""Arithmetic with its rounding error: fused multiply-add, and the four directions of rounding.

NumPy rounds to nearest and does not report the error. The error of one operation on floats is itself a float, or has at
least the sign of one that can be computed. Every other rounding follows from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_SPLITTER = np.float64(2**27 + 1)
# From this product on, all parts are floats: multiples of the least float.
_SMALLEST_PRODUCT = 2.0**-960


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """``a + b`` rounded, and its rounding error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """``a * b`` of float64 rounded, and its rounding error (Dekker)."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, np.where(np.isfinite(error), error, 0.0)


def _split(a: Array) -> tuple[Array, Array]:
    """``a`` as the sum of two numbers of 26 bits (Veltkamp)."""
    scaled = a * _SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def to_odd(nearest: Array, error: Array) -> Array:
    """``nearest + error`` cut to float64, with the last bit set if that is inexact.

    Rounding this to fewer bits gives the same result as rounding the exact sum.
    """
    bits = nearest.view(np.int64)
    inexact = (error != 0) & (bits & 1 == 0) & np.isfinite(nearest)
    away = np.signbit(error) == np.signbit(nearest)
    return np.where(inexact, np.where(away, bits + 1, bits - 1), bits).view(np.float64)


def multiply_add(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` rounded once, in the type of the operands (float64, or narrower in float64)."""
    if a.dtype != np.float64:
        # Products of two float32 are exact in float64; rounding the sum to odd leaves one rounding.
        total, error = two_sum(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64))
        return to_odd(total, np.where(np.isfinite(error), error, 0.0))
    outer, rest, error = _three_parts(*two_product(a, b), c)
    result = outer + to_odd(rest, error)
    # A zero product needs no rounding; NumPy gives the sum of zeros its right sign.
    result = np.where(np.isfinite(result) & (a != 0) & (b != 0), result, a * b + c)
    edge = _far_out(a) | _far_out(b) | (np.abs(a * b) < _SMALLEST_PRODUCT)
    if edge.any() and (edge := edge & np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & (a != 0) & (b != 0)).any():
        result[edge] = _scaled_multiply_add(*(x[edge] for x in np.broadcast_arrays(a, b, c)))
    return result


def _far_out(x: Array) -> Array:
    """Whether `_split` may overflow."""
    return np.abs(x) > 2.0**990


def _three_parts(high: Array, low: Array, c: Array) -> tuple[Array, Array, Array]:
    """``high + low + c`` in three parts: the greatest, the next, and a number with the sign of the remaining error."""
    inner, inner_error = two_sum(c, low)
    outer, outer_error = two_sum(high, inner)
    return outer, *two_sum(inner_error, outer_error)


def _scaled_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` of finite float64 near the ends of their range, where the parts of products are not floats.

    Everything is scaled so that the product is around 1. A subnormal sum must be rounded at its own last place: an
    offset is added whose last place is that one.
    """
    (a, of_a), (b, of_b) = np.frexp(a), np.frexp(b)
    down = -(of_a.astype(np.int32) + of_b)
    scaled = np.ldexp(c, np.clip(down, -2000, 2000))
    # Beside the upper limit the product does not count. Below the lower limit only the sign of ``c`` counts.
    scaled = np.copysign(np.clip(np.abs(scaled), np.where(c == 0, 0.0, 2.0**-200), 2.0**200), c)
    outer, rest, error = _three_parts(*two_product(a, b), scaled)
    outer, rest = two_sum(outer, rest)  # if the greatest parts cancel, the next part is the greatest
    nothing = outer == 0
    unit = np.ldexp(1.0, np.clip(down - 1074, -1000, 300))
    normal = outer + to_odd(rest, error)
    offset = np.copysign(unit * 2.0**52, outer)
    total, missing = two_sum(offset, outer)
    rest, more = two_sum(missing, rest)
    subnormal = np.copysign(total + to_odd(rest, more + error) - offset, outer)
    found = np.ldexp(np.where(np.abs(outer) < np.abs(offset), subnormal, normal), -down)
    return np.where(np.abs(scaled) == 2.0**200, c, np.where(nothing, 0.0, found))


def directed(nearest: Array, error: Array, mode: str) -> Array:
    """``nearest`` moved to its neighbour where ``mode`` (rn rz rd ru) requires it.

    ``error`` has the sign of the exact result minus ``nearest``.
    """
    if mode == "rn":
        return nearest
    down = error < 0
    up = error > 0
    if mode == "rz":
        down, up = down & (nearest > 0), up & (nearest < 0)
    elif mode == "rd":
        up = np.zeros_like(up)
    else:
        down = np.zeros_like(down)
    low = np.nextafter(nearest, np.array(-np.inf, nearest.dtype))
    high = np.nextafter(nearest, np.array(np.inf, nearest.dtype))
    return np.where(down, low, np.where(up, high, nearest))


def narrowed(exact: Array, target: np.dtype[Any], mode: str) -> Array:
    """float64 (or `to_odd` of a finer number) rounded to float32 or float16 in the direction ``mode``."""
    nearest = exact.astype(target)
    if mode == "rn":
        return nearest
    with np.errstate(invalid="ignore"):
        error = exact - nearest.astype(np.float64)
    # The error of an overflow is infinite with the right sign. An infinite operand has no error.
    return directed(nearest, np.where(np.isfinite(exact), error, 0.0), mode)
