"""What there is to draw of a schedule: points, polygons, half-plane borders and arrows, as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral import Schedule, Statement
from triton_lab.polyhedral.affine import Affine
from triton_lab.polyhedral.corners import corners, half_space, half_spaces
from triton_lab.polyhedral.timing import timing
from triton_lab.views import polyhedral_style as style


@dataclass(frozen=True)
class Layer:
    """The instances of one statement. ``points``: (count, dims); ``corners``: one (corners, dims) per polyhedron."""

    statement: str
    points: NDArray[np.int64]
    corners: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class Border:
    """Where a constraint turns: ``coefficients . x + constant = 0``; ``excluded`` says what holds beyond."""

    statement: str
    piece: int
    row: int
    coefficients: tuple[float, ...]
    constant: float
    excluded: str


@dataclass(frozen=True)
class Arrows:
    """Dependent pairs of one kind (or a "race", which is always ``violated``): ``ends`` is (count, 2, dims)."""

    kind: str
    source: str
    target: str
    violated: bool
    ends: NDArray[np.int64]
    total: int  # how many there are before the picture's limit
    instances: NDArray[np.int64] | None = None  # all pairs that are meant, (count, source and target dimensions)


@dataclass(frozen=True)
class Picture:
    """Everything in the plane (or space) of ``dims``.

    ``visits``: (count, 2), layer and point of each visit in the order of the schedule; ``times``: (count,), when in
    the whole order each takes place; ``instants``: (count,), rising, the same for visits that happen at once;
    ``tiles``: outlines of the loops over tiles, (corners, 2) each. Iterators that are not drawn stand at the values of
    ``at``, or are projected out.
    """

    dims: tuple[str, ...]
    at: Mapping[str, int]
    layers: tuple[Layer, ...]
    borders: tuple[Border, ...]
    arrows: tuple[Arrows, ...]
    visits: NDArray[np.int64]
    times: NDArray[np.int64]
    left_out: tuple[str, ...] = field(default=())  # in words: statements without one of `dims`
    low: tuple[int, ...] = field(default=())
    high: tuple[int, ...] = field(default=())
    instants: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    tiles: tuple[NDArray[np.float64], ...] = field(default=())

    @property
    def fronts(self) -> tuple[NDArray[np.int64], ...]:
        """The visits of each instant that holds several: positions in ``visits``."""
        ends = np.flatnonzero(np.diff(self.instants)) + 1
        return tuple(part for part in np.split(np.arange(len(self.instants)), ends) if len(part) > 1)

    @property
    def reach(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and greatest coordinates of points and corners. (Steps leave corners without points.)"""
        every = [np.array([self.low, self.high], dtype=float)]
        every += [polygon for layer in self.layers for polygon in layer.corners if len(polygon)]
        return np.concatenate(every).min(axis=0), np.concatenate(every).max(axis=0)


def picture(
    schedule: Schedule,
    dims: Sequence[str] | None = None,
    at: Mapping[str, int] | None = None,
    dependences: str | None = None,
    violations: bool = True,
    statements: Sequence[str] | None = None,
) -> Picture:
    """The picture in ``dims`` (by default the first two or three iterators of the deepest statement).

    ``dependences``: "value", "memory" or None; ``statements``: only these. Raises ValueError for iterators that no
    statement has together.
    """
    from triton_lab.views.polyhedral_time import outlines

    scop = schedule.scop
    deepest = max(scop.statements, key=lambda s: len(s.iterators))
    shown = tuple(dims) if dims is not None else deepest.iterators[:3]
    fixed = dict(at or {})
    wanted = statements if statements is not None else [s.name for s in scop.statements]
    drawn = [s for s in scop.statements if set(shown) <= set(s.iterators) and s.name in wanted]
    if not drawn or not 1 <= len(shown) <= 3 or len(set(shown)) != len(shown):
        raise ValueError(f"no statement has one to three iterators {', '.join(shown)}: give others as dims")
    order = schedule.order()
    layers: list[Layer] = []
    visits: list[NDArray[np.int64]] = []
    tiles: list[NDArray[np.float64]] = []
    for number, statement in enumerate(drawn):
        times = np.flatnonzero(order.statements == order.names.index(statement.name))
        instances = order.points[times][:, : len(statement.iterators)]
        inside = np.all(
            [instances[:, statement.iterators.index(k)] == v for k, v in fixed.items() if k in statement.iterators]
            or [np.ones(len(times), dtype=bool)],
            axis=0,
        )
        chosen = instances[inside][:, [statement.iterators.index(d) for d in shown]]
        points, place = chosen, np.arange(len(chosen))
        if len(chosen) and set(shown) | set(fixed) < set(statement.iterators):  # projected: points coincide
            points, place = np.unique(chosen, axis=0, return_inverse=True)
        tiles += outlines(schedule, statement.name, instances[inside], chosen)
        layers.append(Layer(statement.name, points, _polyhedra(schedule, statement, shown, fixed)))
        visits.append(np.stack([times[inside], np.full(inside.sum(), number), place.reshape(-1)], axis=1))
    table = np.concatenate(visits)
    instants = timing(schedule).instants[table[:, 0]]
    sort = np.lexsort((table[:, 0], instants))
    table, instants = table[sort], instants[sort]
    arrows = _arrows(schedule, [s.name for s in drawn], shown, fixed, dependences, violations)
    every = np.concatenate([layer.points for layer in layers] + [np.zeros((1, len(shown)), dtype=np.int64)])
    borders = _borders(schedule, drawn, shown, fixed)
    low, high = every.min(axis=0), every.max(axis=0)
    visited, when = table[:, 1:], table[:, 0]
    out = tuple(_left_out(schedule, s, shown) for s in scop.statements if s not in drawn and s.name in wanted)
    return Picture(
        shown, fixed, tuple(layers), borders, arrows, visited, when, out, tuple(low.tolist()), tuple(high.tolist()),
        instants, tuple(tiles),
    )  # fmt: skip


