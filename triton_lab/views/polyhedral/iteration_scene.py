"""An iteration view as data for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.localization import _
from triton_lab.polyhedral import Schedule
from triton_lab.polyhedral.scheduled_program import lines_of_statements
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.heatmap import buffer
from triton_lab.views.polyhedral.array_panels import NAME, ArrayGrid, grids, touched
from triton_lab.views.polyhedral.border_labels import LabelledBorder
from triton_lab.views.polyhedral.formulas import Formula, MatrixBlock, Part, formulas
from triton_lab.views.polyhedral.iteration_picture import Picture
from triton_lab.views.polyhedral.legend_box import legend_drawing, live_signs, movable_signs, unsure
from triton_lab.views.polyhedral.moves_scene import knobs
from triton_lab.views.polyhedral.plane_plot import MOST_STEPS, Plot
from triton_lab.views.polyhedral.polyhedral_scenes import (
    AccessScene,
    ArrayScene,
    BorderLine,
    FormulaMatrix,
    FormulaScene,
    FormulaWords,
    IterationScene,
    MovesScene,
    PlaneScene,
)
from triton_lab.views.polyhedral.space_plot import SpacePlot

if TYPE_CHECKING:
    from triton_lab.views.polyhedral.iteration_view import IterationView

MOST_ARRAY_CELLS = 40_000
LIVE_WIDTH, LIVE_HEIGHT = 520.0, 466.0  # CSS pixels
MOST_CHOSEN = 200  # visits of one point, if iterators are projected out; each visit is linked with its elements


def scene(view: IterationView) -> IterationScene:
    """The scene that `front/polyhedral/domain.js` draws."""
    schedule = view.schedule
    shown = [grid for grid in grids(schedule) if grid.rows * grid.columns <= MOST_ARRAY_CELLS]
    plot, moves = view.plot, view.moves()
    if isinstance(plot, Plot) and moves is not None:
        plot = replace(plot, knobs=knobs(moves, view.picture))
    return {
        "kind": "iteration",
        "title": view.title(),
        "order": view.order,
        **_plane(_("Domain"), view.picture, plot),
        "time": None if view.time is None else _plane(view.beside, view.time.picture, view.time),
        "arrays": [_array(grid) for grid in shown],
        "accesses": _accesses(schedule, [grid.name for grid in shown]),
        "formulas": [(layer.statement, _formulas(schedule, layer.statement)) for layer in view.picture.layers],
        "program": schedule.program(),
        "runs": lines_of_statements(schedule, schedule.scop.language),
        "notes": list(view.notes),
        "legend": _legend(view, moves, bool(shown)),
        "controls": view.controls(),
        "moves": moves,
        "chosen": view.chosen[:MOST_CHOSEN].tolist(),
    }


def _legend(view: IterationView, moves: MovesScene | None, arrays: bool) -> DrawingScene:
    """The legend, whose label says the same in words. Where loops may be moved, it has all that other orders show."""
    other = (
        movable_signs(
            [(p["kind"], p["may"]) for p in moves["pairs"] if p["drawn"]], bool(moves["pairs"]), _kinds_of_knobs(moves)
        )
        if moves
        else ()
    )
    other = (*other, *unsure(view.schedule, arrays))
    signs = live_signs(view.picture, None if view.time is None else view.time.picture, arrays, other)
    label = _("legend: {entries}").format(entries=", ".join(sign.text for sign in signs))
    return legend_drawing(signs).framed(1).scene("", label)


def _kinds_of_knobs(moves: MovesScene) -> int:
    """How many kinds of handles `handles.js` puts on the domain: for tiles, and for a skew, which takes two loops."""
    drawn = [loop for loop in moves["loops"] if loop["line"]]
    return 0 if not drawn else 1 if len(drawn) < 2 or len(drawn[0]["line"]) < 3 else 2


def _plane(name: str, picture: Picture, plot: Plot | SpacePlot) -> PlaneScene:
    """The contents of the plane (or space), of the domain or of what is beside it."""
    if isinstance(plot, Plot):
        plot = replace(plot, coloured=False, width=LIVE_WIDTH, height=LIVE_HEIGHT)
        x, y = plot.pixels(np.zeros(2)).tolist()
        flat, unit = plot, plot.unit
    else:
        plot = replace(plot, coloured=False, turns=True, width=LIVE_WIDTH, height=LIVE_HEIGHT)
        (x, y), flat, unit = plot.seen.centre, None, plot.seen.unit
    return {
        "name": name,
        "dims": list(picture.dims),
        "still": flat.still().scene("", "") if flat else None,
        "over": flat.over().scene("", "") if flat else None,
        "solid": None if isinstance(plot, Plot) else plot.solid().scene(),
        "middle": [] if isinstance(plot, Plot) else plot.seen.middle.tolist(),
        "frame": (x, y, unit, plot.radius),
        "layers": [
            {
                "name": layer.statement,
                "points": buffer((layer.points if flat else layer.points[:0]).astype(np.float32)),
                "shift": (float(shift[0]), float(shift[1])),
            }
            for layer, shift in zip(picture.layers, plot.shifts, strict=True)
        ],
        "lines": [_line(line) for line in flat.lines] if flat else [],
        "visits": buffer(picture.visits.astype(np.uint32)),
        "places": buffer(picture.times.astype(np.uint32)),
        "instants": buffer(picture.instants.astype(np.uint32)),
        "fronts": bool(picture.fronts) and len(picture.visits) <= MOST_STEPS,
    }


def _line(line: LabelledBorder) -> BorderLine:
    """A border in the plane."""
    border = line.border
    return {
        "ends": line.ends.tolist(),
        "label": border.name,
        "at": line.label,
        "key": f"border:{border.statement}:{border.piece}:{border.row}",
    }


def _array(grid: ArrayGrid) -> ArrayScene:
    """An array beside the domain."""
    return {
        "name": grid.name,
        "low": list(grid.low),
        "shape": list(grid.shape),
        "rows": grid.rows,
        "columns": grid.columns,
        "picture": grid.drawing().scene("", ""),
        "size": grid.size,
        "top": NAME,
    }


def _accesses(schedule: Schedule, arrays: Sequence[str]) -> list[AccessScene]:
    """The cell of each array that each access touches, visit by visit."""
    return [
        {
            "statement": one.statement,
            "key": f"access:{one.statement}:{one.number}",
            "kind": one.kind,
            "text": schedule.scop[one.statement].accesses[one.number].text,
            "may": one.may,
            "array": arrays.index(one.array),
            "visits": buffer(one.visits.astype(np.uint32)),
            "cells": buffer(one.cells.astype(np.uint32)),
        }
        for one in touched(schedule, grids(schedule))
        if one.array in arrays
    ]


def _formulas(schedule: Schedule, statement: str) -> list[FormulaScene]:
    return [_formula(formula) for formula in formulas(schedule, schedule.scop[statement])]


def _formula(formula: Formula) -> FormulaScene:
    """A formula by lines, each of words and matrices."""
    return {"name": formula.name, "lines": [[_words(part) for part in line] for line in formula.lines]}


def _words(part: Part) -> FormulaWords | FormulaMatrix:
    if isinstance(part, MatrixBlock):
        return {"rows": [list(row) for row in part.rows], "keys": list(part.keys)}
    return {"text": part.text, "key": part.key}
