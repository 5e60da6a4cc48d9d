"""Hyperbolic functions and their inverses."""

from __future__ import annotations

import math

from triton_lab.native.math.double_double import N, RealConstant, two_sum
from triton_lab.native.math.lane_arithmetic import LaneArithmetic, power_of_two
from triton_lab.native.math.powers import LN2, TINY_ARGUMENT, clamped, exponential, less_one, logarithm, natural

_ONE, _TWO = RealConstant(1.0), RealConstant(2.0)
# Beyond the first, e**-x does not count beside e**x; beyond the second, results are infinite.
_FAR, _END = 40.0, 710.5
# Below this, the odd functions return their argument.
_TINY = 2.0**-27
# Beyond this, 1 does not count beside x**2.
_HUGE = 2.0**40


def sinh(model: N, x: LaneArithmetic) -> LaneArithmetic:
    size = clamped(abs(x), 0.0, _END)
    p, n = exponential(model.of(size))
    quarter = power_of_two(n + -2)
    quarter_less = p.times(quarter) + model.sum_of(quarter, size.of(-0.25))  # (e**x - 1) / 4
    other = quarter_less / (quarter_less.times(4.0) + model.of(_ONE))
    half = quarter_less + model.of(0.0).chosen(size.greater(_FAR), other)
    return size.less(_TINY).where(x, (half.high * 2.0).copysign(x))


def cosh(model: N, x: LaneArithmetic) -> LaneArithmetic:
    size = clamped(abs(x), 0.0, _END)
    p, n = exponential(model.of(size))
    quarter = (p + model.of(_ONE)).times(power_of_two(n + -2))  # e**x / 4
    other = model.of(_ONE) / quarter.times(16.0)
    return (quarter + model.of(0.0).chosen(size.greater(_FAR), other)).high * 2.0


def tanh(model: N, x: LaneArithmetic) -> LaneArithmetic:
    size = clamped(abs(x), 0.0, _FAR)
    half = less_one(model.of(size * 2.0))
    result = (half / (half + model.of(_ONE))).high.copysign(x)
    return size.less(_TINY).where(x, result)


def _of_one_more_or(model: N, f: N, size: LaneArithmetic, huge: LaneArithmetic) -> LaneArithmetic:
    """``ln(1 + f)``, or ``ln(2 size)`` where ``huge`` holds."""
    high, low = two_sum(f.high.of(1.0), f.high)
    high, low = huge.where(size, high), huge.where(0.0, low + f.low)
    found = natural(model, logarithm(model, high, low))
    return (found + model.of(LN2)).chosen(huge, found).high


def asinh(model: N, x: LaneArithmetic) -> LaneArithmetic:
    size = abs(x)
    small = model.of(clamped(size, 0.0, _HUGE))
    square = small * small
    f = small + square / ((square + model.of(_ONE)).sqrt() + model.of(_ONE))
    result = _of_one_more_or(model, f, size, size.greater(_HUGE))
    result = size.less(math.inf).where(result, size).copysign(x)
    return size.less(_TINY).where(x, result)


def acosh(model: N, x: LaneArithmetic) -> LaneArithmetic:
    above = model.sum_of(clamped(x, 0.0, _HUGE), x.of(-1.0))
    f = above + (above * (above + model.of(_TWO))).sqrt()
    result = _of_one_more_or(model, f, x, x.greater(_HUGE))
    result = x.less(math.inf).where(result, x)
    return x.less(1.0).where(math.nan, result)


def atanh(model: N, x: LaneArithmetic) -> LaneArithmetic:
    size = abs(x)
    f = model.of(size).times(2.0) / model.sum_of(size.of(1.0), -size)
    high, low = two_sum(f.high.of(1.0), f.high)
    result = natural(model, logarithm(model, high, low + f.low)).high * 0.5
    result = size.less(1.0).where(result, size.equals(1.0).where(math.inf, size.of(math.nan)))
    return size.less(TINY_ARGUMENT).where(x, result.copysign(x))
