"""A drawing in space: items at places of three coordinates, and what is seen of them from an angle.

A static picture shows it from one angle (`Solid.drawing`). `front/drawing/solid.js` does the same while a reader turns
it, with the same items (`Solid.scene`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from triton_lab.views.drawing.drawing import ArrowLines, Circles, Drawing, DrawnText, Polygons
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.heatmap import buffer
from triton_lab.views.drawing.orthographic import Orthographic, Places
from triton_lab.views.drawing.solid_scenes import (
    SolidArrowsItem,
    SolidAxesItem,
    SolidCirclesItem,
    SolidFaceItem,
    SolidItemScene,
    SolidNamesItem,
    SolidScene,
)

Shift = tuple[float, float]  # CSS pixels to the right and down
AXIS_NAME, BESIDE_TIP = 15.0, 14.0  # points; CSS pixels from an axis's tip to the middle of its name
NUMBER, BESIDE_AXIS = 8.5, 18.0  # points; CSS pixels from an axis to the middles of its numbers
LEAST_APART = 15.0  # CSS pixels between the numbers of an axis
CLEAR_OF_AXES = 6.0  # CSS pixels between a name and an axis
PAST_TIP = 30.0  # CSS pixels beyond its tip in which a name keeps clear of an axis


@dataclass(frozen=True)
class SolidAxes:
    """Arrows from `low` along each coordinate to that of `high`, and their names."""

    low: Places
    high: Places
    names: Sequence[str]
    colour: str

    @property
    def ends(self) -> Places:
        """(3, 2, 3)"""
        tips = np.where(np.eye(3, dtype=bool), self.high, self.low)
        return np.stack([np.broadcast_to(self.low, (3, 3)), tips], axis=1)

    def draw(self, made: Drawing, seen: Orthographic) -> None:
        ends = seen.place(self.ends)
        made.add(ArrowLines(ends, self.colour))
        for (start, tip), name in zip(ends, self.names, strict=True):
            long = float(np.hypot(*(tip - start)))
            if long > BESIDE_TIP:  # else the axis points at the reader
                x, y = (tip + (tip - start) / long * BESIDE_TIP).tolist()
                made.add(DrawnText(x, y, name, AXIS_NAME, align="center"))
        for x, y, number in self.numbers(seen):
            made.add(DrawnText(x, y, number, NUMBER, "faint", "center", halo="ground"))

    def numbers(self, seen: Orthographic) -> list[tuple[float, float, str]]:
        """The whole numbers along each axis as (x, y, text), as close as they stay apart, on the side off the body."""
        found = []
        middle = seen.place((self.low + self.high) / 2)
        for axis, (start, tip) in enumerate(seen.place(self.ends)):
            long = float(np.hypot(*(tip - start)))
            apart = long / float(self.high[axis] - self.low[axis])
            if apart * 10_000 < LEAST_APART:
                continue  # the axis points at the reader
            step = next(s for s in (d * 10**k for k in range(5) for d in (1, 2, 5)) if s * apart >= LEAST_APART)
            way = (tip - start) / long
            aside = np.array([-way[1], way[0]])
            aside = -aside if aside @ (middle - start) > 0 else aside
            first = int(np.ceil(self.low[axis] / step)) * step
            # One number is enough where all axes begin with the same.
            first += step if axis and first == self.low[axis] == self.low[0] else 0
            for number in range(first, int(np.ceil(self.high[axis])), step):
                x, y = (start + way * apart * (number - self.low[axis]) + aside * BESIDE_AXIS).tolist()
                found.append((x, y, str(number)))
        return found

    def scene(self) -> SolidAxesItem:
        return {
            "what": "axes",
            "low": _place(self.low),
            "high": _place(self.high),
            "names": list(self.names),
            "colour": self.colour,
            "size": AXIS_NAME,
        }


@dataclass(frozen=True)
class SolidFace:
    """A flat polygon: its `corners` around it, (count, 3)."""

    corners: Places
    fill: str
    opacity: float
    edge: str
    edge_opacity: float

    def draw(self, made: Drawing, seen: Orthographic) -> None:
        outline = seen.place(self.corners)
        made.add(Polygons((outline,), self.fill, self.opacity))
        made.add(Polygons((outline,), "none", self.edge_opacity, self.edge, 1.0))

    def scene(self) -> SolidFaceItem:
        return {
            "what": "face",
            "corners": list(map(_place, self.corners)),
            "fill": self.fill,
            "opacity": self.opacity,
            "edge": self.edge,
            "edgeOpacity": self.edge_opacity,
        }


@dataclass(frozen=True)
class SolidCircles:
    """Circles around places (count, 3), moved by `shift`, the farthest first. `which`: the index in `fills` of each."""

    places: Places
    radius: float
    fills: Sequence[str]
    ring: str
    line: float
    shift: Shift = (0.0, 0.0)
    which: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def piled(self) -> bool:
        """Whether circles are so large that their order is seen."""
        return self.radius >= 2

    def draw(self, made: Drawing, seen: Orthographic) -> None:
        order = np.argsort(seen.depth(self.places), kind="stable")
        centres = seen.place(self.places[order]) + self.shift
        which = self.which[order] if len(self.which) else self.which
        made.add(Circles(centres, self.radius, self.fills, self.ring, self.line, which, self.piled))

    def scene(self) -> SolidCirclesItem:
        """All have the first fill: a live picture colours them as they are visited."""
        return {
            "what": "circles",
            "places": buffer(self.places.astype(np.float32)),
            "radius": self.radius,
            "fill": self.fills[0],
            "ring": self.ring,
            "line": self.line,
            "shift": self.shift,
            "piled": self.piled,
        }


@dataclass(frozen=True)
class SolidArrows:
    """Arrows between places, (count, 2, 3), whose ends are moved by `shifts`; the rest as in `ArrowLines`."""

    ends: Places
    look: ArrowLines
    shifts: tuple[Shift, Shift] = ((0.0, 0.0), (0.0, 0.0))

    def draw(self, made: Drawing, seen: Orthographic) -> None:
        look = self.look
        ends = seen.place(self.ends) + np.array(self.shifts)
        made.add(ArrowLines(ends, look.colour, look.width, look.head, look.gap, look.dashes, look.beside))

    def scene(self) -> SolidArrowsItem:
        look = self.look
        return {
            "what": "arrows",
            "ends": buffer(self.ends.astype(np.float32)),
            "shifts": self.shifts,
            "colour": look.colour,
            "width": look.width,
            "head": look.head,
            "gap": look.gap,
            "dashes": list(look.dashes),
            "beside": look.beside,
        }


@dataclass(frozen=True)
class SolidNames:
    """Names outside of a body with these `corners`, (count, 3): each lies beyond its place, `room` away from the body,
    and clear of the axes."""

    names: Sequence[tuple[str, Places]]
    corners: Places
    axes: SolidAxes
    colour: str
    size: float
    room: float

    def draw(self, made: Drawing, seen: Orthographic) -> None:
        body, axes = seen.place(self.corners), seen.place(self.axes.ends)
        middle = body.mean(axis=0)
        for name, place in self.names:
            away = seen.place(place) - middle
            long = float(np.hypot(*away))
            if long < 1:
                continue  # the place is seen in the middle of the body
            along = away / long
            reach = float(((body - middle) @ along).max())
            half = self._half(name)
            at = middle + along * (reach + self.room + half[0] * abs(along[0]))
            x, y = _beside(axes, at, half).tolist()
            made.add(DrawnText(x, y, name, self.size, self.colour, "center", halo="ground"))

    def _half(self, name: str) -> npt.NDArray[np.float64]:
        """Half the width and height of a name."""
        return np.array([width_of(name, self.size) / 2, self.size * 0.7])

    def scene(self) -> SolidNamesItem:
        return {
            "what": "names",
            "names": [(name, _place(place), float(self._half(name)[0])) for name, place in self.names],
            "corners": list(map(_place, self.corners)),
            "colour": self.colour,
            "size": self.size,
            "room": self.room,
        }


def _beside(
    axes: npt.NDArray[np.float64], at: npt.NDArray[np.float64], half: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The place (x, y) of a name of this half width and height, moved off the axes, (count, 2, 2), that it crosses."""
    for start, end in axes:
        long = max(float(np.hypot(*(end - start))), 1e-9)
        way = (end - start) / long
        across = np.array([-way[1], way[0]])
        away, need = float((at - start) @ across), float(np.abs(across) @ half) + CLEAR_OF_AXES
        if 0 < (at - start) @ way < long + PAST_TIP and abs(away) < need:
            at = at + across * (np.copysign(need, away) - away)
    return at


SolidItem = SolidAxes | SolidFace | SolidCircles | SolidArrows | SolidNames


@dataclass(frozen=True)
class Solid:
    """The items of a drawing in space, in the order in which they are drawn, on a page of this size in CSS pixels."""

    width: float
    height: float
    items: Sequence[SolidItem]

    def drawing(self, seen: Orthographic) -> Drawing:
        made = Drawing(self.width, self.height)
        for item in self.items:
            item.draw(made, seen)
        return made

    def scene(self) -> SolidScene:
        items: list[SolidItemScene] = [item.scene() for item in self.items]
        return {"width": self.width, "height": self.height, "items": items}


def _place(place: Places) -> tuple[float, float, float]:
    x, y, z = place.tolist()
    return x, y, z
