"""Heatmaps that tell each position apart: the elements of a tensor, or the places of the hardware."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.localization import N_, _, translated
from triton_lab.views.drawing.cell_frame import frame
from triton_lab.views.drawing.cell_layout import CellLayout, layout
from triton_lab.views.drawing.drawing_text import panel_names, shape_text
from triton_lab.views.drawing.heatmap import Heatmap, buffer, narrow
from triton_lab.views.drawing.raster import CHOSEN, DIMMED, NORMAL
from triton_lab.views.drawing.region_labels import MOST, cell_labels, crowded
from triton_lab.views.drawing.region_labels import labels as region_labels
from triton_lab.views.layouts import layout_colors
from triton_lab.views.layouts.layout_colors import Looks, distinct_styles
from triton_lab.views.layouts.layout_positions import Ints, LayoutPositions
from triton_lab.views.layouts.layout_scenes import HeldScene

ROOM = (384.0, 384.0)  # CSS pixels for each of the two heatmaps that stand side by side in a notebook's output
_ROW = N_("the row of each element")
_TOLD = {"registers": N_("which thread holds each element"), "shared memory": N_("the bank of each element")}


def tensor_picture(places: LayoutPositions, name: str = "") -> Heatmap:
    """The heatmap of the tensor; each element has the colour of the warp and lane that hold it."""
    asked = places.layout
    shown = layout(asked.shape, room=ROOM)
    name = name or _("tensor")
    title = f"{name} {shape_text(asked.shape)}: {translated(_TOLD.get(asked.where, _ROW))}"
    names = panel_names(asked.shape, shown.origin, shown.panels)
    made = positions_picture(title, shown, layout_colors.of_elements(places), names, _warps(places))
    registers = asked.where == "registers" and any(label.text.startswith("r") for label in made.labels)
    return replace(made, title=_("{title} (r: the register)").format(title=made.title)) if registers else made


MOST_NAMED = 4  # warps that hold the same elements and are named in one label


def _warps(places: LayoutPositions) -> Sequence[str]:
    """The labels of regions that are too fine for words in their cells, by the first warp that holds them."""
    if places.layout.where != "registers":
        return ()
    names = [layout_colors.warp_name(places, number) for number in range(places.size("block") * places.size("warp"))]
    every = places.holders
    if every.shape[1] > 1:
        for row in every[np.unique(every[:, 0], return_index=True)[1]].tolist():
            named = places.size("block") == 1 and len(row) <= MOST_NAMED
            numbers = ", ".join(map(str, row))
            names[row[0]] = _("warps {numbers}").format(numbers=numbers) if named else messages.count(len(row), "warp")
    return names


def emphasis_on(heatmap: Heatmap, chosen: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.uint8] | None:
    """The emphasis on the classes of a heatmap: a class stands out where any of its positions is chosen."""
    if chosen is None:
        return None
    found = np.full(len(chosen) + 1, DIMMED, dtype=np.uint8)
    found[0] = NORMAL
    cells = heatmap.layout.cells_at(np.flatnonzero(chosen))
    found[heatmap.cells[cells]] = CHOSEN
    return found


def positions_picture(
    title: str,
    shown: CellLayout,
    found: Looks,
    names: Sequence[str],
    regions: Sequence[str] = (),
    counted: tuple[int, int] = (1, 1),
) -> Heatmap:
    """A heatmap whose class k + 1 is position k, with the looks in ``found``.

    ``names`` are those of its panels. ``regions`` are the words for regions of equal groups whose cells are too small
    for words.
    """
    cell, first = shown.first_of_cell()
    cells: Ints = np.zeros(shown.cells, dtype=np.int64)
    there = found.levels[first] > 0
    cells[cell[there]] = first[there] + 1
    seen = frame(shown, ROOM)
    words = found.words() if shown.cells == shown.positions <= MOST else ()
    labels = cell_labels(shown, words, ROOM) if words else []
    groups = found.threads if labels else found.groups
    if groups is not None:
        groups = np.append(0, groups + 1)
        if regions and not labels and not shown.binned:
            labels = region_labels(seen, groups[cells], lambda group: regions[group - 1])
        if crowded(groups[cells], seen):
            groups = None
    return Heatmap(
        shown,
        narrow(cells),
        found.styles[np.append(0, found.levels)],
        title=title,
        labels=labels,
        legend=found.legend,
        ramp=found.ramp,
        ramp_name=found.ramp_name,
        panel_names=names,
        room=ROOM,
        groups=groups,
        counted=counted,
    )


def held_scene(heatmap: Heatmap) -> HeldScene:
    """The scene of a heatmap whose classes are positions: the browser works out the cells itself."""
    styles, levels = distinct_styles(heatmap.styles)
    return {
        **heatmap.place_scene(),
        **heatmap.dress_scene(),
        "styles": buffer(styles),
        "levels": buffer(narrow(levels)),
    }
