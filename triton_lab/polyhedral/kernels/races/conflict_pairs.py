"""Pairs of conflicting accesses in different programs, as isl sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import islpy as isl

from triton_lab.ir import effects
from triton_lab.polyhedral.core.affine_conditions import Constraint, Formula, conjunction
from triton_lab.polyhedral.core.affine_expr import AffineExpr, isl_name
from triton_lab.polyhedral.core.isl_effort import TooHard, effort
from triton_lab.polyhedral.core.iteration_domain import formula_text, space_text
from triton_lab.polyhedral.kernels.argument_memory import MemoryReach, reaches
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import program
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import substitute_formula

if TYPE_CHECKING:
    from triton_lab.polyhedral.kernels.launch_scop import KernelScop


@dataclass(frozen=True)
class Conflict:
    """All conflicting instances of two accesses in different programs, as a set over both sides' symbols.

    The second side's symbols end in an underscore.
    """

    first: MemoryReach
    second: MemoryReach
    pairs: isl.Set
    names: tuple[str, ...]

    @property
    def sure(self) -> bool:
        """Whether the pairs certainly take place: a compare-and-swap beside a load may not have written anything."""
        sides = (self.first, self.second)
        if not all(side.statement.exact for side in sides):
            return False
        return any(_stores(side) for side in sides) or not any(effects.may_leave(side.touch.op) for side in sides)


def conflicts(scop: KernelScop) -> tuple[list[Conflict], list[str]]:
    """The pairs of accesses that conflict, and those (in words) that isl could not decide."""
    assert scop.launch is not None and scop.model is not None
    found: list[Conflict] = []
    undecided: list[str] = []
    every = reaches(scop.launch, scop.kernel_statements, scop.model.grid_formula())
    for first, second in combinations_with_replacement(every, 2):
        if first.memory != second.memory or not _conflicting(first, second):
            continue
        try:
            with effort(f"lines {first.statement.line} and {second.statement.line}"):
                found += [c for c in _pairs(scop, first, second) if not c.pairs.is_empty()]
        except TooHard as unanswered:
            undecided.append(str(unanswered))
    return found, undecided


def _conflicting(first: MemoryReach, second: MemoryReach) -> bool:
    """Whether two programs must not do this at one place.

    That holds if one of them stores without an atomic, or loads what the other updates.
    """
    if _stores(first) or _stores(second):
        return True
    return (_loads(first) and _updates(second)) or (_loads(second) and _updates(first))


def _stores(reach: MemoryReach) -> bool:
    return effects.is_plain_store(reach.touch.op)


def _updates(reach: MemoryReach) -> bool:
    return effects.is_shared_update(reach.touch.op)


def _loads(reach: MemoryReach) -> bool:
    return effects.is_plain_load(reach.touch.op)


def _pairs(scop: KernelScop, first: MemoryReach, second: MemoryReach) -> Iterator[Conflict]:
    """The conflict, by which side comes first in the grid."""
    assert scop.model is not None
    names = sorted(names_of(first) | names_of(second) | {program(axis) for axis in scop.model.axes})
    names = [name for name in names if name.startswith("_")]
    other = {name: AffineExpr.of(f"{name}_") for name in names}
    gap = first.place - second.place.substitute(other)
    meet = conjunction(
        first.domain,
        substitute_formula(second.domain, other),
        # The bytes from both places on overlap.
        ((Constraint(gap, equality=True),),)
        if first.size == second.size == 1
        else ((Constraint(gap + (first.size - 1)), Constraint(-gap + (second.size - 1))),),
    )
    for apart in _different(scop.model.axes, same=first is second):
        formula = conjunction(meet, apart)
        space = ", ".join(isl_name(n) for n in (*names, *(f"{n}_" for n in names)))
        pairs = isl.Set(
            f"{space_text(scop.parameters)}{{ [{space}] : {formula_text(conjunction(formula, (scop.context,)))} }}"
        )
        # Symbols that a side does not use would be unbounded.
        used = {n for case in formula for c in case for n in c.expression.names}
        for name in (*names, *(f"{n}_" for n in names)):
            if name not in used:
                pairs = pairs.fix_val(
                    isl.dim_type.set, pairs.find_dim_by_name(isl.dim_type.set, isl_name(name)), isl.Val(0)
                )
        yield Conflict(first, second, pairs, (*names, *(f"{n}_" for n in names)))


def names_of(reach: MemoryReach) -> set[str]:
    """The symbols in its place and its domain."""
    return set(reach.place.names).union(*(c.expression.names for case in reach.domain for c in case))


def _different(axes: tuple[int, ...], same: bool) -> Iterator[Formula]:
    """The condition that the programs differ, by the first axis in which they do."""
    order = sorted(axes, reverse=True)  # the linear number counts x fastest
    for position, axis in enumerate(order):
        equal = [
            Constraint(AffineExpr.of(program(k)) - AffineExpr.of(f"{program(k)}_"), equality=True)
            for k in order[:position]
        ]
        distance = AffineExpr.of(f"{program(axis)}_") - AffineExpr.of(program(axis))
        yield ((*equal, Constraint(distance - 1)),)
        if not same:
            yield ((*equal, Constraint(-distance - 1)),)
