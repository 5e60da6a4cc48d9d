"""Loops on symbols: the number of iterations, and the loop-carried values in and after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from triton_lab.ir import Block, Function, Op, Type
from triton_lab.localization import _
from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.affine_conditions import TRUE, Constraint
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic import symbolic_arithmetic as arithmetic
from triton_lab.polyhedral.kernels.symbolic.control_path import Path, Round
from triton_lab.polyhedral.kernels.symbolic.loop_carried import (
    LoopCarried,
    fitting,
    guess_of,
    roots_of,
    solved_forms,
    without_form,
)
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import product
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Facts
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import (
    SymbolicNumber,
    Truth,
    Unknown,
    Value,
    carried,
    choose,
    pruned,
    stand_in,
    substitute,
)

Environment = dict[int, Value]


class Runner(Protocol):
    """The walk that runs a loop's body."""

    def new_symbol(self) -> int: ...
    def region(
        self, function: Function, op: Op, number: int, arguments: Sequence[Value], environment: Environment, path: Path
    ) -> tuple[Value, ...]: ...


@dataclass(frozen=True)
class _Loop:
    """A loop operation, at the place where the walk reaches it."""

    walk: Runner
    function: Function
    op: Op
    environment: Environment
    path: Path

    @property
    def block(self) -> Block:
        """The body; its first argument is the loop's variable, the others are loop-carried."""
        (block,) = self.op.regions[0].blocks
        return block

    @property
    def types(self) -> list[Type]:
        """The types of the loop-carried values."""
        return [self.function.types[number] for number in self.block.arguments[1:]]

    def run(self, arguments: Sequence[Value], path: Path) -> tuple[Value, ...]:
        """Run the body once; returns the values that it yields."""
        return self.walk.region(self.function, self.op, 0, arguments, self.environment, path)

    def rehearse(self, arguments: Sequence[Value], path: Path) -> tuple[Value, ...]:
        """Run the body without recording its accesses; returns the values that it yields."""
        return self.run(arguments, replace(path, rehearsal=True))

    def new_name(self, type: Type) -> str:
        """A symbol for a value of this type at the start of an iteration."""
        return carried(self.walk.new_symbol(), len(type.shape))


def run_for(
    walk: Runner, function: Function, op: Op, operands: list[Value], environment: Environment, path: Path
) -> tuple[Value, ...]:
    """Run ``scf.for``: its body once on symbols; returns its results."""
    loop = _Loop(walk, function, op, environment, path)
    lower, upper, step, *initial = operands
    bounds = _bounds(lower, upper, step, path.facts, op)
    if isinstance(bounds, Unknown):
        return _blind(loop, initial, bounds)
    if bounds.most <= 0:
        return tuple(initial)
    symbol = f"_t{walk.new_symbol()}"
    variable, inside = _inside(loop, bounds, symbol)
    forms = _forms(loop, variable, initial, inside, symbol)
    ends = loop.run((variable, *forms), inside)
    types = [function.types[number] for number in op.results]
    return tuple(
        fitting(_after(symbol, first, form, end, bounds.rounds, path.facts), type, path.facts, op)
        for first, form, end, type in zip(initial, forms, ends, types, strict=True)
    )


@dataclass(frozen=True)
class _Bounds:
    """The bounds of a loop from ``lower`` to below ``upper``, with its number of iterations ``rounds``.

    ``size`` is its ``step`` as a number, and 1 for a step that is no number.
    It iterates at most ``most`` times for all sizes, and at most ``most_here`` times for this launch's sizes.
    """

    lower: SymbolicNumber
    upper: SymbolicNumber
    step: SymbolicNumber
    size: int
    rounds: SymbolicNumber
    most: float
    most_here: float


def _bounds(lower: Value, upper: Value, step: Value, facts: Facts, op: Op) -> _Bounds | Unknown:
    """The bounds of a loop, or why they are unknown."""
    for value in (lower, upper, step):
        if isinstance(value, Unknown):
            return value
    assert isinstance(lower, SymbolicNumber) and isinstance(upper, SymbolicNumber) and isinstance(step, SymbolicNumber)
    size = arithmetic.constant(step, facts)
    if size is None and facts.unknown is not None and step.single is not None and facts.bounds(step.single)[0] >= 1:
        size = 1  # of the loop over iterations
    elif size is None or size <= 0:
        return Unknown(_("a loop whose step is a variable"), op.index, step.names)
    rounds = _rounds(lower, upper, step, facts)
    if isinstance(rounds, Unknown):
        return rounds
    most = max(facts.bounds(piece.value)[1] for piece in rounds.pieces)
    most_here = max(facts.bounds_here(piece.value)[1] for piece in rounds.pieces)
    return _Bounds(lower, upper, step, size, rounds, most, most_here)


def _inside(loop: _Loop, bounds: _Bounds, symbol: str) -> tuple[SymbolicNumber, Path]:
    """The loop's variable in iteration ``symbol``, and the path to its body."""
    path, lower, upper, step = loop.path, bounds.lower, bounds.upper, bounds.step
    ranges = {symbol: ((0, bounds.most - 1), (0, max(0, bounds.most_here - 1)))}
    ranged = path.facts.under(TRUE, **ranges)
    assert step.single is not None
    moved = SymbolicNumber.of(product(AffineExpr.of(symbol), step.single))
    variable = arithmetic.add(lower, moved, ranged)
    assert isinstance(variable, SymbolicNumber)
    going = arithmetic.compare("<", variable, upper, ranged)
    plain = variable.value is not None and upper.value is not None
    bound = affine_conditions.compare("<", variable.value, upper.value) if plain else going.cases  # type: ignore[arg-type]
    name = loop.function.names[loop.block.arguments[0]] or "iteration"
    inside = replace(
        path.under(going),
        facts=path.facts.under(going.cases, **ranges),
        rounds=(*path.rounds, Round(loop.op.index, symbol, name, lower, bounds.size, bounds.most_here, bound)),
    )
    return lower if bounds.most == 1 else variable, inside


