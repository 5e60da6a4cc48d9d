"""An iteration view as data for the browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.polyhedral import Schedule
from triton_lab.views.drawing.heatmap import buffer
from triton_lab.views.polyhedral import style as look
from triton_lab.views.polyhedral.arrays import Grid, grids, touched
from triton_lab.views.polyhedral.formulas import Block, Formula, Part, formulas
from triton_lab.views.polyhedral.labels import Line
from triton_lab.views.polyhedral.picture import Arrows, Layer, Picture
from triton_lab.views.polyhedral.plot import MOST_STEPS, Plot
from triton_lab.views.polyhedral.space import Space, faces

if TYPE_CHECKING:
    from triton_lab.views.polyhedral.iteration import IterationView

MOST_ARRAY_CELLS = 40_000


def scene(view: IterationView) -> Mapping[str, Any]:
    """Everything that `front/polyhedral.js` draws."""
    schedule = view.schedule
    shown = [grid for grid in grids(schedule) if grid.rows * grid.columns <= MOST_ARRAY_CELLS]
    return {
        "kind": "iteration",
        "title": view.title(),
        "order": view.order,
        **_plane(view.picture, view.plot),
        "time": None if view.time is None else _plane(view.time.picture, view.time),
        "arrays": [_array(grid) for grid in shown],
        "accesses": _accesses(schedule, [grid.name for grid in shown]),
        "formulas": [[layer.statement, _formulas(schedule, layer.statement)] for layer in view.picture.layers],
        "program": schedule.program(),
        "notes": [list(note) for note in view.notes],
        "controls": view.controls(),
        "style": _style(),
    }


def _plane(picture: Picture, plot: Plot | Space) -> Mapping[str, Any]:
    """What lies in the plane (or space): of the domain, or of time."""
    low, high = picture.reach
    return {
        "dims": list(picture.dims),
        "box": list(plot.box) if isinstance(plot, Plot) else None,
        "low": low.tolist(),
        "high": high.tolist(),
        "layers": [_layer(layer, picture) for layer in picture.layers],
        "lines": [_line(line) for line in plot.lines] if isinstance(plot, Plot) else [],
        "arrows": [_arrows(arrows) for arrows in picture.arrows],
        "tiles": [tile.tolist() for tile in picture.tiles],
        "visits": buffer(picture.visits.astype(np.uint32)),
        "places": buffer(picture.times.astype(np.uint32)),
        "instants": buffer(picture.instants.astype(np.uint32)),
        "fronts": bool(picture.fronts) and len(picture.visits) <= MOST_STEPS,
    }


def _layer(layer: Layer, picture: Picture) -> Mapping[str, Any]:
    """The instances of a statement; in space with the faces of its polyhedra."""
    around = faces(layer, picture.borders) if len(picture.dims) == 3 else ()
    return {
        "name": layer.statement,
        "points": buffer(layer.points.astype(np.float32)),
        "polygons": [polygon.tolist() for polygon in layer.corners],
        "faces": [[border.excluded, corners.tolist()] for border, corners in around],
    }


def _line(line: Line) -> Mapping[str, Any]:
    """A border in the plane."""
    border = line.border
    return {
        "ends": line.ends.tolist(),
        "label": border.excluded,
        "at": list(line.label),
        "key": f"border:{border.statement}:{border.piece}:{border.row}",
    }


def _arrows(arrows: Arrows) -> Mapping[str, Any]:
    """Dependences of one kind between two statements."""
    return {
        "kind": arrows.kind,
        "source": arrows.source,
        "target": arrows.target,
        "violated": arrows.violated,
        "ends": buffer(arrows.ends.astype(np.float32)),
    }


def _array(grid: Grid) -> Mapping[str, Any]:
    """An array that is drawn beside the domain."""
    return {
        "name": grid.name,
        "low": list(grid.low),
        "shape": list(grid.shape),
        "rows": grid.rows,
        "columns": grid.columns,
    }


def _accesses(schedule: Schedule, arrays: Sequence[str]) -> list[Mapping[str, Any]]:
    """Which cells of these arrays each access touches, visit by visit."""
    return [
        {
            "statement": one.statement,
            "key": f"access:{one.statement}:{one.number}",
            "kind": one.kind,
            "text": schedule.scop[one.statement].accesses[one.number].text,
            "array": arrays.index(one.array),
            "visits": buffer(one.visits.astype(np.uint32)),
            "cells": buffer(one.cells.astype(np.uint32)),
        }
        for one in touched(schedule, grids(schedule))
        if one.array in arrays
    ]


def _formulas(schedule: Schedule, statement: str) -> list[Mapping[str, Any]]:
    return [_formula(formula) for formula in formulas(schedule, schedule.scop[statement])]


def _formula(formula: Formula) -> Mapping[str, Any]:
    """A formula by lines, of words and of matrices."""
    return {"name": formula.name, "lines": [[_words(part) for part in line] for line in formula.lines]}


def _words(part: Part) -> Mapping[str, Any]:
    if isinstance(part, Block):
        return {"rows": [list(row) for row in part.rows], "keys": list(part.keys)}
    return {"text": part.text, "key": part.key}


def _style() -> Mapping[str, Any]:
    """The colours and measures that the front draws with."""
    return {
        "grid": look.GRID,
        "axis": look.AXIS,
        "statements": list(look.STATEMENTS),
        "ring": look.RING,
        "polygon": look.POLYGON,
        "opacity": look.POLYGON_OPACITY,
        "border": look.BORDER,
        "arrows": look.ARROWS,
        "dashes": {kind: list(dashes) for kind, dashes in look.DASHES.items()},
        "beside": look.BESIDE,
        "shift": look.SHIFT,
        "tile": look.TILE,
        "violated": look.VIOLATED,
        "order": list(look.ORDER),
        "read": look.READ,
        "written": look.WRITTEN,
        "radius": look.RADIUS,
        "unit": look.UNIT,
    }
