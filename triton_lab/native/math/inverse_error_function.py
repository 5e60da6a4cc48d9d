"""Inverses of the error function and its relatives: a guess, a few steps in float64, and one step with all digits."""

from __future__ import annotations

import math

from triton_lab.native.math.double_double import N, Plain, RealConstant
from triton_lab.native.math.error_function import by_series, scaled_complement
from triton_lab.native.math.lane_arithmetic import LaneArithmetic, scaled
from triton_lab.native.math.powers import clamped, exponential, logarithm_of, natural, raised

_ONE = RealConstant(1.0)
_HALF_ROOT_OF_PI = RealConstant(0.886226925452758, -3.8332932499128993e-17)
_MINUS_ROOT_OF_TWO = RealConstant(-1.4142135623730951, 9.667293313452913e-17)
# Below this, the inverse of erf is a multiple of its argument.
_TINY = 2.0**-27
# Winitzki's constant; see `_guess`.
_A = 0.147


def erfinv(model: N, y: LaneArithmetic) -> LaneArithmetic:
    """``x`` with ``erf(x) = y``."""
    return _inverse(model, y, 1.0 - abs(y), _ONE)


def erfcinv(model: N, z: LaneArithmetic) -> LaneArithmetic:
    """``x`` with ``erfc(x) = z``, exact also where ``z`` is tiny."""
    other = 2.0 - z
    return _inverse(model, 1.0 - z, z.less(other).where(z, other), _ONE)


def normcdfinv(model: N, p: LaneArithmetic) -> LaneArithmetic:
    """The normal distribution's quantile."""
    z = p * 2.0
    other = 2.0 - z
    return _inverse(model, 1.0 - z, z.less(other).where(z, other), _MINUS_ROOT_OF_TWO)


def _inverse(model: N, y: LaneArithmetic, z: LaneArithmetic, factor: RealConstant) -> LaneArithmetic:
    """``factor x`` with ``erf(x) = y`` and ``erfc(|x|) = z``. Beyond a half, ``y`` need not be exact, nor ``z``
    below.
    """
    small = abs(y).less(0.5)
    outer = _from_complement(model, clamped(z, 5e-324, 0.5))
    outer = (-outer).chosen(y.less(0.0), outer)
    found = (_from_value(model, clamped(y, -0.5, 0.5)).chosen(small, outer) * model.of(factor)).high
    found = z.equals(0.0).where(math.inf, found).copysign(y * factor.high)
    return z.at_least(0.0).where(found, math.nan)


def _from_value(model: N, y: LaneArithmetic) -> N:
    """``x`` with ``erf(x) = y``, for ``|y| <= 1/2``: Halley's steps, then Newton's."""
    half = _HALF_ROOT_OF_PI.high
    x = y * half * (y * y * (math.pi / 12.0) + 1.0)
    for _ in range(2):
        step = (by_series(Plain(x)).high - y) * half * raised(Plain(x * x))
        x = x - step / (x * step + 1.0)
    rest = (by_series(model.of(x)) - model.of(y)).high * half * raised(Plain(x * x))
    return (model.of(y) * model.of(_HALF_ROOT_OF_PI)).chosen(abs(y).less(_TINY), model.of(x) - model.of(rest))


def _guess(z: LaneArithmetic) -> tuple[LaneArithmetic, LaneArithmetic]:
    """``x`` with ``erfc(x) = z`` to two digits, for ``0 < z <= 1/2`` (Winitzki's formula); and the logarithm of
    ``z``.
    """
    goal = _logarithm(z)
    both = goal + _logarithm(2.0 - z)
    middle = both * 0.5 + 2.0 / (math.pi * _A)
    return ((middle * middle - both * (1.0 / _A)).intrinsic("sqrt") - middle).intrinsic("sqrt"), goal


def _logarithm(x: LaneArithmetic) -> LaneArithmetic:
    plain = Plain(x)
    return natural(plain, logarithm_of(plain, x)).high


def _from_complement(model: N, z: LaneArithmetic) -> N:
    """``x`` with ``erfc(x) = z``, for ``0 < z <= 1/2``: Newton's steps on the logarithm, then one on erfc itself."""
    half = _HALF_ROOT_OF_PI.high
    x, goal = _guess(z)
    for _ in range(3):
        near = scaled_complement(Plain(x)).high
        x = x + (_logarithm(near) - x * x - goal) * near * half
    # erfc(x) = (1 + p) 2**n right; z is brought to the same power of two.
    right = scaled_complement(model.of(x))
    p, n = exponential(-model.product_of(x, x))
    rest = (right + right * p) / model.of(scaled(z, -n)) - model.of(_ONE)
    return model.of(x) + model.of(rest.high * right.high * half)
