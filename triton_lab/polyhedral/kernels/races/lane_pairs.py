"""Whether lanes of one program store to one element with one operation.

If no pair of lanes does, whatever the data, that is a proof. If some do, the launch's record shows whether they store
the same value.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core.isl_effort import TooHard, effort
from triton_lab.polyhedral.kernels.access_statement import KernelStatement
from triton_lab.polyhedral.kernels.argument_memory import MemoryReach, reaches
from triton_lab.polyhedral.kernels.races.conflict_pairs import pairs_at_one_place, symbols_of
from triton_lab.polyhedral.kernels.races.race_verdict import Collisions
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import lane, program

if TYPE_CHECKING:
    from triton_lab.polyhedral.kernels.launch_scop import KernelScop


def collisions(scop: KernelScop) -> Collisions:
    """The verdict for the launch's sizes; for the general scop, for all sizes that its context allows."""
    assert scop.launch is not None and scop.model is not None
    found: dict[str, KernelStatement] = {}
    undecided = [str(gap) for gap in scop.gaps if gap.what == "address" and gap.kind == "store"]
    every = reaches(scop.launch, scop.kernel_statements, scop.model.grid_formula())
    for first, second in combinations_with_replacement(
        [reach for reach in every if reach.statement.kind == "store"], 2
    ):
        if first.statement is not second.statement or first.memory != second.memory:
            continue
        try:
            with effort(_("lanes of line {line}").format(line=first.statement.line)):
                if any(not pairs.is_empty() for pairs, _axes in _pairs(scop, first, second)):
                    found[first.statement.name] = first.statement
        except TooHard as unanswered:
            undecided.append(str(unanswered))
    stores = tuple(found.values())
    return Collisions(not stores and not undecided, stores, all(s.exact for s in stores), tuple(undecided))


def _pairs(scop: KernelScop, first: MemoryReach, second: MemoryReach) -> Iterator[tuple[isl.Set, tuple[str, ...]]]:
    """The pairs of lanes of a program that share a byte, by the first axis in which they differ."""
    assert first.touch.path is not None
    lanes = [lane(axis) for axis in range(len(first.statement.block))]
    # Both lanes are in one program and in the same iteration of its loops; all that is computed from lanes differs.
    shared = {program(axis) for axis in range(3)} | {each.symbol for each in first.touch.path.rounds}
    own = {*lanes, *(symbols_of(first, second) - shared)}
    yield from pairs_at_one_place(scop, first, second, own, lanes)
