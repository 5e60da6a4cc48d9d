"""The borders of half-planes in a plot, and the places where there is room to name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triton_lab.views.polyhedral.iteration_picture import Border

Box = tuple[float, float, float, float]  # left, bottom, right, top
LABEL = 12.5  # points
NO_POINTS = np.zeros((0, 2))


@dataclass(frozen=True)
class LabelledBorder:
    """A border within the plot, and the middle of its label on the excluded side. x is the second dimension."""

    border: Border
    ends: NDArray[np.float64]  # (2, 2): x, y
    label: tuple[float, float]


def place_lines(
    borders: Sequence[Border],
    box: Box,
    labels: Box,
    points: NDArray[np.float64],
    character: tuple[float, float],
    taken: Sequence[Box] = (),
    clear: float = 0.5,
    outlines: Sequence[NDArray[np.float64]] = (),
) -> tuple[LabelledBorder, ...]:
    """The lines of ``borders`` clipped to ``box``; labels keep clear of points, lines, outlines and each other.

    ``points``: (count, 2) as x, y. ``character``: the width and height of a letter in the plot's units. ``labels``: the
    rectangle in which labels may stand; ``taken``: rectangles in which they may not. ``clear``: the distance of a label
    from its line where it stands beyond an axis's numbers, in heights of a letter. ``outlines``: (corners, 2) each, as
    x, y: tiles around the points.
    """
    strokes = _along(outlines, min(character) / 2)
    # A tile reaches at most half way to the next point beyond a border: a label may stand beyond the tile.
    gaps = (0.25, 0.5, clear, *((0.25 + 0.5 / character[1],) if outlines else ()))
    clipped = [(b, ends) for b in borders if (ends := clip(b, box)) is not None]
    found: list[LabelledBorder] = []
    occupied = list(taken)
    for border, ends in clipped:
        size = (len(border.name) * character[0], character[1])
        best, best_cost = (0.0, 0.0), np.inf
        outward = -np.array(_gradient(border))
        outward = outward / np.hypot(*outward)
        for share in np.linspace(0.06, 0.94, 23):
            on_line = ends[0] + (ends[1] - ends[0]) * share
            for gap in gaps:
                # Half the label's extent along the normal, so that its nearest corner keeps the gap.
                reach = abs(outward[0]) * size[0] / 2 + abs(outward[1]) * size[1] / 2
                centre = on_line + outward * (reach + gap * character[1])
                rectangle = _around(centre, size)
                cost = _cost(rectangle, labels, points, [e for b, e in clipped if b is not border], occupied, strokes)
                # A label reads best far out along the line, beyond the polygon, but not at the very end.
                cost += 0.3 * abs(share - 0.75) + gap * 0.1
                if cost < best_cost:
                    best, best_cost = (float(centre[0]), float(centre[1])), cost
        occupied.append(_around(np.array(best), size))
        found.append(LabelledBorder(border, ends, best))
    return tuple(found)


def _gradient(border: Border) -> tuple[float, float]:
    """The direction (x, y) in which the constraint's value increases."""
    vertical, *horizontal = border.coefficients
    return (horizontal[0], vertical) if horizontal else (vertical, 0.0)


def clip(border: Border, box: Box) -> NDArray[np.float64] | None:
    """The two ends (x, y) of the border's line within ``box``, or None if it passes outside."""
    a, b = _gradient(border)
    left, bottom, right, top = box
    start = -border.constant * np.array([a, b]) / (a * a + b * b)
    direction = np.array([b, -a])
    low, high = -np.inf, np.inf
    for k, (least, most) in enumerate(((left, right), (bottom, top))):
        if direction[k] == 0:
            if not least - 1e-9 <= start[k] <= most + 1e-9:
                return None
            continue
        bounds = sorted(((least - start[k]) / direction[k], (most - start[k]) / direction[k]))
        low, high = max(low, bounds[0]), min(high, bounds[1])
    if high - low < 1e-9:  # it touches a corner at most
        return None
    ends = np.array([start + direction * low, start + direction * high])
    return ends[np.lexsort((ends[:, 1], ends[:, 0]))]


def _along(outlines: Sequence[NDArray[np.float64]], step: float) -> NDArray[np.float64]:
    """Points (count, 2) on the sides of closed ``outlines``, at most ``step`` apart."""
    found = [np.zeros((0, 2))]
    for outline in outlines:
        for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
            pieces = int(np.ceil(np.hypot(*(b - a)) / step)) + 1
            found.append(a + (b - a) * np.linspace(0, 1, pieces)[:, None])
    return np.concatenate(found)


def _around(centre: NDArray[np.float64], size: tuple[float, float]) -> Box:
    x, y = centre
    return x - size[0] / 2, y - size[1] / 2, x + size[0] / 2, y + size[1] / 2


def _cost(
    rectangle: Box,
    labels: Box,
    points: NDArray[np.float64],
    lines: Sequence[NDArray[np.float64]],
    occupied: Sequence[Box],
    strokes: NDArray[np.float64] = NO_POINTS,
) -> float:
    left, bottom, right, top = rectangle
    outside = (
        max(labels[0] - left, 0) + max(labels[1] - bottom, 0) + max(right - labels[2], 0) + max(top - labels[3], 0)
    )
    inside = (points[:, 0] > left - 0.2) & (points[:, 0] < right + 0.2)
    inside &= (points[:, 1] > bottom - 0.2) & (points[:, 1] < top + 0.2)
    cost = 20 * outside + 4 * float(inside.sum())
    for other in occupied:
        wide = min(right, other[2]) - max(left, other[0])
        high = min(top, other[3]) - max(bottom, other[1])
        if wide > 0 and high > 0:
            cost += 10 + 10 * wide * high
    for ends in lines:
        along = ends[0] + (ends[1] - ends[0]) * np.linspace(0, 1, 80)[:, None]
        cost += 6 * bool(_inside(along, rectangle).any())
    return cost + 6 * bool(_inside(strokes, rectangle).any())


def _inside(points: NDArray[np.float64], rectangle: Box) -> NDArray[np.bool_]:
    left, bottom, right, top = rectangle
    found: NDArray[np.bool_] = (
        (points[:, 0] > left) & (points[:, 0] < right) & (points[:, 1] > bottom) & (points[:, 1] < top)
    )
    return found
