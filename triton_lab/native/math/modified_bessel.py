"""Modified Bessel functions of the first kind: by their power series, and far out by a Chebyshev series."""

from __future__ import annotations

import math
from fractions import Fraction

from triton_lab.interpreter.bessel_functions import BORDER, CHEBYSHEV, TERMS, series_term
from triton_lab.native.math.double_double import N, RealConstant, chebyshev, exact, with_terms
from triton_lab.native.math.lane_arithmetic import LaneArithmetic
from triton_lab.native.math.powers import clamped, raised_times

# How many coefficients of the power series, and of the Chebyshev series, are taken to 106 bits.
_WIDE_TERMS = 12
_LOW = (
    (2.276909882136215e-17, -1.9662207124158173e-19, -5.516103304940293e-21, -1.6723376729037952e-22),
    (7.718248155781667e-18, 2.954208128896455e-19, -2.8533881991461584e-21, 2.0020945341588863e-22),
)
# Beyond this, results are infinite.
_END = 714.5


def i0(model: N, x: LaneArithmetic) -> LaneArithmetic:
    size = abs(x)
    near = _series(0, model.of(clamped(size, 0.0, BORDER)))
    return size.greater(BORDER).where(_far(0, model, size), near.high)


def i1(model: N, x: LaneArithmetic) -> LaneArithmetic:
    size = abs(x)
    half = clamped(size, 0.0, BORDER)
    near = _series(1, model.of(half)) * model.of(half).times(0.5)
    return size.greater(BORDER).where(_far(1, model, size), near.high).copysign(x)


def _series(order: int, x: N) -> N:
    """``I(x) / (x/2)**order``, for ``0 <= x <= BORDER``."""
    terms = [Fraction(1, series_term(order, k)) for k in range(TERMS)]
    leading = [exact(term) for term in terms[:_WIDE_TERMS]]
    return with_terms((x * x).times(0.25), leading, [float(term) for term in terms[_WIDE_TERMS:]])


def _far(order: int, model: N, x: LaneArithmetic) -> LaneArithmetic:
    inner = model.of(clamped(x, BORDER, _END))
    twice = model.of(4.0 * BORDER) / inner - model.of(2.0)
    low = _LOW[order]
    leading = [RealConstant(*both) for both in zip(CHEBYSHEV[order], low, strict=False)]
    factor = chebyshev(twice, leading, CHEBYSHEV[order][len(low) :]) / inner.sqrt()
    return x.less(math.inf).where(raised_times(inner, factor), x)
