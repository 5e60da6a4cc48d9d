"""Pairs of conflicting accesses in different programs, as isl sets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import islpy as isl

from triton_lab.ir import effects
from triton_lab.ir.effects import RIVALS, Role, role_of
from triton_lab.localization import _
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
        stores = any(role_of(side.touch.op) is Role.STORE for side in sides)
        return stores or not any(effects.may_leave(side.touch.op) for side in sides)


def conflicts(scop: KernelScop) -> tuple[list[Conflict], list[str]]:
    """The pairs of accesses that conflict, and those (in words) that isl could not decide."""
    assert scop.launch is not None and scop.model is not None
    found: list[Conflict] = []
    undecided: list[str] = []
    every = reaches(scop.launch, scop.kernel_statements, scop.model.grid_formula())
    for first, second in combinations_with_replacement(every, 2):
        if first.memory != second.memory or role_of(second.touch.op) not in RIVALS[role_of(first.touch.op)]:
            continue
        try:
            with effort(
                _("lines {first} and {second}").format(first=first.statement.line, second=second.statement.line)
            ):
                found += [c for c in _pairs(scop, first, second) if not c.pairs.is_empty()]
        except TooHard as unanswered:
            undecided.append(str(unanswered))
    return found, undecided


def _pairs(scop: KernelScop, first: MemoryReach, second: MemoryReach) -> Iterator[Conflict]:
    """The conflict, by which side comes first in the grid."""
    assert scop.model is not None
    own = symbols_of(first, second) | {program(axis) for axis in scop.model.axes}
    programs = [program(axis) for axis in sorted(scop.model.axes, reverse=True)]  # the linear number counts x fastest
    for pairs, names in pairs_at_one_place(scop, first, second, own, programs):
        yield Conflict(first, second, pairs, names)


def pairs_at_one_place(
    scop: KernelScop, first: MemoryReach, second: MemoryReach, own: Collection[str], apart: Sequence[str]
) -> Iterator[tuple[isl.Set, tuple[str, ...]]]:
    """The pairs of instances that share a byte, and differ first in each of the symbols ``apart``; with their symbols.

    Each side has its ``own`` values of these symbols; the second side's end in an underscore. Both share all others.
    """
    other = {name: AffineExpr.of(f"{name}_") for name in sorted(own)}
    names = (*other, *(f"{name}_" for name in other), *sorted(symbols_of(first, second) - set(own)))
    gap = first.place - second.place.substitute(other)
    meet = conjunction(
        first.domain,
        substitute_formula(second.domain, other),
        # The bytes from both places on overlap.
        ((Constraint(gap, equality=True),),)
        if first.size == second.size == 1
        else ((Constraint(gap + (first.size - 1)), Constraint(-gap + (second.size - 1))),),
    )
    for different in _different(apart, same=first is second):
        formula = conjunction(meet, different)
        space = ", ".join(map(isl_name, names))
        pairs = isl.Set(
            f"{space_text(scop.parameters)}{{ [{space}] : {formula_text(conjunction(formula, (scop.context,)))} }}"
        )
        # Symbols that a side does not use would be unbounded.
        used = {n for case in formula for c in case for n in c.expression.names}
        for name in set(names) - used:
            place = pairs.find_dim_by_name(isl.dim_type.set, isl_name(name))
            pairs = pairs.fix_val(isl.dim_type.set, place, isl.Val(0))
        yield pairs, names


def symbols_of(*reaches: MemoryReach) -> set[str]:
    """The symbols in their places and domains, without parameters."""
    names = {n for reach in reaches for n in reach.place.names}
    names |= {n for reach in reaches for case in reach.domain for c in case for n in c.expression.names}
    return {name for name in names if name.startswith("_")}


def _different(symbols: Sequence[str], same: bool) -> Iterator[Formula]:
    """The condition that the two sides differ, by the first symbol in which they do."""
    distances = [AffineExpr.of(f"{name}_") - AffineExpr.of(name) for name in symbols]
    for position, distance in enumerate(distances):
        equal = [Constraint(each, equality=True) for each in distances[:position]]
        yield ((*equal, Constraint(distance - 1)),)
        if not same:
            yield ((*equal, Constraint(-distance - 1)),)
