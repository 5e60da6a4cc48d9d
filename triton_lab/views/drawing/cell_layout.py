"""Where the elements of an N-d array stand in a heatmap: panels, wrapped rows, bins.

A 1-D array is wrapped into rows, a 2-D array is one panel, and each further dimension adds panels,
one for every (row, column) slice, arranged like a contact sheet. An array with too many elements
to show apart is binned: a cell then stands for a rectangle of elements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.launch.maps.tile_groups import Along
from triton_lab.localization import _
from triton_lab.views.drawing import cell_scenes, style

MOST_PANELS = 256

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CellLayout:
    """``panels`` rectangles of ``rows`` x ``columns`` cells, ``across`` of them side by side.

    ``shape`` counts the positions drawn, in reading order; position minus ``origin`` is the
    element's index (the two differ where a picture shows places before index 0). A cell holds
    ``down`` x ``right`` positions.
    """

    shape: tuple[int, ...]
    origin: tuple[int, ...]
    panels: int
    across: int
    rows: int
    columns: int
    down: int = 1
    right: int = 1

    @property
    def cells(self) -> int:
        """The number of cells, including those of a last row that is not full."""
        return self.panels * self.rows * self.columns

    @property
    def positions(self) -> int:
        """The number of positions in the drawn shape."""
        return math.prod(self.shape)

    @property
    def wrapped(self) -> bool:
        """Whether the array is one line cut into rows."""
        return len(self.shape) < 2

    @property
    def binned(self) -> bool:
        """Whether a cell stands for more than one position."""
        return self.down * self.right > 1

    def _matrix(self) -> tuple[int, int]:
        """The rows and columns of positions in one panel of an array of two or more dimensions."""
        columns = self.shape[-1]
        return (self.positions // (self.panels * columns) if columns else 0), columns

    @property
    def fine(self) -> CellLayout:
        """The same array with a cell for every position."""
        if self.wrapped:
            return replace(self, columns=self.columns * self.right, right=1)
        rows, columns = self._matrix()
        return replace(self, rows=rows, columns=columns, down=1, right=1)

    def cell_of_position(self) -> Ints:
        """The cell of each position, (positions,) in reading order."""
        if self.wrapped:
            return np.arange(self.positions, dtype=np.int64) // self.right
        rows, columns = self._matrix()
        row = np.arange(rows, dtype=np.int64) // self.down
        column = np.arange(columns, dtype=np.int64) // self.right
        panel = np.arange(self.panels, dtype=np.int64) * (self.rows * self.columns)
        cells = panel[:, None, None] + row[:, None] * self.columns + column
        return cells.reshape(-1)

    def first_of_cell(self) -> tuple[Ints, Ints]:
        """The cells that stand for a position, and the first position of each."""
        if self.wrapped:
            cells = np.arange(math.ceil(self.positions / self.right), dtype=np.int64)
            return cells, cells * self.right
        rows, columns = self._matrix()
        row, column = (np.arange(0, size, step) for size, step in ((rows, self.down), (columns, self.right)))
        panel = np.arange(self.panels, dtype=np.int64)[:, None, None]
        position = (panel * rows + row[:, None]) * columns + column
        cell = (panel * self.rows + (row // self.down)[:, None]) * self.columns + column // self.right
        return cell.reshape(-1), position.reshape(-1)

    def positions_in(self, cells: Ints) -> Ints:
        """The positions (cells, n) that some cells stand for, ascending; -1 fills up cells with fewer positions."""
        if self.wrapped:
            found = cells[:, None] * self.right + np.arange(self.right, dtype=np.int64)
            return np.where(found < self.positions, found, -1)
        rows, columns = self._matrix()
        panel, own = np.divmod(cells, max(1, self.rows * self.columns))
        row, column = np.divmod(own, max(1, self.columns))
        row = (row * self.down)[:, None, None] + np.arange(self.down, dtype=np.int64)[:, None]
        column = (column * self.right)[:, None, None] + np.arange(self.right, dtype=np.int64)
        found = (panel[:, None, None] * rows + row) * columns + column
        return np.where((row < rows) & (column < columns), found, -1).reshape(len(cells), self.down * self.right)

    def along(self) -> tuple[Along, ...] | None:
        """For each dimension, how much an index adds to the cell's number; None if that depends on other indices."""
        if self.wrapped:
            return (Along(self.positions, self.right, 1),) if self.shape else None
        if self.panels != math.prod(self.shape[:-2]):
            return None
        above = [
            Along(size, 1, math.prod(self.shape[axis + 1 : -2]) * self.rows * self.columns)
            for axis, size in enumerate(self.shape[:-2])
        ]
        return *above, Along(self.shape[-2], self.down, self.columns), Along(self.shape[-1], self.right, 1)

    def cells_at(self, positions: Ints) -> Ints:
        """The cells of some positions."""
        if self.wrapped:
            return positions // self.right
        rows, columns = self._matrix()
        line, column = np.divmod(positions, max(1, columns))
        panel, row = np.divmod(line, max(1, rows))
        found: Ints = (panel * self.rows + row // self.down) * self.columns + column // self.right
        return found

    @property
    def there(self) -> int:
        """The number of cells that stand for a position."""
        return math.ceil(self.positions / self.right) if self.wrapped else self.cells

    def row_number(self, row: int) -> str:
        """The label beside a row: its first index, or for a wrapped line its first element."""
        if self.wrapped:
            return str(row * self.columns * self.right - sum(self.origin))
        return str(row * self.down - self.origin[-2])

    def column_number(self, column: int) -> str:
        """The label above a column: its first index, or for a wrapped line the number of steps to it."""
        start = 0 if self.wrapped and self.rows > 1 else sum(self.origin[-1:])
        return str(column * self.right - start)

    def as_scene(self) -> cell_scenes.Layout:
        """The layout as plain numbers for the browser."""
        return {
            "shape": list(self.shape),
            "origin": list(self.origin),
            "panels": self.panels,
            "across": self.across,
            "rows": self.rows,
            "columns": self.columns,
            "down": self.down,
            "right": self.right,
        }


def layout(
    shape: tuple[int, ...],
    origin: tuple[int, ...] | None = None,
    columns: int | None = None,
    room: tuple[float, float] = style.ROOM,
) -> CellLayout:
    """Choose panels, rows and bins for an array of ``shape``, so that a cell is at least one pixel.

    ``room`` is the width and height, in CSS pixels, that the picture may take. ``columns`` fixes the row length of a
    1-D array; by default it is a power of two, so that blocks begin at the same place in every row.
    """
    origin = origin or (0,) * len(shape)
    count = math.prod(shape)
    if len(shape) < 2:
        widest = _power_of_two(int(room[0]) + 1) // 2
        right = _power_of_two(math.ceil(count / (widest * int(room[1]))))
        cells = math.ceil(count / right)
        columns = columns or _row_length(cells, widest)
        return CellLayout(shape, origin, 1, 1, math.ceil(cells / columns), columns, 1, right)
    panels, rows, width = math.prod(shape[:-2]), shape[-2], shape[-1]
    if panels > MOST_PANELS:
        panels, rows = 1, math.prod(shape[:-1])
    highest = int((room[1] + style.PANEL_GAP_DOWN) / (1 + style.PANEL_GAP_DOWN))  # panels of a pixel, with their gaps
    across = max(_across(panels, rows, width), math.ceil(panels / highest))
    stacked = math.ceil(panels / across)
    down = math.ceil(rows / _room(room[1], stacked, style.PANEL_GAP_DOWN))
    right = math.ceil(width / _room(room[0], across, style.PANEL_GAP_RIGHT))
    # Bins are squares, if the picture then stays wide enough to be seen.
    down = max(1, down, min(right, rows // 60))
    right = max(1, right, min(down, width // 160))
    rows, width = math.ceil(rows / down), math.ceil(width / right)
    return CellLayout(shape, origin, panels, across, rows, width, down, right)


def _room(pixels: float, panels: int, gap: float) -> int:
    """How many cells of one pixel each fit into a panel when ``panels`` share a side of the picture."""
    return max(1, int((pixels - gap * (panels - 1)) / panels))


def _power_of_two(number: int) -> int:
    """The smallest power of two that is at least ``number``."""
    return 1 << max(0, number - 1).bit_length()


def _row_length(cells: int, widest: int) -> int:
    """The row length of a line: up to 32 cells stay in one row; longer lines become about twice as wide as high."""
    if cells <= 32:
        return max(1, min(cells, widest))
    return min(widest, max(32, _power_of_two(math.isqrt(2 * cells - 1))))


def _across(panels: int, rows: int, columns: int) -> int:
    """How many panels stand side by side so that the sheet is about 4:3."""
    if not rows or not columns:
        return max(1, panels)
    wanted = math.sqrt(4 / 3 * panels * (rows + 1) / (columns + 1))
    return min(max(1, panels), max(1, round(wanted)), 16)


def wrapped_words(shown: CellLayout, one: str = "element") -> str:
    """``wrapped: 64 elements a row; element 64 continues the 1st row``; "" if no line is cut into rows."""
    if len(shown.shape) != 1 or shown.rows < 2:
        return ""
    wide = shown.columns * shown.right
    return _("wrapped: {elements} a row; {element} {next} continues the 1st row").format(
        elements=messages.count(wide, one), element=messages.noun(1, one), next=f"{wide - shown.origin[0]:,}"
    )
