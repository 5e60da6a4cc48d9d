"""The dependences of a picture: pairs of instances that an order keeps, and those that it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.polyhedral import Schedule
from triton_lab.polyhedral.core.isl_effort import TooHard
from triton_lab.polyhedral.dependence import Dependence
from triton_lab.views.drawing.drawing import ArrowLines
from triton_lab.views.polyhedral import polyhedral_style as style
from triton_lab.views.polyhedral.drawn_plane import Ints, Plane


@dataclass(frozen=True)
class Arrows:
    """Dependent pairs of one kind (or a "race", which is always ``violated``): ``ends`` is (count, 2, dims)."""

    kind: str
    source: str
    target: str
    violated: bool
    ends: NDArray[np.int64]
    total: int  # the number of pairs before the picture's limit
    may: bool = False  # data decides whether they depend on each other
    instances: NDArray[np.int64] | None = None  # all pairs that they stand for, (count, source and target dimensions)

    def drawn(self, places: NDArray[np.float64], head: float, gap: float) -> ArrowLines:
        """The arrows between circles; ``places`` are their ends, (count, 2, 2) pixels."""
        if self.violated:
            return ArrowLines(places, style.BOTH.violated, 2.0, head, gap)
        dashes = (style.MAY_DASHES if self.may else style.DASHES)[self.kind]
        return ArrowLines(places, style.BOTH.arrows[self.kind], 1.3, head, gap, dashes, style.BESIDE[self.kind])


def usual(schedule: Schedule) -> str | None:
    """The dependences that a changed order is drawn with; None in the source's order, and where isl cannot tell."""
    try:
        return passed_on(schedule) if schedule.steps else None
    except TooHard:
        return None


def passed_on(schedule: Schedule) -> str:
    """The dependences of values, or of memory where no value is passed on: "value" or "memory"."""
    return "value" if schedule.scop.value_dependences else "memory"


def arrows(plane: Plane, names: Sequence[str], dependences: str | None, violations: bool) -> tuple[Arrows, ...]:
    """The requested dependences (see `picture`), and those that the schedule violates."""
    schedule, scop = plane.schedule, plane.schedule.scop
    if dependences not in ("value", "memory", None):
        raise ValueError(
            _("dependences are 'value' or 'memory', not {dependences}").format(dependences=repr(dependences))
        )
    chosen = scop.value_dependences if dependences == "value" else scop.dependences if dependences else ()
    broken = schedule.legality.violations if violations and not schedule.is_legal else ()
    red = [(one.dependence, one.pairs(scop)) for one in broken if _both_in(one.dependence, names)]
    kept = [(one, _without(one.pairs(scop), one, red)) for one in chosen if _both_in(one, names)]
    every = [*(_arrows_of(plane, *pair, False) for pair in kept), *(_arrows_of(plane, *pair, True) for pair in red)]
    return tuple(found for found in every if found is not None)


def _without(pairs: Ints, dependence: Dependence, broken: Sequence[tuple[Dependence, Ints]]) -> Ints:
    """The ``pairs`` that are not broken by any dependence of the same kind and statements: these are drawn red."""
    alike = (dependence.kind, dependence.source, dependence.target)
    taken = {tuple(row) for one, rows in broken if (one.kind, one.source, one.target) == alike for row in rows.tolist()}
    return pairs[[tuple(row) not in taken for row in pairs.tolist()]] if taken else pairs


def _both_in(dependence: Dependence, names: Sequence[str]) -> bool:
    return dependence.source in names and dependence.target in names


def _arrows_of(plane: Plane, dependence: Dependence, pairs: Ints, violated: bool) -> Arrows | None:
    """The arrows between instances (count, source and target dimensions); None if each pair falls on one point."""
    scop = plane.schedule.scop
    source, target = scop[dependence.source].iterators, scop[dependence.target].iterators
    starts, stops = pairs[:, : len(source)], pairs[:, len(source) :]
    inside = plane.holds(source, starts) & plane.holds(target, stops)
    ends = np.stack([plane.seen(source, starts[inside]), plane.seen(target, stops[inside])], axis=1)
    ends = ends[(ends[:, 0] != ends[:, 1]).any(axis=1)]
    if not len(ends):
        return None
    ends = np.unique(ends, axis=0)
    shown = ends[: style.MOST_ARROWS]
    return Arrows(
        dependence.kind, dependence.source, dependence.target, violated, shown, len(ends), dependence.may, pairs[inside]
    )
