"""The static picture of two programs that are stepped: their steps on both sides, and memory between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.interleaving.interleavings import Interleavings
from triton_lab.launch.interleaving.stepped_program import MemoryAccess
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.launch.values.interleaving_words import InterleavingWords, value_text

Array = NDArray[np.generic]
ROW = 24.0


@dataclass(frozen=True, eq=False)
class InterleavingRow:
    """A step of an order: who took it, what was accessed, and the shared values after it."""

    which: int
    accesses: Sequence[MemoryAccess]
    values: Sequence[Array]


def interleaving_drawing(
    found: Interleavings,
    programs: Sequence[str],
    cells: Sequence[str],
    words: InterleavingWords,
    rows: Sequence[InterleavingRow],
) -> Drawing:
    """The steps from top to bottom: the named ``programs`` on both sides, the shared ``cells`` between them."""
    told = [[words.with_line(access) for access in row.accesses if access.is_step] for row in rows]
    left, right = (
        max([width_of(programs[k]) + 20, *(width_of(text) for row, texts in zip(rows, told, strict=True)
                                                if row.which == k for text in texts)])
        for k in (0, 1)
    )  # fmt: skip
    gap = 36.0
    middle = [max(width_of(name, bold=True), 44.0) + 16 for name in cells] or [0.0]
    start, end = left + gap, left + gap + sum(middle)
    made = Drawing(end + gap + right)
    indices = style.program_colours(np.array(found.programs), found.launch.grid)
    for k, (x, colour) in enumerate(zip((0.0, end + gap), style.palette()[indices].tolist(), strict=True)):
        made.add(Rectangle(x, ROW / 2 - 6, 12, 12, "#{:02x}{:02x}{:02x}".format(*colour), "line", radius=2))
        made.add(DrawnText(x + 20, ROW / 2, programs[k], bold=True))
    made.add(Rectangle(start, 0, end - start, ROW * (len(rows) + 2), "panel", "line"))
    _values(made, 0, cells, None, start, middle)
    begin = [value_text(value) for value in found.states[0].values[: len(cells)]]
    _values(made, 1, begin, None, start, middle)
    for number, (row, texts) in enumerate(zip(rows, told, strict=True), start=2):
        y = ROW * (number + 0.5)
        kinds = [access.kind for access in row.accesses if access.is_step]
        for text in texts[:1]:
            x = left if row.which == 0 else end + gap
            made.add(DrawnText(x, y, text, align="right" if row.which == 0 else "left"))
        inner, outer = (start - 2, left + 6) if row.which == 0 else (end + 2, end + gap - 6)
        for kind in kinds[:1]:
            ends = ((inner, y), (outer, y)) if kind == "load" else ((outer, y), (inner, y))
            made.add(Line(ends, "ink", 1.5))
        values = [value_text(value) for value in row.values[: len(cells)]]
        _values(made, number, values, begin, start, middle)
        begin = values
    made.height = ROW * (len(rows) + 2)
    return made


def _values(
    made: Drawing, row: int, texts: Sequence[str], before: Sequence[str] | None, x: float, widths: list[float]
) -> None:
    """A row of memory; what has changed is bold."""
    for k, (text, width) in enumerate(zip(texts, widths, strict=False)):
        has_changed = before is not None and before[k] != text
        bold = row == 0 or has_changed
        colour = "accent" if has_changed else "faint" if row > 1 else "ink"
        made.add(DrawnText(x + width / 2, ROW * (row + 0.5), text, bold=bold, colour=colour, align="center"))
        x += width
