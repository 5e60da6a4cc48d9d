"""The approximate instructions of PTX, to the bit of an H100.

These are ``ex2``, ``lg2``, ``rcp``, ``rsqrt``, ``sqrt``, ``sin``, ``cos`` and ``tanh``.

The special function unit takes the upper bits of a mantissa for the row of a table, and the rest for a number x in
[0, 1). The row's polynomial c0 + c1 x + c2 x^2 is computed in fixed point, with those partial products of the square
left out whose weight is below a limit, and cut. Square roots have a row for each half of two binades, the others for
one, and ``tanh`` has rows for each of its binades. (Oberman and Siu, *A High-Performance Area-Efficient Multifunction
Interpolator*, 2005, describe such a unit.) The coefficients follow from the results of ``tests.gpu.probes`` for all
mantissas, which they give to the last bit. Those of ``sin`` and ``cos`` follow from 262,144 numbers of all kinds, those
of ``tanh`` from these and every 32nd mantissa of its binades: for each row no others give all of its results. They also
give ``tanh`` of all mantissas in the three binades where all were asked.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.exact_arithmetic import multiply_add
from triton_lab.interpreter.number_conversion import flushed
from triton_lab.interpreter.variants.ptx.interpolation import Interpolation, cut

Array = NDArray[Any]

_F32 = np.dtype(np.float32)
_FIRST = 0x3F000000  # results are counted in floats above one half
_NAN = np.uint32(0x7FFFFFFF)
_INFINITY = np.uint32(0x7F800000)
_SIGN = np.uint32(0x80000000)


@functools.cache
def _units() -> Mapping[str, Interpolation]:
    with np.load(Path(__file__).with_name("special_unit.npz"), allow_pickle=False) as tables:
        rows = {name: tables[name].astype(np.int64) for name in tables.files}
    return {
        "ex2": Interpolation(rows["ex2"], 4, 195648, 17, 19),
        "rcp": Interpolation(rows["rcp"], 4, 64736, 16, 17),
        "rsqrt": Interpolation(rows["rsqrt"], 4, 262128, 17, 19),
        "sqrt": Interpolation(rows["sqrt"], 4, 262136, 17, 19),
        "lg2": Interpolation(rows["lg2"], 8, 26784, 17, 19),
        "sin": Interpolation(rows["sin"], 2, 0, 17, 19),
        "tanh": Interpolation(rows["tanh"], 2, 0, 17, 19),
    }


def _of_mantissa(name: str, mantissa: Array) -> Array:
    """The bits of the result for a mantissa, of two binades for square roots: its lowest 23 or 24 bits."""
    unit = _units()[name]
    fixed = unit.fixed(mantissa >> unit.bits, mantissa & ((1 << unit.bits) - 1))
    return (fixed >> 2 * unit.bits) + _FIRST


def _parts(x: Array) -> tuple[Array, Array, Array]:
    """Sign bits, exponents and mantissas of float32 that count as zero where they are subnormal."""
    bits = np.ascontiguousarray(flushed(x)).view(np.uint32)
    return (
        bits & _SIGN,
        (bits >> np.uint32(23) & np.uint32(0xFF)).astype(np.int64) - 127,
        (bits & np.uint32(0x7FFFFF)).astype(np.int64),
    )


def ex2(x: Array) -> Array:
    """``ex2.approx.ftz.f32``: float32 to float32, as all functions here."""
    x = flushed(x)
    with np.errstate(invalid="ignore"):
        size = np.minimum(np.abs(np.nan_to_num(x).astype(np.float64)), 1000.0)
    fixed = np.trunc(size * 2.0**23).astype(np.int64)
    negated = np.where(fixed & 0x7FFFFF, ~fixed, -fixed)  # the unit inverts the bits of a fraction
    fixed = np.where(x < 0, negated, fixed)
    exponent, mantissa = fixed >> 23, fixed & 0x7FFFFF
    bits = _of_mantissa("ex2", mantissa) + (exponent - 1 << 23)  # the table is that of 2 to 4
    bits = np.where(exponent >= 128, int(_INFINITY), np.where(exponent < -126, 0, bits)).astype(np.uint32)
    return np.where(np.isnan(x), _NAN, bits).view(_F32)


def rcp(x: Array) -> Array:
    """``rcp.approx.ftz.f32``."""
    sign, exponent, mantissa = _parts(x)
    bits = _of_mantissa("rcp", mantissa) - (exponent << 23)
    bits = np.where(bits < 1 << 23, 0, bits)  # a subnormal result
    bits = np.where(exponent == -127, int(_INFINITY), np.where(exponent == 128, 0, bits)).astype(np.uint32)
    return np.where(np.isnan(x), _NAN, bits | sign).view(_F32)


def rsqrt(x: Array) -> Array:
    """``rsqrt.approx.ftz.f32``."""
    sign, exponent, mantissa = _parts(x)
    odd = exponent & 1
    bits = _of_mantissa("rsqrt", mantissa | odd << 23) - ((exponent - odd >> 1) << 23)
    bits = np.where((mantissa == 0) & (odd == 0), _ONE - ((exponent >> 1) << 23), bits)  # of a power of four, exactly
    bits = np.where(exponent == -127, int(_INFINITY), np.where(exponent == 128, 0, bits)).astype(np.uint32)
    wrong = np.isnan(x) | ((sign != 0) & (exponent != -127))
    return np.where(wrong, _NAN, np.where(exponent == -127, bits | sign, bits)).view(_F32)


def sqrt(x: Array) -> Array:
    """``sqrt.approx.ftz.f32``."""
    sign, exponent, mantissa = _parts(x)
    odd = exponent & 1
    bits = _of_mantissa("sqrt", mantissa | odd << 23) + ((exponent - odd >> 1) << 23)
    bits = np.where(exponent == -127, 0, np.where(exponent == 128, int(_INFINITY), bits)).astype(np.uint32)
    wrong = np.isnan(x) | ((sign != 0) & (exponent != -127))
    return np.where(wrong, _NAN, np.where(exponent == -127, bits | sign, bits)).view(_F32)


_ONE = 0x3F800000


def lg2(x: Array) -> Array:
    """``lg2.approx.ftz.f32``: the exponent plus the polynomial, in fixed point, cut to a float towards zero."""
    unit = _units()["lg2"]
    sign, exponent, mantissa = _parts(x)
    fraction = unit.fixed(mantissa >> unit.bits, mantissa & ((1 << unit.bits) - 1))
    shift = 2 * unit.bits  # of a number that counts in 2^-23
    total = (exponent << (23 + shift - 2)) + (fraction >> 2)  # two bits less, so that it fits 64
    found = cut(total, shift - 2 + 23)
    found = np.where((mantissa == 0) & (exponent == 0), 0.0, found)
    found = np.where(exponent == -127, -np.inf, np.where(exponent == 128, np.inf, found))
    wrong = np.isnan(x) | ((sign != 0) & (exponent != -127))
    return np.where(wrong, _NAN.view(_F32), found.astype(_F32))


_FRACTION = 24 + 2 * 17  # bits after the point of the integers that ``sin`` and ``tanh`` cut
_TURN = np.float32(0.15915494)  # 1 / (2 pi)


def sin(x: Array) -> Array:
    """``sin.approx.ftz.f32``."""
    return _of_turns(x, 0)


def cos(x: Array) -> Array:
    """``cos.approx.ftz.f32``."""
    return _of_turns(x, 1)


def _of_turns(x: Array, quarters: int) -> Array:
    """The sine of x, so many quarters of a turn on: x in turns, cut to a float and then to 25 bits after the point.

    Of the second and the fourth quarter the bits are inverted.
    """
    with np.errstate(all="ignore"):
        exact = flushed(x).astype(np.float64) * float(_TURN)
        turns = exact.astype(_F32)
        turns = np.where(np.abs(turns) > np.abs(exact), np.nextafter(turns, np.float32(0)), turns)
        size = np.abs(turns.astype(np.float64))
        part = np.where(np.isfinite(size), np.mod(size, 1.0), 0.0)
    fixed = np.floor(part * 2.0**25).astype(np.int64)
    quarter, angle = fixed >> 23, fixed & 0x7FFFFF
    if quarters:  # the cosine of a number is that of its size
        quarter = quarter + quarters
    angle = np.where(quarter & 1, 0x7FFFFF - angle, angle)
    found = cut(_units()["sin"].fixed(angle >> 17, angle & 0x1FFFF), _FRACTION)
    found = np.where(quarter & 2, -found, found)
    found = found if quarters else np.where(np.signbit(turns), -found, found)
    return np.where(np.isfinite(x), found.astype(_F32), _NAN.view(_F32))


# Of each binade from 2^-8 to 2^2: how many bits of the mantissa choose its row, and its first row.
_ROW_BITS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3])
_FIRST_ROWS = np.cumsum(1 << _ROW_BITS) - (1 << _ROW_BITS)


def tanh(x: Array) -> Array:
    """``tanh.approx.f32``: below 2^-8 the operand itself, subnormal or not, and from 8 on 1."""
    _, exponent, mantissa = _parts(x)
    binade = np.clip(exponent + 8, 0, len(_ROW_BITS) - 1)
    rest = 23 - _ROW_BITS[binade]
    row = _FIRST_ROWS[binade] + (mantissa >> rest)
    low = mantissa >> rest - 17 & 0x1FFFF  # the lowest bits do not count
    found = cut(_units()["tanh"].fixed(row, low), _FRACTION)
    found = np.where(exponent < -8, np.abs(x), np.where(exponent > 2, 1.0, found)).astype(_F32)
    return np.where(np.isnan(x), _NAN.view(_F32), np.copysign(found, x))


def ex2_full(x: Array) -> Array:
    """``ex2.approx.f32``: subnormal results too, as the square of half the power."""
    low = x < np.float32(-126)
    with np.errstate(all="ignore"):
        half = ex2(np.where(low, np.float32(0.5), np.float32(1)) * x)
        return np.where(low, half * half, half)


def divide_full(x: Array, y: Array) -> Array:
    """``div.full.f32``: x times the reciprocal of y, both scaled if y is near an end of the range."""
    with np.errstate(all="ignore"):
        return quotient(x, y).astype(_F32)


def quotient(x: Array, y: Array) -> Array:
    """The same before it is rounded, in float64: exact."""
    size = np.abs(y)
    scale = np.where(size > np.float32(2.0**126), np.float32(0.25), np.float32(1))
    scale = np.where(size < np.finfo(_F32).tiny, np.float32(2.0**24), scale)
    with np.errstate(all="ignore"):
        return (x * scale).astype(np.float64) * rcp(y * scale)


def divide_approx(x: Array, y: Array) -> Array:
    """``div.approx.ftz.f32``."""
    with np.errstate(all="ignore"):
        return flushed(flushed(x) * rcp(y))


def _of_high_words(function: Any) -> Any:
    """``function`` for float64 that uses only the upper halves of its operand and its result."""

    def run(x: Array) -> Array:
        high = (np.ascontiguousarray(x).view(np.uint64) >> np.uint64(32)).astype(np.int64)
        sign, exponent, mantissa = high & 0x80000000, (high >> 20 & 0x7FF) - 1023, high & 0xFFFFF
        made: Array = function(sign, exponent, mantissa)
        nan = (exponent == 1024) & (mantissa != 0)
        made = np.where(nan, high | 0x80000, made)
        return (made.astype(np.uint64) << np.uint64(32)).view(np.float64)

    return run


def _rcp_high(sign: Array, exponent: Array, mantissa: Array) -> Array:
    bits = (_of_mantissa("rcp", mantissa << 3) - _ONE >> 3) + 0x3FF00000 - (exponent << 20)
    bits = np.where(bits < 1 << 20, 0, bits)
    return np.where(exponent == -1023, 0x7FF00000, np.where(exponent == 1024, 0, bits)) | sign


def _rsqrt_high(sign: Array, exponent: Array, mantissa: Array) -> Array:
    odd = exponent & 1
    bits = (_of_mantissa("rsqrt", mantissa << 3 | odd << 23) - _ONE >> 3) + 0x3FF00000
    bits = np.where((mantissa == 0) & (odd == 0), 0x3FF00000, bits) - ((exponent - odd >> 1) << 20)
    bits = np.where(exponent == -1023, 0x7FF00000 | sign, np.where(exponent == 1024, 0, bits))
    return np.where((sign != 0) & (exponent != -1023), 0x7FF80000, bits)


rcp_double = _of_high_words(_rcp_high)
rsqrt_double = _of_high_words(_rsqrt_high)


def rsqrt_full(x: Array) -> Array:
    """``rsqrt.approx.f64``: one step of Newton's method from the upper half; subnormal numbers are scaled."""
    small = np.abs(x) < np.finfo(np.float64).tiny
    with np.errstate(all="ignore"):
        scaled = np.where(small, x * 2.0**54, x)
        start = rsqrt_double(scaled)
        rest = multiply_add(scaled, -(start * start), np.ones_like(scaled))
        factor = multiply_add(rest, np.full_like(scaled, 0.375), np.full_like(scaled, 0.5))
        found = multiply_add(factor, start * rest, start)
        found = np.where(small, found * 2.0**27, found)
        found = np.where(x == 0, np.copysign(np.inf, x), np.where(x == np.inf, 0.0, found))
    return np.where(np.isnan(x) | (x < 0), np.nan, found)
