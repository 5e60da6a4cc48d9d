"""The corners of convex polyhedra, in exact rational arithmetic.

isl tightens constraints to what integers can reach; a picture of the polyhedron needs the constraints as written.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

# (coefficients..., constant): coefficients . x + constant >= 0
HalfSpace: TypeAlias = "tuple[int, ...]"


def corners(half_spaces: Sequence[HalfSpace]) -> tuple[tuple[Fraction, ...], ...]:
    """The points where borders meet and every half-space holds, sorted."""
    if not half_spaces:
        return ()
    dimension = len(half_spaces[0]) - 1
    distinct = list(dict.fromkeys(half_spaces))
    meeting = (_solve([list(map(Fraction, row)) for row in rows]) for rows in combinations(distinct, dimension))
    found = {point for point in meeting if point is not None and all(_value(row, point) >= 0 for row in distinct)}
    return tuple(sorted(found))


def _value(row: HalfSpace, point: tuple[Fraction, ...]) -> Fraction:
    return sum((c * x for c, x in zip(row, point, strict=False)), Fraction(row[-1]))


def _solve(rows: list[list[Fraction]]) -> tuple[Fraction, ...] | None:
    """The one point where all ``rows`` are zero, or None if there is none or more than one (Gauss-Jordan)."""
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
