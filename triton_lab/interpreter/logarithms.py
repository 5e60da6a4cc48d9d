"""Logarithms of float32, equal to the bit to those of NVIDIA's libdevice (as Triton's PTX for sm_90 has them inlined).

``x = m 2^e`` with ``m`` around 1. A polynomial of ``f = m - 1`` gives the logarithm; each step is a fused multiply-add.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.exact_arithmetic import multiply_add

Array = NDArray[Any]


def log(x: Array) -> Array:
    """``__nv_logf``."""
    fraction, exponent = _split(x, _LOG_LEAST)
    scaled = fraction * _polynomial(_LOG, fraction)
    found = _fma(exponent, _LN_2, _fma(scaled, fraction, fraction))
    return _ends(x, found)


def log2(x: Array) -> Array:
    """``__nv_log2f``."""
    fraction, exponent = _split(x, _LOG2_LEAST)
    scaled = fraction * (fraction * _polynomial(_LOG2, fraction))
    found = exponent + _fma(fraction, _LOG2_E, scaled)
    return _ends(x, found)


def _floats(bits: str) -> list[Any]:
    return [np.uint32(int(word, 16)).view(np.float32) for word in bits.split()]


# Coefficients from the highest power down, and the bits of the least m: 2/3, and the square root of 1/2.
_LOG = _floats("BE055027 3E1039F6 BDF8CDCC 3E0F2955 BE2AD8B9 3E4CED0B BE7FFF22 3EAAAA78 BF000000")
_LOG2 = _floats("3DC6B27F BE2C7F30 3E2FCF2A BE374E43 3E520BF4 BE763C8B 3E93BF99 BEB8AA49 3EF6384A BF38AA3B")
_LN_2, _LOG2_E = _floats("3F317218 3FB8AA3B")
_LOG_LEAST, _LOG2_LEAST = np.int32(0x3F2AAAAB), np.int32(0x3F3504F3)
_EXPONENT = np.int32(-(2**23))  # the bits of sign and exponent
_TINY = np.float32(2.0**-126)


def _split(x: Array, least: np.int32) -> tuple[Array, Array]:
    """``m - 1`` and ``e``. Subnormal numbers are scaled first."""
    tiny = x < _TINY
    with np.errstate(over="ignore", invalid="ignore"):
        bits = np.where(tiny, x * np.float32(2.0**23), x).view(np.int32)
        exponent = (bits - least) & _EXPONENT
        fraction = (bits - exponent).view(np.float32) - np.float32(1)
    start = np.where(tiny, np.float32(-23), np.float32(0))
    return fraction, _fma(exponent.astype(np.float32), np.float32(2.0**-23), start)


def _polynomial(coefficients: list[Any], x: Array) -> Array:
    found = coefficients[0]
    for coefficient in coefficients[1:]:
        found = _fma(found, x, coefficient)
    return np.asarray(found)


def _fma(a: Any, b: Any, c: Any) -> Array:
    with np.errstate(all="ignore"):  # `_ends` replaces invalid results
        return multiply_add(*np.broadcast_arrays(a, b, c)).astype(np.float32)


def _ends(x: Array, found: Array) -> Array:
    """``found``, with the results for zeros, negative numbers, infinity and NaN put in."""
    ends = np.where(x > 0, x, np.float32(np.nan))
    return np.where(x == 0, np.float32(-np.inf), np.where((x > 0) & np.isfinite(x), found, ends))
