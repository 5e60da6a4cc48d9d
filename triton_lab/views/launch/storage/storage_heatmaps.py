"""The heatmaps of storage: each memory as a strip of units, and each tensor in its shape.

The colour of an element is its place in storage, pale at the start and strong at the end: a contiguous tensor darkens
in reading order, a transposed one down its columns, an expanded one repeats itself, and a slice leaves gaps in the
storage's strip.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from triton_lab import messages
from triton_lab.launch.element_index import Ints, offsets, offsets_at
from triton_lab.launch.maps.storage_spans import united
from triton_lab.launch.maps.tensor_storage import Cover, elements, traits
from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout, layout
from triton_lab.views.drawing.drawing_text import panel_names, shape_text, step_names
from triton_lab.views.drawing.heatmap import Heatmap, Key, Label, narrow
from triton_lab.views.drawing.region_labels import MOST, cell_labels
from triton_lab.views.launch.storage.storage_lanes import StorageLanes
from triton_lab.views.launch.storage.storage_places import StoragePlaces
from triton_lab.views.launch.storage.storage_styles import BARE, grid_styles, look, strip_styles

GRID_ROOM = (290.0, 240.0)  # for one tensor beside others


def storage_strip(places: StoragePlaces, which: int, lanes: StorageLanes) -> Heatmap:
    """A memory as a line of units, wrapped into rows; what ``lanes`` touch outside of their tensors is marked."""
    memory, found = places.memories[which], places.covers[which]
    units = found.units
    shown = layout((units,), (-found.first,), _row(places, found))
    starts = np.arange(0, units, shown.right)
    ends = np.minimum(starts + shown.right, units)
    sets = united(found.stretch_sets, found.edges, starts, ends)
    several = united(found.several, found.edges, starts, ends) > 0
    partly = (united(found.stretch_sets == 0, found.edges, starts, ends) > 0) & (sets != 0)
    level = np.arange(len(sets)) * style.TENSOR_LEVELS // max(1, len(sets))
    kinds, kind = np.unique(sets * 4 + partly * 2 + several, return_inverse=True)
    cells = np.zeros(shown.cells, dtype=np.int64)
    cells[: len(sets)] = 1 + kind.reshape(-1) * style.TENSOR_LEVELS + level
    styles = strip_styles(found.tensors, kinds)
    title = _("storage {letter}: {bytes}").format(letter=memory.letter, bytes=messages.count(memory.nbytes, "byte"))
    if found.unit != memory.nbytes:
        title = _("{title}, {units} of {bytes}").format(
            title=title,
            units=messages.count(memory.nbytes // found.unit, "unit"),
            bytes=messages.count(found.unit, "byte"),
        )
    groups = np.concatenate([[0], 1 + np.repeat(np.arange(len(kinds)), style.TENSOR_LEVELS)])
    return Heatmap(
        shown,
        narrow(cells),
        np.array(styles, dtype=np.uint16),
        marks=lanes.outside(found.tensors, shown),
        title=title,
        labels=_numbers(shown, lambda: np.arange(units) + found.first, style.ROOM),
        legend=_legend(places, found, kinds),
        groups=groups,
        noun="byte" if found.unit == 1 else "unit",
    )


def _row(places: StoragePlaces, found: Cover) -> int | None:
    """A row length that is a multiple of the longest stride, so that rows of tensors line up, or None."""
    strides = [
        stride * places.tensors[t].itemsize // found.unit
        for t in found.tensors
        for stride, size in zip(places.tensors[t].strides, places.tensors[t].shape, strict=True)
        if size > 1
    ]
    longest = max(strides, default=0)
    row = longest * max(1, 32 // max(1, longest))
    return row if 2 <= longest <= 256 and 32 < found.units <= 100 * row else None


def _legend(places: StoragePlaces, found: Cover, kinds: np.ndarray[Any, Any]) -> list[Key]:
    keys = [Key(look([t], False, 11), places.tensors[t].name) for t in found.tensors if elements(places.tensors[t])]
    if (np.bitwise_count(kinds >> 2) > 1).any():
        keys.append(Key(look(list(found.tensors[:3]), False, 11), _("shared by several tensors")))
    if (kinds & 1).any():
        keys.append(Key(look([found.tensors[0]], True, 11), _("several elements at one place")))
    if (kinds & 2).any():
        keys.append(Key(look([found.tensors[0]], False, 11, style.HATCH), "partly"))
    if (kinds >> 2 == 0).any():
        keys.append(Key(BARE, _("in none of them")))
    return keys


def storage_grid(places: StoragePlaces, number: int) -> Heatmap:
    """A tensor in its own shape, coloured by place in storage."""
    tensor, found = places.tensors[number], places.cover_of(number)
    room = GRID_ROOM if len(places.tensors) > 1 else (style.ROOM[0], 320.0)
    shown = layout(tuple(tensor.shape), room=room)
    there, first = shown.first_of_cell()
    unit = places.unit_at(number, offsets_at(first, tensor.shape, tensor.strides))
    level = np.clip(unit * style.TENSOR_LEVELS // max(1, found.units), 0, style.TENSOR_LEVELS - 1)
    cells = np.zeros(shown.cells, dtype=np.uint8)
    cells[there] = 1 + level
    return Heatmap(
        shown,
        cells,
        np.array(grid_styles(number), dtype=np.uint16),
        title=f"{tensor.name} ({shape_text(tensor.shape)}): {', '.join(traits(tensor))}",
        labels=_numbers(shown, lambda: tensor.offset + offsets(tensor.shape, tensor.strides), room),
        panel_names=panel_names(tensor.shape, (0,) * len(tensor.shape), shown.panels),
        steps=step_names(tensor, shown.wrapped),
        room=room,
    )


def _numbers(shown: CellLayout, numbers: Callable[[], Ints], room: tuple[float, float]) -> list[Label]:
    """The label of each cell: a number, in reading order."""
    if shown.binned or shown.cells > MOST:  # cells get no labels
        return []
    told = [""] * shown.cells
    for cell, number in zip(shown.cell_of_position().tolist(), numbers().tolist(), strict=True):
        told[cell] = str(number)
    return cell_labels(shown, told, room)
