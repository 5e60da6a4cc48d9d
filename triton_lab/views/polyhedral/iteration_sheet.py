"""The static picture of an iteration view: plot, legend, formulas and program on one sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from triton_lab.views.polyhedral.array_panels import Shelf
from triton_lab.views.polyhedral.canvas import Canvas
from triton_lab.views.polyhedral.formula_figure import draw_formula, draw_program, formula_size, program_size, width_of
from triton_lab.views.polyhedral.formulas import Formula
from triton_lab.views.polyhedral.legend_box import draw_legend, entries, legend_size
from triton_lab.views.polyhedral.plane_plot import Plot
from triton_lab.views.polyhedral.polyhedral_style import Note
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

    def figure(self) -> Figure:
        signs = entries(self.plot.picture, self.plot.coloured)
        if self.time:
            every = entries(self.time.picture, self.time.coloured)
            rest = (sign for sign in signs if sign.sign != "circle")  # the picture of time has all statements already
            signs = tuple(dict.fromkeys((*every, *rest)))
        legend = legend_size(signs)
        sizes = [formula_size(f) for f in self.formulas]
        code = program_size(self.program)
        notes = max((width_of(text, 8.5) for text, _ in self.notes), default=0.0)
        column = max([legend[0], *(w for w, _ in sizes)])
        arrays = self.links.shelf.size if self.links else (0.0, 0.0)
        time = self.time.size if self.time else (0.0, 0.0)
        left = max(self.plot.size[0] + time[0] + arrays[0] + 20 * bool(self.links), code[0], notes)
        top = MARGIN + 26
        head = 18.0 if self.time else 0.0
        plotted = max(self.plot.size[1] + head, time[1] + head, arrays[1])
        below = plotted + (code[1] + 30 if self.program else 0) + 18 * len(self.notes)
        height = top + max(below, legend[1] + 10 + sum(h + 6 for _, h in sizes)) + MARGIN
        width = max(2 * MARGIN + left + 12 + column, 2 * MARGIN + width_of(self.title, 11.0))
        canvas = Canvas(width, height)
        canvas.text(MARGIN, MARGIN + 6, self.title, 11.0, bold=True)
        if self.time:
            canvas.text(MARGIN, top + 6, "Domain", 8.0, canvas.look.faint)
            canvas.text(MARGIN + self.plot.size[0], top + 6, "Time", 8.0, canvas.look.faint)
            self.time.draw(canvas, MARGIN + self.plot.size[0], top + plotted - time[1])
        self.plot.draw(canvas, MARGIN, top + head)
        if self.links:
            corner = np.array([MARGIN, top + head])
            start = self.plot.place(self.links.point) + corner
            beside = MARGIN + self.plot.size[0] + time[0] + 10
            self.links.shelf.draw(canvas, beside, top, self.links.marked, start)
            canvas.circles(start[None], 1.3 * self.plot.radius, canvas.look.written, canvas.look.ring, 1.8)
        y = top + plotted + 6
        if self.program:
            canvas.text(MARGIN, y + 9, "Program", 8.0, canvas.look.faint)
            draw_program(canvas, self.program, MARGIN, y + 20)
            y += code[1] + 24
        for text, tone in self.notes:
            canvas.text(MARGIN, y + 9, text, 8.5, getattr(canvas.look, tone))
            y += 18
        x, y = MARGIN + left + 12, top
        draw_legend(canvas, signs, x, y)
        y += legend[1] + 10
        for formula, (_, tall) in zip(self.formulas, sizes, strict=True):
            draw_formula(canvas, formula, x, y)
            y += tall + 6
        return canvas.finish()
