"""Whether a kernel is race free: whether two programs access one element, and one of them writes it.

Atomics of different programs are serialised, so they do not race with each other; a plain load beside them may race.
The set of conflicting pairs is an isl set: if it is empty, that is a proof, and a point in it is a witness. The
launch's record decides where isl cannot, where an access is not affine, and where atomics may order accesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import islpy as isl

from triton_lab.launch.checks.analysis.barriers import results_used
from triton_lab.launch.checks.race.happens_before import hands_on, takes_over
from triton_lab.polyhedral.core.affine_expr import isl_name
from triton_lab.polyhedral.core.isl_effort import TooHard, effort
from triton_lab.polyhedral.core.iteration_domain import formula_text, space_text
from triton_lab.polyhedral.kernels.access_domain import instance
from triton_lab.polyhedral.kernels.argument_memory import MemoryReach
from triton_lab.polyhedral.kernels.races.conflict_pairs import Conflict, conflicts
from triton_lab.polyhedral.kernels.races.race_table import GENERAL_ROWS, LAUNCH_ROWS, Conflicting, General, row_for
from triton_lab.polyhedral.kernels.races.race_verdict import Encounter, Race, RaceVerdict
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import program

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.polyhedral.kernels.launch_scop import KernelScop


def races(scop: KernelScop) -> RaceVerdict:
    """The verdict on a launch, proved for as many sizes as possible; for the general scop, on its kernel."""
    return _in_general(scop) if scop.parameters else _of_launch(scop)


class LaunchEvidence:
    """The facts about a launch's races, each computed when it is read; see `race_table.LaunchFacts`."""

    def __init__(self, scop: KernelScop) -> None:
        assert scop.launch is not None
        self.scop = scop
        self.launch = scop.launch

    @property
    def verified(self) -> bool:
        return self.scop.verification.holds

    @cached_property
    def _conflicts(self) -> tuple[list[Conflict], list[str]]:
        return conflicts(self.scop)

    @property
    def conflicting(self) -> Conflicting:
        found, _ = self._conflicts
        return "sure" if any(conflict.sure for conflict in found) else "possible" if found else "none"

    @property
    def decided(self) -> bool:
        return not self._undecided

    @cached_property
    def _undecided(self) -> tuple[str, ...]:
        """What could hide a conflict."""
        blind = [g for g in self.scop.gaps if g.what == "address" and _may_matter(self.scop, g.argument)]
        return (*self._conflicts[1], *map(str, blind))

    @property
    def orderly(self) -> bool:
        return _orders(self.launch)

    @property
    def general(self) -> General:
        if not self.scop.general.parameters:
            return "none"
        found = self.scop.general.races
        return found.proof if found.free and (found.proof == "all sizes" or found.proof == "some sizes") else "none"

    @cached_property
    def recorded(self) -> bool:
        return _recorded(self.launch)

    def witnesses(self, which: Literal["none", "sure", "all"]) -> tuple[Race, ...]:
        """A pair for each conflict of this kind."""
        if which == "none":
            return ()
        found, _ = self._conflicts
        return tuple(_witness(self.scop, conflict) for conflict in found if conflict.sure or which == "all")

    def open(self) -> tuple[str, ...]:
        """The reasons why the model alone does not decide."""
        if not self.verified:
            return (f"the model {self.scop.verification}",)
        found, _ = self._conflicts
        gaps = [str(g) for c in found for side in (c.first, c.second) for g in side.statement.gaps]
        return tuple(dict.fromkeys((*self._undecided, *gaps)))


def _of_launch(scop: KernelScop) -> RaceVerdict:
    evidence = LaunchEvidence(scop)
    verdict = row_for(LAUNCH_ROWS, evidence).verdict
    if verdict.proof in ("all sizes", "some sizes"):
        return scop.general.races
    return RaceVerdict(
        verdict.free,
        verdict.proof,
        evidence.witnesses(verdict.witnesses),
        ordered=verdict.ordered,
        open=evidence.open() if verdict.proof == "this record" else (),
    )


class GeneralEvidence:
    """The facts about a kernel's races for symbolic sizes; see `race_table.GeneralFacts`."""

    def __init__(self, scop: KernelScop) -> None:
        self.scop = scop

    @property
    def affine(self) -> bool:
        return not any(gap.what == "address" for gap in self.scop.gaps)

    @cached_property
    def _conflicts(self) -> tuple[list[Conflict], list[str]]:
        return conflicts(self.scop)

    @property
    def decided(self) -> bool:
        return not self._conflicts[1]

    @property
    def conflicting(self) -> bool:
        return bool(self._conflicts[0])

    @cached_property
    def sizes(self) -> SafeSizes | TooHard:
        """The sizes for which no accesses conflict."""
        try:
            with effort("the sizes without a race"):
                return _safe_sizes(self.scop, self._conflicts[0])
        except TooHard as unanswered:
            return unanswered

    @property
    def solved(self) -> bool:
        return isinstance(self.sizes, SafeSizes)

    @property
    def free_here(self) -> bool:
        return isinstance(self.sizes, SafeSizes) and self.sizes.here

    def exact(self) -> bool:
        """Whether all conflicts that were found take place."""
        return all(conflict.sure for conflict in self._conflicts[0])

    def open(self) -> tuple[str, ...]:
        """The reasons why there is no proof."""
        if not self.affine:
            return tuple(str(gap) for gap in self.scop.gaps)
        return tuple(self._conflicts[1]) or (str(self.sizes),)


