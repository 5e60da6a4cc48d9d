"""The bit matrix of a layout: a column for each bit of a place, which says how far that bit moves the element."""

from __future__ import annotations

from triton_lab.compiled.layouts import Layout, Linear
from triton_lab.views.drawing import style
from triton_lab.views.drawing.figure import MARGIN, Sheet, text_width
from triton_lab.views.drawing.figure_pieces import FigurePiece
from triton_lab.views.layouts.layout_scenes import BitScene, MatrixScene

CELL, HEAD, SIDE = 22.0, 42.0, 96.0
GAP = 10.0  # between the parts of the hardware, and between dimensions


def matrix_scene(layout: Layout) -> MatrixScene:
    """The bit matrix as a scene."""
    places = [(name, bit, basis) for name, bases in layout.linear.ins for bit, basis in enumerate(bases)]
    empty = layout.kind.empty(layout.linear)
    bits: list[BitScene] = [
        {"part": name, "bit": bit, "vector": list(basis), "empty": bool(empty >> number & 1)}
        for number, (name, bit, basis) in enumerate(places)
    ]
    return {"shape": list(layout.shape), "bits": bits}


def called(part: str) -> str:
    """The name of a part of the hardware: a block of a cluster is a CTA."""
    return "CTA" if part == "block" else part


def matrix_piece(linear: Linear, lit: int = 0) -> FigurePiece:
    """The bit matrix in a static picture; ``lit`` is the packed place whose columns stand out."""
    rows = [(axis, bit) for axis, size in enumerate(linear.shape) for bit in range(size.bit_length() - 1)]
    parts = [(name, bases) for name, bases in linear.ins if bases]
    height = HEAD + 20 + len(rows) * CELL + GAP * len(linear.shape)
    width = SIDE + CELL * sum(len(bases) for _, bases in parts) + GAP * len(parts)

    def draw_matrix(sheet: Sheet, y: float) -> None:
        sheet.text(MARGIN, y + 8, HEADING, bold=True)
        top = y + 20 + HEAD
        for number, (axis, bit) in enumerate(rows):
            down = top + number * CELL + axis * GAP + CELL / 2
            sheet.text(MARGIN + SIDE - 8, down, f"index {axis}: {1 << bit}", style.SMALL, style.LIGHT.faint, "right")
        x, column = MARGIN + SIDE, 0
        for name, bases in parts:
            sheet.text(x, top - 30, called(name), style.SMALL, style.LIGHT.ink, bold=True)
            for bit, basis in enumerate(bases):
                chosen = bool(lit >> column & 1)
                colour = style.LIGHT.accent if chosen else style.LIGHT.faint
                sheet.text(x + CELL / 2, top - 10, _short(1 << bit), style.SMALL, colour, "center", chosen)
                _column(sheet, x, top, basis, rows, chosen)
                x, column = x + CELL, column + 1
            x += max(GAP, text_width(called(name), style.SMALL) - CELL * len(bases) + GAP)

    return FigurePiece(height + 14, draw_matrix, max(width, text_width(HEADING)))


HEADING = "The map in bits: each bit that is set moves the element by its column (1 and 1 cancel)"


def _short(number: int) -> str:
    """A number short enough to stand over a column: ``512``, ``1k``."""
    return str(number) if number < 1000 else f"{number >> 10}k"


def _column(
    sheet: Sheet, x: float, top: float, basis: tuple[int, ...], rows: list[tuple[int, int]], chosen: bool
) -> None:
    for number, (axis, bit) in enumerate(rows):
        y = top + number * CELL + axis * GAP
        one = basis[axis] >> bit & 1
        fill = (style.LIGHT.accent if chosen else style.LIGHT.ink) if one else style.LIGHT.untouched
        sheet.rectangle(x + 1, y + 1, CELL - 2, CELL - 2, style.LIGHT.accent if chosen else style.LIGHT.line)
        sheet.rectangle(x + 2, y + 2, CELL - 4, CELL - 4, fill)
