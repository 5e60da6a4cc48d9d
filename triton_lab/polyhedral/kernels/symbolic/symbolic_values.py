"""Symbolic values of a kernel: integers and pointers as affine cases, masks as conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir import Type
from triton_lab.localization import _
from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.affine_conditions import (
    TRUE,
    Constraint,
    Extremum,
    Formula,
    Piecewise,
    conjunction,
)
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Case, Facts, lane

# More cases than this are not useful.
MOST_CASES = 48


@dataclass(frozen=True)
class Unknown:
    """A value that is not affine. ``op`` is the operation that made it so."""

    reason: str
    op: int | None = None
    # Parameters whose values would make it affine.
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SymbolicCase:
    """``value`` under the condition ``when``; for a pointer, bytes from the start of the kernel's argument ``root``."""

    when: Case
    value: AffineExpr
    root: int | None = None


@dataclass(frozen=True)
class SymbolicNumber:
    """An integer or a pointer, by cases. ``extremum`` is the same value with min and max, if there is one."""

    pieces: tuple[SymbolicCase, ...]
    extremum: Extremum | None = None

    @staticmethod
    def of(value: AffineExpr | int | str, root: int | None = None) -> SymbolicNumber:
        return SymbolicNumber((SymbolicCase((), AffineExpr.of(value), root),))

    @property
    def single(self) -> AffineExpr | None:
        """The value, if there is only one case."""
        only = self.pieces[0]
        return only.value if len(self.pieces) == 1 and not only.when else None

    @property
    def value(self) -> affine_conditions.Value | None:
        """The value as the front ends of `polyhedral` express it."""
        return self.extremum if self.extremum is not None else self.single

    @property
    def names(self) -> frozenset[str]:
        found: set[str] = set()
        for piece in self.pieces:
            found |= piece.value.names.union(*(c.expression.names for c in piece.when))
        return frozenset(found)

    def evaluate(self, values: Mapping[str, Any]) -> NDArray[np.int64]:
        """The number where every symbol is an integer or an integer array; 0 where no case holds."""
        result: Any = np.int64(0)
        for piece in reversed(self.pieces):
            here = np.asarray(piece.value.evaluate(values))
            result = np.where(holds_case(piece.when, values), here, result) if piece.when else here
        return np.asarray(result, np.int64)


@dataclass(frozen=True)
class Truth:
    """A boolean: it holds at most where ``cases`` do, and exactly there unless something ``unknown`` matters."""

    cases: Formula
    unknown: Unknown | None = None

    @property
    def names(self) -> frozenset[str]:
        return frozenset().union(*(c.expression.names for case in self.cases for c in case))


@dataclass(frozen=True)
class SymbolicDescriptor:
    """A tensor descriptor: the address of element 0, and extents and strides in elements."""

    base: SymbolicNumber
    extents: tuple[Value, ...]
    strides: tuple[Value, ...]


Value: TypeAlias = "SymbolicNumber | Truth | Unknown | SymbolicDescriptor"


