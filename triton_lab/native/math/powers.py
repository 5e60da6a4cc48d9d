"""Exponentials, logarithms and powers on the numbers of `double_double`: for float64, and for rarer functions of
float32.
"""

from __future__ import annotations

import math

from triton_lab.native.math.double_double import N, RealConstant, two_sum, with_terms
from triton_lab.native.math.lane_arithmetic import LaneArithmetic, polynomial, power_of_two, rounded_with_magic, scaled
from triton_lab.native.math.logarithm import with_ends

LN2 = RealConstant(0.6931471805599453, 2.3190468138462996e-17)
LN10 = RealConstant(2.302585092994046, -2.1707562233822494e-16)
_LOG2E = RealConstant(1.4426950408889634, 2.0355273740931033e-17)
_LOG10E = RealConstant(0.4342944819032518, 1.098319650216765e-17)
_LOG10_2 = RealConstant(0.3010299956639812, -2.8037281277851704e-18)
_ONE, _TWO = RealConstant(1.0), RealConstant(2.0)

# (e**r - 1 - r - r**2 / 2) / r**3 for |r| <= ln(2)/2; minimax, to 2**-63 of e**r.
_EXP = (
    0.16666666666666685, 0.041666666666666685, 0.008333333333315924, 0.001388888888887318, 0.00019841269898765164,
    2.4801587349531098e-05, 2.7557232754410475e-06, 2.7557251483598207e-07, 2.5112697683949238e-08,
    2.0921881412301776e-09,
)  # fmt: skip
# (ln((1 + s) / (1 - s)) - 2 s - 2/3 s**3) / s**5 in s**2, for (1 + s) / (1 - s) between the square roots of 1/2 and 2.
_TWO_THIRDS = RealConstant(0.6666666666666666, 3.700743415417188e-17)
_LOG = (
    0.3999999999999998, 0.2857142857144385, 0.22222222217784446, 0.18181818844914222, 0.1538455835007335,
    0.13336268027390447, 0.11675700210891472, 0.11982487937926514,
)  # fmt: skip
_ROOT_OF_HALF = 0x3FE6A09E667F3BCD
# Smaller numbers are scaled up by this many powers of two.
_TINY, _STEPS = 2.0**-1022, 54
# Beyond these, exponentials are infinite or zero, and -1 after subtracting one.
_LEAST, _GREATEST = -746.0, 710.0
_ALMOST = -60.0
# For |x| below this, x itself is nearest to expm1(x), log1p(x) and others.
TINY_ARGUMENT = 2.0**-54


def clamped(x: LaneArithmetic, low: float, high: float) -> LaneArithmetic:
    """``x`` limited to the range from ``low`` to ``high``; NaN stays."""
    x = x.greater(high).where(high, x)
    return x.less(low).where(low, x)


def exponential(t: N) -> tuple[N, LaneArithmetic]:
    """``p`` and ``n`` with ``e**t = (1 + p) 2**n``, for ``|t|`` up to a few thousand."""
    whole, n = rounded_with_magic(t.high, _LOG2E.high)
    r = t - t.of(whole) * t.of(LN2)
    curved = r.high * r.high * r.high * polynomial(r.high, _EXP)
    return r + ((r * r).times(0.5) + t.of(curved)), n


def raised(t: N) -> LaneArithmetic:
    """``e**t``, rounded."""
    return raised_times(t, t.of(_ONE))


def raised_times(t: N, factor: N) -> LaneArithmetic:
    """``e**t * factor``, rounded; no step in between overflows or is subnormal if the factor is around one."""
    p, n = exponential(t)
    return scaled((factor + factor * p).high, n)


def exp(model: N, x: LaneArithmetic) -> LaneArithmetic:
    return raised(model.of(clamped(x, _LEAST, _GREATEST)))


def exp2(model: N, x: LaneArithmetic) -> LaneArithmetic:
    return raised(model.of(clamped(x, -1076.0, 1025.0)) * model.of(LN2))


def exp10(model: N, x: LaneArithmetic) -> LaneArithmetic:
    return raised(model.of(clamped(x, -324.0, 309.0)) * model.of(LN10))


