"""Windows of storage pictures whose cells stand for several places: single places, or elements of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triton_lab.launch.element_index import offsets_at
from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.heatmap import Heatmap, narrow
from triton_lab.views.drawing.picture_window import Window, asked
from triton_lab.views.launch.launch_scenes import StorageHeatmap, WindowScene
from triton_lab.views.launch.storage.storage_styles import grid_styles, plain, strip_styles, told_apart
from triton_lab.views.launch.zoom_windows import finer_scene, in_window

if TYPE_CHECKING:
    from triton_lab.views.launch.storage.storage_view import StorageView


def storage_window(view: StorageView, name: str) -> WindowScene:
    """The part ``storage/strip/0/window/...`` or ``storage/grid/1/window/...``. Raises LookupError for other names."""
    match name.split("/"):
        case ["storage", "strip", number, "window", _] if number.isdecimal() and int(number) < len(view.strips):
            window = asked(name, f"storage/strip/{number}", view.strips[int(number)].layout)
            return _window(_strip(view, int(number), window), window)
        case ["storage", "grid", number, "window", _] if number.isdecimal() and int(number) < len(view.grids):
            window = asked(name, f"storage/grid/{number}", view.grids[int(number)].layout)
            return _window(_grid(view, int(number), window), window)
    raise LookupError(_("there is no part {name} of this picture").format(name=repr(name)))


def _window(heatmap: StorageHeatmap, window: Window) -> WindowScene:
    return {"kind": "window", "heatmap": {**heatmap, **finer_scene("", window.layout, window)}}


def _strip(view: StorageView, which: int, window: Window) -> StorageHeatmap:
    found, whole = view.places.covers[which], view.strips[which]
    positions = window.positions(whole.layout.fine)
    there = np.flatnonzero(positions >= 0)
    at = positions[there]
    stretch = found.stretch_at(at)
    kinds, kind = np.unique(found.stretch_sets[stretch] * 4 + found.several[stretch], return_inverse=True)
    level = at * style.TENSOR_LEVELS // max(1, found.units)
    cells = np.zeros(len(positions), dtype=np.int64)
    cells[there] = 1 + kind.reshape(-1) * style.TENSOR_LEVELS + level
    heatmap = Heatmap(
        window.layout,
        narrow(cells),
        np.array(strip_styles(found.tensors, kinds), dtype=np.uint16),
        groups=np.concatenate([[0], 1 + np.repeat(np.arange(len(kinds)), style.TENSOR_LEVELS)]),
        marks=in_window(view.lanes.outside(found.tensors, whole.layout.fine), window),
    )
    if view.lanes.touching is None:
        return plain(heatmap)
    there_too = [view.lanes.touching.at_units(*view.lanes.seen_through(number), positions) for number in found.tensors]
    return told_apart(heatmap, view.lanes.touching.of_cells(there_too, len(positions)))


def _grid(view: StorageView, number: int, window: Window) -> StorageHeatmap:
    whole = view.grids[number]
    positions = window.positions(whole.layout.fine)
    places, tensor = view.places, view.tensors[number]
    units = places.cover_of(number).units
    unit = places.unit_at(number, offsets_at(np.maximum(positions, 0), tensor.shape, tensor.strides))
    level = np.clip(unit * style.TENSOR_LEVELS // max(1, units), 0, style.TENSOR_LEVELS - 1)
    cells = np.where(positions >= 0, 1 + level, 0).astype(np.uint8)
    heatmap = Heatmap(window.layout, cells, np.array(grid_styles(number), dtype=np.uint16))
    if view.lanes.touching is None:
        return plain(heatmap)
    return told_apart(heatmap, view.lanes.touching.of_some(number, positions))