def holds_case(case: Case, values: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Where all constraints of ``case`` hold."""
    result: Any = np.True_
    for constraint in case:
        value = constraint.expression.evaluate(values)
        result = result & (np.asarray(value) == 0 if constraint.equality else np.asarray(value) >= 0)
    return np.asarray(result)


def holds(formula: Formula, values: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Where ``formula`` holds."""
    result: Any = np.False_
    for case in formula:
        result = result | holds_case(case, values)
    return np.asarray(result)


def pruned(pieces: list[SymbolicCase], facts: Facts, extremum: Extremum | None = None) -> SymbolicNumber | Unknown:
    """The number without the pieces that cannot occur."""
    trimmed = [(piece, facts.trim(piece.when)) for piece in pieces]
    kept = [SymbolicCase(when, piece.value, piece.root) for piece, when in trimmed if when is not None]
    if len(kept) > 1:
        kept = [piece for piece in kept if not piece.when or facts.feasible(piece.when)]
    if not kept:  # never reached: any value will do
        return SymbolicNumber.of(0)
    if all((p.value, p.root) == (kept[0].value, kept[0].root) for p in kept):
        return SymbolicNumber((SymbolicCase((), kept[0].value, kept[0].root),))
    if len(kept) > MOST_CASES:
        names = SymbolicNumber(tuple(kept)).names
        return Unknown(_("too many cases ({kept})").format(kept=len(kept)), names=names)
    return SymbolicNumber(tuple(kept), extremum if len(kept) > 1 else None)


def combine(
    a: SymbolicNumber, b: SymbolicNumber, function: Callable[[AffineExpr, AffineExpr], AffineExpr], facts: Facts
) -> SymbolicNumber | Unknown:
    """``function`` of both, case by case. At most one of them is a pointer, except for a difference."""
    if a.single is not None and b.single is not None:
        return SymbolicNumber((SymbolicCase((), function(a.single, b.single), _root(a.pieces[0], b.pieces[0])),))
    found = [
        SymbolicCase((*x.when, *y.when), function(x.value, y.value), _root(x, y)) for x in a.pieces for y in b.pieces
    ]
    return pruned(found, facts)


def _root(a: SymbolicCase, b: SymbolicCase) -> int | None:
    if a.root is not None and b.root is not None:
        return None
    return a.root if b.root is None else b.root


def each(
    value: SymbolicNumber, function: Callable[[SymbolicCase], list[SymbolicCase]], facts: Facts
) -> SymbolicNumber | Unknown:
    """The number with each piece replaced by the pieces that ``function`` makes of it."""
    return pruned([new for piece in value.pieces for new in function(piece)], facts)


def opposite(constraint: Constraint) -> Formula:
    """The condition that ``constraint`` does not hold."""
    expression = constraint.expression
    below = Constraint(-expression - 1)
    return ((Constraint(expression - 1),), (below,)) if constraint.equality else ((below,),)


def simplified(cases: Formula, facts: Facts) -> Formula:
    """``cases`` without constraints that always hold, and without cases that never do."""
    kept: list[Case] = []
    for case in cases:
        trimmed = facts.trim(case)
        if trimmed == ():
            return TRUE
        if trimmed is not None and trimmed not in kept:
            kept.append(trimmed)
    return tuple(case for case in kept if len(kept) == 1 or facts.feasible(case))


def negation(truth: Truth, facts: Facts) -> Truth:
    """The negation of ``truth``, in cases that do not overlap."""
    if truth.unknown is not None:
        return Truth(TRUE, truth.unknown)
    result: Formula = TRUE
    for case in truth.cases:
        outside: list[Case] = []
        for position, constraint in enumerate(case):
            outside += [(*case[:position], *other) for other in opposite(constraint)]
        result = simplified(conjunction(result, tuple(outside)), facts)
        if len(result) > MOST_CASES:
            return Truth(TRUE, Unknown(_("a condition of too many cases")))
    return Truth(result)


def both(a: Truth, b: Truth, facts: Facts) -> Truth:
    """The conjunction of both."""
    return Truth(simplified(conjunction(a.cases, b.cases), facts), a.unknown or b.unknown)


def either(a: Truth, b: Truth, facts: Facts) -> Truth:
    """The disjunction of both."""
    return Truth(simplified((*a.cases, *b.cases), facts), a.unknown or b.unknown)


def choose(condition: Truth, yes: Value, no: Value, facts: Facts) -> Value:
    """``yes`` where ``condition`` holds, else ``no``."""
    if yes == no:
        return yes
    if condition.unknown is not None:
        if isinstance(yes, Truth) and isinstance(no, Truth):
            return Truth(either(yes, no, facts).cases, condition.unknown)  # one of them holds, but it is unknown which
        return condition.unknown
    if condition.cases == TRUE:
        return yes
    if not condition.cases:
        return no
    for side in (yes, no):
        if isinstance(side, Unknown):
            return side
    other = negation(condition, facts)
    if isinstance(yes, Truth) and isinstance(no, Truth):
        return either(both(condition, yes, facts), both(other, no, facts), facts)
    if other.unknown is not None or not (isinstance(yes, SymbolicNumber) and isinstance(no, SymbolicNumber)):
        return other.unknown or Unknown(_("a descriptor selected by a condition"))
    pieces = [
        SymbolicCase((*case, *piece.when), piece.value, piece.root)
        for cases, side in ((condition.cases, yes), (other.cases, no))
        for case in cases
        for piece in side.pieces
    ]
    return pruned(pieces, facts)


def substitute_formula(formula: Formula, values: Mapping[str, AffineExpr]) -> Formula:
    """``formula`` with symbols replaced."""
    return tuple(
        tuple(Constraint(c.expression.substitute(values), c.equality, c.text, c.span) for c in case) for case in formula
    )


def substitute(value: Value, values: Mapping[str, AffineExpr]) -> Value:
    """``value`` with symbols replaced."""
    if isinstance(value, Truth):
        return Truth(substitute_formula(value.cases, values), value.unknown)
    if not isinstance(value, SymbolicNumber):
        return value
    pieces = tuple(
        SymbolicCase(substitute_formula((p.when,), values)[0], p.value.substitute(values), p.root) for p in value.pieces
    )
    return SymbolicNumber(pieces, None if value.extremum is None else _substitute_extremum(value.extremum, values))


def _substitute_extremum(value: Extremum, values: Mapping[str, AffineExpr]) -> Extremum:
    parts: list[AffineExpr | Extremum | Piecewise] = []
    for part in value.arguments:
        assert not isinstance(part, Piecewise)  # a choice is cases of a symbolic number
        parts.append(part.substitute(values) if isinstance(part, AffineExpr) else _substitute_extremum(part, values))
    return Extremum(value.kind, tuple(parts))


def stand_in(reason: Unknown, type: Type, facts: Facts, root: int | None = None) -> Value:
    """An unknown value of a type, loaded from argument ``root``, if from memory.

    With `Facts.unknown`, an integer is a symbol, and a condition is that the symbol is 1.
    """
    if facts.unknown is None or not (type.is_integer or type.element == "index"):
        return Truth(TRUE, reason) if type.element == "i1" else reason
    value = facts.unknown.value(type, reason.reason, reason.op, facts.ranges, root)
    if type.element == "i1":
        return Truth(((Constraint(AffineExpr.of(value) - 1, equality=True),),))
    return SymbolicNumber.of(AffineExpr.of(value))


def carried(number: int, rank: int) -> str:
    """The symbol for a loop-carried block of ``rank``, until its form is found."""
    return f"_c{number}_{rank}"


def move_lanes(value: Value, lanes: Mapping[int, AffineExpr]) -> Value:
    """``value`` with its lane index along each axis replaced by a function of new lanes."""
    changed = {lane(axis): place for axis, place in lanes.items() if place != AffineExpr.of(lane(axis))}
    if not changed or isinstance(value, (Unknown, SymbolicDescriptor)):
        return value
    # The value of such a symbol in another lane is not known yet.
    if any(name.startswith("_c") and not name.endswith("_0") for name in value.names):
        return Unknown(_("a block that each iteration rearranges"))
    return substitute(value, changed)
