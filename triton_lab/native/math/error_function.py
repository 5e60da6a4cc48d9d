"""The error function and its relatives."""

from __future__ import annotations

import math
import sys

from triton_lab.interpreter.error_functions import CENTRE, CHEBYSHEV
from triton_lab.native.math import powers
from triton_lab.native.math.double_double import N, Plain, RealConstant, chebyshev, with_terms
from triton_lab.native.math.lane_arithmetic import LaneArithmetic, fma, polynomial, power_of_two

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
# The first coefficients of the scaled complement's series, to 106 bits.
_SCALED = tuple(
    RealConstant(high, low)
    for high, low in zip(
        CHEBYSHEV,
        (
            5.1287282061057226e-17, 2.788311073173037e-19, 1.4818240833931259e-18, -2.853021210772951e-18,
            9.19708061366942e-19, -1.1585518438316818e-19, -1.0467325871229297e-19, 4.7191118503687016e-21,
        ),
        strict=False,
    )
)  # fmt: skip
_ONE = RealConstant(1.0)
_ROOT_OF_HALF = RealConstant(0.7071067811865476, -4.833646656726457e-17)
# Beyond the first, erfc is zero or two; beyond the second, exp(x**2) overflows.
_LAST, _OVER = 28.0, 26.65


def erf_wide(model: N, x: LaneArithmetic) -> LaneArithmetic:
    """The error function of float64."""
    size = abs(x)
    result = by_series(model.of(size)).high
    tail = 1.0 - _complement(Plain(powers.clamped(size, _MIDDLE, 6.0)))  # so small that its last digits do not count
    return size.greater(_MIDDLE).where(tail, result).copysign(x)


def erfc(model: N, x: LaneArithmetic) -> LaneArithmetic:
    """``1 - erf(x)``, exact where it is small."""
    return _complement_of(model.of(powers.clamped(x, -_LAST, _LAST)))


def normcdf(model: N, x: LaneArithmetic) -> LaneArithmetic:
    """The normal distribution's cumulative function, ``erfc(-x / sqrt(2)) / 2``."""
    return _complement_of(model.of(powers.clamped(-x, -40.0, 40.0)) * model.of(_ROOT_OF_HALF), 0.5)


def erfcx(model: N, x: LaneArithmetic) -> LaneArithmetic:
    """``exp(x**2) erfc(x)``."""
    size = abs(x)
    right = scaled_complement(model.of(powers.clamped(size, 0.0, sys.float_info.max)))
    # 2 exp(x**2) - right, in eighths: the exponential alone may overflow.
    square = model.product_of(*[powers.clamped(size, 0.0, _OVER)] * 2)
    p, n = powers.exponential(square)
    left = ((model.of(_ONE) + p).times(power_of_two(n + -2)) - right.times(0.125)).high * 8.0
    return x.less(0.0).where(left, x.equals(math.inf).where(0.0, right.high))


def by_series(x: N) -> N:
    """erf for ``0 <= x <= 1.25``."""
    return with_terms(x * x, _LEADING, _REST) * x


def scaled_complement(x: N) -> N:
    """``exp(x**2) erfc(x)`` for finite ``x >= 0``."""
    twice = ((x - x.of(CENTRE)) / (x + x.of(CENTRE))).times(2.0)
    return chebyshev(twice, _SCALED, CHEBYSHEV[len(_SCALED) :]).times(0.5) / (x + x.of(0.5))


def _complement(x: N, factor: float = 1.0) -> LaneArithmetic:
    """erfc for ``0 <= x <= 28``, times a power of two."""
    return powers.raised_times(-(x * x), scaled_complement(x).times(factor))


def _complement_of(x: N, factor: float = 1.0) -> LaneArithmetic:
    """erfc for ``-28 <= x <= 28``, times a power of two."""
    negative = x.high.less(0.0)
    size = (-x).chosen(negative, x)
    tail = _complement(size, factor)
    series = by_series(size.of(1.0).chosen(size.high.greater(1.0), size))
    near = ((x.of(_ONE) - (-series).chosen(negative, series)).times(factor)).high
    return size.high.less(0.5).where(near, negative.where(2.0 * factor - tail, tail))
