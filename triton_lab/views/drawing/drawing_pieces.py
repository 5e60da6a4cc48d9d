"""Drawings that static pictures are put together from: headings, lines of words, tables, heatmaps side by side.

Each has the room below it in its height, so that `column` puts them close to each other.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Segments
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.heatmap import Heatmap
from triton_lab.views.drawing.heatmap_drawing import heatmap_drawing, swatch

Emphasis = npt.NDArray[np.uint8]

WIDTH = 760.0
GAP = 24.0
ROW = 23.0
LINE = 17.0
CODE = 130  # characters of a line of code; Python's own style guides allow at most 120


def column(pieces: Iterable[Drawing], least: float = WIDTH) -> Drawing:
    """The pieces from top to bottom, in a drawing of at least this width."""
    made = Drawing(least)
    for piece in pieces:
        made.place(piece, 0, made.height)
    return made


def spaced(made: Drawing, room: float = 14) -> Drawing:
    """The drawing with so much room below it."""
    return Drawing(made.width, made.height + room, made.items)


def title(words: str) -> Drawing:
    """A heading."""
    return Drawing(width_of(words, bold=True), 28, [DrawnText(0, 12, words, bold=True)])


def lines(words: Iterable[tuple[str, str]], mono: bool = False) -> Drawing:
    """Lines of words, each with its colour; spaces at a line's start count.

    Long lines of code (``mono``), as other programs write them, are cut: they would make everything else tiny.
    """
    size = style.SMALL if mono else style.TEXT
    made = Drawing()
    for line, colour in words:
        line = line if len(line) <= CODE or not mono else line[: CODE - 2] + " …"
        text = line.lstrip()
        # matplotlib drops the width of leading spaces: indent by hand.
        indent = width_of(" " * (len(line) - len(text)), size, mono)
        made.add(DrawnText(indent, made.height + LINE / 2, text, size, colour, mono=mono))
        made.width, made.height = max(made.width, indent + width_of(text, size, mono)), made.height + LINE
    return spaced(made, 8)


def wrapped(text: str, width: float = WIDTH, indent: str = "    ") -> list[str]:
    """The text in lines no wider than this; all but the first begin with ``indent``."""
    mean = max(width_of(text), 1.0) / max(len(text), 1)
    for letters in range(int(width / mean), 0, -1):
        found = textwrap.wrap(text, letters, subsequent_indent=indent)
        if all(width_of(line) <= width for line in found):
            return found
    return [text]


def paragraphs(texts: Iterable[str], colour: str = "faint", width: float = WIDTH) -> list[Drawing]:
    """Texts in lines no wider than this, in one piece; no piece if there are none."""
    found = [(line, colour) for text in texts for line in wrapped(text, width)]
    return [lines(found)] if found else []


def table(rows: Sequence[Sequence[str]], looks: Sequence[Sequence[int]] = ()) -> Drawing:
    """Rows under a first row of headings; ``looks`` are styles for swatches before the other rows."""
    widths = [max(width_of(row[k], bold=k == 0) for row in rows) + 22 for k in range(len(rows[0]))]
    indent = 20 if looks else 0
    made = Drawing(max(WIDTH, indent + sum(widths)), ROW * len(rows) + 14)
    for number, row in enumerate(rows):
        y, x = ROW * number, float(indent)
        if number and looks:
            made.add(*swatch(0, y + ROW / 2, looks[number - 1]))
        for k, (word, room) in enumerate(zip(row, widths, strict=True)):
            made.add(DrawnText(x, y + ROW / 2, word, colour="ink" if number else "faint", bold=k == 0))
            x += room
    rules = [[(0, ROW * number), (made.width, ROW * number)] for number in range(1, len(rows) + 1)]
    made.add(Segments(np.array(rules) - [0, 0.5], "line"))
    return made


def side_by_side(heatmaps: Iterable[Heatmap], gap: float = GAP) -> list[Drawing]:
    """Heatmaps in rows, as many in each row as fit."""
    rows: list[list[Drawing]] = []
    used = WIDTH
    for drawn in map(heatmap_drawing, heatmaps):
        if not rows or used + drawn.width > WIDTH:
            rows.append([])
            used = 0
        rows[-1].append(drawn)
        used += drawn.width + gap
    return [beside(row, gap) for row in rows]


def beside(drawings: Iterable[Drawing], gap: float = GAP) -> Drawing:
    """Drawings side by side, however wide that gets."""
    made = Drawing(-gap)
    for drawn in drawings:
        made.place(drawn, made.width + gap, 0)
    return spaced(made, GAP)


def one_row(heatmaps: Sequence[Heatmap], gap: float = GAP, emphasis: Sequence[Emphasis | None] = ()) -> Drawing:
    """Heatmaps side by side; ``emphasis`` has one entry for each, if given."""
    return beside(map(heatmap_drawing, heatmaps, emphasis or [None] * len(heatmaps)), gap)
