"""Formulas as drawings. The browser has them as MathML, which screen readers read and whose rows light up."""

from __future__ import annotations

from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.polyhedral.formulas import Formula, MatrixBlock, Part

SIZE = 10.0  # points
ROW = 17.0  # CSS pixels between rows of a matrix
GAP = 6.0
NAME = 18.0


def _columns(block: MatrixBlock) -> list[float]:
    return [max(width_of(row[k], SIZE) for row in block.rows) for k in range(len(block.rows[0]))]


def part_width(part: Part) -> float:
    if isinstance(part, MatrixBlock):
        return sum(_columns(part)) + 8 * (len(part.rows[0]) - 1) + 16
    return width_of(part.text, SIZE)


def part_height(part: Part) -> float:
    return len(part.rows) * ROW + 4 if isinstance(part, MatrixBlock) else ROW


def formula_drawing(formula: Formula) -> Drawing:
    """The formula below its name."""
    made = Drawing(width_of(formula.name, 8.0), NAME)
    made.add(DrawnText(0, NAME / 2, formula.name, 8.0, "faint"))
    for line in formula.lines:
        height = max(part_height(part) for part in line)
        x, middle = 0.0, made.height + height / 2
        for part in line:
            if isinstance(part, MatrixBlock):
                _add_block(made, part, x, middle)
            else:
                made.add(DrawnText(x, middle, part.text, SIZE))
            x += part_width(part) + GAP
        made.width = max(made.width, x)
        made.height += height + 5
    return made


def _add_block(made: Drawing, block: MatrixBlock, x: float, middle: float) -> None:
    columns = _columns(block)
    height = part_height(block)
    top = middle - height / 2
    for side, at in ((1, x), (-1, x + part_width(block))):
        bend = [(at + side * 5 * (2 * t - 1) ** 2 + side * 0.5, top + height * t) for t in (k / 16 for k in range(17))]
        made.add(Line(tuple(bend), "ink", arrow=False))
    for r, row in enumerate(block.rows):
        left = x + 8
        for entry, room in zip(row, columns, strict=True):
            made.add(DrawnText(left + room / 2, top + 2 + ROW * (r + 0.5), entry, SIZE, align="center"))
            left += room + 8
