"""Some elements of an argument, marked by the iteration that first touched them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout, layout
from triton_lab.views.drawing.drawing_text import panel_names
from triton_lab.views.drawing.heatmap import Heatmap, Key, buffer, narrow
from triton_lab.views.drawing.picture_window import asked
from triton_lab.views.launch.launch_scenes import MarkedScene, WindowScene
from triton_lab.views.launch.tiling.tiling_layer import UNTOUCHED
from triton_lab.views.launch.zoom_windows import finer_scene

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument

Ints = npt.NDArray[np.int64]

ROOM = (300.0, 260.0)
STORED = (style.tensor_colour(0, 3),) * 3 + (style.PLAIN,)
NOT_NEEDED, STORED_HERE, FIRST = 1, 2, 3  # classes, after the one of no cell; one for each of the ramp's levels follows
LOOKS = ((0, 0, 0, 0), UNTOUCHED, STORED, *((style.SEQUENTIAL + k,) * 3 + (style.PLAIN,) for k in range(style.LEVELS)))
ONE = FIRST + style.LEVELS // 2  # the level if there is only one iteration


@dataclass(frozen=True)
class Marked:
    """An argument with some marked ``elements``, ascending, each with a number: an iteration."""

    argument: Argument
    elements: Ints
    first: Ints
    title: str
    word: str

    @property
    def layout(self) -> CellLayout:
        return layout(self.argument.shape, room=ROOM)

    @property
    def most(self) -> int:
        return int(self.first.max(initial=0))

    def levels(self) -> Ints:
        """The classes of the marked elements."""
        if not self.most:
            return np.full(len(self.elements), ONE)
        return FIRST + (style.LEVELS - 1) * self.first // self.most

    def legend(self) -> Sequence[Key]:
        middle = style.SEQUENTIAL + style.LEVELS // 2
        return [] if self.most or not self.word else [Key((middle, middle, middle, style.PLAIN), self.word)]

    def heatmap(self, also: Ints | None = None) -> Heatmap:
        """The marked elements as a heatmap; the cells ``also`` look different from the rest."""
        shown = self.layout
        cells = np.zeros(shown.cells, dtype=np.uint8)
        cells[shown.first_of_cell()[0]] = NOT_NEEDED
        legend = list(self.legend())
        if also is not None and len(also):
            cells[also] = STORED_HERE
            legend.append(Key(STORED, _("stored by this line")))
        np.maximum.at(cells, shown.cells_at(self.elements), self.levels().astype(np.uint8))
        return Heatmap(
            shown,
            cells,
            np.array(LOOKS, dtype=np.uint16),
            title=self.title,
            legend=legend,
            ramp=(style.SEQUENTIAL, style.LEVELS, 0, self.most) if self.most else None,
            ramp_name=_("iteration"),
            panel_names=panel_names(shown.shape, shown.origin, shown.panels),
            room=ROOM,
            groups=np.minimum(np.arange(len(LOOKS)), FIRST),
        )

    def through(self, name: str, finer: str, level: int | None = None) -> WindowScene:
        """A window of single elements, if a cell stands for several; with a ``level``, only its marks."""
        window = asked(name, finer, self.layout)
        positions = window.positions(self.layout.fine)
        levels = np.append(self.levels() if level is None else np.full(len(self.elements), level), NOT_NEEDED)
        at = np.searchsorted(self.elements, positions)
        marked = np.append(self.elements, -1)[at] == positions
        levels = np.where(marked, levels[at], NOT_NEEDED)
        heatmap = Heatmap(
            window.layout,
            np.where(positions >= 0, levels, 0).astype(np.uint8),
            np.array(LOOKS, dtype=np.uint16),
            groups=np.minimum(np.arange(len(LOOKS)), FIRST),
        )
        within = finer_scene(finer, self.layout, window)
        return {"kind": "window", "heatmap": {**heatmap.as_scene(), "levels": None, "touched": None, **within}}

    def as_scene(self, finer: str) -> MarkedScene:
        """The marked cells without the others: a page holds many such scenes."""
        shown = self.layout
        return {
            **finer_scene(finer, shown, None),
            "layout": shown.as_scene(),
            "room": ROOM,
            "title": self.title,
            "there": shown.there,
            "cells": buffer(narrow(shown.cells_at(self.elements))),
            "levels": buffer(self.levels().astype(np.uint8)),
            "legend": [key.as_scene() for key in self.legend()],
            "ramp": (style.SEQUENTIAL, style.LEVELS, 0, self.most) if self.most else None,
            "panelNames": panel_names(shown.shape, shown.origin, shown.panels),
        }
