"""Whether a kernel is race free: whether two programs access one element, and one of them writes it.

Atomics of different programs are serialised, so they do not race with each other; a plain load beside them may race.
The set of conflicting pairs is an isl set: if it is empty, that is a proof, and a point in it is a witness. The
launch's record decides where isl cannot, where an access is not affine, and where atomics may order accesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import islpy as isl

from triton_lab.launch.checks.race.barriers import results_used
from triton_lab.launch.checks.race.happens_before import hands_on, takes_over
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_expr import isl_name
from triton_lab.polyhedral.core.isl_effort import TooHard, effort
from triton_lab.polyhedral.core.iteration_domain import formula_text, space_text
from triton_lab.polyhedral.kernels.access_domain import instance
from triton_lab.polyhedral.kernels.argument_memory import MemoryReach
from triton_lab.polyhedral.kernels.races.conflict_pairs import Conflict, conflicts
from triton_lab.polyhedral.kernels.races.race_verdict import Encounter, Race, RaceVerdict
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import program

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.polyhedral.kernels.launch_scop import KernelScop


def races(scop: KernelScop) -> RaceVerdict:
    """The verdict on a launch, proved for as many sizes as possible; for the general scop, on its kernel."""
    return _in_general(scop) if scop.parameters else _of_launch(scop)


def _of_launch(scop: KernelScop) -> RaceVerdict:
    launch = scop.launch
    assert launch is not None
    if not scop.verification.holds:  # a model that contradicts the record proves nothing
        return RaceVerdict(not _recorded(launch), "this record", open=(f"the model {scop.verification}",))
    found, unanswered = conflicts(scop)
    blind = [str(g) for g in scop.gaps if g.what == "address" and _may_matter(scop, g.argument)]
    if not found and not unanswered and not blind:
        return _free_in_general(scop) or RaceVerdict(True, "this launch")
    sure = [conflict for conflict in found if conflict.sure]
    if sure and not _orders(launch):
        return RaceVerdict(False, "this launch", _witnesses(scop, sure))
    # The record decides: what may hide a conflict, accesses that may not take place, and atomics that order programs.
    free = not _recorded(launch)
    gaps = [str(g) for c in found for side in (c.first, c.second) for g in side.statement.gaps]
    open = tuple(dict.fromkeys((*unanswered, *blind, *gaps)))
    return RaceVerdict(free, "this record", _witnesses(scop, found), ordered=free and bool(sure), open=open)


def _free_in_general(scop: KernelScop) -> RaceVerdict | None:
    """The verdict on the kernel, if it is proved free for sizes that include the launch's."""
    found = scop.general.races if scop.general.parameters else None
    return found if found is not None and found.free and found.proof in ("all sizes", "some sizes") else None


def _in_general(scop: KernelScop) -> RaceVerdict:
    """The verdict for symbolic sizes: for which of them there is no conflict."""
    assert scop.model is not None
    unproved = RaceVerdict(False, "none", parameters=scop.parameters, fixed=dict(scop.model.bound))
    if any(gap.what == "address" for gap in scop.gaps):
        return replace(unproved, open=tuple(map(str, scop.gaps)))
    found, unanswered = conflicts(scop)
    if unanswered:
        return replace(unproved, open=tuple(unanswered))
    if not found:
        return replace(unproved, free=True, proof="all sizes")
    try:
        with effort(_("the sizes without a race")):
            condition, here = _safe_sizes(scop, found)
    except TooHard as error:
        return replace(unproved, open=(str(error),))
    exact = all(conflict.sure for conflict in found)
    return replace(unproved, free=here, proof="some sizes", condition=condition, exact=exact)


def _safe_sizes(scop: KernelScop, found: list[Conflict]) -> tuple[isl.Set, bool]:
    """The condition on parameters under which nothing conflicts, and whether this launch fulfils it."""
    space = isl.Set(f"{space_text(scop.parameters)}{{ [] : {formula_text((scop.context,))} }}").params()
    bad = space.subtract(space)
    for conflict in found:
        bad = bad.union(conflict.pairs.params())
    good = space.subtract(bad.coalesce()).coalesce()
    here = good
    for name, value in scop.values.items():
        here = here.fix_val(isl.dim_type.param, here.find_dim_by_name(isl.dim_type.param, isl_name(name)), value)
    return good.gist(space), not here.is_empty()


def _witnesses(scop: KernelScop, found: list[Conflict]) -> tuple[Race, ...]:
    """A pair for each conflict."""
    return tuple(_witness(scop, conflict) for conflict in found)


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
