"""An iteration domain in space: an orthographic view with the faces of its polyhedron flat and transparent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triton_lab.views.polyhedral import polyhedral_style as look
from triton_lab.views.polyhedral.canvas import Canvas, mixed
from triton_lab.views.polyhedral.iteration_picture import Border, Picture, StatementLayer
from triton_lab.views.polyhedral.outlines import hull
from triton_lab.views.polyhedral.plane_plot import draw_arrows

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
        unit = min(look.UNIT * 1.4, (self.width - 90) / (most[0] - least[0]), (self.height - 80) / (most[1] - least[1]))
        return unit, np.array([45 - least[0] * unit, 30 + most[1] * unit])

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

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        corner = np.array([x, y])
        low, high = self._reach
        for d, name in enumerate(self.picture.dims):
            end = low.copy()
            end[d] = high[d]
            ends = self.place(np.stack([low, end])) + corner
            canvas.lines(ends[None], canvas.look.axis, 1.0)
            along = (ends[1] - ends[0]) / max(np.hypot(*(ends[1] - ends[0])), 1e-9)
            side = np.array([-along[1], along[0]])
            canvas.polygon([ends[1] + along * 9, ends[1] + side * 4, ends[1] - side * 4], canvas.look.axis)
            at = ends[1] + along * 22
            canvas.text(at[0], at[1], name, 15, canvas.look.ink, "center")
        for layer in self.picture.layers:
            for _, face in faces(layer, self.picture.borders):
                outline = hull(self.place(face)) + corner
                if len(outline) > 2:
                    canvas.polygon(outline, canvas.look.polygon, look.POLYGON_OPACITY / 3)
                    canvas.path(np.concatenate([outline, outline[:1]]), canvas.look.border, 1.0, 0.65)
        self._points(canvas, corner)
        self._arrows(canvas, corner)
        self._labels(canvas, corner)

    @property
    def radius(self) -> float:
        return float(np.clip(self._frame[0] * 0.11, 1.2, 7.0))

    @cached_property
    def shifts(self) -> NDArray[np.float64]:
        """The offset of each layer, (layers, 2) pixels: without it, layers on one point would hide each other."""
        steps = np.arange(len(self.picture.layers)) - (len(self.picture.layers) - 1) / 2
        return np.stack([steps, -steps], axis=1) * self.radius * 1.5

    def _points(self, canvas: Canvas, corner: NDArray[np.float64]) -> None:
        visits = self.picture.visits
        colours = mixed(canvas.look.order, len(visits))
        for k, layer in enumerate(self.picture.layers):
            back_to_front = np.argsort(self.depth(layer.points), kind="stable")
            fill: str | NDArray[np.float64] = canvas.look.statements[k % len(canvas.look.statements)]
            if self.coloured:
                own = np.flatnonzero(visits[:, 0] == k)
                first = np.full(len(layer.points), -1)
                first[visits[own[::-1], 1]] = own[::-1]
                fill = colours[first][back_to_front]
            places = self.place(layer.points[back_to_front]) + self.shifts[k] + corner
            canvas.circles(places, self.radius, fill, canvas.look.ring, max(0.4, self.radius / 5))

    def _arrows(self, canvas: Canvas, corner: NDArray[np.float64]) -> None:
        number = {layer.statement: k for k, layer in enumerate(self.picture.layers)}
        for arrows in sorted(self.picture.arrows, key=lambda a: a.violated):
            shift = np.stack([self.shifts[number[arrows.source]], self.shifts[number[arrows.target]]])
            draw_arrows(canvas, arrows, self.place(arrows.ends) + shift + corner, 7.0, self.radius)

    def _labels(self, canvas: Canvas, corner: NDArray[np.float64]) -> None:
        """Draw the excluded side of each face that looks towards the reader, outwards from its middle."""
        for layer in self.picture.layers:
            for border, face in faces(layer, self.picture.borders):
                outward = -np.array(border.coefficients) / np.hypot.reduce(border.coefficients)
                if outward @ self._turn[2] < -0.05 and abs(outward @ self._turn[1]) < 0.5:
                    continue
                at = self.place(face.mean(axis=0) + outward * 24 / self._frame[0]) + corner
                canvas.text(at[0], at[1], border.excluded, LABEL, canvas.look.border, "center", ground=True)


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
