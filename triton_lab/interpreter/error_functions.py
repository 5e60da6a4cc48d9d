"""The error function and its relatives, on arrays of float32 or float64.

Only NumPy is used: the user may have replaced another library's operator by the very kernel that is running. float32 is
computed in float64 and rounded once. The scaled complement ``exp(x**2) erfc(x)`` is a Chebyshev series in
``(x - k) / (x + k)``, after Shepherd and Laframboise (Mathematics of Computation 36, 1981): multiplied by ``1 + 2x`` it
is smooth from zero to infinity. Near zero the function's own series is exact to the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# The Chebyshev coefficients of (1 + 2x) exp(x**2) erfc(x) with k = 3.75, computed with 60 digits. The first one is
# already halved.
CENTRE = 3.75
CHEBYSHEV = (
    1.1775789345674017, -0.004590054580646478, -0.08424913336651792, 0.05920993999819189, -0.026658668435305753,
    0.009074997670705265, -0.002413163540417608, 0.0004907758365258086, -6.916973302501207e-05, 4.13902798607301e-06,
    7.74038306619849e-07, -2.1886401049234397e-07, 1.076499946567091e-08, 4.521959811218287e-09,
    -7.754400208831351e-10, -6.318088340886684e-11, 2.86879501093067e-11, 1.9455868545777347e-13,
    -9.65469674843344e-13, 3.25254814814874e-14, 3.3478119482868056e-14, -1.864562880419313e-15,
    -1.2507950530688648e-15, 7.418235256624044e-17, 5.068148904796111e-17, -2.2370566594359995e-18,
)  # fmt: skip
# erf(x) / x is one plus this series in x**2. Without the one, the first term is small, and so is its error.
_TAYLOR = (
    0.1283791670955126,  # 2 / sqrt(pi) - 1
    *(2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(1, 23)),
)
_NEAR = 1.25
# How many terms give float32's precision, with some to spare.
_SHORT_CHEBYSHEV, _SHORT_TAYLOR = 16, 15
# As many elements as stay in the cache.
_CHUNK = 8192


def _in_float64(function: Callable[[Array, bool], Array]) -> Callable[[Array], Array]:
    """``function`` of float64 chunks, made a function of float32 or float64 arrays. Its flag says that float32's
    precision is enough.
    """

    def apply(x: Array) -> Array:
        flat = x.reshape(-1)
        result = np.empty(flat.shape, x.dtype)
        with np.errstate(all="ignore"):
            for start in range(0, flat.size, _CHUNK):
                part = flat[start : start + _CHUNK].astype(np.float64)
                result[start : start + _CHUNK] = function(part, x.dtype == np.float32)
        return result.reshape(x.shape)

    apply.__name__ = function.__name__.lstrip("_")
    apply.__doc__ = function.__doc__
    return apply


def _series(x: Array, short: bool) -> Array:
    """erf by its own series, for ``|x| <= 1.25``."""
    square = x * x
    coefficients = _TAYLOR[: _SHORT_TAYLOR if short else None]
    total = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total *= square
        total += coefficient
    total *= x
    total += x
    return total


def _scaled(x: Array, short: bool) -> Array:
    """``exp(x**2) erfc(x)`` for ``x >= 0``."""
    twice = np.where(np.isinf(x), 2.0, 2.0 * ((x - CENTRE) / (x + CENTRE)))
    coefficients = CHEBYSHEV[: _SHORT_CHEBYSHEV if short else None]
    here, after = np.full_like(x, coefficients[-1]), np.zeros_like(x)
    for coefficient in coefficients[-2:0:-1]:  # Clenshaw's recurrence
        here, after = twice * here - after + coefficient, here
    total: Array = 0.5 * (0.5 * twice * here - after + coefficients[0]) / (0.5 + x)  # 1 + 2x might overflow
    return total


def _exponential(x: Array, factor: float = -1.0) -> Array:
    """``exp(factor * x**2)`` for a factor that is a power of two. The square is split into two parts to keep its error
    small.
    """
    x = np.where(np.isinf(x), np.copysign(1e200, x), x)
    high = (x.view(np.int64) & np.int64(-(1 << 27))).view(np.float64)
    result: Array = np.exp(factor * high * high) * np.exp(factor * (x - high) * (x + high))
    return np.where(np.abs(x) > 40.0, np.exp(factor * x * x), result)


def _erf(x: Array, short: bool) -> Array:
    size = np.abs(x)
    result = _series(np.minimum(size, _NEAR), short)
    large = np.flatnonzero(size > _NEAR)
    if large.size:
        tail = size[large]
        result[large] = 1.0 - _exponential(tail) * _scaled(tail, short)
    return np.where(np.isnan(x), x, np.copysign(result, x))


def _erfc(x: Array, short: bool) -> Array:
    size = np.abs(x)
    tail = _exponential(size) * _scaled(size, short)
    near = 1.0 - _series(np.clip(x, -0.5, 0.5), short)
    return np.where(size < 0.5, near, np.where(x < 0, 2.0 - tail, tail))


def _erfcx(x: Array, short: bool) -> Array:
    """``exp(x**2) erfc(x)``."""
    size = np.abs(x)
    right = _scaled(size, short)
    return np.where(x < 0, 2.0 * _exponential(size, 1.0) - right, right)


def _normcdf(x: Array, short: bool) -> Array:
    """The normal distribution's cumulative function, ``erfc(-x / sqrt(2)) / 2``, exact in its tail too."""
    size = np.abs(x)
    tail = 0.5 * _exponential(size, -0.5) * _scaled(size * math.sqrt(0.5), short)
    near = 0.5 + 0.5 * _series(np.clip(x * math.sqrt(0.5), -0.5, 0.5), short)
    return np.where(size < 0.6, near, np.where(x < 0, tail, 1.0 - tail))


