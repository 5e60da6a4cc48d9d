"""The picture of a schedule as plain numbers: points, polygons, half-plane borders and arrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.localization import _
from triton_lab.polyhedral import Schedule, Statement
from triton_lab.polyhedral.core.affine_conditions import Constraint
from triton_lab.polyhedral.core.polyhedron_corners import corners, half_space, half_spaces
from triton_lab.polyhedral.visit_times import timing
from triton_lab.views.polyhedral.dependence_pairs import Arrows, arrows
from triton_lab.views.polyhedral.drawn_plane import Plane
from triton_lab.views.polyhedral.outlines import outlines

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class StatementLayer:
    """The instances of one statement. ``points``: (count, dims); ``corners``: one (corners, dims) per polyhedron.

    ``owners``: (count,), the program of each point as the number of its colour, -1 for several programs.
    """

    statement: str
    points: NDArray[np.int64]
    corners: tuple[NDArray[np.float64], ...]
    owners: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Border:
    """The border of a constraint: ``coefficients . x + constant = 0``; ``name`` is the constraint, which holds
    on the side of the points."""

    statement: str
    piece: int
    row: int
    coefficients: tuple[float, ...]
    constant: float
    name: str


@dataclass(frozen=True)
class Picture:
    """Everything in the plane (or space) of ``dims``.

    ``visits``: (count, 2), layer and point of each visit in the order of the schedule; ``times``: (count,), the
    position of each in the whole order; ``instants``: (count,), ascending, equal for visits that happen at once;
    ``tiles``: outlines of the loops over tiles, (corners, 2) each, and ``tile_names``, if they have names. Iterators
    that are not drawn stand at the values of ``at``, or are projected out.
    """

    dims: tuple[str, ...]
    at: Mapping[str, int]
    layers: tuple[StatementLayer, ...]
    borders: tuple[Border, ...]
    arrows: tuple[Arrows, ...]
    visits: NDArray[np.int64]
    times: NDArray[np.int64]
    left_out: tuple[str, ...] = field(default=())  # sentences about statements that lack one of `dims`
    low: tuple[int, ...] = field(default=())
    high: tuple[int, ...] = field(default=())
    instants: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    tiles: tuple[NDArray[np.float64], ...] = field(default=())
    tile_names: tuple[str, ...] = field(default=())
    owner_names: tuple[str, ...] = field(default=())  # of programs, by the numbers of `StatementLayer.owners`

    @property
    def fronts(self) -> tuple[NDArray[np.int64], ...]:
        """The visits of each instant that has several: positions in ``visits``."""
        ends = np.flatnonzero(np.diff(self.instants)) + 1
        return tuple(part for part in np.split(np.arange(len(self.instants)), ends) if len(part) > 1)

    def visits_at(self, point: Sequence[int]) -> NDArray[np.int64]:
        """The visits of the instances at ``point`` in all statements: positions in ``visits``."""
        found = np.zeros(len(self.visits), dtype=bool)
        for k, layer in enumerate(self.layers):
            at = np.flatnonzero((layer.points == np.array(point)).all(axis=1))
            found |= (self.visits[:, 0] == k) & np.isin(self.visits[:, 1], at)
        return np.flatnonzero(found)

    @property
    def reach(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and greatest coordinates of points and corners. (With loop steps, a corner may have no point.)"""
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

    ``dependences``: "value", "memory" or None; ``statements``: draw only these. Raises ValueError for iterators that no
    statement has together.
    """
    scop = schedule.scop
    wanted = [s for s in scop.statements if statements is None or s.name in statements]
    plane = Plane(schedule, tuple(dims) if dims is not None else _usual_dims(scop.statements), dict(at or {}))
    drawn = [s for s in wanted if set(plane.dims) <= set(s.iterators)]
    if dims is None and not plane.dims:
        raise ValueError(_("no statement stands in a loop, so there are no iterators to draw"))
    if not drawn or not 1 <= len(plane.dims) <= 3 or len(set(plane.dims)) != len(plane.dims):
        raise ValueError(
            _("no statement has one to three of the iterators {dims}: pass others as dims").format(
                dims=", ".join(plane.dims)
            )
        )
    parts = [_part(plane, statement) for statement in drawn]
    visits = _in_order(parts, schedule)
    points = np.concatenate([part.points for part in parts] + [np.zeros((1, len(plane.dims)), dtype=np.int64)])
    return Picture(
        dims=plane.dims,
        at=plane.at,
        layers=tuple(StatementLayer(p.statement.name, p.points, _polyhedra(plane, p.statement)) for p in parts),
        borders=_borders(plane, drawn),
        arrows=arrows(plane, [s.name for s in drawn], dependences, violations),
        visits=visits.places,
        times=visits.times,
        left_out=tuple(_left_out(schedule, s, plane.dims) for s in wanted if s not in drawn),
        low=tuple(points.min(axis=0).tolist()),
        high=tuple(points.max(axis=0).tolist()),
        instants=visits.instants,
        tiles=tuple(tile for part in parts for tile in _tiles(plane, part)),
    )


def _usual_dims(statements: Sequence[Statement]) -> tuple[str, ...]:
    """The first two or three iterators of the deepest statement."""
    return max(statements, key=lambda s: len(s.iterators)).iterators[:3]


@dataclass(frozen=True)
class _Part:
    """The instances of one statement that lie in the plane, in the order of the schedule.

    ``times`` (count,): the position of each in the whole order; ``seen`` (count, dims): the point of each. ``points``
    are the distinct points, and ``point`` (count,) is the index of each instance's point.
    """

    statement: Statement
    times: Ints
    instances: Ints
    seen: Ints
    points: Ints
    point: Ints


def _part(plane: Plane, statement: Statement) -> _Part:
    order, iterators = plane.schedule.order(), statement.iterators
    times = np.flatnonzero(order.statements == order.names.index(statement.name))
    instances = order.points[times][:, : len(iterators)]
    inside = plane.holds(iterators, instances)
    times, instances = times[inside], instances[inside]
    seen = plane.seen(iterators, instances)
    points, point = seen, np.arange(len(seen))
    if len(seen) and plane.projects(iterators):
        points, point = np.unique(seen, axis=0, return_inverse=True)
    return _Part(statement, times, instances, seen, points, point.reshape(-1))


@dataclass(frozen=True)
class _Visits:
    """The ``visits``, ``times`` and ``instants`` of a `Picture`."""

    places: Ints
    times: Ints
    instants: Ints


def _in_order(parts: Sequence[_Part], schedule: Schedule) -> _Visits:
    """All visits, in the order in which they happen."""
    times = np.concatenate([part.times for part in parts])
    layer = np.concatenate([np.full(len(part.times), number) for number, part in enumerate(parts)])
    places = np.stack([layer, np.concatenate([part.point for part in parts])], axis=1)
    instants = timing(schedule).instants[times]
    sort = np.lexsort((times, instants))
    return _Visits(places[sort], times[sort], instants[sort])


def _tiles(plane: Plane, part: _Part) -> list[NDArray[np.float64]]:
    return outlines(plane.schedule, part.statement.name, part.instances, part.seen)


def _left_out(schedule: Schedule, statement: Statement, dims: Sequence[str]) -> str:
    """The reason why a statement is not in the picture."""
    count = statement.domain.count(schedule.scop.values)
    missing = " or ".join(d for d in dims if d not in statement.iterators)
    return _("not drawn: {instances} of {name}, which has no {missing}").format(
        instances=messages.count(count, "instance"), name=statement.name, missing=missing
    )


def _polyhedra(plane: Plane, statement: Statement) -> tuple[NDArray[np.float64], ...]:
    """The corners of each piece of a domain, as seen in the plane."""
    kept = [name for name in statement.iterators if name not in plane.at]
    shown = [kept.index(name) for name in plane.dims]
    found: list[NDArray[np.float64]] = []
    for piece in statement.domain.pieces:
        rows = half_spaces(piece, plane.values, kept)
        if any(not any(row[:-1]) and row[-1] < 0 for row in rows):
            continue  # empty in this plane
        places = corners([row for row in rows if any(row[:-1])])
        found.append(np.array([[float(p[k]) for k in shown] for p in places], dtype=np.float64).reshape(-1, len(shown)))
    return tuple(found)


def _borders(plane: Plane, statements: Sequence[Statement]) -> tuple[Border, ...]:
    """The constraints on the drawn dimensions alone; a border that two statements share is listed once."""
    found: dict[tuple[float, ...], Border] = {}
    for statement in statements:
        for number, piece in enumerate(statement.domain.pieces):
            for row, constraint in enumerate(piece):
                border = _border(plane, statement, number, row, constraint)
                if border is not None:
                    found.setdefault((*border.coefficients, border.constant), border)
    return tuple(found.values())


def _border(plane: Plane, statement: Statement, piece: int, row: int, constraint: Constraint) -> Border | None:
    """The border of one constraint, if it is a line (a point, a face) of the plane."""
    expression = constraint.expression.substitute(plane.values)
    if not expression.names or not expression.names <= set(plane.dims):
        return None
    *coefficients, constant = half_space(expression, plane.dims)
    if not any(coefficients):
        return None  # a congruence thins the points out and does not bound them
    here = Constraint(expression, constraint.equality)
    label = _label(plane, constraint.told(statement.iterators), here.told(statement.iterators))
    return Border(statement.name, piece, row, tuple(map(float, coefficients)), float(constant), label)


def _label(plane: Plane, source: str, here: str) -> str:
    """The constraint of a border: the source's own words if they are short and need no numbers, else ``here``."""
    general = bool(plane.at) or bool(plane.schedule.scop.parameters)
    return source if source and len(source) <= 12 and not general else here
