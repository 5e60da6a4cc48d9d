"""The loops of a picture that a reader may move, as data for the browser, and the words for orders that it asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.polyhedral import Schedule, Statement
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.isl_effort import TooHard
from triton_lab.polyhedral.dependence import Dependence
from triton_lab.polyhedral.loop_moves import LoopMove, MovableLoops, movable
from triton_lab.polyhedral.scheduled_program import lines_of_statements
from triton_lab.polyhedral.visit_times import timing
from triton_lab.views.drawing.heatmap import buffer
from triton_lab.views.polyhedral.dependence_pairs import passed_on
from triton_lab.views.polyhedral.drawn_plane import Plane
from triton_lab.views.polyhedral.iteration_picture import Picture
from triton_lab.views.polyhedral.polyhedral_scenes import (
    MOST_MOVED,
    MOST_PAIRS,
    MovableLoop,
    MovablePairs,
    MovedScene,
    MovesScene,
)
from triton_lab.views.polyhedral.polyhedral_style import BESIDE, BOTH, DASHES, MAY_DASHES, Note

ORDER = "order/"  # the start of the name of a part

Ints = NDArray[np.int64]
Pair = tuple[int, int]
_Body = tuple[str, list[tuple[str, list[int]]]]


def moves(schedule: Schedule, picture: Picture, dependences: str | None, where: str) -> MovesScene | None:
    """The loops that may be moved; None if there are none, or more visits or pairs than can follow a pointer."""
    order = schedule.order()
    found = movable(schedule) if 0 < len(order) <= MOST_MOVED else None
    if found is None:
        return None
    try:
        pairs = _pairs(schedule, dependences)
    except TooHard:
        return None
    if pairs is None:
        return None
    when, count = timing(schedule, found.base.tree), len(found.loops)
    rows, bodies = _written(found)
    return {
        "loops": [_loop(found, k, picture, when.values[:, k]) for k in range(count)],
        "names": list(when.names[count:]),
        "times": buffer(when.values[:, :count].astype(np.int32)),
        "rest": buffer(when.values[:, count:].astype(np.int32)),
        "fixed": buffer(when.fixed[:, count:].astype(np.int32)),
        "statements": list(order.names),
        "statement": buffer(order.statements.astype(np.uint32)),
        "points": buffer(order.points.astype(np.int32)),
        "pairs": pairs,
        "rows": rows,
        "bodies": bodies,
        "language": "python" if schedule.scop.language == "python" else "c",
        "where": where,
        "sizes": list(found.shown.sizes),
        "violated": BOTH.violated,
        "tile": BOTH.tile,
    }


REACH = (0.75, 0.95)  # units that a line runs past the points: below and to the left, above and to the right


def knobs(moves: MovesScene, picture: Picture) -> tuple[tuple[float, float], ...]:
    """The places (x, y) in units of the knobs of loops that are not skewed, as `handles.js` puts them."""
    if len(picture.dims) > 2:
        return ()
    flat = len(picture.dims) == 1
    points = np.concatenate([layer.points for layer in picture.layers])
    if not len(points):
        return ()
    low, high = (
        (0.0 if flat else float(end[0]), float(end[-1])) for end in (points.min(axis=0), points.max(axis=0))
    )  # y, x
    found: list[tuple[float, float]] = []
    for loop, size in zip(moves["loops"], moves["sizes"], strict=True):
        if not loop["line"]:
            continue
        *factors, constant = loop["line"]
        slope = (0, factors[0]) if flat else (factors[0], factors[1])  # of the time, upwards and to the right
        first = 0 if 0 <= loop["low"] < 4 else loop["low"]
        time = (first // size + 1) * size - 0.5 if size else loop["high"] + 0.5
        found += [(x, y) for y, x in _on_line(slope, time - constant, low, high, 1 if flat else 2)]
    return tuple(found)


def _on_line(
    slope: tuple[int, int], rest: float, low: tuple[float, float], high: tuple[float, float], count: int
) -> list[tuple[float, float]]:
    """The knobs (y, x) on the line ``slope . (y, x) = rest``: in its middle, between points, and at its end."""
    along = 0 if abs(slope[1]) >= abs(slope[0]) else 1  # the axis along which the line runs
    across = 1 - along
    start, end = low[along] - REACH[0], high[along] + REACH[1]
    least, most = low[across] - REACH[0], high[across] + REACH[1]
    if slope[along]:
        one, other = sorted((rest - slope[across] * at) / slope[along] for at in (least, most))
        start, end = max(start, one), min(end, other)
    if start >= end or not (slope[along] or least <= rest / slope[across] <= most):
        return [high] * count  # not in sight
    middle = min(max(np.floor((start + end) / 2) + 0.5, start), end)
    found = []
    for at in (middle, end)[:count]:
        beside = (rest - slope[along] * at) / slope[across]
        found.append((float(at), beside) if along == 0 else (beside, float(at)))
    return found


def moved(schedule: Schedule, text: str) -> MovedScene:
    """The words for ``schedule`` after the change that the browser asks for. Raises LookupError if it is none."""
    found = movable(schedule)
    if found is None:
        raise LookupError(text)
    try:
        change = found.moved(LoopMove.parse(text))
    except ValueError as error:
        raise LookupError(text) from error
    return {
        "kind": "moved",
        "program": change.program(),
        "runs": lines_of_statements(change, schedule.scop.language),
        "notes": list(verdict(change)),
    }


def verdict(schedule: Schedule) -> tuple[Note, ...]:
    """Whether an order is legal for all values of the parameters, and up to four dependences that it breaks."""
    violations = schedule.legality.violations
    if not violations:
        return ((str(schedule.legality), "legal"),)
    return (_("illegal:"), "violated"), *((str(v), "violated") for v in violations[:4])


def _loop(found: MovableLoops, number: int, picture: Picture, times: Ints) -> MovableLoop:
    """A loop, with the line on which its time is 0: that of the statement that is drawn."""
    loop = found.loops[number]
    plane = Plane(found.base, picture.dims, picture.at)
    expression = loop.expressions[picture.layers[-1].statement].substitute(plane.values)
    line = [expression.coefficients.get(name, 0) for name in picture.dims]
    flat = expression.names <= set(picture.dims) and len(picture.dims) < 3 and any(line)
    return {
        "name": loop.name,
        "low": int(times.min()),
        "high": int(times.max()),
        "line": [*line, expression.constant] if flat else [],
        "parallel": loop.mark in ("parallel", "vectorize"),
    }


def _pairs(schedule: Schedule, dependences: str | None) -> list[MovablePairs] | None:
    """All dependences of memory by instances; None if they are too many."""
    scop, order = schedule.scop, schedule.order()
    place = {(int(s), *map(int, p)): k for k, (s, p) in enumerate(zip(order.statements, order.points, strict=True))}
    wide = order.points.shape[1]

    def at(statement: int, point: list[int]) -> int:
        return place[(statement, *point, *(0 for _unused in range(wide - len(point))))]

    def placed(one: Dependence) -> list[Pair]:
        split = len(scop[one.source].iterators)
        numbers = order.names.index(one.source), order.names.index(one.target)
        halves = ((row[:split], row[split:]) for row in one.pairs(scop).tolist())
        return [(at(numbers[0], source), at(numbers[1], target)) for source, target in halves]

    if (dependences or passed_on(schedule)) == "value":
        drawn = {(one.array, pair) for one in scop.value_dependences for pair in placed(one)}
    else:
        drawn = None
    found: list[MovablePairs] = []
    total = 0
    for one in scop.dependences:
        pairs = placed(one)
        total += len(pairs)
        if total > MOST_PAIRS:
            return None
        shown = [drawn is None or (one.kind == "flow" and (one.array, pair) in drawn) for pair in pairs]
        for wanted in (True, False):
            some = [pair for pair, seen in zip(pairs, shown, strict=True) if seen == wanted]
            if some:
                found.append(_pairs_scene(one, some, wanted))
    return found


def _pairs_scene(one: Dependence, pairs: Sequence[Pair], drawn: bool) -> MovablePairs:
    return {
        "kind": one.kind,
        "text": str(one),
        "may": one.may,
        "drawn": drawn,
        "pairs": buffer(np.array(pairs, dtype=np.uint32).reshape(-1)),
        "colour": BOTH.arrows[one.kind],
        "dashes": list((MAY_DASHES if one.may else DASHES)[one.kind]),
        "beside": BESIDE[one.kind],
    }


def _written(found: MovableLoops) -> tuple[list[list[int]], list[_Body]]:
    """The rows of the domain over the times of the loops, and each statement's iterators in these times.

    Empty where statements have other loops inside, or domains that are not one polyhedron, or that differ.
    """
    scop = found.base.scop
    rows: list[set[tuple[int, ...]]] = []
    bodies: list[_Body] = []
    for statement in scop.statements:
        back = _back(found, statement)
        if back is None:
            return [], []
        turn, shift = back
        spaces = np.array(statement.domain.half_spaces(0, scop.values), dtype=np.int64)
        coefficients = spaces[:, :-1] @ turn
        constants = spaces[:, -1] + spaces[:, :-1] @ shift
        rows.append({(*map(int, a), int(b)) for a, b in zip(coefficients, constants, strict=True)})
        values = [[*map(int, turn[k]), int(shift[k])] for k in range(len(shift))]
        bodies.append((statement.text, list(zip(statement.iterators, values, strict=True))))
    if any(one != rows[0] for one in rows):
        return [], []
    return [list(row) for row in sorted(rows[0])], bodies


def _back(found: MovableLoops, statement: Statement) -> tuple[Ints, Ints] | None:
    """The iterators of ``statement`` as an integer matrix times the loops' times, plus a vector; None without one."""
    scop, names = found.base.scop, statement.iterators
    domain = statement.domain
    if (
        len(names) != len(found.loops)
        or len(domain.pieces) != 1
        or any(c.expression.quotients for c in domain.pieces[0])
    ):
        return None
    known: Mapping[str, AffineExpr] = {name: AffineExpr.of(int(scop.values[name])) for name in scop.parameters}
    times = [loop.expressions[statement.name].substitute(known) for loop in found.loops]
    turn = np.array([[time.coefficients.get(name, 0) for name in names] for time in times], dtype=np.int64)
    if abs(round(float(np.linalg.det(turn)))) != 1:
        return None
    inverse: Ints = np.rint(np.linalg.inv(turn)).astype(np.int64)
    return inverse, -inverse @ np.array([time.constant for time in times], dtype=np.int64)
