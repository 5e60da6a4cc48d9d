"""Pieces of a figure that stand one below the other: words, tables, rows of heatmaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing
from triton_lab.views.drawing.figure import LEFT, MARGIN, Sheet, draw, height_of, text_width, width_of
from triton_lab.views.drawing.heatmap import Heatmap

Emphasis = npt.NDArray[np.uint8]

WIDTH = 760.0
GAP = 24.0
ROW = 23.0
LINE = 17.0


@dataclass(frozen=True)
class FigurePiece:
    """A piece of a figure: its ``height`` and ``width`` in CSS pixels, and what draws it at a y on a sheet."""

    height: float
    draw: Callable[[Sheet, float], None]
    width: float = WIDTH


def stack(pieces: Sequence[FigurePiece], least: float = WIDTH) -> Figure:
    """The figure of all pieces from top to bottom, on a sheet of at least this width."""
    width = max([least, *(piece.width for piece in pieces)])
    sheet = Sheet(width + 2 * MARGIN, sum(piece.height for piece in pieces) + 2 * MARGIN)
    y = MARGIN
    for piece in pieces:
        piece.draw(sheet, y)
        y += piece.height
    return sheet.finish()


def drawn(made: Drawing) -> FigurePiece:
    """A drawing."""
    return FigurePiece(made.height + 14, lambda sheet, y: sheet.place(made, MARGIN, y), made.width)


def title(words: str) -> FigurePiece:
    """A heading."""
    return FigurePiece(28, lambda sheet, y: sheet.text(MARGIN, y + 12, words, bold=True), text_width(words) * 1.08)


def lines(words: Sequence[tuple[str, str]], mono: bool = False) -> FigurePiece:
    """Lines of words, each with its colour; spaces at a line's start count."""
    size = style.SMALL if mono else style.TEXT

    def draw_lines(sheet: Sheet, y: float) -> None:
        for number, (line, colour) in enumerate(words):
            # matplotlib drops the width of leading spaces in a proportional font: indent by hand.
            indent = text_width(" " * (len(line) - len(line.lstrip())), size, mono)
            sheet.text(MARGIN + indent, y + LINE * (number + 0.5), line.lstrip(), size, colour, mono=mono)

    return FigurePiece(LINE * len(words) + 8, draw_lines)


def table(rows: Sequence[Sequence[str]], looks: Sequence[tuple[int, int, int, int]] = ()) -> FigurePiece:
    """Rows under a first row of headings; ``looks`` are styles for swatches before the other rows."""
    widths = [max(text_width(row[column]) for row in rows) + 16 for column in range(len(rows[0]))]
    widths[0] += 0.08 * (widths[0] - 16)  # the first column is bold
    indent = 20 if looks else 0
    wide = max(WIDTH, indent + sum(widths))

    def draw_table(sheet: Sheet, y: float) -> None:
        for number, row in enumerate(rows):
            if number and looks:
                sheet.swatch(MARGIN, y + ROW / 2, looks[number - 1])
            x = MARGIN + indent
            for column, (word, room) in enumerate(zip(row, widths, strict=True)):
                colour = style.LIGHT.ink if number else style.LIGHT.faint
                sheet.text(x, y + ROW / 2, word, colour=colour, bold=column == 0)
                x += room
            y += ROW
            sheet.rectangle(MARGIN, y - 1, wide, 1, style.LIGHT.line)

    return FigurePiece(ROW * len(rows) + 14, draw_table, wide)


def side_by_side(heatmaps: Sequence[Heatmap], gap: float = GAP) -> list[FigurePiece]:
    """Heatmaps in rows, as many in each row as fit."""
    rows: list[list[Heatmap]] = []
    used = WIDTH
    for heatmap in heatmaps:
        if not rows or used + width_of(heatmap) > WIDTH:
            rows.append([])
            used = 0
        rows[-1].append(heatmap)
        used += width_of(heatmap) + gap
    return [one_row(row, gap) for row in rows]


def beside(heatmap: Heatmap, other: Drawing) -> FigurePiece:
    """A heatmap, and a drawing to its right."""
    x = MARGIN + max(width_of(heatmap), LEFT) + 40

    def draw_both(sheet: Sheet, y: float) -> None:
        draw(sheet, heatmap, MARGIN, y)
        sheet.place(other, x, y)

    return FigurePiece(max(height_of(heatmap), other.height), draw_both, x - MARGIN + other.width)


def one_row(heatmaps: Sequence[Heatmap], gap: float = GAP, emphasis: Sequence[Emphasis | None] = ()) -> FigurePiece:
    """Heatmaps beside each other, however wide that gets; ``emphasis`` has one entry for each, if given."""

    def draw_row(sheet: Sheet, y: float) -> None:
        x = MARGIN
        for heatmap, levels in zip(heatmaps, emphasis or [None] * len(heatmaps), strict=True):
            draw(sheet, heatmap, x, y, levels)
            x += width_of(heatmap) + gap

    width = sum(width_of(heatmap) + gap for heatmap in heatmaps) - gap
    return FigurePiece(max(map(height_of, heatmaps)) + GAP, draw_row, width)
