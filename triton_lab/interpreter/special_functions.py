"""Functions that NumPy lacks: gamma, Bessel functions, and those of `error_functions`.

None of them uses torch: a user may have replaced torch's operator by the very kernel that is running. The C library's
functions are called element by element, so they are slow for millions of elements.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.error_functions import erf, erfc, erfcinv, erfcx, erfinv, normcdf, normcdfinv

Array = NDArray[Any]

__all__ = [
    "cospi", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp10", "fmod", "i0", "i1", "j0", "j1", "jn", "lgamma",
    "norm", "normcdf", "normcdfinv", "rcbrt", "remainder", "round_half_away", "rsqrt", "sinpi", "tgamma",
    "y0", "y1", "yn",
]  # fmt: skip


@functools.cache
def _c_function(name: str) -> Callable[[Array], Any]:
    """The C library's function of a double, applied to arrays."""
    try:
        library = ctypes.CDLL("libm.so.6")
    except OSError:  # there it is part of the C library, which Python has loaded
        library = ctypes.CDLL(None)
    function = getattr(library, name)
    function.argtypes, function.restype = [ctypes.c_double], ctypes.c_double
    elementwise: Callable[[Array], Any] = np.frompyfunc(function, 1, 1)
    return elementwise


def _by_c(name: str) -> Callable[[Array], Array]:
    """The C library's function ``name``, on arrays of float32 or float64."""

    def function(x: Array) -> Array:
        wide = np.ascontiguousarray(x, np.float64)
        return np.asarray(_c_function(name)(wide), np.float64).astype(x.dtype).reshape(x.shape)

    function.__name__ = name
    return function


lgamma = _by_c("lgamma")
_gamma = _by_c("tgamma")
j0 = _by_c("j0")
j1 = _by_c("j1")
y0 = _by_c("y0")
y1 = _by_c("y1")


def i0(x: Array) -> Array:
    """Modified Bessel function of order zero."""
    wide = np.minimum(np.abs(x.astype(np.float64)), 1e3)  # the result is infinite from here on
    return np.i0(wide).astype(x.dtype).reshape(x.shape)


# The terms of the series below: for arguments up to ten, further terms do not count.
_TERMS = 40
# The points of the integral below: more than enough for the greatest argument with a finite result.
_POINTS = 192


def i1(x: Array) -> Array:
    """Modified Bessel function of order one: by its series, or as the mean of ``exp(x cos t) cos t`` over [0, pi]."""
    wide = x.astype(np.float64)
    size = np.abs(wide)
    near = np.minimum(size, 10.0) / 2.0
    term = total = near
    for k in range(1, _TERMS):
        term = term * (near * near) / (k * (k + 1))
        total = total + term
    far = np.clip(size, 10.0, 1e3)
    mean, lost = np.zeros_like(far), np.zeros_like(far)
    for angle in (np.arange(_POINTS) + 0.5) * (np.pi / _POINTS):
        # Kahan's sum: the rounding errors of so many additions would show.
        part = np.exp(far * (-2.0 * np.sin(angle / 2.0) ** 2)) * np.cos(angle) - lost
        after = mean + part
        mean, lost = after, (after - mean) - part
    half = np.exp(far / 2.0)  # the whole may overflow where the result does not
    result = np.where(size <= 10.0, total, half * (mean / _POINTS) * half)
    return np.where(np.isnan(wide), wide, np.copysign(result, wide)).astype(x.dtype)


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


def jn(n: Array, x: Array) -> Array:
    """Bessel function of the first kind, of integer order, by its integral over one period.

    The trapezoid rule converges faster than any power of the number of points there.
    """
    order, wide = np.broadcast_arrays(n.astype(np.float64), x.astype(np.float64))
    reach = float(np.max(np.abs(order) + np.minimum(np.abs(wide), 1e4), initial=0.0))
    points = int(2 * reach) + 64
    total = np.zeros(wide.shape)
    for angle in (np.arange(points) + 0.5) * (np.pi / points):
        total += np.cos(order * angle - wide * np.sin(angle))
    return (total / points).astype(x.dtype)


def yn(n: Array, x: Array) -> Array:
    """Bessel function of the second kind, of order n >= 0, by its recurrence upwards."""
    order, wide = np.broadcast_arrays(n, x.astype(np.float64))
    below, here = y0(wide), y1(wide)
    result = np.where(order == 0, below, here)
    for k in range(1, int(np.max(order, initial=1))):
        below, here = here, (2.0 * k / wide) * here - below
        result = np.where(order == k + 1, here, result)
    return np.where(order < 0, np.nan, result).astype(x.dtype)


def norm(*components: Array) -> Array:
    """The length of a vector, without overflow in between for float32."""
    total = sum(c.astype(np.float64) ** 2 for c in components)
    return np.sqrt(total).astype(components[0].dtype)
