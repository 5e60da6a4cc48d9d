"""The error function and its relatives."""

from __future__ import annotations

import math

from triton_lab.interpreter.error_functions import CENTRE, CHEBYSHEV
from triton_lab.native.math import powers
from triton_lab.native.math.double_double import N, RealConstant, with_terms
from triton_lab.native.math.lane_arithmetic import LaneArithmetic, fma, polynomial

# Coefficients of erf(x) / x - 1 in x**2 for |x| < 0.9, and of erfc(x) from there to 4, in x minus the middle. Fitted
# like those of `exponential`, to 2**-29.
_NEAR = (
    0.12837916612625122, -0.37612631916999817, 0.1128368154168129, -0.026859020814299583, 0.005200712010264397,
    -0.00081439915811643, 8.391348092118278e-05,
)  # fmt: skip
_FAR = (
    0.000566543429158628, -0.002965753199532628, 0.0072290124371647835, -0.01075859647244215,
    0.010702491737902164, -0.0072071123868227005, 0.003001257311552763, -0.00037491018883883953,
    -0.00041355533176101744, 0.0002981211873702705, -7.31324398657307e-05, -1.7565360394655727e-05,
    1.9136354239890352e-05, -3.9868759813543875e-06, -1.5086437770150951e-06, 7.303604547814757e-07,
    3.521566327435721e-08, -4.111367957193579e-08,
)  # fmt: skip
_BORDER, _MIDST, _END = 0.9, 2.4375, 4.0


def erf(x: LaneArithmetic) -> LaneArithmetic:
    """The error function of float32. It uses float64, since the errors of short polynomials would add up to
    over 1 ulp.
    """
    wide = x.cast("fpext", "double")
    size = abs(wide)
    end = size.greater(_END).where(_END, size)
    far = (1.0 - polynomial(end - _MIDST, _FAR)).copysign(wide)
    near = fma(wide, polynomial(wide * wide, _NEAR), wide)
    return size.greater(_BORDER).where(far, near).cast("fptrunc", "float")


# The series of erf(x) / x in x**2: 2 / sqrt(pi) (-1)**n / (n! (2n + 1)), its first terms to 106 bits.
_LEADING = (
    RealConstant(1.1283791670955126, 1.533545961316588e-17),
    RealConstant(-0.37612638903183754, 1.3391897206030649e-17),
    RealConstant(0.11283791670955126, -4.017569161809194e-18),
    RealConstant(-0.026866170645131252, 4.6092880729453e-19),
    RealConstant(0.005223977625442188, -8.962504586282528e-20),
)
_REST = tuple(2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(5, 23))
_MIDDLE = 1.25


def erf_wide(model: N, x: LaneArithmetic) -> LaneArithmetic:
    """The error function of float64, within 1 ulp."""
    size = abs(x)
    result = _by_series(model, size)
    tail = 1.0 - _complement(model, powers.clamped(size, _MIDDLE, 6.0))
    return size.greater(_MIDDLE).where(tail, result).copysign(x)


def erfc(model: N, x: LaneArithmetic) -> LaneArithmetic:
    """``1 - erf(x)``, exact where it is small; within 1 ulp only for float32."""
    size = powers.clamped(abs(x), 0.0, 28.0)
    tail = _complement(model, size)
    near = 1.0 - _by_series(model, size).copysign(x)
    return size.less(0.5).where(near, x.less(0.0).where(2.0 - tail, tail))


def _by_series(model: N, x: LaneArithmetic) -> LaneArithmetic:
    """erf for ``0 <= x <= 1.25``."""
    return (with_terms(model.product_of(x, x), _LEADING, _REST) * model.of(x)).high


def _complement(model: N, x: LaneArithmetic) -> LaneArithmetic:
    """erfc for ``0 <= x <= 28``."""
    twice = 2.0 * (x - CENTRE) / (x + CENTRE)
    here, after = x.of(CHEBYSHEV[-1]), x.of(0.0)
    for coefficient in CHEBYSHEV[-2:0:-1]:  # Clenshaw's recurrence
        here, after = fma(twice, here, coefficient - after), here
    scaled_up = fma(twice * 0.5, here, CHEBYSHEV[0] - after) / fma(x, 2.0, 1.0)
    return powers.raised(-model.product_of(x, x)) * scaled_up


def normcdf(model: N, x: LaneArithmetic) -> LaneArithmetic:
    """The normal distribution's cumulative function, ``erfc(-x / sqrt(2)) / 2``; within 1 ulp only for float32."""
    return erfc(model, x * -math.sqrt(0.5)) * 0.5
