"""The arrays beside the iteration domain, with the elements that each instance reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.polyhedral import Schedule
from triton_lab.polyhedral.access_visits import touches
from triton_lab.polyhedral.execute import extent
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle, Segments
from triton_lab.views.polyhedral.polyhedral_style import BOTH

GAP = 26.0  # CSS pixels between two arrays
NAME = 20.0


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

    def cells(self, subscripts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """The cells, counted row by row, of subscripts given as one array per dimension."""
        if not self.shape:
            return np.zeros(1, dtype=np.int64)
        moved = [s - low for s, low in zip(subscripts, self.low, strict=True)]
        return np.ravel_multi_index(moved, self.shape).astype(np.int64)


@dataclass(frozen=True)
class Touched:
    """The cells that one access touches: ``cells[v]`` belongs to visit ``visits[v]`` of the whole order."""

    statement: str
    number: int
    kind: str
    array: str
    visits: NDArray[np.int64]
    cells: NDArray[np.int64]


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
        found.append(Touched(t.statement, t.number, t.access.kind, t.access.array, t.visits, cells))
    return tuple(found)


@dataclass(frozen=True)
class Shelf:
    """Grids below each other, each with the largest cells that fit."""

    grids: tuple[ArrayGrid, ...]
    width: float = 240.0

    def cell(self, grid: ArrayGrid) -> float:
        return float(np.clip(min(self.width / grid.columns, 200.0 / grid.rows), 1.0, 24.0))

    @property
    def size(self) -> tuple[float, float]:
        wide = max((self.cell(g) * g.columns for g in self.grids), default=0.0)
        return wide + 2, sum(NAME + self.cell(g) * g.rows + GAP for g in self.grids)

    def corner(self, number: int) -> float:
        """The upper edge of a grid."""
        return NAME + sum(NAME + self.cell(g) * g.rows + GAP for g in self.grids[:number])

    def centre(self, number: int, cell: int) -> NDArray[np.float64]:
        grid, side = self.grids[number], self.cell(self.grids[number])
        row, column = divmod(cell, grid.columns)
        return np.array([(column + 0.5) * side, self.corner(number) + (row + 0.5) * side])

    def drawing(self, marked: Sequence[tuple[int, int, str]] = (), start: NDArray[np.float64] | None = None) -> Drawing:
        """The grids below each other.

        ``marked``: (grid, cell, kind) of each marked cell; lines join ``start`` to them.
        """
        made = Drawing(*self.size)
        for number, grid in enumerate(self.grids):
            self._grid(made, number, grid)
        for number, cell, kind in marked:
            side = self.cell(self.grids[number])
            left, top = self.centre(number, cell) - side / 2
            fill = BOTH.written if kind == "write" else BOTH.read
            made.add(Rectangle(left, top, side, side, fill, BOTH.axis, radius=0))
        if start is not None:
            for number, cell, kind in marked:
                (x0, y0), (x1, y1) = start.tolist(), self.centre(number, cell).tolist()
                middle = (x0 + x1) / 2
                colour = BOTH.writing if kind == "write" else BOTH.reading
                points = ((x0, y0), (middle, y0), (middle, y1), (x1, y1))
                made.add(Line(points, colour, 1.4, curved=True, arrow=False))
        return made

    def _grid(self, made: Drawing, number: int, grid: ArrayGrid) -> None:
        """An array's name and cells."""
        side, top = self.cell(grid), self.corner(number)
        wide, tall = side * grid.columns, side * grid.rows
        label = _("{name}[{zip}]").format(
            name=grid.name, zip=", ".join(f"{a}..{a + n - 1}" for a, n in zip(grid.low, grid.shape, strict=True))
        )
        made.add(DrawnText(0, top - 10, label if grid.shape else grid.name, 9.0, bold=True))
        made.add(Rectangle(0, top, wide, tall, BOTH.statement, BOTH.axis, line=1.2, radius=0))
        if side < 4:
            return
        upright = [[(c * side, top), (c * side, top + tall)] for c in range(1, grid.columns)]
        level = [[(0, top + r * side), (wide, top + r * side)] for r in range(1, grid.rows)]
        if upright or level:
            made.add(Segments(np.array(upright + level, dtype=np.float64), "ground"))