def _rounds(
    lower: SymbolicNumber, upper: SymbolicNumber, step: SymbolicNumber, facts: Facts
) -> SymbolicNumber | Unknown:
    """The number of iterations: ``max(0, ceil((upper - lower) / step))``."""
    span = arithmetic.subtract(upper, lower, facts)
    if isinstance(span, Unknown):
        return span
    assert step.single is not None
    span = arithmetic.add(span, SymbolicNumber.of(step.single - 1), facts)
    assert isinstance(span, SymbolicNumber)
    whole = arithmetic.divide(span, step, facts, "floor")
    return whole if isinstance(whole, Unknown) else arithmetic.extremum("max", whole, SymbolicNumber.of(0), facts)


def _forms(loop: _Loop, variable: SymbolicNumber, initial: Sequence[Value], path: Path, symbol: str) -> list[Value]:
    """The loop-carried values in iteration ``symbol``, found by running the body on unknowns."""
    names = [loop.new_name(type) for type in loop.types]
    guesses = [guess_of(*one, loop.op, path.facts) for one in zip(names, loop.types, initial, strict=True)]
    ends = loop.rehearse((variable, *guesses), path)
    every = [LoopCarried(*one) for one in zip(names, loop.types, initial, ends, strict=True)]
    solved = solved_forms(every, symbol, path.facts, loop.op)
    return [solved[value.name] if value.name in solved else without_form(value, loop.op, path.facts) for value in every]


def _after(symbol: str, first: Value, form: Value, end: Value, rounds: SymbolicNumber, facts: Facts) -> Value:
    """A loop-carried value after all iterations."""
    if isinstance(form, Truth):
        return form if symbol not in form.names else Truth(TRUE, Unknown(_("a value that changes in each iteration")))
    if not isinstance(form, SymbolicNumber) or not isinstance(first, SymbolicNumber):
        return form
    if symbol not in form.names:
        return form
    if len(form.pieces) == len(first.pieces) and all(not _mentions(p.when, symbol) for p in form.pieces):
        pieces = []
        for total in rounds.pieces:
            there = substitute(form, {symbol: total.value})
            assert isinstance(there, SymbolicNumber)
            pieces += [replace(p, when=(*total.when, *p.when)) for p in there.pieces]
        return pruned(pieces, facts)
    if rounds.single is None or not isinstance(end, SymbolicNumber):
        return Unknown(_("a value after a loop"))
    last = substitute(end, {symbol: rounds.single - 1})
    never = Truth(((Constraint(rounds.single, equality=True),),))
    return choose(never, first, last, facts)


def _mentions(case: Sequence[Constraint], symbol: str) -> bool:
    return any(symbol in constraint.expression.names for constraint in case)


def _blind(loop: _Loop, initial: Sequence[Value], reason: Unknown) -> tuple[Value, ...]:
    """Run a loop with an unknown number of iterations: values that it changes are unknown in it."""
    path = loop.path
    count = Unknown(_("the variable of a loop whose bounds are not affine"), loop.op.index)
    inside = replace(path, unknown=path.unknown or reason, repeats=path.repeats or reason)
    kept = _kept(loop, count, initial, inside)
    loop.run((count, *kept), inside)
    return tuple(kept)


def _kept(loop: _Loop, count: Value, initial: Sequence[Value], path: Path) -> list[Value]:
    """The initial values that the loop does not change; `Unknown` for the others."""
    reason = Unknown(_("a value that changes in a loop of unknown length"), loop.op.index)
    blank = [stand_in(reason, type, path.facts) for type in loop.types]
    guesses = [
        SymbolicNumber.of(loop.new_name(type), *roots_of(first))
        if isinstance(first, SymbolicNumber) and len(roots_of(first)) == 1
        else nothing
        for first, nothing, type in zip(initial, blank, loop.types, strict=True)
    ]
    ends = loop.rehearse((count, *guesses), path)
    return [
        first if isinstance(guess, SymbolicNumber) and end == guess else nothing
        for first, nothing, guess, end in zip(initial, blank, guesses, ends, strict=True)
    ]


def run_while(walk: Runner, function: Function, op: Op, environment: Environment, path: Path) -> tuple[Value, ...]:
    """Run ``scf.while``, whose number of iterations is unknown."""
    reason = Unknown("a while loop", op.index)
    (before,), (after,) = (region.blocks for region in op.regions)
    values = [stand_in(reason, function.types[number], path.facts) for number in before.arguments]
    inside = replace(path, repeats=path.repeats or reason)
    _, *passed = walk.region(function, op, 0, values, environment, inside)
    within = replace(inside, unknown=inside.unknown or reason)
    values = [stand_in(reason, function.types[number], path.facts) for number in after.arguments]
    walk.region(function, op, 1, values, environment, within)
    return tuple(passed)
