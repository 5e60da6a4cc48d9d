"""Numbers for computing float64 results (double-double), and plain float64 for float32 results.

A `Pair` is the unevaluated sum of two float64, about 106 bits; results computed with it are exact to about 2**-100. The
algorithms (Dekker; Knuth; Hida, Li and Bailey) are correct if no intermediate overflows; results at the ends of the
range are put in afterwards. `Plain` has the same operations on one float64. Formulas are written once, for either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from triton_lab.native.math.lane_arithmetic import LaneArithmetic, fma, polynomial


@dataclass(frozen=True, slots=True)
class RealConstant:
    """A real number: its nearest float64 (``high``), and the difference (``low``)."""

    high: float
    low: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Plain:
    """A float64 with the operations of a `Pair`: exact enough for float32 results."""

    high: LaneArithmetic

    def of(self, value: LaneArithmetic | RealConstant | float) -> Plain:
        if isinstance(value, RealConstant):
            value = value.high
        return Plain(self.high.of(value))

    def sum_of(self, a: LaneArithmetic, b: LaneArithmetic) -> Plain:
        """``a + b`` of lanes."""
        return Plain(a + b)

    def product_of(self, a: LaneArithmetic, b: LaneArithmetic) -> Plain:
        return Plain(a * b)

    def __add__(self, other: Plain) -> Plain:
        return Plain(self.high + other.high)

    def __sub__(self, other: Plain) -> Plain:
        return Plain(self.high - other.high)

    def __neg__(self) -> Plain:
        return Plain(-self.high)

    def __mul__(self, other: Plain) -> Plain:
        return Plain(self.high * other.high)

    def __truediv__(self, other: Plain) -> Plain:
        return Plain(self.high / other.high)

    def times(self, factor: LaneArithmetic | float) -> Plain:
        """The product with a power of two."""
        return Plain(self.high * factor)

    def sqrt(self) -> Plain:
        return Plain(self.high.intrinsic("sqrt"))

    def chosen(self, condition: LaneArithmetic, other: Plain) -> Plain:
        """This number where ``condition`` holds, else ``other``."""
        return Plain(condition.where(self.high, other.high))

    @property
    def low(self) -> LaneArithmetic:
        """The difference from `high`, which is not known here: 0."""
        return self.high.of(0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """``high + low``, where ``high`` is the float64 nearest to the sum."""

    high: LaneArithmetic
    low: LaneArithmetic

    def of(self, value: LaneArithmetic | RealConstant | float) -> Pair:
        if isinstance(value, RealConstant):
            return Pair(self.high.of(value.high), self.high.of(value.low))
        return Pair(self.high.of(value), self.high.of(0.0))

    def sum_of(self, a: LaneArithmetic, b: LaneArithmetic) -> Pair:
        return Pair(*two_sum(a, b))

    def product_of(self, a: LaneArithmetic, b: LaneArithmetic) -> Pair:
        return Pair(*two_product(a, b))

    def __add__(self, other: Pair) -> Pair:
        high, low = two_sum(self.high, other.high)
        below, rest = two_sum(self.low, other.low)
        high, low = _quick_two_sum(high, low + below)
        return Pair(*_quick_two_sum(high, low + rest))

    def __sub__(self, other: Pair) -> Pair:
        return self + -other

    def __neg__(self) -> Pair:
        return Pair(-self.high, -self.low)

    def __mul__(self, other: Pair) -> Pair:
        high, low = two_product(self.high, other.high)
        low = fma(self.high, other.low, fma(self.low, other.high, low))
        return Pair(*_quick_two_sum(high, low))

    def __truediv__(self, other: Pair) -> Pair:
        first = self.high / other.high
        rest = self - other * self.of(first)
        return Pair(*_quick_two_sum(first, rest.high / other.high))

    def times(self, factor: LaneArithmetic | float) -> Pair:
        return Pair(self.high * factor, self.low * factor)

    def sqrt(self) -> Pair:
        root = self.high.intrinsic("sqrt")
        rest = fma(-root, root, self.high) + self.low
        # For zero the correction is 0 / 0.
        correction = root.equals(0.0).where(0.0, rest / (root * 2.0))
        return Pair(*_quick_two_sum(root, correction))

    def chosen(self, condition: LaneArithmetic, other: Pair) -> Pair:
        return Pair(condition.where(self.high, other.high), condition.where(self.low, other.low))


# Either of them; results have the operands' type.
N = TypeVar("N", Plain, Pair)


def in_numbers(function: Callable[..., LaneArithmetic], *operands: LaneArithmetic) -> LaneArithmetic:
    """``function(model, *operands)`` on float64 lanes, for operands of float32 or float64; the result has their kind.

    ``model`` is the first operand in the type to compute with: a `Plain` for float32, a `Pair` for float64.
    """
    first = operands[0]
    if first.kind == "double":
        return function(Pair(first, first.of(0.0)), *operands)
    wide = [x.cast("fpext", "double") for x in operands]
    return function(Plain(wide[0]), *wide).cast("fptrunc", first.kind)


def with_terms(x: N, leading: Sequence[RealConstant], rest: Sequence[float]) -> N:
    """A polynomial whose first coefficients are exact and whose others are plain float64."""
    total = x.of(polynomial(x.high, rest))
    for coefficient in reversed(leading):
        total = total * x + x.of(coefficient)
    return total


def chebyshev(twice: N, leading: Sequence[RealConstant], rest: Sequence[float]) -> N:
    """``c[0] + c[1] T1(s) + c[2] T2(s) + ...`` by Clenshaw's recurrence, for ``twice = 2 s`` and ``|s| <= 1``.

    The coefficients are ``leading``, which are exact, and then ``rest``: plain float64, so small that their rounding
    errors do not count.
    """
    here, after = twice.high.of(rest[-1]), twice.high.of(0.0)
    for coefficient in rest[-2::-1]:
        here, after = fma(twice.high, here, coefficient - after), here
    total, before = twice.of(here), twice.of(after)
    for exact in leading[:0:-1]:
        total, before = twice * total + (twice.of(exact) - before), total
    return (twice * total).times(0.5) + (twice.of(leading[0]) - before)


def exact(value: Fraction) -> RealConstant:
    """A fraction to twice float64's digits."""
    high = float(value)
    return RealConstant(high, float(value - Fraction(high)))


def two_sum(a: LaneArithmetic, b: LaneArithmetic) -> tuple[LaneArithmetic, LaneArithmetic]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _quick_two_sum(a: LaneArithmetic, b: LaneArithmetic) -> tuple[LaneArithmetic, LaneArithmetic]:
    """``a + b`` rounded, and its rounding error, if ``a`` is the larger one."""
    total = a + b
    return total, b - (total - a)


def two_product(a: LaneArithmetic, b: LaneArithmetic) -> tuple[LaneArithmetic, LaneArithmetic]:
    product = a * b
    return product, fma(a, b, -product)