def less_one(t: N) -> N:
    """Half of ``e**t - 1``, for ``t`` up to 710; exact near zero."""
    p, n = exponential(t)
    half = power_of_two(n + -1)
    return p.times(half) + t.sum_of(half, half.of(-0.5))


def expm1(model: N, x: LaneArithmetic) -> LaneArithmetic:
    result = less_one(model.of(clamped(x, _ALMOST, _GREATEST))).high * 2.0
    return abs(x).less(TINY_ARGUMENT).where(x, result)


def logarithm(model: N, high: LaneArithmetic, low: LaneArithmetic) -> tuple[N, LaneArithmetic]:
    """``l`` and ``n`` with ``high + low = 2**n e**l``, for positive normal numbers; n as a float."""
    bits = high.bits()
    exponent = (bits - _ROOT_OF_HALF) & -(1 << 52)
    n = exponent >> 52
    f = model.sum_of((bits - exponent).as_float() - 1.0, scaled(low, -n))
    s = f / (f + model.of(_TWO))
    square = s * s
    curved = with_terms(square, (_TWO_THIRDS,), _LOG)
    return s.times(2.0) + s * square * curved, n.cast("sitofp", "double")


def logarithm_of(model: N, x: LaneArithmetic) -> tuple[N, LaneArithmetic]:
    """The same for positive lanes, also subnormal ones."""
    tiny = x.less(_TINY)
    rest, n = logarithm(model, tiny.where(x * 2.0**_STEPS, x), x.of(0.0))
    return rest, n - tiny.where(x.of(float(_STEPS)), 0.0)


def natural(model: N, parts: tuple[N, LaneArithmetic]) -> N:
    """``n ln(2) + l``."""
    rest, n = parts
    return model.of(n) * model.of(LN2) + rest


def log(model: N, x: LaneArithmetic) -> LaneArithmetic:
    return with_ends(x, natural(model, logarithm_of(model, x)).high)


def log2(model: N, x: LaneArithmetic) -> LaneArithmetic:
    rest, n = logarithm_of(model, x)
    return with_ends(x, (model.of(n) + rest * model.of(_LOG2E)).high)


def log10(model: N, x: LaneArithmetic) -> LaneArithmetic:
    rest, n = logarithm_of(model, x)
    return with_ends(x, (model.of(n) * model.of(_LOG10_2) + rest * model.of(_LOG10E)).high)


def of_one_more(f: N) -> N:
    """``ln(1 + f)`` for ``f > -1``, exact near zero."""
    high, low = two_sum(f.high.of(1.0), f.high)
    return natural(f, logarithm(f, high, low + f.low))


def log1p(model: N, x: LaneArithmetic) -> LaneArithmetic:
    result = of_one_more(model.of(x)).high
    result = x.less(math.inf).where(result, x)
    result = x.less(-1.0).where(math.nan, result)
    result = x.equals(-1.0).where(-math.inf, result)
    return abs(x).less(TINY_ARGUMENT).where(x, result)


# For y beyond this, any power of a number other than one overflows or is zero.
_GREATEST_POWER = 2.0**65
_OVER = 1200.0


def power(model: N, x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    """``x ** y``, with C's ``pow`` at the special values."""
    size = abs(x)
    t = natural(model, logarithm_of(model, size)) * model.of(clamped(y, -_GREATEST_POWER, _GREATEST_POWER))
    t = model.of(_OVER).chosen(t.high.greater(_OVER), t)
    t = model.of(-_OVER).chosen(t.high.less(-_OVER), t)
    down = y.less(0.0)
    result = size.equals(0.0).where(down.where(x.of(math.inf), 0.0), raised(t))
    result = size.equals(math.inf).where(down.where(x.of(0.0), math.inf), result)
    whole = y.equals(y.intrinsic("trunc"))
    half = y * 0.5
    odd = whole & half.differs(half.intrinsic("trunc"))
    result = odd.where(result.copysign(x), result)
    result = (x.less(0.0) & size.less(math.inf) & ~whole).where(math.nan, result)
    result = (x.isnan() | y.isnan()).where(x + y, result)
    return (y.equals(0.0) | x.equals(1.0)).where(1.0, result)
