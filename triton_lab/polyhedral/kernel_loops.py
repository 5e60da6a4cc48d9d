"""Loops on symbols: how often they go round, and what the values that go round with them are by then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from triton_lab.ir import Function, Op, Type

from . import conditions
from . import kernel_arithmetic as arithmetic
from .affine import Affine
from .conditions import TRUE, Constraint
from .kernel_facts import Facts
from .kernel_touch import Round
from .kernel_values import Number, Truth, Unknown, Value, carried, choose, pruned, substitute

if TYPE_CHECKING:
    from .kernel_walk import Environment, Path, Walk


def run_for(
    walk: Walk, function: Function, op: Op, operands: list[Value], environment: Environment, path: Path
) -> tuple[Value, ...]:
    """``scf.for``: its body once on symbols, its results."""
    lower, upper, step, *initial = operands
    (block,) = op.regions[0].blocks
    size = arithmetic.constant(step, path.facts) if isinstance(step, Number) else None
    unknown = next((value for value in (lower, upper, step) if isinstance(value, Unknown)), None)
    if unknown is None and (size is None or size <= 0):
        names = step.names if isinstance(step, Number) else frozenset()
        unknown = Unknown("a loop whose step is a variable", op.index, names)
    if unknown is not None:
        return _blind(walk, function, op, initial, environment, path, unknown)
    assert isinstance(lower, Number) and isinstance(upper, Number) and size is not None
    rounds = _rounds(lower, upper, size, path.facts)
    if isinstance(rounds, Unknown):
        return _blind(walk, function, op, initial, environment, path, rounds)
    most = max(path.facts.bounds(p.value)[1] for p in rounds.pieces)
    most_here = max(path.facts.bounds_here(p.value)[1] for p in rounds.pieces)
    if most <= 0:
        return tuple(initial)
    symbol = f"_t{walk.new_symbol()}"
    count = Number.of(symbol)
    ranged = path.facts.under(TRUE, **{symbol: ((0, most - 1), (0, max(0, most_here - 1)))})
    variable = arithmetic.add(lower, arithmetic.scaled(count, size), ranged)
    assert isinstance(variable, Number)
    going = arithmetic.compare("<", variable, upper, ranged)
    name = function.names[block.arguments[0]] or "iteration"
    plain = variable.value is not None and upper.value is not None
    bound = conditions.compare("<", variable.value, upper.value) if plain else going.cases  # type: ignore[arg-type]
    if most == 1:
        variable = lower
    inside = replace(
        path.under(going),
        facts=path.facts.under(going.cases, **{symbol: ((0, most - 1), (0, max(0, most_here - 1)))}),
        rounds=(*path.rounds, Round(op.index, symbol, name, lower, size, most_here, bound)),
    )
    forms = _forms(walk, function, op, variable, initial, environment, inside, symbol)
    ends = walk.region(function, op, 0, (variable, *forms), environment, inside)
    types = [function.types[number] for number in op.results]
    return tuple(
        _fitting(_after(symbol, first, form, end, rounds, path.facts), type, path.facts, op)
        for first, form, end, type in zip(initial, forms, ends, types, strict=True)
    )


def _rounds(lower: Number, upper: Number, step: int, facts: Facts) -> Number | Unknown:
    """How often the loop goes round: ``max(0, ceil((upper - lower) / step))``."""
    span = arithmetic.subtract(upper, lower, facts)
    if isinstance(span, Unknown):
        return span
    span = arithmetic.add(span, Number.of(step - 1), facts)
    assert isinstance(span, Number)
    whole = arithmetic.divide(span, Number.of(step), facts, "floor")
    return whole if isinstance(whole, Unknown) else arithmetic.extremum("max", whole, Number.of(0), facts)


def _forms(
    walk: Walk,
    function: Function,
    op: Op,
    variable: Number,
    initial: Sequence[Value],
    environment: Environment,
    path: Path,
    symbol: str,
) -> list[Value]:
    """What the values that go round are in round ``symbol``: found by running the body on unknowns."""
    (block,) = op.regions[0].blocks
    types = [function.types[number] for number in block.arguments[1:]]
    names = [carried(walk.new_symbol(), len(type.shape)) for type in types]
    guesses: list[Value] = []
    for name, first, type in zip(names, initial, types, strict=True):
        if isinstance(first, Number):
            roots = {piece.root for piece in first.pieces}
            guesses.append(Number.of(name, *roots) if len(roots) == 1 else Unknown("a pointer into several arguments"))
        else:
            reason = Unknown("a value that changes from round to round", op.index)
            guesses.append(Truth(TRUE, reason) if type.element == "i1" else reason)
    ends = _rehearse(walk, function, op, (variable, *guesses), environment, path)
    forms: list[Value] = list(guesses)
    solved: dict[str, Value] = {}
    while True:
        progress = False
        for k, name in enumerate(names):
            if name in solved:
                continue
            form = _form(name, initial[k], ends[k], symbol, path.facts.block(types[k].shape), solved)
            if form is not None:
                solved[name] = forms[k] = _fitting(form, types[k], path.facts, op)
                progress = True
        if not progress:
            break
    for k, name in enumerate(names):
        if name not in solved:
            end = ends[k]
            wanted = end.names if isinstance(end, (Number, Unknown)) else frozenset()
            why = next((v for v in (initial[k], end) if isinstance(v, Unknown) and v.op != op.index), None)
            reason = why or Unknown("a value that does not change by the same amount in every round", op.index, wanted)
            forms[k] = Truth(TRUE, reason) if types[k].element == "i1" else reason
    return forms


def _rehearse(
    walk: Walk, function: Function, op: Op, arguments: Sequence[Value], environment: Environment, path: Path
) -> tuple[Value, ...]:
    """What the body hands on, without keeping a record of its accesses."""
    recording = walk.recording
    walk.recording = False
    try:
        return walk.region(function, op, 0, arguments, environment, path)
    finally:
        walk.recording = recording


def _form(name: str, first: Value, end: Value, symbol: str, facts: Facts, solved: dict[str, Value]) -> Value | None:
    """The value in round ``symbol`` of what starts as ``first`` and is ``end`` after a round that began as ``name``."""
    if isinstance(end, Unknown) or isinstance(first, (Unknown,)):
        return None
    if isinstance(end, Number) and isinstance(first, Number):
        whole = end.single
        if whole is not None and whole.coefficients.get(name) == 1:
            change = whole - Affine.of(name)
            if change.is_constant and _roots(end) == _roots(first):
                moved = arithmetic.scaled(Number.of(symbol), change.constant)
                total = arithmetic.add(first, moved, facts)
                return total if isinstance(total, Number) else None
    for other, form in solved.items():
        if isinstance(end, (Number, Truth)) and other in end.names:
            whole = form.single if isinstance(form, Number) else None
            if whole is None:
                return None
            end = substitute(end, {other: whole})
    if not isinstance(end, (Number, Truth)) or any(n.startswith("_c") for n in end.names):
        return None
    if isinstance(end, Truth) and end.unknown is not None:
        return None
    # What the round before has left.
    before = substitute(end, {symbol: Affine.of(symbol) - 1})
    start = Truth(((Constraint(Affine.of(symbol), equality=True),),))
    found = choose(start, first, before, facts)
    return None if isinstance(found, Unknown) else found


def _fitting(value: Value, type: Type, facts: Facts, op: Op) -> Value:
    """``value``, unless it goes beyond its type."""
    if not isinstance(value, Number) or not type.is_integer:
        return value
    if arithmetic.fits(value, type.bits, facts.block(type.shape)):
        return value
    return Unknown(f"a number that wraps around at {type.bits} bits", op.index)


def _roots(number: Number) -> set[int | None]:
    return {piece.root for piece in number.pieces}


def _after(symbol: str, first: Value, form: Value, end: Value, rounds: Number, facts: Facts) -> Value:
    """What is left of a value after all rounds."""
    if isinstance(form, Truth):
        return form if symbol not in form.names else Truth(TRUE, Unknown("a value that changes from round to round"))
    if not isinstance(form, Number) or not isinstance(first, Number):
        return form
    if symbol not in form.names:
        return form
    if len(form.pieces) == len(first.pieces) and all(not _mentions(p.when, symbol) for p in form.pieces):
        pieces = []
        for total in rounds.pieces:
            there = substitute(form, {symbol: total.value})
            assert isinstance(there, Number)
            pieces += [replace(p, when=(*total.when, *p.when)) for p in there.pieces]
        return pruned(pieces, facts)
    if rounds.single is None or not isinstance(end, Number):
        return Unknown("a value that a loop leaves behind")
    last = substitute(end, {symbol: rounds.single - 1})
    never = Truth(((Constraint(rounds.single, equality=True),),))
    return choose(never, first, last, facts)


def _mentions(case: Sequence[Constraint], symbol: str) -> bool:
    return any(symbol in constraint.expression.names for constraint in case)


def _blind(
    walk: Walk,
    function: Function,
    op: Op,
    initial: Sequence[Value],
    environment: Environment,
    path: Path,
    reason: Unknown,
) -> tuple[Value, ...]:
    """A loop that goes round nobody knows how often: values that it changes are unknown in it."""
    count = Unknown("the variable of a loop whose bounds are not affine", op.index)
    inside = replace(path, unknown=path.unknown or reason, repeats=path.repeats or reason)
    kept = _kept(walk, function, op, count, initial, environment, inside)
    walk.region(function, op, 0, (count, *kept), environment, inside)
    return tuple(kept)


def _kept(
    walk: Walk,
    function: Function,
    op: Op,
    count: Value,
    initial: Sequence[Value],
    environment: Environment,
    path: Path,
) -> list[Value]:
    """The initial values that the loop hands on as they are; `Unknown` for the others."""
    (block,) = op.regions[0].blocks
    reason = Unknown("a value that changes in a loop of unknown length", op.index)
    blank = [_unknown_of(function, number, reason) for number in block.arguments[1:]]
    guesses = [
        Number.of(carried(walk.new_symbol(), len(function.types[number].shape)), *_roots(first))
        if isinstance(first, Number) and len(_roots(first)) == 1
        else nothing
        for first, nothing, number in zip(initial, blank, block.arguments[1:], strict=True)
    ]
    ends = _rehearse(walk, function, op, (count, *guesses), environment, path)
    return [
        first if isinstance(guess, Number) and end == guess else nothing
        for first, nothing, guess, end in zip(initial, blank, guesses, ends, strict=True)
    ]


def run_while(
    walk: Walk, function: Function, op: Op, operands: list[Value], environment: Environment, path: Path
) -> tuple[Value, ...]:
    """``scf.while``: nothing is known of how often it goes round."""
    reason = Unknown("a while loop", op.index)
    (before,), (after,) = (region.blocks for region in op.regions)
    values = [_unknown_of(function, number, reason) for number in before.arguments]
    inside = replace(path, repeats=path.repeats or reason)
    _, *passed = walk.region(function, op, 0, values, environment, inside)
    within = replace(inside, unknown=inside.unknown or reason)
    values = [_unknown_of(function, number, reason) for number in after.arguments]
    walk.region(function, op, 1, values, environment, within)
    return tuple(passed)


def _unknown_of(function: Function, number: int, reason: Unknown) -> Value:
    return Truth(TRUE, reason) if function.types[number].element == "i1" else reason
