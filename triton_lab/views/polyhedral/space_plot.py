"""An iteration domain in space: an orthographic view with the faces of its polyhedron flat and transparent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triton_lab.views.drawing.drawing import Circles, Drawing, DrawnText, Polygons, Segments
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.polyhedral import polyhedral_style as look
from triton_lab.views.polyhedral.dependence_arrows import dependence
from triton_lab.views.polyhedral.iteration_picture import Border, Picture, StatementLayer
from triton_lab.views.polyhedral.outlines import hull
from triton_lab.views.polyhedral.plane_plot import in_order
from triton_lab.views.polyhedral.polyhedral_style import BOTH

LABEL = 11.0


@dataclass(frozen=True)
class SpacePlot:
    """A three-dimensional picture, seen from ``azimuth`` and ``elevation`` (degrees).

    The first dimension goes up, the second to the right, the third towards the reader.
    """

    picture: Picture
    coloured: bool = False
    azimuth: float = 28.0
    elevation: float = 22.0
    width: float = 520.0
    height: float = 480.0

    @cached_property
    def _turn(self) -> NDArray[np.float64]:
        """The rotation (3, 3): rows right, up and towards the reader, over the dimensions."""
        a, e = np.radians(self.azimuth), np.radians(self.elevation)
        right = np.array([0.0, np.cos(a), -np.sin(a)])
        toward = np.array([np.sin(e), np.cos(e) * np.sin(a), np.cos(e) * np.cos(a)])
        return np.stack([right, np.cross(toward, right) * -1, toward])

    @cached_property
    def _reach(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The box that is drawn: from the least coordinates (or 0) to one step beyond the greatest."""
        low, high = self.picture.reach
        low = np.minimum(low, 0.0)
        return low, high + np.maximum(1.0, (high - low) * 0.15)

    @cached_property
    def _frame(self) -> tuple[float, NDArray[np.float64]]:
        """The number of pixels in a unit, and the place of the origin."""
        low, high = self._reach
        every = np.array([[(low, high)[k][d] for d, k in enumerate(c)] for c in np.ndindex(2, 2, 2)]) @ self._turn.T
        least, most = every[:, :2].min(axis=0), every[:, :2].max(axis=0)
        unit = min(look.UNIT * 2, (self.width - 90) / (most[0] - least[0]), (self.height - 80) / (most[1] - least[1]))
        return unit, np.array([45 - least[0] * unit, 30 + most[1] * unit])

    @cached_property
    def axes(self) -> NDArray[np.float64]:
        """The ends of the axes, (3, 2, 2) pixels."""
        low, high = self._reach
        ends = np.where(np.eye(3, dtype=bool), high, low)
        return self.place(np.stack([np.broadcast_to(low, (3, 3)), ends], axis=1))

    @property
    def size(self) -> tuple[float, float]:
        return self.width, self.height

    def place(self, points: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
        """The pixels (..., 2) of instances (..., 3)."""
        unit, origin = self._frame
        seen = np.asarray(points, dtype=np.float64) @ self._turn.T
        placed: NDArray[np.float64] = origin + seen[..., :2] * np.array([unit, -unit])
        return placed

    def depth(self, points: NDArray[np.int64]) -> NDArray[np.float64]:
        away: NDArray[np.float64] = np.asarray(points, dtype=np.float64) @ self._turn[2]
        return away

    def drawing(self) -> Drawing:
        """All of the plot, its upper left corner at (0, 0)."""
        made = Drawing(*self.size)
        for ends, name in zip(self.axes, self.picture.dims, strict=True):
            along = (ends[1] - ends[0]) / max(np.hypot(*(ends[1] - ends[0])), 1e-9)
            side = np.array([-along[1], along[0]])
            x, y = (ends[1] + along * 22).tolist()
            made.add(
                Segments(ends[None], BOTH.axis),
                Polygons((np.array([ends[1] + along * 9, ends[1] + side * 4, ends[1] - side * 4]),), BOTH.axis),
                DrawnText(x, y, name, 15, align="center"),
            )
        for layer in self.picture.layers:
            for _, face in faces(layer, self.picture.borders):
                outline = hull(self.place(face))
                if len(outline) > 2:
                    made.add(Polygons((outline,), BOTH.polygon, look.POLYGON_OPACITY / 3))
                    made.add(Polygons((outline,), "none", 0.65, BOTH.border, 1.0))
        self._points(made)
        self._arrows(made)
        self._labels(made)
        return made

    @property
    def radius(self) -> float:
        return float(np.clip(self._frame[0] * 0.11, 1.2, 7.0))

    @cached_property
    def shifts(self) -> NDArray[np.float64]:
        """The offset of each layer, (layers, 2) pixels: without it, layers on one point would hide each other."""
        steps = np.arange(len(self.picture.layers)) - (len(self.picture.layers) - 1) / 2
        return np.stack([steps, -steps], axis=1) * self.radius * 1.5

    def _points(self, made: Drawing) -> None:
        for k, layer in enumerate(self.picture.layers):
            back_to_front = np.argsort(self.depth(layer.points), kind="stable")
            places, ring = self.place(layer.points[back_to_front]) + self.shifts[k], max(0.4, self.radius / 5)
            if self.coloured:
                which, fills = in_order(self.picture, k)
                made.add(Circles(places, self.radius, fills, BOTH.ring, ring, which[back_to_front]))
            else:
                fill = BOTH.statements[k % len(BOTH.statements)]
                made.add(Circles(places, self.radius, (fill,), BOTH.ring, ring))

    def _arrows(self, made: Drawing) -> None:
        number = {layer.statement: k for k, layer in enumerate(self.picture.layers)}
        for arrows in sorted(self.picture.arrows, key=lambda a: a.violated):
            shift = np.stack([self.shifts[number[arrows.source]], self.shifts[number[arrows.target]]])
            made.add(*dependence(arrows, self.place(arrows.ends) + shift, 7.0, self.radius))

    def _labels(self, made: Drawing) -> None:
        """Name the excluded side of each face outside of the polyhedron, in the direction in which the face lies."""
        for layer in self.picture.layers:
            found = faces(layer, self.picture.borders)
            outline = hull(self.place(np.concatenate([face for _, face in found]))) if found else np.zeros((0, 2))
            for border, face in found:
                away = self.place(face.mean(axis=0)) - outline.mean(axis=0)
                long = float(np.hypot(*away))
                if long < 1:
                    continue  # the face is seen from its middle
                along = away / long
                reach = float(((outline - outline.mean(axis=0)) @ along).max())
                half = np.array([width_of(border.excluded, LABEL) / 2, LABEL * 0.7])
                at = outline.mean(axis=0) + along * (reach + self.radius + 12 + half[0] * abs(along[0]))
                x, y = self._beside_axes(at, half).tolist()
                made.add(DrawnText(x, y, border.excluded, LABEL, BOTH.border, "center", halo="ground"))

    def _beside_axes(self, at: NDArray[np.float64], half: NDArray[np.float64]) -> NDArray[np.float64]:
        """The place (x, y) of a label of this half width and height, moved off the axis that it would cross."""
        for start, end in self.axes:
            way = end - start
            long = max(float(np.hypot(*way)), 1e-9)
            across = np.array([-way[1], way[0]]) / long
            away, need = float((at - start) @ across), float(np.abs(across) @ half) + 6
            if 0 < (at - start) @ way / long < long + 30 and abs(away) < need:
                at = at + across * (np.copysign(need, away) - away)
        return at


def faces(layer: StatementLayer, borders: tuple[Border, ...]) -> list[tuple[Border, NDArray[np.float64]]]:
    """The corners of the polyhedron on each border that has at least three."""
    found = []
    for border in borders:
        for corners in layer.corners:
            values = corners @ np.array(border.coefficients) + border.constant
            on = corners[np.abs(values) < 1e-9]
            if len(on) > 2:
                found.append((border, on))
    return found
