"""`Experiments`: all changes of a launch that may explain a wrong result, by how likely they are.

They follow from the kernel: each operation with its siblings, other operands in scope, other constants, loops,
conditions, casts, reductions and accesses. They are edits of one place, of operations from which the differing
elements are computed. Within a kind, the operations nearest to the store come first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.ir import effects, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.value_flow import conditions
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.matching.fitted_numbers import fitted_constants, fitted_factors
from triton_lab.launch.comparison.matching.number_matches import matches
from triton_lab.launch.comparison.mutations import grid_sizes, redirections
from triton_lab.launch.comparison.mutations.access_edits import AccessEdits
from triton_lab.launch.comparison.mutations.addressing import addresses
from triton_lab.launch.comparison.mutations.cast_edits import CastEdits
from triton_lab.launch.comparison.mutations.condition_edits import ConditionEdits
from triton_lab.launch.comparison.mutations.fold_edits import FoldEdits
from triton_lab.launch.comparison.mutations.index_edits import IndexEdits
from triton_lab.launch.comparison.mutations.loop_edits import LoopEdits
from triton_lab.launch.comparison.mutations.masked_lanes import left_out, masked_off, others
from triton_lab.launch.comparison.mutations.operand_edits import OperandEdits
from triton_lab.launch.comparison.mutations.operator_edits import OperatorEdits
from triton_lab.launch.comparison.mutations.order_edits import OrderEdits
from triton_lab.launch.comparison.mutations.unused_scalars import UnusedScalarEdits
from triton_lab.launch.comparison.number_formats import wide
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.comparison.replicas.replaced_values import ReplacedValues
from triton_lab.launch.comparison.sources.text_edits import repeated_edits, similar_edits, text_edits
from triton_lab.launch.comparison.stored_elements import StoreCoverage
from triton_lab.launch.comparison.time_budget import Effort

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# Switches of each of the first kinds, since each of them is run in full; and of those that are tried in pairs, too.
_MOST, _MOST_IN_PAIRS = 12, 32
_FITTED = 48  # bits that the expected numbers must have for one to be fitted to them


@dataclass(frozen=True)
class Experiments(
    OperatorEdits, OperandEdits, FoldEdits, LoopEdits, ConditionEdits, CastEdits, AccessEdits, OrderEdits,
    IndexEdits, UnusedScalarEdits,
):  # fmt: skip
    """The changes of one launch whose ``arguments`` differ from what was expected.

    ``coverage`` and ``plain`` are what its programs store, and the results. ``suspects`` gives the names of arguments
    of which wrong elements are loaded, as far as that is known.
    """

    coverage: StoreCoverage | None = None
    plain: Sequence[Compared] = ()
    suspects: Callable[[], Collection[str]] = tuple

    def usual(self, other: Launch | None) -> Iterator[Iterator[Switch]]:
        """The likeliest kinds, in groups of about the same likelihood, a few of each; ``other`` is another launch."""
        launch = self.launch
        masked = masked_off(launch)
        if self.untouched:
            yield self._grids()
        yield addresses(launch, other)
        yield _some(others(launch, masked), left_out(launch, masked), self.forgotten())
        yield _some(
            self.axes(),
            self.spread(),
            self.exchanged_stores(),
            self.scattered(),
            self.program_ids(),
            redirections.across(launch),
        )
        yield _some(self.comparisons(near=True), self.iterations(by_step=True))

    def rarer(self) -> Iterator[Iterator[Switch]]:
        """Kinds that may make a few numbers right by chance."""
        launch = self.launch
        yield _some(self.siblings(likely=True), self.exchanged(), self.negated(), self.folds(), most=_MOST_IN_PAIRS)
        kinds = (grid_sizes.arguments, grid_sizes.zeroed, redirections.stale)
        yield _some(self._grids(), *(kind(launch) for kind in kinds), most=_MOST_IN_PAIRS)
        yield _some(self.opposites(), self.constants(near=True), self.atomics(), self.carried(), most=_MOST_IN_PAIRS)
        yield _some(
            self.rescaled(),
            redirections.steps(launch),
            self.factors(everywhere=False),
            most=_MOST_IN_PAIRS,
        )
        yield _some(self.floored(), self.guards(), self.constants(near=False), most=_MOST_IN_PAIRS)

    def _grids(self) -> Iterator[Switch]:
        coverage = self.coverage or StoreCoverage.of(self.launch)
        yield from grid_sizes.grids(self.launch, coverage, coverage.needed(self.plain))

    @cached_property
    def untouched(self) -> bool:
        """Whether no program has stored what is wrong, so that what is stored elsewhere is of no matter."""
        return self.coverage is not None and self.coverage.untouched(self.plain)

    @cached_property
    def _placing(self) -> frozenset[int]:
        """The operations, by index, that decide where and whether programs store: addresses, masks, loops, branches."""
        flow, name = Flow.of(self.launch.executable.plan), self.function.name
        start = set(conditions(self.launch.executable.plan))
        nests = [op for op in self.function.walk() if op.regions and op.name not in traits.FOLDS]
        for op in (*nests, *self.stores):
            at = effects.operands_of(op) if op in self.stores else None
            values = {at.value, at.other} if at else set()
            taken = op.operands[:3] if op.name == "scf.for" else op.operands
            start |= {Value(name, one) for k, one in enumerate(taken) if k not in values}
        behind = flow.behind(start)
        found = [op for op in self.function.walk() if any(Value(name, one) in behind for one in op.results)]
        return frozenset(op.index for op in (*found, *nests, *self.stores))

    @cached_property
    def locating(self) -> frozenset[int]:
        """The operations, by index, that compute the addresses and masks of loads of ``suspects``."""
        names = set(self.suspects())
        loads = [op for op in self.function.walk() if effects.brings_in(op) and names & set(self.owners(op))]
        start = set()
        for op in loads:
            at = effects.operands_of(op)
            start |= {op.operands[k] for k in (at.address, at.mask, *at.coordinates) if k is not None}
        behind = Flow.of(self.launch.executable.plan).behind({Value(self.function.name, one) for one in start})
        found = [
            op for op in self.function.walk() if any(Value(self.function.name, one) in behind for one in op.results)
        ]
        return frozenset(op.index for op in (*found, *loads))

    def reaches(self, ops: Collection[int]) -> bool:
        """Elements that no program has stored want another place, not another value."""
        return not (self.untouched and self._placing.isdisjoint(ops))

    def roundings(self) -> Iterator[Switch]:
        """Those that change how exactly the kernel computes: casts, and narrow types."""
        return _all(self.casts(), self.accumulators(), self.wider())

    def derived(
        self, probe: Probe, effort: Effort, copies: bool = True, first: frozenset[int] = frozenset()
    ) -> Iterator[Iterator[Switch]]:
        """All that follow from the kernel, the likeliest kinds first; ``probe`` runs some programs.

        What costs more than ``effort`` allows is left out. ``copies``: also any expression in place of a value, of the
        operations ``first``, by index, before all others.
        """
        copies = copies and not self.untouched  # in copies of programs nothing is wrong then
        plain, replaced = list(probe.plain.values()), ReplacedValues(self, probe, effort, copies, first)
        fits = effort.bits > _FITTED  # a number that is made to fit explains a few elements by chance
        yield _all(self.variables(alike=True, stored=True), self.made_of_unused())
        if effort.cost == math.inf:
            yield similar_edits(self)
        if copies:
            yield replaced.forgotten()
        if copies:
            yield from replaced.located()
        yield self.variables(alike=True, in_name=True)
        yield _all(
            self.comparisons(near=True), self.siblings(likely=True), self.exchanged(), self.orders(), self.negated()
        )
        if copies:
            yield replaced.others()
        yield _all(self.unplaced(), self.swapped(), self.starts(), self.combined(), self.roundings())
        # Whole numbers first, of which addresses and loops are made: most slips are there.
        if copies:
            yield replaced.simple(floats=False)
            yield replaced.simple(floats=True)
        *likely, of_two = matches(self, probe) if effort.cost == math.inf else (iter(()),)
        yield from likely
        yield self.constants(near=True)
        if fits:
            yield fitted_factors(self, probe, ratios=False)
        covered = replaced.is_done  # whether another value was put in each place
        if not covered:
            yield self.variables(alike=False, stored=True)
            yield self.factors(everywhere=False)
            yield self.variables(alike=True)
        yield self.opposites()
        if fits:
            yield fitted_constants(self, probe)
        # Beside a known cause texts would take the time of the others.
        *likely, rare = (effort.cost == math.inf and text_edits(self)) or (iter(()),)
        yield from likely
        yield self.handed_on()
        if copies:
            yield replaced.composed()
        yield _all(self.elements_on(), self.shifted(), self.offsets())
        yield rare
        yield self.constants(near=False)
        yield of_two
        yield _all(self.left_out(), self.iterations(by_step=False))
        yield _all(self.comparisons(near=False), self.siblings(likely=False))
        if not replaced.is_done:
            yield _all(self.masks(), self.bounds())
            yield self.factors(everywhere=True)
            yield self.neighbours()
            yield self.functions()
            yield self.variables(alike=False)
            yield self.strides()
            yield _all(self.turned(), self.parts())
        if effort.cost == math.inf:
            yield repeated_edits(self)
        yield self.choices(_all_alike(plain))
        # A last step may stand for many slips before it.
        if fits:
            yield fitted_factors(self, probe, ratios=True)


def _some(*kinds: Iterable[Switch], most: int = _MOST) -> Iterator[Switch]:
    for kind in kinds:
        yield from islice(kind, most)


def _all(*kinds: Iterable[Switch]) -> Iterator[Switch]:
    for kind in kinds:
        yield from kind


def _all_alike(plain: Sequence[Compared]) -> list[float]:
    """The number that all wrong elements of an argument should have been."""
    found = []
    for one in plain:
        expected = np.unique(np.asarray(wide(one.b))[~np.asarray(one.explained)])
        if len(expected) == 1 and not np.isnan(expected[0]):
            found.append(float(expected[0]))
    return found
