"""The storage picture with matplotlib: table, strips, and the tensors in their shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_lab.views.drawing import style
from triton_lab.views.drawing.figure_pieces import FigurePiece, lines, side_by_side, table

if TYPE_CHECKING:
    from triton_lab.views.launch.storage.storage_view import StorageView

MOST_NOTES = 4


def storage_pieces(view: StorageView) -> list[FigurePiece]:
    """All pieces of `view`, from top to bottom."""
    looks = [(*(style.tensor_colour(number, 11),) * 3, style.PLAIN) for number in range(len(view.tensors))]
    pieces = [table([view.HEADINGS, *view.table()], looks)]
    notes = view.overlaps()[:MOST_NOTES]
    if notes:
        pieces.append(lines([(note, style.LIGHT.faint) for note in notes]))
    for strip in view.strips:
        pieces += side_by_side([strip])
    return pieces + side_by_side(view.grids)
