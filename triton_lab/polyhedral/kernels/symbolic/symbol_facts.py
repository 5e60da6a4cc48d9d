"""Facts about the symbols of a kernel: their ranges, and the conditions on the path.

Intervals answer most questions; isl answers the rest exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import TRUE, Constraint, Formula, conjunction, contradictory
from triton_lab.polyhedral.core.affine_expr import AffineExpr, Quotient, Symbol, Term, isl_name
from triton_lab.polyhedral.core.isl_effort import TooHard, effort
from triton_lab.polyhedral.core.iteration_domain import formula_text
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import Interval, ProductTerm, QuotientTerm, UnknownTerm
from triton_lab.polyhedral.kernels.symbolic.product_constraints import lifted
from triton_lab.polyhedral.kernels.symbolic.unknown_values import UnknownValues

Case: TypeAlias = "tuple[Constraint, ...]"
Ranges: TypeAlias = "Mapping[str, Interval]"

EVERYTHING: Interval = (-math.inf, math.inf)


def lane(axis: int) -> str:
    """The symbol for the index of a lane along ``axis`` of its block."""
    return f"_l{axis}"


def program(axis: int) -> str:
    """The symbol for the program id along ``axis`` of the grid."""
    return f"_p{axis}"


@dataclass(frozen=True)
class Facts:
    """Facts about symbols.

    ``ranges`` hold in general, ``here`` in this launch, where parameters have their values; ``formula`` is the
    condition under which the operation runs. With ``unknown``, values that are not affine are terms
    (`nonlinear_terms`); without it they are not known.
    """

    ranges: Ranges
    here: Ranges
    formula: Formula = TRUE
    unknown: UnknownValues | None = field(default=None, compare=False, repr=False)
    _known: dict[tuple[AffineExpr, Case], Interval] = field(default_factory=dict, compare=False, repr=False)
    # Blocks of all shapes share this one: a shape counts only where a lane is named.
    _possible: dict[tuple[frozenset[Constraint], tuple[Interval, ...]], bool] = field(
        default_factory=dict, compare=False, repr=False
    )
    _blocks: dict[tuple[int, ...], Facts] = field(default_factory=dict, compare=False, repr=False)

    def block(self, shape: tuple[int, ...]) -> Facts:
        """The facts with a block's lanes added."""
        lanes = {lane(axis): (0, extent - 1) for axis, extent in enumerate(shape)}
        if shape not in self._blocks:
            self._blocks[shape] = Facts(
                {**self.ranges, **lanes}, {**self.here, **lanes}, self.formula, self.unknown, _possible=self._possible
            )
        return self._blocks[shape]

    def under(self, formula: Formula, **ranges: tuple[Interval, Interval]) -> Facts:
        """The facts under the condition ``formula``, too; ``ranges`` has new symbols' ranges in general and here."""
        return Facts(
            {**self.ranges, **{name: general for name, (general, _) in ranges.items()}},
            {**self.here, **{name: here for name, (_, here) in ranges.items()}},
            conjunction(self.formula, formula),
            self.unknown,
        )

    def bounds(self, expression: AffineExpr) -> Interval:
        """An interval that contains all values of ``expression``; it may be too wide."""
        return interval(expression, self.ranges)

    def bounds_here(self, expression: AffineExpr) -> Interval:
        """The interval of `bounds`, for this launch."""
        return interval(expression, self.here)

    def exact(self, expression: AffineExpr, when: Case = ()) -> Interval:
        """The least and the greatest value of ``expression`` under ``when``; (inf, -inf) if ``when`` never holds.

        Where isl finds no answer, the interval may be too wide.
        """
        key = (expression, when)
        if key not in self._known:
            self._known[key] = self._exact(expression, when)
        return self._known[key]

    def leaves_here(self, expression: AffineExpr, low: int, high: int, when: Case) -> bool:
        """Whether ``expression`` may be less than ``low`` or more than ``high`` under ``when``, in this launch.

        True where isl finds no answer.
        """
        try:
            with effort(_("the range of an expression")):
                formula = conjunction(self.formula, (when,))
                beyond = f"{expression.isl} = value_ and (value_ < {low} or value_ > {high})"
                return not self._set(formula, expression, self.here, beyond).is_empty()
        except TooHard:
            return True

    def _exact(self, expression: AffineExpr, when: Case) -> Interval:
        try:
            with effort(_("the range of an expression")):
                found = self._set(
                    conjunction(self.formula, (when,)), expression, self.ranges, f"{expression.isl} = value_"
                )
                if found.is_empty():
                    return math.inf, -math.inf
                last = found.dim(isl.dim_type.set) - 1
                low, high = found.dim_min_val(last), found.dim_max_val(last)
        except TooHard:
            return interval(expression, self.ranges)
        return (
            low.to_python() if low.is_int() else -math.inf,
            high.to_python() if high.is_int() else math.inf,
        )

    def feasible(self, when: Case) -> bool:
        """Whether ``when`` can hold, as far as isl knows."""
        given = (c for case in (when, *self.formula) for c in case)
        named = {name for c in given for name in c.expression.names if name.startswith("_l")}
        key = frozenset(when), tuple(self.ranges.get(name, EVERYTHING) for name in sorted(named))
        if key not in self._possible:
            try:
                self._possible[key] = any(self._may_hold(case) for case in conjunction(self.formula, (when,)))
            except TooHard:
                return True
        return self._possible[key]

    def _may_hold(self, case: Case) -> bool:
        """Whether ``case`` can hold. Raises TooHard."""
        if contradictory(case):
            return False
        with effort(_("whether a case is possible")):
            return not self._set((case,), AffineExpr(), self.ranges, "value_ = 0").is_empty()

    def _set(self, formula: Formula, value: AffineExpr, ranges: Ranges, last: str) -> isl.Set:
        if self.unknown is not None:
            formula = tuple((*case, *lifted(case, [value], lambda e: interval(e, ranges))) for case in formula)
        names = set(value.names).union(*(c.expression.names for case in formula for c in case))
        limits = []
        for name in sorted(names):
            bounds = interval(AffineExpr.of(name), ranges) if isinstance(name, Term) else ranges.get(name, EVERYTHING)
            for relation, bound in zip((">=", "<="), bounds, strict=True):
                if math.isfinite(bound):
                    limits.append(f"{isl_name(name)} {relation} {int(bound)}")
        space = ", ".join([*(isl_name(name) for name in sorted(names)), "value_"])
        conditions = " and ".join([*limits, last, f"({formula_text(formula)})"])
        return isl.Set(f"{{ [{space}] : {conditions} }}")

    def trim(self, when: Case) -> Case | None:
        """``when`` without constraints that always hold; None if intervals show that it never holds."""
        kept: list[Constraint] = []
        for constraint in when:
            low, high = self.bounds(constraint.expression)
            if high < 0 or (constraint.equality and low > 0):
                return None
            if not (low == high == 0 if constraint.equality else low >= 0) and constraint not in kept:
                kept.append(constraint)
        return tuple(kept)


