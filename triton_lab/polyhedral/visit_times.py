"""The time of each visit in every dimension of a schedule, and which visits share an instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.loop_tree import TimeStep, Tree, path

if TYPE_CHECKING:
    from triton_lab.polyhedral.schedule import Schedule

Ints = NDArray[np.int64]
_AT_ONCE = ("parallel", "vectorize")


@dataclass(frozen=True)
class Timing:
    """The times of visits.

    ``names``: the loops of each time dimension ("" where statements only follow each other); ``values``: (visits,
    dimensions), in the order of execution; ``fixed``: the same without the dimensions of loops that run in parallel.
    """

    names: tuple[str, ...]
    values: Ints
    fixed: Ints

    @cached_property
    def instants(self) -> Ints:
        """For each visit, the number of distinct instants before its own.

        Iterations of a parallel or vectorized loop run in lockstep; visits with the same time share an instant.
        """
        return ranks(self.fixed, self.fixed)


def ranks(rows: Ints, among: Ints) -> Ints:
    """For each of ``rows``, which are all in ``among``, the number of distinct rows of ``among`` before it.

    The order is lexicographic.
    """
    both = rows if rows is among else np.concatenate([among, rows])
    if not both.size:
        return np.zeros(len(rows), dtype=np.int64)
    # Sorted by columns: NumPy's own `unique` compares rows as records, which takes ten times as long.
    order = np.lexsort(both.T[::-1])
    place = np.zeros(len(both), dtype=np.int64)
    place[order[1:]] = np.cumsum((both[order[1:]] != both[order[:-1]]).any(axis=1))
    return place[len(both) - len(rows) :]


def timing(schedule: Schedule, tree: Tree | None = None) -> Timing:
    """The times of all visits at the scop's values: those of the schedule, or in the loops of another ``tree``."""
    order = schedule.order()
    paths = [path(tree or schedule.tree, name) for name in order.names]
    depth = max(map(len, paths), default=0)
    names: list[str] = []
    for k in range(depth):
        loops = dict.fromkeys(p[k].loop.name for p in paths if k < len(p) and p[k].loop is not None)  # type: ignore[union-attr]
        names.append("/".join(loops))
    values = np.zeros((len(order), depth), dtype=np.int64)
    fixed = values.copy()
    for position, name in enumerate(order.names):
        own = np.flatnonzero(order.statements == position)
        steps = paths[position]
        every = times_of(schedule, steps, schedule.scop[name].iterators, order.points[own])
        values[own, : len(steps)] = every
        fixed[own, : len(steps)] = every * [step.loop is None or step.loop.mark not in _AT_ONCE for step in steps]
    return Timing(tuple(names), values, fixed)


def times_of(schedule: Schedule, steps: tuple[TimeStep, ...], iterators: tuple[str, ...], points: Ints) -> Ints:
    """The times, (count, steps), of instances, (count, iterators or more)."""
    known: Mapping[str, object] = {
        **schedule.scop.values,
        **{iterator: points[:, k] for k, iterator in enumerate(iterators)},
    }
    columns = [np.broadcast_to(step.expression.evaluate(known), len(points)) for step in steps]
    return np.stack(columns, axis=1).astype(np.int64) if columns else np.zeros((len(points), 0), dtype=np.int64)


def tile_of(schedule: Schedule, statement: str) -> tuple[AffineExpr, ...]:
    """The expressions that number the tiles of ``statement``: those of its loops over tiles, quotients alone."""
    found = (step.expression for step in path(schedule.tree, statement) if step.loop is not None)
    return tuple(e for e in found if e.quotients and len(e.quotients) == len(e.terms))
