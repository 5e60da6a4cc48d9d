"""Affine conditions: comparisons of expressions with ``min`` and ``max``, as disjunctions of conjunctions.

``i < min(n, m)`` is a conjunction of two constraints, ``i < max(n, m)`` a disjunction of two. ``e <= min(a, b)``
splits in the same way on both sides and at any depth, so that the constraints stay those of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_expr import AffineExpr, Symbol
from triton_lab.polyhedral.core.isl_effort import TooHard, check_time
from triton_lab.polyhedral.core.source_text import Span

_NOWHERE = Span(0, 0, 0)
# Cases of a formula. Each "or" doubles them, each "!=" and each min or max in a sum, too.
MOST_CASES = 1 << 13
_SPLITS = "the cases of min and max"


@dataclass(frozen=True)
class Constraint:
    """``expression >= 0``, or ``expression == 0`` for an equality; ``text`` is the source's text."""

    expression: AffineExpr
    equality: bool = False
    text: str = field(default="", compare=False)
    span: Span = field(default=_NOWHERE, compare=False)

    @property
    def isl(self) -> str:
        return f"{self.expression.isl} {'=' if self.equality else '>='} 0"

    def __str__(self) -> str:
        return self.told()

    def told(self, iterators: Sequence[str] = ()) -> str:
        """The condition as one on the ``iterators``: ``i ≤ 2`` for ``2 - i >= 0``."""
        return comparison(self.expression, "=" if self.equality else "≥", iterators)

    def slope(self, iterator: str) -> int:
        """The coefficient of ``iterator``; 0 where a quotient has it, so that its effect is not plain."""
        hidden = any(iterator in q.numerator.names for q in self.expression.quotients)
        return 0 if hidden else self.expression.coefficients.get(iterator, 0)


def comparison(expression: AffineExpr, relation: str, iterators: Sequence[str] = ()) -> str:
    """``expression relation 0`` in the usual notation: ``i ≥ j``, ``j ≤ n - 1``, ``2i + 3j ≤ 9``.

    One name (an iterator, if there is one) stands alone on the left if that keeps the other side free of a leading
    minus; otherwise all iterators stand on the left.
    """
    mirrored = {"≥": "≤", "=": "="}
    names = [s for s, _ in expression.terms if isinstance(s, str)]
    subjects = [name for name in iterators if name in names] or names
    if not subjects:
        return f"{expression} {relation} 0"
    units = [name for name in subjects if abs(expression.coefficients[name]) == 1]
    left = AffineExpr.make({(units or subjects)[0]: expression.coefficients[(units or subjects)[0]]})
    sign = 1 if left.terms[0][1] > 0 else -1
    beyond = (expression - left) * -sign
    if not units or (beyond.terms and all(c < 0 for _, c in beyond.terms)):
        left = AffineExpr.make({name: expression.coefficients[name] for name in subjects})
        sign = 1 if left.terms[0][1] > 0 else -1
        beyond = (expression - left) * -sign
    return f"{left * sign} {relation if sign > 0 else mirrored[relation]} {beyond}".replace("-", "−")


@dataclass(frozen=True)
class Extremum:
    """The least (``min``) or greatest (``max``) of its arguments."""

    kind: str
    arguments: tuple[Value, ...]


@dataclass(frozen=True)
class Piecewise:
    """A value by cases: of the conditions of ``cases`` exactly one holds."""

    cases: tuple[tuple[Formula, Value], ...]


Value: TypeAlias = "AffineExpr | Extremum | Piecewise"
# A disjunction of conjunctions; () is false, ((),) is true.
Formula: TypeAlias = tuple[tuple[Constraint, ...], ...]

TRUE: Formula = ((),)
FALSE: Formula = ()


def contradictory(case: Sequence[Constraint]) -> bool:
    """Whether two of these constraints exclude each other at a glance: ``n - i >= 4`` and ``i - n >= 0``."""
    least: dict[tuple[tuple[Symbol, int], ...], int] = {}
    for constraint in case:
        one = constraint.expression
        for side in (one, -one) if constraint.equality else (one,):
            least[side.terms] = min(side.constant, least.get(side.terms, side.constant))
    return any(
        low + least.get(tuple((symbol, -factor) for symbol, factor in terms), -low) < 0 for terms, low in least.items()
    )


def add(left: Value, right: Value) -> Value:
    if not (isinstance(left, AffineExpr) and isinstance(right, AffineExpr)):
        check_time(_SPLITS)
    if isinstance(left, Piecewise):
        return Piecewise(tuple((when, add(value, right)) for when, value in left.cases))
    if isinstance(right, Piecewise):
        return add(right, left)
    if isinstance(left, Extremum):
        return Extremum(left.kind, tuple(add(argument, right) for argument in left.arguments))
    if isinstance(right, Extremum):
        return Extremum(right.kind, tuple(add(left, argument) for argument in right.arguments))
    return left + right


