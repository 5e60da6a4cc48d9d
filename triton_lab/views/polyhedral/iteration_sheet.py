"""The static picture of an iteration view: plots, program and notes, with legend and formulas to their right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab.views.drawing.drawing import Circles, Drawing
from triton_lab.views.drawing.drawing_pieces import beside, column, lines, spaced
from triton_lab.views.polyhedral.array_panels import Shelf
from triton_lab.views.polyhedral.formula_figure import formula_drawing
from triton_lab.views.polyhedral.formulas import formulas
from triton_lab.views.polyhedral.legend_box import legend_drawing, signs, touched
from triton_lab.views.polyhedral.polyhedral_style import BOTH

if TYPE_CHECKING:
    from triton_lab.views.polyhedral.iteration_view import IterationView


@dataclass(frozen=True)
class Links:
    """The arrays beside the plot, the cells that one instance touches (grid, cell, kind), and that instance."""

    shelf: Shelf
    marked: tuple[tuple[int, int, str], ...]
    point: NDArray[np.int64]


def sheet(view: IterationView, links: Links | None) -> Drawing:
    """All but the title."""
    shown = view.schedule.scop[view.picture.layers[-1].statement]
    program = [(line, "ink") for line in view.schedule.program().splitlines()]
    notes = [(text, getattr(BOTH, tone)) for text, tone in view.notes]
    told = [lines([("Program", "faint")]), lines(program, mono=True)] if program else []
    entries = signs(view.picture, view.time.picture if view.time else None, view.order)
    legend = spaced(legend_drawing((*entries, *(touched() if links else ()))), 10)
    right = [legend, *(spaced(formula_drawing(one), 6) for one in formulas(view.schedule, shown))]
    return beside([column([_plots(view, links), *told, lines(notes)], 0), column(right, 0)], 12)


def _plots(view: IterationView, links: Links | None) -> Drawing:
    """The domain, time, and the arrays, side by side."""
    made = view.plot.drawing()
    head = 0.0
    if view.time:
        both = [("Domain", made), ("Time", view.time.drawing())]
        named = [column([lines([(name, "faint")]), plot], 0) for name, plot in both]
        made, head = beside(named, 0), named[0].height - made.height
    if links:
        start = view.plot.place(links.point) + np.array([0, head])
        corner = np.array([made.width + 10, 0])
        made.place(links.shelf.drawing(links.marked, start - corner).fitted(), *corner.tolist())
        made.add(Circles(start[None], 1.3 * view.plot.radius, (BOTH.written,), BOTH.ring, 1.8))
    return made
