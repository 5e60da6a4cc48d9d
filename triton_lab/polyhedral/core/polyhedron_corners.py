"""The corners of convex polyhedra, in exact rational arithmetic.

isl tightens constraints to the integer points; a picture of the polyhedron needs the constraints as written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import TypeAlias

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import Constraint
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.isl_effort import check_time, series

# (coefficients..., constant): coefficients . x + constant >= 0
HalfSpace: TypeAlias = "tuple[int, ...]"


def half_space(expression: AffineExpr, names: Sequence[str]) -> HalfSpace:
    """``expression >= 0`` over the rationals, with columns ``names`` and 1.

    A quotient is replaced by its largest possible value, ``n / d``, or, where it is subtracted, by its smallest,
    ``(n - d + 1) / d``: so all integer points stay inside, and beyond the border the constraint holds nowhere.
    """
    coefficients, constant = _most(expression, 1)
    numbers = [*(coefficients.get(name, Fraction(0)) for name in names), constant]
    common = lcm(*(number.denominator for number in numbers))
    return tuple(int(number * common) for number in numbers)


def _most(expression: AffineExpr, sign: int) -> tuple[dict[str, Fraction], Fraction]:
    """The largest value (for ``sign`` -1 the smallest) as coefficients of names, and a constant."""
    coefficients: dict[str, Fraction] = {}
    constant = Fraction(expression.constant)
    for symbol, factor in expression.terms:
        if isinstance(symbol, str):
            coefficients[symbol] = coefficients.get(symbol, Fraction(0)) + factor
            continue
        inward = sign if factor > 0 else -sign
        inside, rest = _most(symbol.numerator, inward)
        share = Fraction(factor, symbol.divisor)
        constant += (rest if inward > 0 else rest - symbol.divisor + 1) * share
        for name, value in inside.items():
            coefficients[name] = coefficients.get(name, Fraction(0)) + value * share
    return coefficients, constant


def half_spaces(piece: Sequence[Constraint], values: Mapping[str, AffineExpr], names: Sequence[str]) -> list[HalfSpace]:
    """The rows of a conjunction in which ``values`` replace names; an equality gives two."""
    rows: list[HalfSpace] = []
    for constraint in piece:
        expression = constraint.expression.substitute(values)
        rows += [half_space(e, names) for e in ((expression, -expression) if constraint.equality else (expression,))]
    return rows


def corners(rows: Sequence[HalfSpace]) -> tuple[tuple[Fraction, ...], ...]:
    """The points where borders meet and every half-space holds, sorted. Raises `TooHard` where they are too many."""
    if not rows:
        return ()
    with series(_("the corners of a domain")):
        return _corners(list(dict.fromkeys(rows)), len(rows[0]) - 1)


def _corners(distinct: Sequence[HalfSpace], dimension: int) -> tuple[tuple[Fraction, ...], ...]:
    meeting = (_solve([list(map(Fraction, row)) for row in some]) for some in combinations(distinct, dimension))
    found = {point for point in meeting if point is not None and all(_value(row, point) >= 0 for row in distinct)}
    return tuple(sorted(found))


def _value(row: HalfSpace, point: tuple[Fraction, ...]) -> Fraction:
    return sum((c * x for c, x in zip(row, point, strict=False)), Fraction(row[-1]))


def _solve(rows: list[list[Fraction]]) -> tuple[Fraction, ...] | None:
    """The one point where all ``rows`` are zero, or None if there is none or more than one (Gauss-Jordan)."""
    check_time(_("the corners of a domain"))
    size = len(rows)
    for column in range(size):
        pivot = next((k for k in range(column, size) if rows[k][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column]
        rows[column] = [entry / head for entry in rows[column]]
        for k in range(size):
            if k != column and rows[k][column]:
                factor = rows[k][column]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[column], strict=True)]
    return tuple(-row[-1] for row in rows)