def _left_out(schedule: Schedule, statement: Statement, dims: Sequence[str]) -> str:
    """Why a statement is not in the picture."""
    count = statement.domain.count(schedule.scop.values)
    missing = " or ".join(d for d in dims if d not in statement.iterators)
    return f"not drawn: {count} instance{'s' * (count != 1)} of {statement.name}, which has no {missing}"


def _values(schedule: Schedule, fixed: Mapping[str, int]) -> dict[str, Affine]:
    scop = schedule.scop
    return {k: Affine.of(int(v)) for k, v in {**{p: scop.values[p] for p in scop.parameters}, **fixed}.items()}


def _polyhedra(
    schedule: Schedule, statement: Statement, dims: tuple[str, ...], fixed: Mapping[str, int]
) -> tuple[NDArray[np.float64], ...]:
    """The corners of each piece, seen in ``dims``."""
    values = _values(schedule, fixed)
    kept = [i for i in statement.iterators if i not in fixed]
    found: list[NDArray[np.float64]] = []
    for piece in statement.domain.pieces:
        rows = half_spaces(piece, values, kept)
        if any(not any(row[:-1]) and row[-1] < 0 for row in rows):
            continue
        places = corners([row for row in rows if any(row[:-1])])
        shown = [kept.index(d) for d in dims]
        found.append(np.array([[float(p[k]) for k in shown] for p in places], dtype=np.float64).reshape(-1, len(dims)))
    return tuple(found)


def _borders(
    schedule: Schedule, statements: Sequence[Statement], dims: tuple[str, ...], fixed: Mapping[str, int]
) -> tuple[Border, ...]:
    """The constraints that concern ``dims`` alone; a border that two statements share is one."""
    values = _values(schedule, fixed)
    found: dict[tuple[float, ...], Border] = {}
    for statement in statements:
        for p, piece in enumerate(statement.domain.pieces):
            for r, constraint in enumerate(piece):
                expression = constraint.expression.substitute(values)
                if not expression.names or not expression.names <= set(dims):
                    continue
                *row, beyond = half_space(expression, dims)
                if not any(row):
                    continue  # a congruence thins the points out, it does not bound them
                named = constraint.excluded(statement.iterators) if not fixed else ""
                shown = type(constraint)(expression, constraint.equality).excluded(statement.iterators)
                label = named if named and len(named) <= 12 and not set(schedule.scop.parameters) else shown
                key = (*map(float, row), float(beyond))
                found.setdefault(key, Border(statement.name, p, r, key[:-1], key[-1], label))
    return tuple(found.values())


def _arrows(
    schedule: Schedule,
    names: Sequence[str],
    dims: tuple[str, ...],
    fixed: Mapping[str, int],
    dependences: str | None,
    violations: bool,
) -> tuple[Arrows, ...]:
    scop = schedule.scop
    found: list[Arrows] = []
    if dependences not in ("value", "memory", None):
        raise ValueError(f"dependences are 'value' or 'memory', not {dependences!r}")
    chosen = scop.value_dependences if dependences == "value" else scop.dependences if dependences else ()
    wanted = [(d, d.pairs(scop), False) for d in chosen]
    if violations and not schedule.is_legal:
        wanted += [(v.dependence, v.pairs(scop), True) for v in schedule.legality.violations]
    for dependence, pairs, violated in wanted:
        if dependence.source not in names or dependence.target not in names:
            continue
        source, target = scop[dependence.source].iterators, scop[dependence.target].iterators
        halves = (source, pairs[:, : len(source)]), (target, pairs[:, len(source) :])
        inside = np.ones(len(pairs), dtype=bool)
        for iterators, half in halves:
            for name, value in fixed.items():
                if name in iterators:
                    inside &= half[:, iterators.index(name)] == value
        ends = np.stack([half[inside][:, [iterators.index(d) for d in dims]] for iterators, half in halves], axis=1)
        # Pairs that fall on one point of the picture have no arrow.
        ends = np.unique(ends[(ends[:, 0] != ends[:, 1]).any(axis=1)], axis=0) if len(ends) else ends
        if len(ends):
            found.append(
                Arrows(
                    dependence.kind,
                    dependence.source,
                    dependence.target,
                    violated,
                    ends[: style.MOST_ARROWS],
                    len(ends),
                    pairs[inside],
                )
            )
    return tuple(found)
