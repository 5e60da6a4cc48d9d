"""A window of a picture: the single positions of an array whose cells stand for several; requested by name.

`front/drawing/lens.js` works out which window is wanted. It numbers positions as `CellLayout.fine` does.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

from triton_lab.localization import _
from triton_lab.views.drawing.cell_layout import CellLayout

Ints = npt.NDArray[np.int64]

MOST_POSITIONS = 1 << 14  # the largest window, as in `front/drawing/zoom.js`
WORD = "window"  # in a part's name, the word before the window


@dataclass(frozen=True)
class Window:
    """``rows`` x ``columns`` positions of one panel, from ``row`` and ``column`` on."""

    panel: int
    row: int
    column: int
    rows: int
    columns: int

    @property
    def name(self) -> str:
        """The window in a part's name: ``0.12.0.64.128``."""
        return ".".join(map(str, astuple(self)))

    @property
    def layout(self) -> CellLayout:
        """The window as a picture of its own, with a cell for each position."""
        return CellLayout((self.rows, self.columns), (0, 0), 1, 1, self.rows, self.columns)

    def positions(self, fine: CellLayout) -> Ints:
        """The positions (rows * columns,) in reading order; -1 fills up a last row that is not full."""
        row = np.arange(self.row, self.row + self.rows, dtype=np.int64)
        column = np.arange(self.column, self.column + self.columns, dtype=np.int64)
        found = ((self.panel * fine.rows + row)[:, None] * fine.columns + column).reshape(-1)
        found[found >= fine.positions] = -1
        return found


def asked(name: str, finer: str, layout: CellLayout) -> Window:
    """The window named by a part ``<finer>/window/0.12.0.64.128`` of a picture.

    Raises LookupError for another name, and for a window that is too large or not within the array.
    """
    start, _unused, numbers = name.rpartition("/")
    parts = numbers.split(".")
    if start != f"{finer}/{WORD}" or len(parts) != 5 or not all(part.isdecimal() and len(part) < 16 for part in parts):
        raise LookupError(_("there is no part {name} of this picture").format(name=repr(name)))
    found, fine = Window(*map(int, parts)), layout.fine
    there = found.panel < fine.panels and found.row + found.rows <= fine.rows
    if not there or found.column + found.columns > fine.columns or not 0 < found.rows * found.columns <= MOST_POSITIONS:
        raise LookupError(
            _("{name} is not a window of at most {most_positions} positions of this picture").format(
                name=found.name, most_positions=MOST_POSITIONS
            )
        )
    return found
