"""Whether programs keep apart for every size: no two of them access one element that one of them writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement
from typing import NamedTuple

from triton_lab.ir.effects import RIVALS, role_of
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import Constraint, conjunction
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.isl_effort import TooHard
from triton_lab.polyhedral.kernels.access_domain import symbol_domain
from triton_lab.polyhedral.kernels.argument_memory import memories
from triton_lab.polyhedral.kernels.element_coordinates import elements
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import Interval
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Case, program
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicCase, Unknown, substitute_formula
from triton_lab.polyhedral.proofs.access_bounds import lanes_of
from triton_lab.polyhedral.proofs.proof import PROVED, REFUTED, UNKNOWN, PropertyProof
from triton_lab.polyhedral.proofs.proof_model import ProofModel
from triton_lab.polyhedral.proofs.refutation import with_numbers


class _Reach(NamedTuple):
    """One way in which an access reaches an argument."""

    touch: SymbolicAccess
    piece: SymbolicCase
    argument: str


def race_proof(model: ProofModel) -> PropertyProof:
    """Whether programs keep apart. Tensors that share no memory in the launch are taken to share none."""
    single = all(extent == AffineExpr((), 1) for extent in model.grid)
    reaches: list[_Reach] = []
    for touch in model.touches:
        if isinstance(touch.pointer, Unknown):
            if single:
                continue
            return _unknown(model, touch, touch.pointer.reason)
        for piece in touch.pointer.pieces:
            if piece.root is None:
                return _unknown(model, touch, _("its pointer belongs to no argument"))
            reaches.append(_Reach(touch, piece, model.launch.plan_arguments[piece.root].name))
    starts = memories(model.launch)
    for first, second in combinations_with_replacement(reaches, 2):
        if single or role_of(second.touch.op) not in RIVALS[role_of(first.touch.op)]:
            continue
        if first.argument != second.argument:
            if model.sizes.sized and starts.get(first.argument) == starts.get(second.argument):
                names = _("{one} and {other} share memory").format(one=first.argument, other=second.argument)
                return _unknown(model, first.touch, names)
            continue
        try:
            meet = any(model.possible(case, lanes) for case, lanes in _meetings(model, first, second))
        except TooHard:
            return _unknown(model, first.touch, _("it took too long"))
        if meet:
            return _open(model, first, second)
    return PropertyProof("races", PROVED)


def may_race(model: ProofModel, numbers: Mapping[str, AffineExpr]) -> bool:
    """Whether programs may access one element of a tensor for these sizes, as far as addresses are known.

    Raises TooHard.
    """
    reaches = [
        _Reach(touch, piece, model.launch.plan_arguments[piece.root].name)
        for touch in model.touches
        if not isinstance(touch.pointer, Unknown)
        for piece in touch.pointer.pieces
        if piece.root is not None
    ]
    return any(
        model.possible(with_numbers(case, numbers), lanes)
        for first, second in combinations_with_replacement(reaches, 2)
        if role_of(second.touch.op) in RIVALS[role_of(first.touch.op)] and first.argument == second.argument
        for case, lanes in _meetings(model, first, second)
    )


def _open(model: ProofModel, first: _Reach, second: _Reach) -> PropertyProof:
    """Refuted if the launch's record has a race, else not known."""
    lines = [model.launch.lines.get(one.touch.op.index) for one in (first, second)]
    numbers = sorted({one.line for one in lines if one is not None})
    if model.launch.tape is not None:
        for finding in model.launch.findings:
            if finding.kind in ("race", "same-value"):
                return PropertyProof("races", REFUTED, finding.message, finding.argument, finding.line)
    reason = _("whether two programs access one element of {argument} (line {lines})").format(
        argument=first.argument, lines=", ".join(map(str, numbers))
    )
    return PropertyProof("races", UNKNOWN, reason, first.argument, numbers[0] if numbers else None)


def _unknown(model: ProofModel, touch: SymbolicAccess, reason: str) -> PropertyProof:
    line = model.launch.lines.get(touch.op.index)
    return PropertyProof("races", UNKNOWN, reason, line=None if line is None else line.line)


def _meetings(model: ProofModel, first: _Reach, second: _Reach) -> Iterator[tuple[Case, dict[str, Interval]]]:
    """The conditions under which two programs access one element, with the ranges of their symbols."""
    grid = model.grid_formula()
    lanes = {**lanes_of(first.touch)}
    second_lanes = lanes_of(second.touch)
    own = {*lanes, *second_lanes, *(program(axis) for axis in range(3))}
    other = {name: AffineExpr.of(f"{name}_") for name in own}
    lanes |= {f"{name}_": bounds for name, bounds in second_lanes.items()}
    lanes |= {f"{program(axis)}_": model.ranges[program(axis)] for axis in range(3)}
    one = conjunction(symbol_domain(first.touch, grid), (first.piece.when,))
    two = substitute_formula(conjunction(symbol_domain(second.touch, grid), (second.piece.when,)), other)
    place, there = _places(model, first, second)
    gap = place - there.substitute(other)
    sizes = (first.touch.itemsize, second.touch.itemsize)
    unit = sizes[0] if sizes[0] == sizes[1] and _whole(model, first, second) else 1
    meet = (
        (Constraint(gap, equality=True),)
        if unit > 1 or sizes == (1, 1)
        else (Constraint(gap + sizes[0] - 1), Constraint(-gap + sizes[1] - 1))
    )
    distances = [AffineExpr.of(f"{program(axis)}_") - AffineExpr.of(program(axis)) for axis in (2, 1, 0)]
    for position, distance in enumerate(distances):
        if model.grid[2 - position] == AffineExpr((), 1):
            continue
        equal = [Constraint(each, equality=True) for each in distances[:position]]
        signs = (1,) if first is second else (1, -1)
        for sign in signs:
            for case in conjunction(one, two, ((*meet, *equal, Constraint(distance * sign - 1)),)):
                yield case, lanes


def _whole(model: ProofModel, first: _Reach, second: _Reach) -> bool:
    size = first.touch.itemsize
    return all(elements(one.piece.value, size) is not None for one in (first, second))


def _places(model: ProofModel, first: _Reach, second: _Reach) -> tuple[AffineExpr, AffineExpr]:
    """Both places, in elements if that is possible, else in bytes."""
    size = first.touch.itemsize
    if first.touch.itemsize == second.touch.itemsize and _whole(model, first, second):
        one, other = elements(first.piece.value, size), elements(second.piece.value, size)
        assert one is not None and other is not None
        return one, other
    return first.piece.value, second.piece.value
