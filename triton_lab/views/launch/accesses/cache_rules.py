"""The lines and sectors of a GPU's cache in a picture of storage: how rows are wrapped, and rules at the borders."""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab import messages
from triton_lab.launch.maps.heat import Heat
from triton_lab.launch.maps.lane_positions import LINE_BYTES, SECTOR_BYTES
from triton_lab.localization import _
from triton_lab.views.drawing.cell_frame import frame
from triton_lab.views.drawing.cell_layout import CellLayout, layout


def layout_of_lines(found: Heat, room: tuple[float, float]) -> CellLayout:
    """The layout of storage in rows of whole cache lines, so that their borders line up."""
    shown = layout(found.drawn, (-found.first,), room=room)
    line = max(1, LINE_BYTES // (found.unit * shown.right))
    columns = max(line, shown.columns if shown.columns % line == 0 else line)
    return layout(found.drawn, (-found.first,), columns, room)


@dataclass(frozen=True)
class CacheRules:
    """The columns of a ``sector`` and of a cache ``line``, 0 if a rule there would not be visible.

    ``row`` is the number of bytes of a row.
    """

    sector: int
    line: int
    row: int

    @classmethod
    def of(cls, shown: CellLayout, unit: int, room: tuple[float, float]) -> CacheRules:
        """The rules of a layout whose positions are ``unit`` bytes each."""
        cell = unit * shown.right
        wide = frame(shown, room).cell_width
        sector, line = (size // cell for size in (SECTOR_BYTES, LINE_BYTES))
        several = line < shown.columns
        return cls(
            sector if sector * wide >= 6 else 0, line if several and line * wide >= 16 else 0, shown.columns * cell
        )

    def steps(self) -> tuple[str, str]:
        """The words beside the picture."""
        told = _("a row is {lines} of {LINE_BYTES} bytes").format(
            lines=messages.count(self.row // LINE_BYTES, "cache line"), LINE_BYTES=LINE_BYTES
        )
        told += " (strong rules)" if self.line else ""
        return "", told + (
            _(" · thin rules: sectors of {SECTOR_BYTES}").format(SECTOR_BYTES=SECTOR_BYTES) if self.sector else ""
        )
