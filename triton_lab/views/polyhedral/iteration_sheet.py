"""The static picture of an iteration view: plot, legend, formulas and program on one sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triton_lab.views.drawing.drawing import Circles, Drawing, DrawnText
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.polyhedral.array_panels import Shelf
from triton_lab.views.polyhedral.formula_figure import formula_drawing, program_drawing
from triton_lab.views.polyhedral.formulas import Formula
from triton_lab.views.polyhedral.legend_box import legend_drawing, signs, touched
from triton_lab.views.polyhedral.plane_plot import Plot
from triton_lab.views.polyhedral.polyhedral_style import BOTH, Note
from triton_lab.views.polyhedral.space_plot import SpacePlot

MARGIN = 16.0


@dataclass(frozen=True)
class Links:
    """The arrays beside the plot, the cells that one instance touches (grid, cell, kind), and that instance."""

    shelf: Shelf
    marked: tuple[tuple[int, int, str], ...]
    point: NDArray[np.int64]


@dataclass(frozen=True)
class IterationSheet:
    """The parts of the sheet: plot and program on the left, legend and formulas on the right."""

    title: str
    plot: Plot | SpacePlot
    formulas: Sequence[Formula]
    program: Sequence[str]
    notes: Sequence[Note]
    links: Links | None = None
    time: Plot | None = None  # the transformed space

    def drawing(self) -> Drawing:
        """The whole sheet."""
        beside = self._beside()
        made = Drawing()
        made.add(DrawnText(MARGIN, MARGIN + 6, self.title, 11.0, bold=True))
        top = MARGIN + 26
        self._plots(made, top)
        left = max([made.width - MARGIN, *(width_of(text, 8.5) for text, _ in self.notes)])
        y = made.height + 6
        if self.program:
            made.add(DrawnText(MARGIN, y + 9, "Program", 8.0, "faint"))
            made.place(program_drawing(self.program), MARGIN, y + 20)
            left = max(left, made.width - MARGIN)
            y = made.height + 4
        for text, tone in self.notes:
            made.add(DrawnText(MARGIN, y + 9, text, 8.5, getattr(BOTH, tone)))
            y += 18
        made.height = max(made.height, y)
        made.place(beside, MARGIN + left + 12, top)
        made.width = max(made.width, MARGIN + width_of(self.title, 11.0)) + MARGIN
        made.height += MARGIN
        return made

    def _beside(self) -> Drawing:
        """The legend, and the formulas below it."""
        time = self.time.picture if self.time else None
        found = signs(self.plot.picture, time, self.plot.coloured)
        made = legend_drawing((*found, *(touched() if self.links else ())))
        made.height += 10
        for formula in self.formulas:
            made.place(formula_drawing(formula), 0, made.height)
            made.height += 6
        return made

    def _plots(self, made: Drawing, top: float) -> None:
        """The domain, time, and the arrays, side by side."""
        head = 18.0 if self.time else 0.0
        made.place(self.plot.drawing(), MARGIN, top + head)
        links = self.links
        beside = made.width
        tall = max(self.plot.size[1], self.time.size[1] if self.time else 0.0) + head
        if links:
            tall = max(tall, links.shelf.size[1])
        if self.time:
            made.add(
                DrawnText(MARGIN, top + 6, "Domain", 8.0, "faint"), DrawnText(beside, top + 6, "Time", 8.0, "faint")
            )
            made.place(self.time.drawing(), beside, top + tall - self.time.size[1])
        if links:
            start = self.plot.place(links.point) + np.array([MARGIN, top + head])
            corner = np.array([made.width + 10, top])
            made.place(links.shelf.drawing(links.marked, start - corner), *corner.tolist())
            made.width += 10
            made.add(Circles(start[None], 1.3 * self.plot.radius, (BOTH.written,), BOTH.ring, 1.8))
        made.height = max(made.height, top + tall)
