"""The axes of a plane: grid lines, arrows, names and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triton_lab.views.drawing.drawing import ArrowLines, Drawing, DrawnText, Segments
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.polyhedral.border_labels import LABEL, Box, LabelledBorder
from triton_lab.views.polyhedral.polyhedral_style import BOTH

NUMBER = 7.5  # points
HEAD = 9.0  # CSS pixels of an axis's head, beyond the box
BESIDE = 14.0  # CSS pixels from the box to the middle of the numbers to its left

Pixels = Callable[[NDArray[np.float64]], NDArray[np.float64]]  # from (x, y) in units to the plot's pixels


@dataclass(frozen=True)
class PlaneAxes:
    """The axes of a plot that shows ``box``, in units of ``unit`` CSS pixels; a single dimension goes to the right."""

    dims: tuple[str, ...]
    box: Box
    unit: float

    @property
    def flat(self) -> bool:
        return len(self.dims) == 1

    @property
    def aside(self) -> float:
        """The distance from the box to the middle of the first dimension's name, which stands left of the numbers."""
        return max(40.0, BESIDE + 8 + width_of(self.dims[0], 15) / 2)

    def written(self, numbers: float) -> tuple[Box, ...]:
        """The rectangles of the axes' names and numbers, in units; numbers at the left reach ``numbers`` pixels out."""
        left, bottom, right, top = self.box
        scale = 1 / self.unit
        origin = (left - 40 * scale, bottom - 40 * scale, left + 8 * scale, bottom)
        middle, half = (left + right) / 2, (width_of(self.dims[-1], 15) / 2 + 4) * scale
        below = (left, bottom - 25 * scale, right, bottom - 7 * scale)
        name = (middle - half, bottom - 60 * scale, middle + half, bottom - 18 * scale)
        if self.flat:
            return origin, name, below, (left, -4 * scale, right, 4 * scale)  # the axis itself, too
        beside = (left - numbers * scale, bottom, left - 5 * scale, top)
        half = (width_of(self.dims[0], 15) / 2 + 3) * scale
        aside, level = left - self.aside * scale, (bottom + top) / 2
        return origin, name, below, beside, (aside - half, level - 14 * scale, aside + half, level + 14 * scale)

    def grid(self, made: Drawing, pixels: Pixels) -> None:
        """Draw the lines behind the points."""
        left, bottom, right, top = self.box
        step = tick_step(self.unit)
        columns = np.arange(np.ceil(left / step) * step, right, step)
        rows = np.arange(np.ceil(bottom / step) * step, top, step) if not self.flat else np.array([])
        upright = [[(c, bottom), (c, top)] for c in columns]
        level = [[(left, r), (right, r)] for r in rows]
        if upright or level:
            made.add(Segments(pixels(np.array(upright + level, dtype=float)), BOTH.grid, 1.0, (4.0, 3.0)))

    def draw(self, made: Drawing, pixels: Pixels, lines: Sequence[LabelledBorder]) -> None:
        """Draw the axes with their names and numbers, which keep clear of the names of border ``lines``."""
        left, bottom, right, top = self.box
        x0, y0 = max(left, 0.0), max(bottom, 0.0)
        ends = [[(left, y0), (right, y0)]] + ([] if self.flat else [[(x0, bottom), (x0, top)]])
        places = pixels(np.array(ends))
        places[:, 1] += HEAD * np.array([[1, 0], [0, -1]])[: len(places)]
        made.add(ArrowLines(places, BOTH.axis, head=HEAD))
        x, y = pixels(np.array([left, bottom])).tolist()
        end = pixels(np.array([right, top])).tolist()
        names = self.dims if self.flat else self.dims[::-1]
        made.add(DrawnText((x + end[0]) / 2, y + 42, names[0], 15, align="center"))
        if not self.flat:
            made.add(DrawnText(x - self.aside, (y + end[1]) / 2, names[1], 15, align="center"))
        self._numbers(made, pixels, lines)

    def _numbers(self, made: Drawing, pixels: Pixels, lines: Sequence[LabelledBorder]) -> None:
        left, bottom, right, top = self.box
        step = tick_step(self.unit) * (1 if self.unit > 24 else 2)
        names = [(pixels(np.array(line.label)), width_of(line.border.name, LABEL) / 2) for line in lines]

        def named(x: float, y: float) -> bool:
            """Whether a border's name stands at this place because there was no room elsewhere."""
            return any(abs(x - at[0]) < wide + 9 and abs(y - at[1]) < 14 for at, wide in names)

        for column in np.arange(np.ceil(left / step) * step, right - 0.5, step):
            x, y = pixels(np.array([column, bottom])).tolist()
            size, colour, shift = (15.0, "ink", -10) if column == 0 == left else (NUMBER, "faint", 0)
            if not named(x, y + 16):
                made.add(DrawnText(x + shift, y + 16, _number(column), size, colour, "center"))
        if self.flat:
            return
        for row in np.arange(np.ceil(bottom / step) * step, top - 0.5, step):
            if row or bottom < 0:
                x, y = pixels(np.array([left, row])).tolist()
                if not named(x - BESIDE, y):
                    made.add(DrawnText(x - BESIDE, y, _number(row), NUMBER, "faint", "center"))


def _number(place: float) -> str:
    """The label of an axis at ``place``; a number slightly below zero would round to -0."""
    return f"{place + 0.0:g}"


def tick_step(unit: float) -> int:
    """The distance between grid lines in units, large enough that they stay apart: 1, 2, 5, 10, 20, 50, ..."""
    steps = (digit * power for power in (1, 10, 100, 1000, 10_000) for digit in (1, 2, 5))
    return next((step for step in steps if step * unit >= 14), 100_000)