def interval(expression: AffineExpr, ranges: Ranges) -> Interval:
    """The interval of ``expression`` by interval arithmetic, with a rule for remainders."""
    low: float = expression.constant
    high: float = low
    for symbol, coefficient in expression.terms:
        least, most = _symbol(symbol, ranges)
        ends = (coefficient * least, coefficient * most)
        low, high = low + min(ends), high + max(ends)
    for symbol, coefficient in expression.terms:
        # c (x - d floor(x / d)) is c times a remainder, for any x.
        if isinstance(symbol, Quotient) and coefficient % symbol.divisor == 0:
            factor = -coefficient // symbol.divisor
            rest = expression - symbol.numerator * factor - AffineExpr(((symbol, coefficient),))
            if len(rest.terms) < len(expression.terms) - 1:
                least, most = interval(rest, ranges)
                reach = factor * (symbol.divisor - 1)
                low, high = max(low, least + min(0, reach)), min(high, most + max(0, reach))
    return low, high


def _symbol(symbol: Symbol, ranges: Ranges) -> Interval:
    if isinstance(symbol, Term):
        return _term(symbol, ranges)
    if isinstance(symbol, str):
        return ranges.get(symbol, EVERYTHING)
    low, high = interval(symbol.numerator, ranges)
    return (
        low // symbol.divisor if math.isfinite(low) else low,
        high // symbol.divisor if math.isfinite(high) else high,
    )


def _term(term: Term, ranges: Ranges) -> Interval:
    if isinstance(term, ProductTerm):
        low, high = 1.0, 1.0
        for factor in term.factors:
            ends = [_times(one, other) for one in (low, high) for other in _symbol(factor, ranges)]
            low, high = min(ends), max(ends)
        return low, high
    if isinstance(term, QuotientTerm):
        low, high = interval(term.numerator, ranges)
        return 0 if term.positive else min(0, low), max(0, high)  # a divisor is at least 1
    assert isinstance(term, UnknownTerm)
    low, high = term.reach
    if term.least is not None:
        low = max(low, interval(term.least, ranges)[0])
    if term.most is not None:
        high = min(high, interval(term.most, ranges)[1])
    return low, high


def _times(a: float, b: float) -> float:
    return 0 if a == 0 or b == 0 else a * b
