"""Is a kernel race free? Whether two programs touch one element, and one of them writes it.

Atomics of different programs take turns, so they do not race with each other; a plain load beside them takes none. The
set of conflicting pairs is an isl set; that it is empty is a proof, and a point in it is a witness. What isl cannot
decide, what is not affine, or what atomics may order is left to the record of the launch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import islpy as isl

from triton_lab.launch.checks.barriers import results_used
from triton_lab.launch.checks.order import hands_on, takes_over

from .affine import isl_name
from .domain import formula_text, space_text
from .effort import TooHard, effort
from .kernel_conflict import Conflict, conflicts
from .kernel_domain import instance
from .kernel_facts import program
from .kernel_memory import Reach

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

    from .kernel_scop import KernelScop, KernelStatement

Proof = Literal["all sizes", "some sizes", "this launch", "this record", "none"]


@dataclass(frozen=True)
class Encounter:
    """A lane of a program in some round of its loops: one side of a race. ``point`` is an instance of the statement's
    domain, ``program`` the program's linear number."""

    statement: KernelStatement
    program: int
    point: tuple[int, ...]

    def __str__(self) -> str:
        names = ", ".join(f"{n} = {v}" for n, v in zip(self.statement.iterators, self.point, strict=True))
        return f"{self.statement.kind} in line {self.statement.line} ({names})"


@dataclass(frozen=True)
class Race:
    """Two programs on one element: ``element`` are its coordinates in ``argument``, and ``other`` is the argument
    through which the second side gets there (often the same)."""

    first: Encounter
    second: Encounter
    argument: str
    element: tuple[int, ...]
    other: str

    def __str__(self) -> str:
        place = f"{self.argument}[{', '.join(map(str, self.element))}]"
        if self.other != self.argument:
            place += f", which {self.other} shares"
        return f"programs {self.first.program} and {self.second.program} meet at {place}: {self.first}, {self.second}"


@dataclass(frozen=True)
class Races:
    """The verdict. ``free``, and how far that is proved:

    - "all sizes": whatever the values of the ``parameters`` and the extents of the grid are
    - "some sizes": where ``condition`` holds (an isl set over the parameters), and if ``exact`` only there
    - "this launch": for the launch's sizes, whatever the data
    - "this record": only seen in the record of this launch, since something is not affine (``open``)

    Sizes are general, but tensors lie in memory as in the launch, scalars in ``fixed`` and constexprs have their
    values, and no offset overflows.

    Otherwise ``witnesses`` has a pair for each two accesses that conflict. ``ordered``: the conflicts are there, but
    atomics order them in the record of this launch.
    """

    free: bool
    proof: Proof
    witnesses: tuple[Race, ...] = ()
    parameters: tuple[str, ...] = ()
    fixed: Mapping[str, int] | None = None
    condition: isl.Set | None = None
    exact: bool = True
    ordered: bool = False
    open: tuple[str, ...] = ()


def races(scop: KernelScop) -> Races:
    """The verdict on a launch, proved as widely as can be; of the general scop, on its kernel."""
    assert scop.launch is not None
    if scop.parameters:
        return _in_general(scop)
    if not scop.verification.holds:
        return Races(not _recorded(scop.launch), "this record", open=(f"the model {scop.verification}",))
    found, undecided = conflicts(scop)
    witnesses = tuple(_witness(scop, conflict) for conflict in found)
    sure = [c for c in found if c.sure]
    blind = [str(gap) for gap in scop.gaps if gap.what == "address" and _may_matter(scop, gap.argument)]
    if witnesses and sure and not _orders(scop.launch):
        return Races(False, "this launch", tuple(_witness(scop, c) for c in sure))
    if not witnesses and not undecided and not blind:
        general = scop.general.races if scop.general.parameters else None
        if general is not None and general.free and general.proof in ("all sizes", "some sizes"):
            return general
        return Races(True, "this launch")
    # What the model leaves open, the record of this launch decides.
    reasons = (*undecided, *blind, *(str(g) for c in found for s in (c.first, c.second) for g in s.statement.gaps))
    reasons = tuple(dict.fromkeys(reasons))
    if _recorded(scop.launch):
        return Races(False, "this record", witnesses, open=reasons)
    return Races(True, "this record", witnesses, ordered=bool(sure), open=reasons)


