"""Formulas and programs on a canvas."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

from triton_lab.views.drawing.fonts import family
from triton_lab.views.polyhedral.canvas import Canvas
from triton_lab.views.polyhedral.formulas import Formula, MatrixBlock, Part

SIZE = 10.0  # points
ROW = 17.0  # CSS pixels between rows of a matrix
GAP = 6.0
NAME = 18.0
FINE = 10  # text is measured at so many times its size, since fonts are fitted to whole pixels

# matplotlib's renderers have no types.
_measure: Any = cast(Any, RendererAgg)(1, 1, 96 * FINE)


@cache
def width_of(words: str, size: float = SIZE, mono: bool = False) -> float:
    """The width of ``words`` in CSS pixels."""
    font = FontProperties(family=family(words, mono), size=size)
    width, _, _ = _measure.get_text_width_height_descent(words, font, ismath=False)
    return float(width) / FINE


def _columns(block: MatrixBlock) -> list[float]:
    return [max(width_of(row[k]) for row in block.rows) for k in range(len(block.rows[0]))]


def part_width(part: Part) -> float:
    if isinstance(part, MatrixBlock):
        return sum(_columns(part)) + 8 * (len(part.rows[0]) - 1) + 16
    return width_of(part.text)


def part_height(part: Part) -> float:
    return len(part.rows) * ROW + 4 if isinstance(part, MatrixBlock) else ROW


def formula_size(formula: Formula) -> tuple[float, float]:
    """The width and height in CSS pixels, including the formula's name."""
    widths = [sum(part_width(p) + GAP for p in line) for line in formula.lines]
    heights = [max(part_height(p) for p in line) + 5 for line in formula.lines]
    return max([*widths, width_of(formula.name, 8.0)]), sum(heights) + NAME


def draw_formula(canvas: Canvas, formula: Formula, x: float, y: float) -> None:
    """Draw the formula with its upper left corner at (x, y)."""
    canvas.text(x, y + NAME / 2, formula.name, 8.0, canvas.look.faint)
    y += NAME
    for line in formula.lines:
        height = max(part_height(p) for p in line)
        at = x
        for part in line:
            if isinstance(part, MatrixBlock):
                _draw_block(canvas, part, at, y + height / 2)
            else:
                canvas.text(at, y + height / 2, part.text, SIZE)
            at += part_width(part) + GAP
        y += height + 5


def _draw_block(canvas: Canvas, block: MatrixBlock, x: float, middle: float) -> None:
    columns = _columns(block)
    height = part_height(block)
    width = part_width(block)
    top = middle - height / 2
    for side, at in ((1, x), (-1, x + width)):
        curve = [(at + side * 5 * (2 * t - 1) ** 2 + side * 0.5, top + height * t) for t in (k / 16 for k in range(17))]
        canvas.path(curve, canvas.look.ink, 1.0)
    for r, row in enumerate(block.rows):
        left = x + 8
        for entry, room in zip(row, columns, strict=True):
            canvas.text(left + room / 2, top + 2 + ROW * (r + 0.5), entry, SIZE, align="center")
            left += room + 8


def program_size(lines: Sequence[str], size: float = 8.0) -> tuple[float, float]:
    """The width and height of a program's lines in CSS pixels."""
    return max((width_of(line, size, True) for line in lines), default=0.0) + 4, len(lines) * size * 2.0


def draw_program(canvas: Canvas, lines: Sequence[str], x: float, y: float, size: float = 8.0) -> None:
    for k, line in enumerate(lines):
        canvas.text(x, y + (k + 0.5) * size * 2.0, line, size, mono=True)
