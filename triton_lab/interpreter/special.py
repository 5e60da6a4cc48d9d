"""Functions that NumPy lacks, mostly torch's: error functions, gamma, Bessel functions.

torch computes on NumPy's memory without copying it. It is imported when first used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def _by_torch(name: str) -> Callable[[Array], Array]:
    """``torch.special``'s function of that name, on arrays of float32 or float64."""

    def function(x: Array) -> Array:
        import torch

        # A broadcast array is read-only, which torch warns of.
        source = x if x.flags.writeable and x.flags.c_contiguous else np.array(x)
        return getattr(torch.special, name)(torch.from_numpy(source)).numpy()  # type: ignore[no-any-return]

    function.__name__ = name
    return function


erf = _by_torch("erf")
erfc = _by_torch("erfc")
erfcx = _by_torch("erfcx")
erfinv = _by_torch("erfinv")
normcdf = _by_torch("ndtr")
normcdfinv = _by_torch("ndtri")
lgamma = _by_torch("gammaln")
j0 = _by_torch("bessel_j0")
j1 = _by_torch("bessel_j1")
y0 = _by_torch("bessel_y0")
y1 = _by_torch("bessel_y1")
i0 = _by_torch("i0")
i1 = _by_torch("i1")


def rsqrt(x: Array) -> Array:
    """1 / sqrt(x); float32 is computed in float64, since two roundings would show."""
    if x.dtype == np.float32:
        return (1.0 / np.sqrt(x.astype(np.float64))).astype(np.float32)
    return 1.0 / np.sqrt(x)


def rcbrt(x: Array) -> Array:
    return (1.0 / np.cbrt(x.astype(np.float64))).astype(x.dtype)


def exp10(x: Array) -> Array:
    return np.power(10.0, x.astype(np.float64)).astype(x.dtype)


def erfcinv(x: Array) -> Array:
    """The inverse of erfc, exact also where erfc is tiny: by way of the normal quantile."""
    result: Array = normcdfinv(x.astype(np.float64) / 2.0) * -np.sqrt(0.5)
    return result.astype(x.dtype)


def tgamma(x: Array) -> Array:
    """Gamma, from its logarithm and the reflection formula's sign."""
    wide = x.astype(np.float64)
    magnitude = np.exp(lgamma(wide))
    negative = (wide < 0) & (np.floor(wide) % 2 != 0)
    result = np.where(negative, -magnitude, magnitude)
    result = np.where((wide < 0) & (wide == np.floor(wide)), np.nan, result)
    whole = (wide > 0) & (wide <= 23) & (wide == np.floor(wide))
    result = np.where(whole, np.rint(result), result)
    return np.where(wide == 0, np.copysign(np.inf, wide), result).astype(x.dtype)


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


def remainder(x: Array, y: Array) -> Array:
    """IEEE remainder: what is left of the nearest multiple, ties to the even one."""
    rest = np.fmod(x, y)
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
    """The length of a vector, without overflow on the way for float32."""
    total = sum(c.astype(np.float64) ** 2 for c in components)
    return np.sqrt(total).astype(components[0].dtype)
