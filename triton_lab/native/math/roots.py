"""Roots and lengths."""

from __future__ import annotations

import math

from triton_lab.native.math.double_double import N, RealConstant
from triton_lab.native.math.lane_arithmetic import LaneArithmetic, power_of_two

_ONE = RealConstant(1.0)
# A third of the upper half of a float64's bits, plus this, is the upper half of the cube root (5 % off).
_THIRD_OF_BIAS = 715094163


def rsqrt(model: N, x: LaneArithmetic) -> LaneArithmetic:
    """``1 / sqrt(x)``."""
    tiny = x.less(2.0**-900)
    scaled = tiny.where(x * 2.0**200, x)
    found = (model.of(_ONE) / model.of(scaled).sqrt()).high
    ordinary = x.greater(0.0) & x.less(math.inf)
    return ordinary.where(tiny.where(found * 2.0**100, found), 1.0 / x.intrinsic("sqrt"))


def _cube_root(model: N, x: LaneArithmetic) -> N:
    """The cube root of a positive normal float64."""
    upper = x.bits().unsigned_shift(32).resize("i32", signed=False)
    start = (upper.divided_by(3) + _THIRD_OF_BIAS).resize("i64", signed=False) << 32
    root = start.as_float()
    for _ in range(3):  # Halley's step triples the digits
        cube = root * root * root
        root = root * ((cube + x * 2.0) / (cube * 2.0 + x))
    rest = model.of(root) * model.of(root) * model.of(root) - model.of(x)
    return model.of(root) - model.of(rest.high / (root * root * 3.0))


def _rooted(model: N, x: LaneArithmetic) -> N:
    size = abs(x)
    tiny, huge = size.less(2.0**-900), size.greater(2.0**900)
    factor = tiny.where(x.of(2.0**180), huge.where(x.of(2.0**-180), 1.0))
    back = tiny.where(x.of(2.0**-60), huge.where(x.of(2.0**60), 1.0))
    return _cube_root(model, size * factor).times(back)


def cbrt(model: N, x: LaneArithmetic) -> LaneArithmetic:
    ordinary = abs(x).less(math.inf) & x.differs(0.0)
    return ordinary.where(_rooted(model, x).high.copysign(x), x)


def rcbrt(model: N, x: LaneArithmetic) -> LaneArithmetic:
    ordinary = abs(x).less(math.inf) & x.differs(0.0)
    return ordinary.where((model.of(_ONE) / _rooted(model, x)).high.copysign(x), 1.0 / x)


def hypot(model: N, x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    a, b = abs(x), abs(y)
    infinite = a.equals(math.inf) | b.equals(math.inf)
    larger = a.greater(b).where(a, b)
    # Both are scaled so that the larger is about one and no square is too great or too small.
    exponent = (larger.bits() >> 52) - 1023
    exponent = exponent.less(-1000).where(-1000, exponent)
    half = exponent >> 1
    down, up = power_of_two(-half), power_of_two(half)
    a, b = a * down * power_of_two(half - exponent), b * down * power_of_two(half - exponent)
    length = (model.product_of(a, a) + model.product_of(b, b)).sqrt().high
    return infinite.where(math.inf, length * up * power_of_two(exponent - half))
