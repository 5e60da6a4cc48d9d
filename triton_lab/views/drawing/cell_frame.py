"""The places of a layout's cells in the picture, in CSS pixels from the heatmap's upper left corner.

`front/drawing/frame.js` holds the same formulas for the browser.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout


@dataclass(frozen=True)
class CellFrame:
    """The size of a cell, and the room for all panels together."""

    layout: CellLayout
    cell_width: float
    cell_height: float

    @property
    def panel_width(self) -> float:
        return self.layout.columns * self.cell_width

    @property
    def panel_height(self) -> float:
        return self.layout.rows * self.cell_height

    @property
    def stacked(self) -> int:
        """How many rows of panels there are."""
        return math.ceil(self.layout.panels / self.layout.across)

    @property
    def width(self) -> float:
        across = self.layout.across
        return across * self.panel_width + (across - 1) * style.PANEL_GAP_RIGHT

    @property
    def height(self) -> float:
        return self.stacked * self.panel_height + (self.stacked - 1) * style.PANEL_GAP_DOWN

    def corner(self, panel: int) -> tuple[float, float]:
        """The upper left corner (x, y) of a panel."""
        down, right = divmod(panel, self.layout.across)
        return (
            right * (self.panel_width + style.PANEL_GAP_RIGHT),
            down * (self.panel_height + style.PANEL_GAP_DOWN),
        )


def frame(layout: CellLayout, room: tuple[float, float] = style.ROOM) -> CellFrame:
    """The largest cells that fit: whole pixels always, square if a panel then stays wide and high enough."""
    stacked = max(1, math.ceil(layout.panels / layout.across))
    columns, rows = max(1, layout.columns), max(1, layout.rows)
    room_right = (room[0] - style.PANEL_GAP_RIGHT * (layout.across - 1)) / layout.across
    room_down = (room[1] - style.PANEL_GAP_DOWN * (stacked - 1)) / stacked
    across = min(style.LARGEST_CELL, room_right / columns)
    down = min(style.LARGEST_CELL, room_down / rows)
    side = min(across, down)
    across = max(side, min(across, 160 / columns))
    down = max(side, min(down, 60 / rows))
    return CellFrame(layout, float(max(1, int(across))), float(max(1, int(down))))


def ticks(count: int, cell: float, room: float) -> range:
    """The rows or columns, of ``count``, that get a number; their numbers are at least ``room`` pixels apart."""
    step = max(1, math.ceil(room / cell))
    return range(0, count, 1 << (step - 1).bit_length())
