"""Functions that NumPy lacks: gamma, and those of `error_functions` and `bessel_functions`.

None of them uses torch: a user may have replaced torch's operator by the very kernel that is running.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.bessel_functions import i0, i1, j0, j1, jn, y0, y1, yn
from triton_lab.interpreter.c_library import by_c
from triton_lab.interpreter.error_functions import erf, erfc, erfcinv, erfcx, erfinv, normcdf, normcdfinv

Array = NDArray[Any]

__all__ = [
    "cospi", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp10", "fmod", "i0", "i1", "j0", "j1", "jn", "lgamma",
    "norm", "normcdf", "normcdfinv", "rcbrt", "remainder", "round_half_away", "rsqrt", "sinpi", "tgamma",
    "y0", "y1", "yn",
]  # fmt: skip


lgamma = by_c("lgamma")
_gamma = by_c("tgamma")


def rsqrt(x: Array) -> Array:
    """1 / sqrt(x); float32 is computed in float64, since two roundings would show."""
    if x.dtype == np.float32:
        return (1.0 / np.sqrt(x.astype(np.float64))).astype(np.float32)
    return 1.0 / np.sqrt(x)


def rcbrt(x: Array) -> Array:
    return (1.0 / np.cbrt(x.astype(np.float64))).astype(x.dtype)


def exp10(x: Array) -> Array:
    return np.power(10.0, x.astype(np.float64)).astype(x.dtype)


def tgamma(x: Array) -> Array:
    """Gamma. At whole numbers the result is a whole number, as far as float64 holds the factorial."""
    result = _gamma(x.astype(np.float64))
    whole = (x > 0) & (x <= 23) & (x == np.floor(x))
    return np.where(whole, np.rint(result), result).astype(x.dtype)


def sinpi(x: Array) -> Array:
    """sin(pi x), exact at multiples of a half."""
    rest = np.fmod(x.astype(np.float64), 2.0)
    whole = rest == np.trunc(rest)
    return np.where(whole, np.copysign(0.0, x), np.sin(np.pi * rest)).astype(x.dtype)


def cospi(x: Array) -> Array:
    """cos(pi x), exact at multiples of a half."""
    rest = np.fmod(np.abs(x.astype(np.float64)), 2.0)
    half = np.abs(rest - np.trunc(rest)) == 0.5
    return np.where(half, 0.0, np.cos(np.pi * rest)).astype(x.dtype)


def round_half_away(x: Array) -> Array:
    """The nearest integer, halves away from zero (C's ``round``)."""
    whole = np.trunc(x)
    step = (np.abs(x - whole) >= 0.5).astype(x.dtype)
    result: Array = np.copysign(np.abs(whole) + step, x)
    return result


def fmod(x: Array, y: Array) -> Array:
    """The exact remainder, with the sign of ``x``. Where there is none, always the same NaN."""
    rest: Array = np.fmod(x, y)
    wrong = np.isnan(rest)
    return np.where(wrong, rest.dtype.type(np.nan), rest) if wrong.any() else rest


def remainder(x: Array, y: Array) -> Array:
    """IEEE remainder: ``x`` minus the nearest multiple of ``y``, ties to the even one."""
    rest = fmod(x, y)
    size, left = np.abs(y), np.abs(rest)
    odd = np.fmod(np.abs(x), 2.0 * size) >= size
    over = (left > size - left) | ((left == size - left) & odd)
    result = np.where(over, rest - np.copysign(size, rest), rest)
    return np.where(result == 0, np.copysign(0.0, x), result).astype(x.dtype)


def norm(*components: Array) -> Array:
    """The length of a vector, without overflow in between for float32."""
    total = sum(c.astype(np.float64) ** 2 for c in components)
    return np.sqrt(total).astype(components[0].dtype)