def _in_general(scop: KernelScop) -> RaceVerdict:
    """The verdict for symbolic sizes: for which of them there is no conflict."""
    assert scop.model is not None
    evidence = GeneralEvidence(scop)
    verdict = row_for(GENERAL_ROWS, evidence).verdict
    found = RaceVerdict(verdict.free, verdict.proof, parameters=scop.parameters, fixed=dict(scop.model.bound))
    if verdict.proof == "none":
        return replace(found, open=evidence.open())
    if verdict.proof == "some sizes" and isinstance(evidence.sizes, SafeSizes):
        return replace(found, condition=evidence.sizes.condition, exact=evidence.exact())
    return found


@dataclass(frozen=True)
class SafeSizes:
    """The ``condition`` on parameters under which nothing conflicts; ``here``: whether this launch fulfils it."""

    condition: isl.Set
    here: bool


def _safe_sizes(scop: KernelScop, found: list[Conflict]) -> SafeSizes:
    space = isl.Set(f"{space_text(scop.parameters)}{{ [] : {formula_text((scop.context,))} }}").params()
    bad = space.subtract(space)
    for conflict in found:
        bad = bad.union(conflict.pairs.params())
    good = space.subtract(bad.coalesce()).coalesce()
    here = good
    for name, value in scop.values.items():
        here = here.fix_val(isl.dim_type.param, here.find_dim_by_name(isl.dim_type.param, isl_name(name)), value)
    return SafeSizes(good.gist(space), not here.is_empty())


def _witness(scop: KernelScop, conflict: Conflict) -> Race:
    """The lexicographically first pair; if that is too hard to find, any pair."""
    try:
        with effort("the first pair"):
            point = conflict.pairs.lexmin().sample_point()
    except TooHard:
        point = conflict.pairs.sample_point()
    values = {
        name: int(point.get_coordinate_val(isl.dim_type.set, k).to_python()) for k, name in enumerate(conflict.names)
    }
    half = len(conflict.names) // 2
    one = {name: values[name] for name in conflict.names[:half]}
    other = {name[:-1]: values[name] for name in conflict.names[half:]}
    first, second = _encounter(scop, conflict.first, one), _encounter(scop, conflict.second, other)
    if first.program > second.program:
        first, second = second, first
    argument, element = _element(first)
    return Race(first, second, argument, element, _element(second)[0])


def _element(side: Encounter) -> tuple[str, tuple[int, ...]]:
    """The argument and the element that one side accesses."""
    access = next(a for a in side.statement.accesses if _contains(a.domain.set, side.point))
    place = dict(zip(side.statement.iterators, side.point, strict=True))
    return access.array, tuple(int(e.evaluate(place)) for e in access.expressions)


def _contains(domain: isl.Set, point: tuple[int, ...]) -> bool:
    for k, value in enumerate(point):
        domain = domain.fix_val(isl.dim_type.set, k, isl.Val(value))
    return not domain.is_empty()


def _encounter(scop: KernelScop, reach: MemoryReach, values: Mapping[str, Any]) -> Encounter:
    assert scop.launch is not None
    grid = scop.launch.grid
    x, y, z = (values.get(program(axis), 0) for axis in range(3))
    return Encounter(reach.statement, x + grid[0] * (y + grid[1] * z), instance(reach.statement, values), grid)


def _may_matter(scop: KernelScop, argument: str | None) -> bool:
    """Whether an access to ``argument`` at unknown places may be part of a race: only if a program writes there."""
    from triton_lab.polyhedral.kernels.argument_memory import memories

    assert scop.launch is not None
    others = [(s.argument, s.kind) for s in scop.kernel_statements] + [(g.argument, g.kind) for g in scop.gaps]
    starts = memories(scop.launch)
    if argument is None:
        return True
    here = {kind for name, kind in others if name is None or starts.get(name) == starts.get(argument)}
    return "store" in here or {"load", "atomic"} <= here


def _recorded(launch: Launch) -> bool:
    """Whether programs raced in the launch's record; stores of the same value count as a conflict, too."""
    return any(finding.kind in ("race", "same-value") for finding in launch.findings)


def _orders(launch: Launch) -> bool:
    """Whether the kernel has atomics that can order programs: one that releases and one that acquires."""
    plan = launch.executable.plan
    used = results_used(plan)
    return any(map(hands_on, plan.walk())) and any(takes_over(op, used) for op in plan.walk())
