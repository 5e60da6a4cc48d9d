"""The transformed space: every visit at the time that its schedule gives it, drawn like the domain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral import Schedule
from triton_lab.polyhedral.core.loop_tree import path
from triton_lab.polyhedral.visit_times import Timing, ranks, times_of, timing
from triton_lab.views.polyhedral import polyhedral_style as look
from triton_lab.views.polyhedral.dependence_pairs import Arrows
from triton_lab.views.polyhedral.iteration_picture import Picture, StatementLayer
from triton_lab.views.polyhedral.outlines import outlines

Ints = NDArray[np.int64]


def time_picture(schedule: Schedule, domain: Picture) -> Picture:
    """All visits in the plane of time: the outer dimensions that vary go up, the inner ones to the right.

    With one or two dimensions the coordinates are the times themselves. With more, each axis counts the different times
    of its half, in their order, and visits that happen at once stand above each other. The arrows are those of
    ``domain``; all its visits are in this picture, too.
    """
    when, order = timing(schedule), schedule.order()
    axes = _axes(when)
    places = _placed(when.values, when, axes)
    layers, tiles = [], []
    visits = np.zeros((len(order), 2), dtype=np.int64)
    shared = [layer.statement for layer in domain.layers]  # first, so that they look the same in both pictures
    for number, name in enumerate((*shared, *(n for n in order.names if n not in shared))):
        own = np.flatnonzero(order.statements == order.names.index(name))
        visits[own] = np.stack([np.full(len(own), number), np.arange(len(own))], axis=1)
        layers.append(StatementLayer(name, places[own], ()))
        tiles += outlines(schedule, name, order.points[own], places[own])
    sort = np.argsort(when.instants, kind="stable")
    arrows = tuple(_moved(schedule, a, when, axes) for a in domain.arrows if a.instances is not None)
    low, high = (places.min(axis=0), places.max(axis=0)) if len(places) else (np.zeros(len(axes), int),) * 2
    names = tuple(", ".join(when.names[k] or "sequence" for k in axis) or "time" for axis in axes)
    return Picture(
        names, {}, tuple(layers), (), arrows, visits[sort], np.arange(len(order))[sort],
        low=tuple(low.tolist()), high=tuple(high.tolist()), instants=when.instants[sort], tiles=tuple(tiles),
    )  # fmt: skip


def _axes(when: Timing) -> tuple[tuple[int, ...], ...]:
    """The dimensions that vary, in one or two halves; if there are many, those of parallel loops go up."""
    varying = [k for k in range(len(when.names)) if len(when.values) and np.ptp(when.values[:, k])]
    at_once = tuple(k for k in varying if not when.fixed[:, k].any() and when.values[:, k].any())
    if len(varying) > 2 and 0 < len(at_once) < len(varying):
        return at_once, tuple(k for k in varying if k not in at_once)
    half = len(varying) // 2
    return (tuple(varying[:half]), tuple(varying[half:])) if half else (tuple(varying),)


def _placed(rows: Ints, when: Timing, axes: tuple[tuple[int, ...], ...]) -> Ints:
    """The places in the plane of times, (count, dimensions)."""
    columns = []
    for axis in axes:
        if len(axis) == 1:
            columns.append(rows[:, axis[0]])
        else:
            columns.append(ranks(rows[:, list(axis)], when.values[:, list(axis)]))
    return np.stack(columns, axis=1)


def _moved(schedule: Schedule, arrows: Arrows, when: Timing, axes: tuple[tuple[int, ...], ...]) -> Arrows:
    """A dependence's pairs, placed by their times."""
    assert arrows.instances is not None
    sides = []
    split = len(schedule.scop[arrows.source].iterators)
    halves = arrows.instances[:, :split], arrows.instances[:, split:]
    for name, points in zip((arrows.source, arrows.target), halves, strict=True):
        steps = path(schedule.tree, name)
        times = np.zeros((len(points), len(when.names)), dtype=np.int64)
        times[:, : len(steps)] = times_of(schedule, steps, schedule.scop[name].iterators, points)
        sides.append(_placed(times, when, axes))
    ends = np.stack(sides, axis=1)
    ends = np.unique(ends[(ends[:, 0] != ends[:, 1]).any(axis=1)], axis=0)
    return Arrows(
        arrows.kind, arrows.source, arrows.target, arrows.violated, ends[: look.MOST_ARROWS], len(ends), arrows.may
    )