def _in_general(scop: KernelScop) -> Races:
    """The verdict for sizes: for which there is no conflict."""
    assert scop.model is not None
    names = scop.parameters
    fixed = dict(scop.model.bound)
    if any(gap.what == "address" for gap in scop.gaps):
        return Races(False, "none", parameters=names, fixed=fixed, open=tuple(str(gap) for gap in scop.gaps))
    found, undecided = conflicts(scop)
    if undecided:
        return Races(False, "none", parameters=names, fixed=fixed, open=tuple(undecided))
    if not found:
        return Races(True, "all sizes", parameters=names, fixed=fixed)
    exact = all(conflict.sure for conflict in found)
    try:
        with effort("the sizes without a race"):
            free, condition = _condition(scop, found)
    except TooHard as unanswered:
        return Races(False, "none", parameters=names, fixed=fixed, open=(str(unanswered),))
    return Races(free, "some sizes", parameters=names, fixed=fixed, condition=condition, exact=exact)


def _condition(scop: KernelScop, found: list[Conflict]) -> tuple[bool, isl.Set]:
    """Whether there is no conflict at the scop's values, and for which parameters there is none."""
    space = isl.Set(f"{space_text(scop.parameters)}{{ [] : {formula_text((scop.context,))} }}").params()
    bad = space.subtract(space)
    for conflict in found:
        bad = bad.union(conflict.pairs.params())
    good = space.subtract(bad.coalesce()).coalesce()
    here = good
    for name, value in scop.values.items():
        here = here.fix_val(isl.dim_type.param, here.find_dim_by_name(isl.dim_type.param, isl_name(name)), value)
    return not here.is_empty(), good.gist(space)


def _witness(scop: KernelScop, conflict: Conflict) -> Race:
    """The lexicographically first pair, or if that is too hard to find, some pair."""
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
    """The argument and the element that one side touches."""
    access = next(a for a in side.statement.accesses if _contains(a.domain.set, side.point))
    place = dict(zip(side.statement.iterators, side.point, strict=True))
    return access.array, tuple(int(e.evaluate(place)) for e in access.expressions)


def _contains(domain: isl.Set, point: tuple[int, ...]) -> bool:
    for k, value in enumerate(point):
        domain = domain.fix_val(isl.dim_type.set, k, isl.Val(value))
    return not domain.is_empty()


def _encounter(scop: KernelScop, reach: Reach, values: Mapping[str, Any]) -> Encounter:
    assert scop.launch is not None
    grid = scop.launch.grid
    x, y, z = (values.get(program(axis), 0) for axis in range(3))
    return Encounter(reach.statement, x + grid[0] * (y + grid[1] * z), instance(reach.statement, values))


def _may_matter(scop: KernelScop, argument: str | None) -> bool:
    """Whether an access to ``argument`` at unknown places can take part in a race: if anybody writes there."""
    from .kernel_memory import memories

    assert scop.launch is not None
    others = [(s.argument, s.kind) for s in scop.kernel_statements] + [(g.argument, g.kind) for g in scop.gaps]
    starts = memories(scop.launch)
    if argument is None:
        return True
    here = {kind for name, kind in others if name is None or starts.get(name) == starts.get(argument)}
    return "store" in here or {"load", "atomic"} <= here


def _recorded(launch: Launch) -> bool:
    """Whether programs raced in the record of the launch; stores of the same value are a conflict as well."""
    return any(finding.kind in ("race", "same-value") for finding in launch.findings)


def _orders(launch: Launch) -> bool:
    """Whether the kernel has atomics that can order what programs do: one that releases and one that acquires."""
    plan = launch.executable.plan
    used = results_used(plan)
    return any(map(hands_on, plan.walk())) and any(takes_over(op, used) for op in plan.walk())