def scale(value: Value, factor: int) -> Value:
    if isinstance(value, AffineExpr):
        return value * factor
    check_time(_SPLITS)
    if isinstance(value, Piecewise):
        return Piecewise(tuple((when, scale(part, factor)) for when, part in value.cases))
    kind = value.kind if factor >= 0 else {"min": "max", "max": "min"}[value.kind]
    return Extremum(kind, tuple(scale(argument, factor) for argument in value.arguments))


def floor_divide(value: Value, divisor: int) -> Value:
    """``floor(value / divisor)`` for a positive divisor; rounding preserves order, so it moves inside min and max."""
    if isinstance(value, AffineExpr):
        return value // divisor
    check_time(_SPLITS)
    if isinstance(value, Piecewise):
        return Piecewise(tuple((when, floor_divide(part, divisor)) for when, part in value.cases))
    return Extremum(value.kind, tuple(floor_divide(argument, divisor) for argument in value.arguments))


def truncate_divide(value: Value, divisor: int) -> Value:
    """``value / divisor`` rounded towards zero, as in C: max(min(ceil, 0), floor)."""
    ceiling = scale(floor_divide(scale(value, -1), divisor), -1)
    return Extremum("max", (Extremum("min", (ceiling, AffineExpr())), floor_divide(value, divisor)))


def conjunction(*formulas: Formula) -> Formula:
    """All of ``formulas``; within each case the constraints keep the order of the arguments.

    Raises `TooHard` where they are more than `MOST_CASES`.
    """
    cases = prod(map(len, formulas))
    if cases > MOST_CASES:
        raise TooHard(
            _("the conditions have {cases} cases, more than {most_cases}: too hard").format(
                cases=f"{cases:,}", most_cases=f"{MOST_CASES:,}"
            )
        )
    return tuple(tuple(constraint for part in case for constraint in part) for case in product(*formulas))


def disjunction(*formulas: Formula) -> Formula:
    return tuple(case for formula in formulas for case in formula)


def at_least_zero(value: Value, text: str = "", span: Span = _NOWHERE) -> Formula:
    """``value >= 0``."""
    if isinstance(value, AffineExpr):
        if value.is_constant:
            return TRUE if value.constant >= 0 else FALSE
        return ((Constraint(value, False, text, span),),)
    check_time(_SPLITS)
    if isinstance(value, Piecewise):
        cases = ((when, at_least_zero(part, text, span)) for when, part in value.cases)
        return disjunction(*(conjunction(when, holds) for when, holds in cases))
    parts = [at_least_zero(argument, text, span) for argument in value.arguments]
    return reduce(conjunction if value.kind == "min" else disjunction, parts)


def compare(op: str, left: Value, right: Value, text: str = "", span: Span = _NOWHERE) -> Formula:
    """``left op right`` over the integers, for the six comparisons."""
    difference = add(right, scale(left, -1))
    match op:
        case "<=":
            return at_least_zero(difference, text, span)
        case "<":
            return at_least_zero(add(difference, AffineExpr((), -1)), text, span)
        case ">=" | ">":
            return compare({">=": "<=", ">": "<"}[op], right, left, text, span)
        case "!=":
            return disjunction(compare("<", left, right, text, span), compare("<", right, left, text, span))
    if isinstance(difference, AffineExpr):
        if difference.is_constant:
            return TRUE if difference.constant == 0 else FALSE
        return ((Constraint(difference, True, text, span),),)
    if isinstance(difference, Piecewise):
        equal = ((when, compare("==", part, AffineExpr(), text, span)) for when, part in difference.cases)
        return disjunction(*(conjunction(when, holds) for when, holds in equal))
    return conjunction(compare("<=", left, right, text, span), compare("<=", right, left, text, span))


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def opposite(op: str) -> str:
    """The comparison that holds exactly where ``op`` does not."""
    return _OPPOSITE[op]


def formula_words(formula: Formula) -> str:
    """``formula`` in words and signs: ``i ≥ 0 and i < n, or i = 5``."""
    if not formula:
        return _("never")
    return ", or ".join(" and ".join(map(str, case)) or _("always") for case in formula)


def true_at(formula: Formula, environment: Mapping[str, Any]) -> Any:
    """Whether ``formula`` holds where names have these values; an array where they are arrays."""
    total: Any = False
    for case in formula:
        inside: Any = True
        for constraint in case:
            value = constraint.expression.evaluate(environment)
            inside = inside & (value == 0 if constraint.equality else value >= 0)
        total = total | inside
    return total


def value_at(value: Value, environment: Mapping[str, Any]) -> Any:
    """``value`` where every name is a number or an array."""
    if isinstance(value, AffineExpr):
        return value.evaluate(environment)
    if isinstance(value, Piecewise):
        return sum(true_at(when, environment) * value_at(part, environment) for when, part in value.cases)
    parts = [value_at(a, environment) for a in value.arguments]
    best = np.minimum if value.kind == "min" else np.maximum
    total = reduce(best, parts)
    return total if isinstance(total, np.ndarray) else int(total)
