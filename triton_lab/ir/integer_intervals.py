"""Interval arithmetic of integer operations: the bounds of an exact result from those of the operands.

Bounds are ``(least, greatest)``, both included. The result may not fit its type: whether it wraps is asked elsewhere.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

Bounds = tuple[int, int]


def joined(bounds: list[Bounds]) -> Bounds:
    """The bounds of what may be any of several values."""
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def arithmetic(name: str, operands: list[Bounds]) -> Bounds | None:
    """The bounds of an operation's exact result; None for operations that are not followed.

    >>> arithmetic("arith.muli", [(-2, 3), (0, 10)])
    (-20, 30)
    """
    followed = _FOLLOWED.get(name)
    return followed(*operands) if followed is not None and len(operands) == 2 else None


def _of_corners(function: Callable[[int, int], int], one: Bounds, other: Bounds) -> Bounds:
    """The bounds of a function whose extremes are at the extremes of its operands."""
    corners = [function(a, b) for a in one for b in other]
    return min(corners), max(corners)


def _product(one: Bounds, other: Bounds) -> Bounds:
    return _of_corners(operator.mul, one, other)


def _shifted(one: Bounds, by: Bounds) -> Bounds | None:
    return _of_corners(operator.lshift, one, by) if by[0] >= 0 and by[1] < 64 else None


def _quotient(one: Bounds, by: Bounds) -> Bounds | None:
    """The bounds of a quotient that is rounded towards zero."""
    return _of_corners(lambda n, m: abs(n) // m * (1 if n >= 0 else -1), one, by) if by[0] > 0 else None


def _unsigned_quotient(one: Bounds, by: Bounds) -> Bounds | None:
    return _of_corners(operator.floordiv, one, by) if one[0] >= 0 and by[0] > 0 else None


def _remainder(one: Bounds, by: Bounds) -> Bounds | None:
    """The bounds of a remainder that has the dividend's sign."""
    if by[0] <= 0:
        return None
    return (0, min(one[1], by[1] - 1)) if one[0] >= 0 else (1 - by[1], by[1] - 1)


def _unsigned_remainder(one: Bounds, by: Bounds) -> Bounds | None:
    if by[0] <= 0:
        return None
    return 0, min(one[1], by[1] - 1) if one[0] >= 0 else by[1] - 1


def _bits_of_both(one: Bounds, other: Bounds) -> Bounds | None:
    """The bounds of a bitwise *and*: the result is at most any non-negative operand."""
    most = [high for low, high in (one, other) if low >= 0]
    return (0, min(most)) if most else None


def _shifted_down(one: Bounds, by: Bounds) -> Bounds | None:
    return (0, one[1]) if one[0] >= 0 and by[0] >= 0 else None


_FOLLOWED: Mapping[str, Callable[[Bounds, Bounds], Bounds | None]] = {
    "arith.addi": lambda one, other: (one[0] + other[0], one[1] + other[1]),
    "arith.subi": lambda one, other: (one[0] - other[1], one[1] - other[0]),
    "arith.muli": _product,
    "arith.shli": _shifted,
    "arith.minsi": lambda one, other: (min(one[0], other[0]), min(one[1], other[1])),
    "arith.maxsi": lambda one, other: (max(one[0], other[0]), max(one[1], other[1])),
    "arith.divsi": _quotient,
    "arith.divui": _unsigned_quotient,
    "arith.remsi": _remainder,
    "arith.remui": _unsigned_remainder,
    "arith.andi": _bits_of_both,
    "arith.shrui": _shifted_down,
}
