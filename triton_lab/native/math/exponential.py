"""Exponentials of float32 by their own polynomials. `powers` has those of float64, and rarer ones."""

from __future__ import annotations

from triton_lab.native.math.lane_arithmetic import LaneArithmetic, fma, polynomial

# (e**r - 1) / r for |r| <= ln(2)/2, and (2**f - 1) / f for |f| <= 1/2. The coefficients are nearly minimax. They were
# rounded to float32 one by one, and the others fitted again each time. The error is 2**-28 of the result.
_EXP = (1.0, 0.4999999403953552, 0.1666651964187622, 0.04166823998093605, 0.008368823677301407, 0.001382316811941564)
_EXP2 = (
    0.6931471824645996, 0.24022647738456726, 0.05550359562039375, 0.009618503041565418, 0.0013390996027737856,
    0.0001532789901830256,
)  # fmt: skip
# ln(2) as a float32 of 16 bits, whose products with exponents are exact, and the rest.
_LN2_HIGH, _LN2_LOW = 0.693145751953125, 1.428606765330187e-06
# Beyond these, results are always infinite or zero.
_EXP_ENDS = (-104.5, 89.0)
_EXP2_ENDS = (-151.0, 128.5)


def exp(x: LaneArithmetic) -> LaneArithmetic:
    """e**x of float32, within 1 ulp."""
    x = _between(x, _EXP_ENDS)
    whole, factors = _powers(x, 1.4426950408889634)
    rest = fma(whole, -_LN2_LOW, fma(whole, -_LN2_HIGH, x))
    return fma(rest, polynomial(rest, _EXP), 1.0) * factors[0] * factors[1]


def exp2(x: LaneArithmetic) -> LaneArithmetic:
    """2**x of float32, within 1 ulp; exact for whole x."""
    x = _between(x, _EXP2_ENDS)
    whole, factors = _powers(x, 1.0)
    rest = x - whole
    return fma(rest, polynomial(rest, _EXP2), 1.0) * factors[0] * factors[1]


# Adding this to a number leaves the nearest whole number in the lowest bits, plus 254: twice the exponents' bias.
_MAGIC = 1.5 * 2.0**23 + 254.0


def _powers(x: LaneArithmetic, factor: float) -> tuple[LaneArithmetic, tuple[LaneArithmetic, LaneArithmetic]]:
    """``n``, the whole number nearest to ``x * factor``, and two normal numbers whose product is ``2**n``."""
    shifted = fma(x, factor, _MAGIC)
    both = shifted.bits()
    # Each has half of n and the bias 127. Bits above are shifted out.
    one = both.unsigned_shift(1)
    return shifted - _MAGIC, ((one << 23).as_float(), ((both - one) << 23).as_float())


def _between(x: LaneArithmetic, ends: tuple[float, float]) -> LaneArithmetic:
    """``x`` limited to the range ``ends``; NaN stays, since it is neither less nor greater."""
    low, high = ends
    x = x.greater(high).where(high, x)
    return x.less(low).where(low, x)
