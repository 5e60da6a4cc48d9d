"""The arrays beside the iteration domain, with the elements that each instance reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral import Schedule
from triton_lab.polyhedral.access_visits import touches
from triton_lab.polyhedral.execute import extent
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle, Segments
from triton_lab.views.polyhedral.polyhedral_style import BOTH

GAP = 26.0  # CSS pixels between two arrays
NAME = 20.0  # above the cells
RULED = 3.5  # CSS pixels of a cell, at least, between lines
SEEN = 10.0  # a width and height of cells that can be seen
WIDTH, HEIGHT = 240.0, 200.0  # of an array, if its cells do not get smaller than a pixel


@dataclass(frozen=True)
class ArrayGrid:
    """An array laid out in rows; dimensions before the last two are stacked. ``low``: the least subscripts."""

    name: str
    low: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def columns(self) -> int:
        return self.shape[-1] if self.shape else 1

    @property
    def rows(self) -> int:
        return int(np.prod(self.shape[:-1])) if len(self.shape) > 1 else 1

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of a cell in CSS pixels: the largest square that fits, or what can be seen of it."""
        across, down = WIDTH / self.columns, HEIGHT / self.rows
        side = float(np.clip(min(across, down), 1.0, 24.0))
        return max(side, min(SEEN, across)), max(side, min(SEEN, down))

    @property
    def height(self) -> float:
        """The height of its picture in CSS pixels."""
        return NAME + self.size[1] * self.rows

    def drawing(self) -> Drawing:
        """The array's name and, `NAME` pixels down, its cells."""
        (across, down), tall = self.size, self.height - NAME
        wide = across * self.columns
        made = Drawing(wide + 2, self.height + 2)
        ranges = ", ".join(f"{a}..{a + n - 1}" for a, n in zip(self.low, self.shape, strict=True))
        made.add(DrawnText(0, NAME - 10, f"{self.name}[{ranges}]" if self.shape else self.name, 9.0, bold=True))
        made.add(Rectangle(0, NAME, wide, tall, BOTH.statement, BOTH.axis, line=1.2, radius=0))
        rules = [[(c * across, NAME), (c * across, NAME + tall)] for c in range(1, self.columns) if across >= RULED]
        rules += [[(0, NAME + r * down), (wide, NAME + r * down)] for r in range(1, self.rows) if down >= RULED]
        if rules:
            made.add(Segments(np.array(rules, dtype=np.float64), "ground"))
        return made.fitted()

    def cells(self, subscripts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """The cells, counted row by row, of subscripts given as one array per dimension."""
        if not self.shape:
            return np.zeros(1, dtype=np.int64)
        moved = [s - low for s, low in zip(subscripts, self.low, strict=True)]
        return np.ravel_multi_index(moved, self.shape).astype(np.int64)


@dataclass(frozen=True)
class Touched:
    """The cells that one access touches: ``cells[v]`` belongs to visit ``visits[v]`` of the whole order.

    ``may``: data decides whether it does.
    """

    statement: str
    number: int
    kind: str
    array: str
    visits: NDArray[np.int64]
    cells: NDArray[np.int64]
    may: bool


def grids(schedule: Schedule) -> tuple[ArrayGrid, ...]:
    """The used part of each array."""
    found = []
    for array in schedule.scop.arrays:
        low, high = extent(schedule.scop, array.name)
        low = np.minimum(low, 0) if np.all(low <= 4) else low  # the picture begins at element 0 if that is near
        found.append(ArrayGrid(array.name, tuple(low.tolist()), tuple(np.maximum(high - low + 1, 1).tolist())))
    return tuple(found)


def touched(schedule: Schedule, every: Sequence[ArrayGrid]) -> tuple[Touched, ...]:
    """The cells that each access touches, visit by visit."""
    by_name = {grid.name: grid for grid in every}
    found = []
    for t in touches(schedule):
        cells = np.broadcast_to(by_name[t.access.array].cells(t.subscripts), t.visits.shape)
        found.append(Touched(t.statement, t.number, t.access.kind, t.access.array, t.visits, cells, t.access.may))
    return tuple(found)


@dataclass(frozen=True)
class Shelf:
    """Grids below each other."""

    grids: tuple[ArrayGrid, ...]

    def top(self, number: int) -> float:
        """The upper edge of a grid with its name."""
        return sum(grid.height + GAP for grid in self.grids[:number])

    def centre(self, number: int, cell: int) -> NDArray[np.float64]:
        across, down = self.grids[number].size
        row, column = divmod(cell, self.grids[number].columns)
        return np.array([(column + 0.5) * across, self.top(number) + NAME + (row + 0.5) * down])

    def drawing(
        self, marked: Sequence[tuple[int, int, str, bool]] = (), start: NDArray[np.float64] | None = None
    ) -> Drawing:
        """The grids below each other.

        ``marked``: (grid, cell, kind, may) of each marked cell; lines join ``start`` to them.
        """
        made = Drawing(2.0, self.top(len(self.grids)))
        for number, grid in enumerate(self.grids):
            made.place(grid.drawing(), 0, self.top(number))
        for number, cell, kind, _may in marked:
            across, down = self.grids[number].size
            left, top = self.centre(number, cell) - np.array([across, down]) / 2
            fill = BOTH.written if kind == "write" else BOTH.read
            made.add(Rectangle(left, top, across, down, fill, BOTH.axis, radius=0))
        if start is not None:
            for number, cell, kind, may in marked:
                (x0, y0), (x1, y1) = start.tolist(), self.centre(number, cell).tolist()
                middle = (x0 + x1) / 2
                colour = BOTH.writing if kind == "write" else BOTH.reading
                points = ((x0, y0), (middle, y0), (middle, y1), (x1, y1))
                made.add(Line(points, colour, 1.4, curved=True, dashed=may, arrow=False))
        return made