def _guess(complement: Array) -> Array:
    """An estimate of ``x`` with ``erfc(x) = complement``, for ``complement`` in (0, 1], to two digits (Winitzki's
    formula).
    """
    a = 0.147
    logarithm = np.log(complement) + np.log(2.0 - complement)
    middle = 2.0 / (math.pi * a) + 0.5 * logarithm
    return np.sqrt(np.maximum(np.sqrt(middle * middle - logarithm / a) - middle, 0.0))


def _from_complement(z: Array) -> Array:
    """``x`` with ``erfc(x) = z``, for ``0 < z <= 1/2``: Newton's steps on the logarithm."""
    x, goal = _guess(z), np.log(z)
    for _ in range(4):
        scaled = _scaled(x, False)
        x = x + (np.log(scaled) - x * x - goal) * scaled * (0.5 * math.sqrt(math.pi))
    # The last step uses erfc itself, which is more exact than its logarithm.
    return x + (_exponential(x) * _scaled(x, False) / z - 1.0) * _scaled(x, False) * (0.5 * math.sqrt(math.pi))


def _from_value(y: Array) -> Array:
    """``x`` with ``erf(x) = y``, for ``|y| <= 1/2``: Halley's steps."""
    x = y * (0.5 * math.sqrt(math.pi)) * (1.0 + math.pi / 12.0 * y * y)
    for _ in range(3):
        step = (_series(x, False) - y) * (0.5 * math.sqrt(math.pi)) * np.exp(x * x)
        x = x - step / (1.0 + x * step)
    return x


def _erfinv(y: Array, _short: bool) -> Array:
    size = np.abs(y)
    result = _from_value(np.clip(y, -0.5, 0.5))
    outer = np.flatnonzero((size > 0.5) & (size < 1.0))
    result[outer] = np.copysign(_from_complement(1.0 - size[outer]), y[outer])
    result = np.where(size == 1.0, np.copysign(np.inf, y), result)
    return np.where(size <= 1.0, result, np.nan)


def _erfcinv(z: Array, _short: bool) -> Array:
    """The inverse of erfc, exact also where erfc is tiny."""
    near = np.minimum(z, 2.0 - z)  # exact wherever it matters: z beyond 1
    result = _from_value(np.clip(1.0 - z, -0.5, 0.5))
    outer = np.flatnonzero((near > 0.0) & (near < 0.5))
    result[outer] = np.copysign(_from_complement(near[outer]), 1.0 - z[outer])
    result = np.where(near == 0.0, np.copysign(np.inf, 1.0 - z), result)
    return np.where(near >= 0.0, result, np.nan)


def _normcdfinv(p: Array, short: bool) -> Array:
    """The normal distribution's quantile."""
    return -math.sqrt(2.0) * _erfcinv(2.0 * p, short)


erf = _in_float64(_erf)
erfc = _in_float64(_erfc)
erfcx = _in_float64(_erfcx)
erfinv = _in_float64(_erfinv)
erfcinv = _in_float64(_erfcinv)
normcdf = _in_float64(_normcdf)
normcdfinv = _in_float64(_normcdfinv)
