"""An iteration view as data for the browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.views import polyhedral_style as look
from triton_lab.views.heatmap import buffer
from triton_lab.views.polyhedral_arrays import grids, touched
from triton_lab.views.polyhedral_formulas import Block, Formula, formulas
from triton_lab.views.polyhedral_picture import Picture
from triton_lab.views.polyhedral_plot import MOST_STEPS, Plot
from triton_lab.views.polyhedral_space import Space, faces

if TYPE_CHECKING:
    from triton_lab.views.polyhedral import IterationView

MOST_ARRAY_CELLS = 40_000


def scene(view: IterationView) -> Mapping[str, Any]:
    """Everything that `front/polyhedral.js` draws."""
    picture, schedule = view.picture, view.schedule
    scop = schedule.scop
    every = tuple(g for g in grids(schedule) if g.rows * g.columns <= MOST_ARRAY_CELLS)
    shown = {g.name: k for k, g in enumerate(every)}
    return {
        "kind": "iteration",
        "title": view.title(),
        "order": view.order,
        **_plane(picture, view.plot),
        "time": None if view.time is None else _plane(view.time.picture, view.time),
        "arrays": [
            {"name": g.name, "low": list(g.low), "shape": list(g.shape), "rows": g.rows, "columns": g.columns}
            for g in every
        ],
        "accesses": [
            {
                "statement": t.statement,
                "key": f"access:{t.statement}:{t.number}",
                "kind": t.kind,
                "text": scop[t.statement].accesses[t.number].text,
                "array": shown[t.array],
                "visits": buffer(t.visits.astype(np.uint32)),
                "cells": buffer(t.cells.astype(np.uint32)),
            }
            for t in touched(schedule, grids(schedule))
            if t.array in shown
        ],
        "formulas": [
            [layer.statement, [_formula(f) for f in formulas(schedule, scop[layer.statement])]]
            for layer in picture.layers
        ],
        "program": schedule.program(),
        "notes": [list(note) for note in view.notes],
        "controls": view.controls(),
        "style": {
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
        },
    }


def _plane(picture: Picture, plot: Plot | Space) -> Mapping[str, Any]:
    """What lies in the plane (or space): of the domain, or of time."""
    return {
        "dims": list(picture.dims),
        "box": list(plot.box) if isinstance(plot, Plot) else None,
        "low": picture.reach[0].tolist(),
        "high": picture.reach[1].tolist(),
        "layers": [
            {
                "name": layer.statement,
                "points": buffer(layer.points.astype(np.float32)),
                "polygons": [polygon.tolist() for polygon in layer.corners],
                "faces": [[b.excluded, f.tolist()] for b, f in faces(layer, picture.borders)]
                if len(picture.dims) == 3
                else [],
            }
            for layer in picture.layers
        ],
        "lines": [
            {
                "ends": line.ends.tolist(),
                "label": line.border.excluded,
                "at": list(line.label),
                "key": f"border:{line.border.statement}:{line.border.piece}:{line.border.row}",
            }
            for line in (plot.lines if isinstance(plot, Plot) else ())
        ],
        "arrows": [
            {
                "kind": a.kind,
                "source": a.source,
                "target": a.target,
                "violated": a.violated,
                "ends": buffer(a.ends.astype(np.float32)),
            }
            for a in picture.arrows
        ],
        "tiles": [tile.tolist() for tile in picture.tiles],
        "visits": buffer(picture.visits.astype(np.uint32)),
        "places": buffer(picture.times.astype(np.uint32)),
        "instants": buffer(picture.instants.astype(np.uint32)),
        "fronts": bool(picture.fronts) and len(picture.visits) <= MOST_STEPS,
    }


def _formula(formula: Formula) -> Mapping[str, Any]:
    return {
        "name": formula.name,
        "lines": [
            [
                {"rows": [list(row) for row in part.rows], "keys": list(part.keys)}
                if isinstance(part, Block)
                else {"text": part.text, "key": part.key}
                for part in line
            ]
            for line in formula.lines
        ],
    }
