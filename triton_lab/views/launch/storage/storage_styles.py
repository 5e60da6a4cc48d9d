"""The styles of cells of storage, and the scenes of its heatmaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from triton_lab.launch.maps.storage_accesses import CellTouches
from triton_lab.views.drawing import style
from triton_lab.views.drawing.heatmap import Heatmap, buffer, narrow
from triton_lab.views.launch.launch_scenes import Finer, StorageHeatmap

BARE = (style.UNTOUCHED, style.UNTOUCHED, style.UNTOUCHED, style.DOTS)


def plain(heatmap: Heatmap) -> StorageHeatmap:
    return {**heatmap.as_scene(), **Finer(), "levels": None, "touched": None}


def told_apart(heatmap: Heatmap, touched: CellTouches) -> StorageHeatmap:
    """The heatmap's scene with classes that also differ by the touches of their cells, so that some can stand out."""
    sets = len(touched.table)
    key = heatmap.cells.astype(np.int64) * sets + touched.classes
    key[heatmap.cells == 0] = 0
    present = np.bincount(key, minlength=1) > 0
    present[0] = True  # class 0 is no cell
    kept = np.flatnonzero(present)
    look = kept // sets
    table = touched.table
    return {
        **heatmap.as_scene(),
        **Finer(),
        "cells": buffer(narrow((np.cumsum(present) - 1)[key])),
        "levels": buffer(narrow(look)),
        "groups": None if heatmap.groups is None else buffer(narrow(heatmap.groups[look])),
        "touched": {
            "of": buffer(narrow(kept % sets)),
            "starts": buffer(table.starts.astype(np.uint32)),
            "items": buffer(narrow(table.items)),
            "moments": [(moment.iteration, moment.line, moment.kind) for moment in touched.moments],
        },
    }


def strip_styles(tensors: Sequence[int], kinds: npt.NDArray[Any]) -> list[tuple[int, int, int, int]]:
    """The styles of a strip's classes: that of no cell, then for each kind of place one for each level.

    A kind has bit k + 2 for tensor k, 2 if only a part is covered, and 1 if several elements lie at one place.
    """
    styles = [(0, 0, 0, 0)]
    for members in kinds.tolist():
        mine = [tensors[k] for k in range(len(tensors)) if members >> (k + 2) & 1]
        pattern = style.HATCH if members & 2 else style.PLAIN
        styles += [look(mine, bool(members & 1), step, pattern) for step in range(style.TENSOR_LEVELS)]
    return styles


def grid_styles(number: int) -> list[tuple[int, int, int, int]]:
    """The styles of the classes in a tensor's picture: that of no cell, then one for each level."""
    return [(0, 0, 0, 0), *(look([number], False, step) for step in range(style.TENSOR_LEVELS))]


def look(tensors: Sequence[int], several: bool, level: int, pattern: int = style.PLAIN) -> tuple[int, int, int, int]:
    """The style of a place that these tensors cover."""
    if not tensors:
        return BARE
    colours = [style.tensor_colour(tensor, level) for tensor in tensors]
    if len(colours) > 1:
        return colours[0], colours[1], colours[-1], style.STRIPES
    if several:
        return colours[0], style.GROUND, style.GROUND, style.STRIPES
    return colours[0], colours[0], colours[0], pattern
