"""Bessel functions, on arrays of float32 or float64: the modified ones by series, all others by the C library.

Near zero the modified functions' own power series has positive terms only. Further out, ``sqrt(x) exp(-x) I(x)`` is
smooth in ``1/x``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.c_library import by_c

Array = NDArray[Any]

j0 = by_c("j0")
j1 = by_c("j1")
y0 = by_c("y0")
y1 = by_c("y1")
_jn = by_c("jn", orders=1)
_yn = by_c("yn", orders=1)

# Up to the border the power series is used, with so many terms.
BORDER, TERMS = 8.0, 32
# Beyond it: the Chebyshev coefficients of sqrt(x) exp(-x) I(x) in 2 BORDER / x - 1, for the orders zero and one. They
# were computed with 60 digits.
CHEBYSHEV = (
    (
        0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06,
        2.0489185894690638e-07, 2.266668990498178e-08, 3.3962320257083865e-09, 4.94060238822497e-10,
        1.1889147107846439e-11, -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12,
        7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14, -4.150569347287222e-14,
        -9.554846698828307e-15, 3.8116806693526224e-15, 1.7725601330565263e-15, -3.425485619677219e-16,
        -2.8276239805165836e-16, 3.461222867697461e-17, 4.46562142029676e-17, -4.830504485944182e-18,
        -7.233180487874754e-18, 9.921475412173699e-19,
    ),
    (
        0.38928811750914005, -0.009761097491361469, -0.00011058893876262371, -3.882564808877691e-06,
        -2.512236237870209e-07, -2.6314688468895196e-08, -3.835380385964237e-09, -5.589743462196584e-10,
        -1.8974958123505413e-11, 3.2526035830154884e-11, 1.4125807436613782e-11, 2.0356285441470896e-12,
        -7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14, 4.272440016711951e-14,
        1.0420276984128802e-14, -3.8144030724370075e-15, -1.8803547755107825e-15, 3.3082023109209285e-16,
        2.96262899764595e-16, -3.209525921993424e-17, -4.6503053684893586e-17, 4.414348323071708e-18,
        7.517296310842105e-18, -9.314178867326884e-19,
    ),
)  # fmt: skip


def series_term(order: int, k: int) -> int:
    """The divisor of ``(x**2 / 4)**k`` in the series of ``I(x) / (x/2)**order``."""
    return math.factorial(k) * math.factorial(k + order)


def _modified(order: int, size: Array) -> Array:
    """The function for ``size >= 0``, in float64."""
    near = np.minimum(size, BORDER)
    square = near * near / 4.0
    total = np.zeros_like(near)
    for k in reversed(range(TERMS)):
        total = total * square + 1.0 / series_term(order, k)
    far = np.clip(size, BORDER, 1e3)  # beyond that the result is infinite, too
    twice = 4.0 * BORDER / far - 2.0
    here, after = np.full_like(far, CHEBYSHEV[order][-1]), np.zeros_like(far)
    for coefficient in CHEBYSHEV[order][-2:0:-1]:  # Clenshaw's recurrence
        here, after = twice * here - after + coefficient, here
    half = np.exp(far / 2.0)  # the whole may overflow where the result does not
    outer = half * ((0.5 * twice * here - after + CHEBYSHEV[order][0]) / np.sqrt(far)) * half
    return np.where(size > BORDER, outer, total * (near / 2.0) ** order)


def i0(x: Array) -> Array:
    """Modified Bessel function of order zero."""
    return _modified(0, np.abs(x.astype(np.float64))).astype(x.dtype)


def i1(x: Array) -> Array:
    """Modified Bessel function of order one."""
    wide = x.astype(np.float64)
    return np.copysign(_modified(1, np.abs(wide)), wide).astype(x.dtype)


def jn(n: Array, x: Array) -> Array:
    """Bessel function of the first kind, of integer order; NaN for negative orders, as CUDA's library has it."""
    return np.where(n < 0, x.dtype.type(np.nan), _jn(np.maximum(n, 0), x))


def yn(n: Array, x: Array) -> Array:
    """Bessel function of the second kind, of integer order; NaN for negative orders."""
    return np.where(n < 0, x.dtype.type(np.nan), _yn(np.maximum(n, 0), x))
