"""An iteration domain in the plane, in the style of Triton's related-work page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triton_lab.views.drawing.drawing import Circles, Drawing, DrawnText, Line, Polygons, Segments
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.polyhedral import polyhedral_style as look
from triton_lab.views.polyhedral.border_labels import LABEL, Box, LabelledBorder, place_lines
from triton_lab.views.polyhedral.instant_marks import marked, outline
from triton_lab.views.polyhedral.iteration_picture import Picture
from triton_lab.views.polyhedral.outlines import hull
from triton_lab.views.polyhedral.plane_axes import BESIDE, NUMBER, PlaneAxes
from triton_lab.views.polyhedral.polyhedral_style import BOTH, order_colours

TILE = 10.0  # points, of a tile's name
MOST_STEPS = 600  # most visits for which the way between them, or through those of one instant, is drawn
MOST_SHADES = 1024  # from the first visit to the last
BELOW, LEFT, ABOVE, RIGHT = 58.0, 54.0, 10.0, 40.0  # CSS pixels, at least
OVER = 34.0  # CSS pixels over the axis of a single dimension, at least: names of borders stand there
KNOB = 13.0  # CSS pixels around the middle of a knob


@dataclass(frozen=True)
class Plot:
    """A two-dimensional (or one-dimensional) picture and its place on a canvas.

    The first dimension goes up, the second to the right. A single dimension goes to the right.
    """

    picture: Picture
    coloured: bool = False  # points have the colour of their first visit's order
    width: float = look.WIDTH
    height: float = look.HEIGHT
    knobs: tuple[tuple[float, float], ...] = ()  # (x, y) in units of what stands over the plot; names keep clear of it

    @property
    def flat(self) -> bool:
        return len(self.picture.dims) == 1

    @cached_property
    def box(self) -> Box:
        """The part of the plane that is shown, in units: lines run well past the points."""
        low, high = self.picture.reach
        x, y = (0, None) if self.flat else (1, 0)
        margin = 0.5 if self.picture.tiles else 0.0, 1.75
        left, right = min(0, low[x]), max(high[x], 1)
        bottom, top = (0, 0) if y is None else (min(0, low[y]), max(high[y], 1))
        pad = max(1.0, (max(right - left, top - bottom)) / 10)
        left, right = left - (pad * 0.6 if left < 0 else margin[0]), right + margin[1] * pad
        if y is None:
            return left, -margin[0] if self.picture.tiles else 0.0, right, max(1.0, OVER * (right - left) / self.width)
        return left, bottom - (pad * 0.6 if bottom < 0 else margin[0]), right, top + margin[1] * pad + 0.4

    @cached_property
    def unit(self) -> float:
        """The CSS pixels between neighbouring points."""
        left, bottom, right, top = self.box
        return min(look.UNIT, (self.width - LEFT) / (right - left), (self.height - BELOW) / (top - bottom))

    @property
    def axes(self) -> PlaneAxes:
        return PlaneAxes(self.picture.dims, self.box, self.unit)

    @property
    def size(self) -> tuple[float, float]:
        """The plot's width and height in CSS pixels."""
        left, bottom, right, top = self.box
        return sum(self.sides) + (right - left) * self.unit, ABOVE + (top - bottom) * self.unit + BELOW

    def place(self, points: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
        """The pixels (..., 2) of instances (..., dims), from the plot's upper left corner."""
        points = np.asarray(points, dtype=np.float64)
        x = points[..., 0] if self.flat else points[..., 1]
        y = np.zeros_like(x) if self.flat else points[..., 0]
        return self.pixels(np.stack([x, y], axis=-1))

    def pixels(self, xy: NDArray[np.float64]) -> NDArray[np.float64]:
        """The pixels of (x, y) in units."""
        left, _, _, top = self.box
        return np.stack(
            [self.sides[0] + (xy[..., 0] - left) * self.unit, ABOVE + (top - xy[..., 1]) * self.unit], axis=-1
        )

    @cached_property
    def sides(self) -> tuple[float, float]:
        """The CSS pixels to the left and to the right of the box: as many as the words there need."""
        left, _, right, _ = self.box
        before, after = [LEFT], [RIGHT]
        for line in self.lines:
            half = width_of(line.border.name, LABEL) / 2 + 3
            before.append((left - line.label[0]) * self.unit + half)
            after.append((line.label[0] - right) * self.unit + half)
        if not self.flat:
            before.append(self.axes.aside + width_of(self.picture.dims[0], 15) / 2 + 3)
        return max(before), max(after)

    @cached_property
    def lines(self) -> tuple[LabelledBorder, ...]:
        """The borders of the constraints, and the places of their labels."""
        if self.flat:
            every = np.zeros((0, 2))
        else:
            every = np.concatenate([layer.points[:, ::-1] for layer in self.picture.layers]).astype(float)
        # Part of a large domain's points keeps labels away just as well.
        sample = every[:: max(1, len(every) // 2000)]
        scale = 1 / self.unit
        character = LABEL * 4 / 3 * 0.56 * scale, LABEL * 4 / 3 * 1.25 * scale
        left, bottom, right, top = self.box
        numbers = BESIDE + width_of(f"{top:.0f}", NUMBER) / 2 + 4  # pixels that the numbers reach to the left
        widest = max((width_of(border.name, LABEL) for border in self.picture.borders), default=0.0)
        labels = left - (numbers + widest) * scale, bottom - 54 * scale, right + 40 * scale, top
        clear = max(numbers + 2, 27) * scale / character[1]
        tiles = [tile[:, ::-1] for tile in self.picture.tiles]
        half = KNOB * scale
        taken = (*self.axes.written(numbers), *((x - half, y - half, x + half, y + half) for x, y in self.knobs))
        return place_lines(self.picture.borders, self.box, labels, sample, character, taken, clear, tiles)

    @property
    def radius(self) -> float:
        share = look.RADIUS * (0.75 if self.rings and len(self.picture.layers) > 1 else 1)
        if not self.rings or (self.coloured and self.unit < 16):
            share = 0.4  # small points nearly touch: their colours matter more than the ground between them
        return max(share * self.unit, 0.35)

    @property
    def rings(self) -> bool:
        """Whether points are large enough to be drawn as rings; otherwise they are dots."""
        return self.unit >= 5

    @property
    def ring(self) -> float:
        return max(0.3, min(1.5, self.radius / 4)) if self.rings else 0.0

    @cached_property
    def shifts(self) -> NDArray[np.float64]:
        """The offset of each layer, (layers, 2) pixels: without it, layers on one point would hide each other."""
        count = len(self.picture.layers)
        steps = np.arange(count) - (count - 1) / 2
        return np.stack([steps, -steps], axis=1) * self.unit * (look.SHIFT if count > 1 else 0.0)

    def centres(self, layer: int) -> NDArray[np.float64]:
        """The middles of a layer's circles, in pixels."""
        shift: NDArray[np.float64] = self.shifts[layer]
        return self.place(self.picture.layers[layer].points) + shift

    def drawing(self) -> Drawing:
        """All of the plot, its upper left corner at (0, 0)."""
        made = Drawing(*self.size)
        self._ground(made)
        if self.coloured:
            self._order(made)
        self._over(made)
        self._border_names(made)
        return made

    def still(self) -> Drawing:
        """All of the plot that is the same in each order."""
        made = Drawing(*self.size)
        self._ground(made)
        self._border_names(made)
        return made

    def over(self) -> Drawing:
        """All of the plot that comes from the order: tiles, instants and dependences."""
        made = Drawing(*self.size)
        self._over(made)
        return made

    def _ground(self, made: Drawing) -> None:
        """Draw the grid, the points, the polyhedra, the axes and the borders."""
        self.axes.grid(made, self.pixels)
        if not self.coloured:
            for k in range(len(self.picture.layers)):
                made.add(self._circles(k))
        # Two statements with the same domain share its polygon.
        every = {polygon.tobytes(): polygon for layer in self.picture.layers for polygon in layer.corners}
        for polygon in every.values():
            outline = hull(self.place(polygon))
            if len(outline) > 2:
                made.add(Polygons((outline,), BOTH.polygon, look.POLYGON_OPACITY))
            elif len(outline) == 2:
                made.add(Segments(outline[None], BOTH.polygon, max(2.0, self.radius)))
        self.axes.draw(made, self.pixels, self.lines)
        if self.lines:
            made.add(Segments(np.stack([self.pixels(line.ends) for line in self.lines]), BOTH.border, 1.6))

    def _over(self, made: Drawing) -> None:
        for tile in self.picture.tiles:
            made.add(Polygons((self.pixels(tile[:, ::-1]),), "none", edge=BOTH.tile, line=1.4))
        self._fronts(made)
        self._arrows(made)
        self._tile_names(made)

    def _border_names(self, made: Drawing) -> None:
        for line in self.lines:
            x, y = self.pixels(np.array(line.label)).tolist()
            made.add(DrawnText(x, y, line.border.name, LABEL, BOTH.border, "center", halo="ground"))

    def _circles(self, layer: int) -> Circles:
        """The points of a layer, in the colour of its statement or of their programs."""
        owners = self.picture.layers[layer].owners
        if owners is None:
            fill = BOTH.statements[layer % len(BOTH.statements)] if self.rings else BOTH.faint
            return Circles(self.centres(layer), self.radius, (fill,), BOTH.ring, self.ring)
        fills = (*BOTH.parts, BOTH.statement)
        which = np.where(owners < 0, len(BOTH.parts), owners % len(BOTH.parts))
        return Circles(self.centres(layer), self.radius, fills, BOTH.ring, self.ring, which)

    def _tile_names(self, made: Drawing) -> None:
        """Draw the name of each tile that has one, in its middle or over the axis, where it fits."""
        for name, tile in zip(self.picture.tile_names, self.picture.tiles, strict=False):
            low, high = tile[:, ::-1].min(axis=0), tile[:, ::-1].max(axis=0)
            middle = (low + high) / 2
            middle = np.where(high - low > 1, np.floor(middle) + 0.5, middle)  # between points, where there are several
            (x, y), (wide, high_) = self.pixels(middle), (high - low) * self.unit
            room = wide if self.flat or high[1] - low[1] > 1 else self.unit - 2 * self.radius
            if width_of(name, TILE) < room and (self.flat or high_ > 2 * TILE):
                y -= high_ / 2 + TILE if self.flat else 0
                made.add(DrawnText(float(x), float(y), name, TILE, BOTH.tile, "center", True, halo="ground"))

    def _order(self, made: Drawing) -> None:
        """Draw circles coloured from the first visit to the last, and the way between them."""
        visits = self.picture.visits
        if 1 < len(visits) <= MOST_STEPS and not self.picture.fronts:
            made.add(Line(tuple(map(tuple, self.visited.tolist())), BOTH.axis, 1.1, arrow=False, opacity=0.75))
        for k in range(len(self.picture.layers)):
            which, fills = in_order(self.picture, k)
            made.add(Circles(self.centres(k), self.radius, fills, BOTH.ring, self.ring, which))

    @cached_property
    def visited(self) -> NDArray[np.float64]:
        """The place of each visit, (visits, 2) pixels."""
        visits = self.picture.visits
        places = np.zeros((len(visits), 2))
        for k in range(len(self.picture.layers)):
            own = np.flatnonzero(visits[:, 0] == k)
            places[own] = self.centres(k)[visits[own, 1]]
        return places

    def _fronts(self, made: Drawing) -> None:
        """Draw one mark for the visits of each instant."""
        if len(self.picture.visits) > MOST_STEPS:
            return
        for front in marked(self.picture):
            corners = outline(self.visited[front], self.radius + 4)
            if len(corners) > 2:
                made.add(Polygons((corners,), "none", 0.75, BOTH.axis, 2.2))
            else:
                made.add(Line(tuple(map(tuple, corners.tolist())), BOTH.axis, 2.2, arrow=False, opacity=0.75))

    def _arrows(self, made: Drawing) -> None:
        number = {layer.statement: k for k, layer in enumerate(self.picture.layers)}
        for arrows in sorted(self.picture.arrows, key=lambda a: a.violated):
            shift = np.stack([self.shifts[number[arrows.source]], self.shifts[number[arrows.target]]])
            head = max(3.0, min(9.0, self.unit * 0.17))
            made.add(arrows.drawn(self.place(arrows.ends) + shift, head, self.radius + 1))


def in_order(picture: Picture, layer: int) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The colour of each point of a layer, by its first visit, as an index in the colours from first to last."""
    visits, (_, turns) = picture.visits, np.unique(picture.instants, return_inverse=True)
    turns = turns.reshape(-1) if len(turns) else np.arange(len(visits))
    last = int(turns.max(initial=0))
    shades = min(last + 1, MOST_SHADES)
    own = np.flatnonzero(visits[:, 0] == layer)
    first = np.zeros(len(picture.layers[layer].points), dtype=np.int64)
    first[visits[own[::-1], 1]] = turns[own[::-1]]
    return first * (shades - 1) // max(1, last), order_colours(shades)
