"""An iteration domain in space: an orthographic view with the faces of its polyhedron flat and transparent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triton_lab.views.drawing.drawing import Drawing
from triton_lab.views.drawing.orthographic import Orthographic
from triton_lab.views.drawing.solid import (
    Solid,
    SolidArrows,
    SolidAxes,
    SolidCircles,
    SolidFace,
    SolidItem,
    SolidNames,
)
from triton_lab.views.polyhedral import polyhedral_style as look
from triton_lab.views.polyhedral.iteration_picture import Border, Picture, StatementLayer
from triton_lab.views.polyhedral.plane_plot import in_order
from triton_lab.views.polyhedral.polyhedral_style import BOTH

LABEL = 11.0
AROUND = np.array([90.0, 80.0])  # CSS pixels for names, left and right together, above and below together
EDGE_OPACITY = 0.65


@dataclass(frozen=True)
class SpacePlot:
    """A three-dimensional picture, seen from one angle, or with room to be turned.

    The first dimension goes up, the second to the right, the third towards the reader.
    """

    picture: Picture
    coloured: bool = False
    turns: bool = False
    width: float = 520.0
    height: float = 480.0

    @cached_property
    def _reach(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The box that is drawn: from the least coordinates (or 0) to one step beyond the greatest."""
        low, high = self.picture.reach
        low = np.minimum(low, 0.0)
        return low, high + np.maximum(1.0, (high - low) * 0.15)

    @cached_property
    def _extent(self) -> NDArray[np.float64]:
        """The width and height of what is seen of the box, in units. If it turns, the diagonal: so it never zooms."""
        low, high = self._reach
        if self.turns:
            return np.full(2, np.hypot(*(np.hypot(*(high - low)[:2]), (high - low)[2])))
        seen: NDArray[np.float64] = np.abs(Orthographic(low).turn[:2]) @ (high - low)
        return seen

    @cached_property
    def seen(self) -> Orthographic:
        """The view that holds the box."""
        low, high = self._reach
        unit = float(min(look.UNIT * 2, *((self.width, self.height) - AROUND) / self._extent))
        across, down = (AROUND + self._extent * unit) / 2
        return Orthographic((low + high) / 2, (float(across), float(down)), unit)

    @property
    def size(self) -> tuple[float, float]:
        """The plot's width and height in CSS pixels."""
        across, down = self.seen.centre
        return 2 * across, 2 * down

    def place(self, points: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
        """The pixels (..., 2) of instances (..., 3)."""
        return self.seen.place(points)

    @property
    def radius(self) -> float:
        return float(np.clip(self.seen.unit * 0.12, 1.2, 7.0))

    @cached_property
    def shifts(self) -> NDArray[np.float64]:
        """The offset of each layer, (layers, 2) pixels: without it, layers on one point would hide each other."""
        steps = np.arange(len(self.picture.layers)) - (len(self.picture.layers) - 1) / 2
        return np.stack([steps, -steps], axis=1) * self.radius * 1.5

    def drawing(self) -> Drawing:
        """All of the plot, its upper left corner at (0, 0)."""
        return self.solid().drawing(self.seen)

    def solid(self) -> Solid:
        """All of the plot in space."""
        axes = SolidAxes(*self._reach, self.picture.dims, BOTH.axis)
        found = [faces(layer, self.picture.borders) for layer in self.picture.layers]
        items: list[SolidItem] = [axes]
        opacity = look.POLYGON_OPACITY / 3
        items += [
            SolidFace(face, BOTH.polygon, opacity, BOTH.border, EDGE_OPACITY) for some in found for _, face in some
        ]
        items += [self._points(k) for k in range(len(self.picture.layers))]
        items += self._arrows()
        items += [self._names(axes, some) for some in found if some]
        return Solid(*self.size, items)

    def _points(self, k: int) -> SolidCircles:
        layer, ring = self.picture.layers[k], max(0.4, self.radius / 5)
        places, shift = layer.points.astype(np.float64), self._shift(k)
        if self.coloured:
            which, fills = in_order(self.picture, k)
            return SolidCircles(places, self.radius, fills, BOTH.ring, ring, shift, which)
        fill = BOTH.statements[k % len(BOTH.statements)]
        return SolidCircles(places, self.radius, (fill,), BOTH.ring, ring, shift)

    def _shift(self, layer: int) -> tuple[float, float]:
        x, y = self.shifts[layer].tolist()
        return x, y

    def _arrows(self) -> list[SolidArrows]:
        number = {layer.statement: k for k, layer in enumerate(self.picture.layers)}
        head, nowhere = float(np.clip(self.seen.unit * 0.17, 3.0, 9.0)), np.zeros((0, 2, 2))
        made = []
        for arrows in sorted(self.picture.arrows, key=lambda a: a.violated):
            shifts = self._shift(number[arrows.source]), self._shift(number[arrows.target])
            drawn = arrows.drawn(nowhere, head, self.radius + 1)
            made.append(SolidArrows(arrows.ends.astype(np.float64), drawn, shifts))
        return made

    def _names(self, axes: SolidAxes, found: list[tuple[Border, NDArray[np.float64]]]) -> SolidNames:
        """The name of the constraint of each face, in the direction in which the face lies."""
        corners = np.unique(np.concatenate([face for _, face in found]), axis=0)
        names = [(border.name, face.mean(axis=0)) for border, face in found]
        return SolidNames(names, corners, axes, BOTH.border, LABEL, self.radius + 12)


def faces(layer: StatementLayer, borders: tuple[Border, ...]) -> list[tuple[Border, NDArray[np.float64]]]:
    """The corners of the polyhedron on each border that has at least three, around the face."""
    found = []
    for border in borders:
        normal = np.array(border.coefficients)
        for corners in layer.corners:
            on = corners[np.abs(corners @ normal + border.constant) < 1e-9]
            if len(on) > 2:
                # Along the axis that is nearest to the normal, the face is seen as a polygon.
                flat = np.delete(on - on.mean(axis=0), np.abs(normal).argmax(), axis=1)
                found.append((border, on[np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))]))
    return found
