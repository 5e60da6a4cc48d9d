"""Which dependences a schedule keeps, and which instances it would run too early."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _, translated
from triton_lab.polyhedral.core.integer_points import relation_points
from triton_lab.polyhedral.core.isl_effort import TooHard, answered, effort, series
from triton_lab.polyhedral.core.loop_tree import Tree, path, time_text
from triton_lab.polyhedral.core.static_part import StaticPart
from triton_lab.polyhedral.dependence import KINDS, Dependence


@dataclass(frozen=True, repr=False)
class Violation:
    """Pairs of a dependence that the schedule breaks.

    reversed: the target would run before its source; tied: both at the same time; concurrent: in different iterations
    of the parallel or vectorized loop ``loop``.
    """

    dependence: Dependence
    kind: Literal["reversed", "tied", "concurrent"]
    relation: isl.Map
    loop: str = ""

    def pairs(self, scop: StaticPart) -> NDArray[np.int64]:
        """The pairs at the scop's values, (count, source dimensions + target dimensions).

        >>> nest = lab.polyhedral.scop("for (int i = 1; i < n; i++) A[i] = A[i - 1];", n=4)
        >>> nest.schedule.reverse("i").legality.violations[0].pairs(nest)
        array([[1, 2],
               [2, 3]])
        """
        return relation_points(scop.fixed(self.relation))

    def __str__(self) -> str:
        how = {
            "reversed": _("the target runs first"),
            "tied": _("both run at the same time"),
            "concurrent": _("different iterations of {loop} run at once").format(loop=self.loop),
        }[self.kind]
        return f"{self.dependence}: {how}"

    def __repr__(self) -> str:
        return f"<{self.dependence!r} {self.kind}>"


@dataclass(frozen=True, repr=False)
class Legality:
    """The verdict, for all values of the parameters."""

    violations: tuple[Violation, ...]

    @property
    def is_legal(self) -> bool:
        """Whether every dependence is kept."""
        return not self.violations

    def __bool__(self) -> bool:
        return self.is_legal

    def __str__(self) -> str:
        if self.is_legal:
            return _("legal: every dependence is kept")
        with series("the violated distances"):
            return self._broken_text()

    def _broken_text(self) -> str:
        return "\n".join([_("illegal:"), *(f"  {violation}" for violation in self.violations)])

    def __repr__(self) -> str:
        try:
            return str(self)
        except TooHard:
            return f"<{'legal' if self else 'illegal'}: {list(self.violations)}>"


def legality(scop: StaticPart, dependences: Iterable[Dependence], tree: Tree) -> Legality:
    """Those of a scop's ``dependences`` that the order of ``tree`` does not keep.

    Raises `TooHard` where isl needs too long for one of them, or for all.
    """
    with series(_("whether this order is legal")):
        return Legality(tuple(_violations(scop, dependences, tree)))


def _violations(scop: StaticPart, dependences: Iterable[Dependence], tree: Tree) -> Iterator[Violation]:
    with effort(_("when the statements run")):
        times = {s.name: isl.Map(time_text(tree, s.name, s.iterators, scop.parameters)) for s in scop.statements}
    for dependence in dependences:
        yield from answered(
            _("whether the order respects {kind} {source} → {target}").format(
                kind=translated(KINDS[dependence.kind]), source=dependence.source, target=dependence.target
            ),
            partial(_broken, tree, dependence, times[dependence.source], times[dependence.target]),
        )


def _broken(tree: Tree, dependence: Dependence, first: isl.Map, second: isl.Map) -> list[Violation]:
    """How ``tree`` breaks ``dependence``; it runs the source at ``first`` and the target at ``second``."""
    found: list[Violation] = []
    backwards = dependence.relation.intersect(first.lex_gt_map(second))
    together = dependence.relation.intersect(first.apply_range(second.reverse()))
    if not backwards.is_empty():
        found.append(Violation(dependence, "reversed", backwards.coalesce()))
    if not together.is_empty():
        found.append(Violation(dependence, "tied", together.coalesce()))
    return found + _concurrent(tree, dependence, first, second)


def _concurrent(tree: Tree, dependence: Dependence, first: isl.Map, second: isl.Map) -> list[Violation]:
    """The pairs in different iterations of a parallel loop, but in the same iteration of all loops around it."""
    found: list[Violation] = []
    paths = path(tree, dependence.source), path(tree, dependence.target)
    for depth, (one, other) in enumerate(zip(*paths, strict=False)):
        if one.loop is not other.loop or (one.loop is None and one.expression != other.expression):
            break
        if one.loop is None or one.loop.mark not in ("parallel", "vectorize"):
            continue
        around = _same(first, second, depth)
        carried = around.subtract(_same(first, second, depth + 1))
        relation = dependence.relation.intersect(carried)
        if not relation.is_empty():
            found.append(Violation(dependence, "concurrent", relation.coalesce(), one.loop.name))
    return found


def _same(first: isl.Map, second: isl.Map, dimensions: int) -> isl.Map:
    """The pairs that agree in the first ``dimensions`` time dimensions."""
    rest = first.dim(isl.dim_type.out) - dimensions
    prefixes = (m.project_out(isl.dim_type.out, dimensions, rest) for m in (first, second))
    one, other = prefixes
    return one.apply_range(other.reverse())
