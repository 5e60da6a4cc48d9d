"""Loop-carried values: their form in each iteration, found from what one iteration makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triton_lab.ir import Op, Type
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import Constraint
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic import symbolic_arithmetic as arithmetic
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import product
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Facts
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import (
    SymbolicNumber,
    Truth,
    Unknown,
    Value,
    choose,
    stand_in,
    substitute,
)


@dataclass(frozen=True)
class LoopCarried:
    """A loop-carried value: it starts as ``first``; an iteration that begins with ``name`` leaves ``end``."""

    name: str
    type: Type
    first: Value
    end: Value


def guess_of(name: str, type: Type, first: Value, op: Op, facts: Facts) -> Value:
    """The value at the start of an iteration, where only its first value is known."""
    if not isinstance(first, SymbolicNumber):
        return stand_in(Unknown(_("a value that changes in each iteration"), op.index), type, facts)
    roots = roots_of(first)
    return SymbolicNumber.of(name, *roots) if len(roots) == 1 else Unknown(_("a pointer into several arguments"))


def solved_forms(every: Sequence[LoopCarried], symbol: str, facts: Facts, op: Op) -> dict[str, Value]:
    """The values, by name, with a known form in iteration ``symbol``; each may use the forms found before it."""
    solved: dict[str, Value] = {}
    while True:
        before = len(solved)
        for value in every:
            form = None if value.name in solved else _form(value, symbol, facts.block(value.type.shape), solved)
            if form is not None:
                solved[value.name] = fitting(form, value.type, facts, op)
        if len(solved) == before:
            return solved


def without_form(value: LoopCarried, op: Op, facts: Facts) -> Value:
    """A value without a form: the reason lies before the loop, in the loop's body, or in how the value changes."""
    for known in (value.first, value.end):
        if isinstance(known, Unknown) and known.op != op.index:
            return stand_in(known, value.type, facts)
    names = value.end.names if isinstance(value.end, (SymbolicNumber, Unknown)) else frozenset()
    reason = Unknown(_("a value that does not change by the same amount in every iteration"), op.index, names)
    return stand_in(reason, value.type, facts)


def _form(value: LoopCarried, symbol: str, facts: Facts, solved: Mapping[str, Value]) -> Value | None:
    """The value in iteration ``symbol``; None if it is not known yet."""
    if isinstance(value.first, Unknown) or isinstance(value.end, Unknown):
        return None
    change = _change(value, symbol, facts)
    if change is not None:
        assert isinstance(value.first, SymbolicNumber)
        moved = SymbolicNumber.of(product(AffineExpr.of(symbol), change))
        total = arithmetic.add(value.first, moved, facts)
        return total if isinstance(total, SymbolicNumber) else None
    end = _in_terms_of_the_round(value.end, solved)
    return None if end is None else _left_by_the_round_before(value.first, end, symbol, facts)


def _change(value: LoopCarried, symbol: str, facts: Facts) -> AffineExpr | None:
    """The value's change per iteration, if it is the same in all of them; None if it is not."""
    first, end = value.first, value.end
    whole = end.single if isinstance(end, SymbolicNumber) and isinstance(first, SymbolicNumber) else None
    if whole is None or whole.coefficients.get(value.name) != 1:
        return None
    change = whole - AffineExpr.of(value.name)
    assert isinstance(first, SymbolicNumber) and isinstance(end, SymbolicNumber)
    varies = any(name == symbol or name.startswith("_c") for name in change.names)
    if varies or not (change.is_constant or facts.unknown is not None):
        return None
    return change if roots_of(end) == roots_of(first) else None


def _in_terms_of_the_round(end: Value, solved: Mapping[str, Value]) -> SymbolicNumber | Truth | None:
    """``end`` with other values' forms in place of their names; None if a name remains."""
    for other, form in solved.items():
        if isinstance(end, (SymbolicNumber, Truth)) and other in end.names:
            whole = form.single if isinstance(form, SymbolicNumber) else None
            if whole is None:
                return None
            end = substitute(end, {other: whole})
    if not isinstance(end, (SymbolicNumber, Truth)) or any(name.startswith("_c") for name in end.names):
        return None
    return None if isinstance(end, Truth) and end.unknown is not None else end


def _left_by_the_round_before(first: Value, end: SymbolicNumber | Truth, symbol: str, facts: Facts) -> Value | None:
    """The value that is ``first`` in iteration 0, and ``end`` of the previous iteration after that."""
    before = substitute(end, {symbol: AffineExpr.of(symbol) - 1})
    start = Truth(((Constraint(AffineExpr.of(symbol), equality=True),),))
    found = choose(start, first, before, facts)
    return None if isinstance(found, Unknown) else found


def fitting(value: Value, type: Type, facts: Facts, op: Op) -> Value:
    """``value``, or `Unknown` if it overflows its type."""
    if not isinstance(value, SymbolicNumber) or not type.is_integer:
        return value
    if arithmetic.fits(value, type.bits, facts.block(type.shape)):
        return value
    return stand_in(
        Unknown(_("a number that wraps around at {bits} bits").format(bits=type.bits), op.index), type, facts
    )


def roots_of(number: SymbolicNumber) -> set[int | None]:
    return {piece.root for piece in number.pieces}
