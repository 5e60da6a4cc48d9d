"""Tiling: an argument's elements coloured by the program that touches them."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from triton_lab import messages as words
from triton_lab.launch.maps.program_sample import MOST_LANES
from triton_lab.launch.maps.tiling import LAYERS, TilingAccesses, touches
from triton_lab.localization import _, translated
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout, layout, wrapped_words
from triton_lab.views.drawing.cell_scenes import DressedPlace
from triton_lab.views.drawing.drawing_text import nobody, panel_names, shape_text, some_of, step_names
from triton_lab.views.drawing.heatmap import Heatmap, Mark, buffer, narrow
from triton_lab.views.drawing.picture_window import Window, asked
from triton_lab.views.drawing.raster import CHOSEN, DIMMED, NORMAL
from triton_lab.views.drawing.region_labels import crowded
from triton_lab.views.launch.argument_names import tensor_argument
from triton_lab.views.launch.card.argument_panel import ArgumentPanel
from triton_lab.views.launch.finding_marks import ghost, marks
from triton_lab.views.launch.last_values import last_values
from triton_lab.views.launch.launch_scenes import LastValues, TilingScene
from triton_lab.views.launch.stray_lanes import astray
from triton_lab.views.launch.tiling.program_scale import program_scale
from triton_lab.views.launch.tiling.tiled_cells import (
    ERROR_STATE,
    GHOST_STATE,
    TiledCells,
    nearby,
)
from triton_lab.views.launch.tiling.tiling_layer import TilingLayer
from triton_lab.views.launch.tiling.tiling_words import TITLES, tiling_words
from triton_lab.views.launch.zoom_windows import finer_scene, in_window
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

Ints = npt.NDArray[np.int64]


class Tiling(View):
    """The elements of ``argument`` coloured by program; ``program`` picks one, ``layer`` what to show.

    ``layer`` is ``"loads"``, ``"stores"`` or ``"both"``; ``room`` is the width and height, in CSS pixels, that the
    heatmap may take. ``most`` limits the lanes, if they must be looked at one by one; the picture then shows only some
    programs, and says so.
    """

    tight = True

    def __init__(
        self,
        launch: Launch,
        argument: str,
        program: int | None = None,
        layer: str = "both",
        room: tuple[float, float] = style.ROOM,
        most: int | None = None,
    ) -> None:
        self.launch = launch
        self.most = most
        self.argument = tensor_argument(launch, argument)
        self.programs = math.prod(launch.grid)
        self.program = program
        if program is not None and not 0 <= program < self.programs:
            raise ValueError(words.no_program(program, launch.grid))
        if layer not in LAYERS:
            raise ValueError(
                _("layer is one of {names}, not {layer}").format(names=", ".join(LAYERS), layer=repr(layer))
            )
        kinds = {access.kind for access in launch.accesses if access.argument == argument}
        shown = [name for name, there in (("loads", {"load"}), ("stores", {"store", "atomic"})) if kinds & there]
        self.layers = ("both", *shown) if len(shown) == 2 else tuple(shown) or ("both",)
        self.layer = layer if layer in self.layers else self.layers[0]
        self.room = room
        self.crowds: dict[str, bool] = {}  # by layer: whether regions are too small for lines between them
        self.window: Window | None = None

    def within(self, room: tuple[float, float]) -> Tiling:
        """The same picture in another size."""
        other = Tiling(self.launch, self.argument.name, self.program, self.layer, room, self.most)
        other.__dict__["touches"] = self.touches
        return other

    @property
    def finer(self) -> str:
        """The name of its windows."""
        return f"tiling/{self.argument.name}"

    @property
    def has_parts(self) -> bool:
        return self.cells.layout.binned

    def part(self, name: str) -> TilingScene:
        return self.through(asked(name, self.finer, self.cells.layout)).scene()

    def through(self, window: Window) -> Tiling:
        """A window of single positions, in the same colours."""
        other = Tiling(self.launch, self.argument.name, self.program, self.layer, self.room, self.most)
        for layer in self.layers:
            if layer not in self.crowds:
                self.heatmap_of(layer)
        fine = self.cells.layout.fine
        positions = window.positions(fine)
        other.__dict__["touches"] = self.touches
        other.__dict__["cells"] = TiledCells.at(
            *nearby(self.touches, self.argument, self.launch.accesses, positions, self.most), window.layout
        )
        found, strays = self.touches, self.touches.strays
        over = np.zeros(0, np.int64)
        if strays is not None:
            over = np.flatnonzero(strays | (~found.inside() & (found.active().counts > 0)[found.classes]))
        other.__dict__["marks"] = in_window(self._marks(fine, over, window), window)
        other.crowds, other.window = self.crowds, window
        return other

    @cached_property
    def touches(self) -> TilingAccesses:
        """The programs that touch each position."""
        return touches(self.argument, self.launch.accesses, self.programs, self.most)

    @cached_property
    def cells(self) -> TiledCells:
        """The programs that touch each cell of the picture."""
        return TiledCells.of(self.touches, layout(self.touches.drawn, self.touches.origin, room=self.room))

    @cached_property
    def heatmap(self) -> Heatmap:
        """The heatmap of the chosen layer."""
        return self.heatmap_of(self.layer)

    def heatmap_of(self, layer: str) -> Heatmap:
        """The heatmap of one layer. The cells are the same for all layers, the styles are not."""
        cells, one = self.cells, TilingLayer(self.cells, self.touches, layer, self.launch.grid)
        blank = Heatmap(cells.layout, cells.numbers, np.zeros((1, 4), dtype=np.uint16), room=self.room)
        if layer not in self.crowds:
            self.crowds[layer] = crowded(one.groups[cells.numbers], blank.frame)
        scale = program_scale(self.launch.grid, one.coloured(), cells.touches.shown)
        return Heatmap(
            cells.layout,
            cells.numbers,
            one.styles,
            labels=(worded := one.labels(blank)),
            legend=[*scale.keys, *one.keys(any(label.text.startswith("×") for label in worded))],
            ramp=scale.ramp,
            ramp_name=scale.name,
            ticks=scale.ticks,
            groups=None if self.crowds[layer] else one.groups,
            panel_names=panel_names(cells.touches.drawn, cells.touches.origin, cells.layout.panels),
            steps=step_names(self.argument, len(cells.touches.drawn) < 2),
            room=self.room,
            marks=self.marks,
        )

    @cached_property
    def marks(self) -> list[Mark]:
        """The elements that findings concern, and the lanes that a missing mask would keep out."""
        over = np.flatnonzero(np.isin(self.cells.state[self.cells.numbers], (ERROR_STATE, GHOST_STATE)))
        return self._marks(self.cells.layout, over)

    def _marks(self, shown: CellLayout, over: Ints, window: Window | None = None) -> list[Mark]:
        found = marks(self.launch, self.argument, shown, self.cells.touches.origin, window)
        if self.touches.strays is None:
            return found
        lanes = int((~self.touches.inside() & (self.touches.active().counts > 0)[self.touches.classes]).sum())
        lanes += self.touches.active_elsewhere
        return [*ghost(self.launch, self.argument, lanes, over, shown), *found]

    @cached_property
    def astray(self) -> list[str]:
        """The lanes that stopped the launch at this argument, by program, and the elements that they reach for."""
        return astray(self.launch, self.argument, self.touches.strays_drawn)

    def emphasis(self, program: int) -> npt.NDArray[np.uint8]:
        """The emphasis (heatmap classes,): CHOSEN where the program has an active lane, NORMAL for a masked one."""
        active, masked = self.cells.touches.active(self.layer), self.cells.touches.masked(self.layer)
        levels = np.full(len(active), DIMMED, dtype=np.uint8)
        levels[masked.owners[masked.items == program]] = NORMAL
        levels[active.owners[active.items == program]] = CHOSEN
        return levels[self.cells.class_of]

    def title(self) -> str:
        kinds = {access.kind for access in self.launch.accesses if access.argument == self.argument.name}
        only = self.layer == "stores" and "store" not in kinds
        return translated(TITLES["updates" if only else self.layer]).format(subject=self.subject())

    def subject(self) -> str:
        """The subject in words: ``x (3×4)``, and the number of programs shown if not all are."""
        shown = some_of(self.touches.shown, self.programs)
        return f"{self.argument.name} ({shape_text(self.argument.shape)}){shown}"

    def pieces(self) -> list[Drawing]:
        """The chosen layer; if a program is chosen, it is outlined."""
        from triton_lab.views.drawing.drawing_pieces import one_row, paragraphs, title

        emphasis = None if self.program is None else self.emphasis(self.program)
        return [title(self.title()), *paragraphs(self.astray, "error"), one_row([self.heatmap], emphasis=[emphasis])]

    def scene(self) -> TilingScene:
        argument, found = self.argument, self.cells.touches
        scene: TilingScene = {
            "kind": "tiling",
            "title": self.subject(),
            "argument": {
                "name": argument.name,
                "shape": list(argument.shape),
                "strides": list(argument.strides),
                "offset": argument.offset,
            },
            "grid": list(self.launch.grid),
            "program": self.program,
            "layer": self.layer,
            "layers": {name: self._heatmap_scene(name) for name in self.layers},
            "nobody": nobody(found.shown),
            "astray": self.astray,
            "cells": buffer(self.cells.numbers),
            "classOf": buffer(self.cells.class_of.astype(np.uint32)),
            "starts": buffer(found.table.starts.astype(np.uint32)),
            "items": buffer(narrow(found.table.items)),
            "accesses": list(found.accesses),
            "elsewhere": (found.active_elsewhere, found.masked_elsewhere),
        }
        values = last_values(self.launch, argument) if self.window is None else LastValues()
        return {**scene, **values, **finer_scene(self.finer, self.cells.layout, self.window)}

    def _heatmap_scene(self, layer: str) -> DressedPlace:
        """One layer without its cells, which all layers share."""
        heatmap = self.heatmap if layer == self.layer else self.heatmap_of(layer)
        return {**heatmap.place_scene(), **heatmap.dress_scene()}

    def text(self) -> str:
        found, lines = self.touches, [self.title()]
        lines += tiling_words(found, self.layer, self.argument.name)
        lines += [*self.astray, *(mark.text for mark in self.marks)]
        if wrapped := wrapped_words(self.cells.layout):
            lines.append(wrapped)
        return "\n".join(lines)


class TilingPanel(ArgumentPanel[Tiling]):
    """A tiling for each argument that is touched; the static form shows as many as fit."""

    word = "tiling"

    def picture(self, argument: str) -> Tiling:
        return Tiling(self.launch, argument, most=MOST_LANES)

    def drawn(self) -> list[Tiling]:
        return [self.of(name) for name in self.names]

    def pieces(self) -> list[Drawing]:
        """One tiling at full width, or several side by side."""
        from triton_lab.views.drawing.drawing_pieces import paragraphs, side_by_side

        drawn = self.drawn()
        shown = drawn[: self.MOST]
        if len(shown) > 1:
            shown = [tiling.within(self.ROOM) for tiling in shown]
        pieces = side_by_side([replace(tiling.heatmap, title=tiling.title()) for tiling in shown])
        astray = paragraphs((line for tiling in shown for line in tiling.astray), "error")
        left = len(drawn) - len(shown)
        return [*astray, *pieces, *paragraphs([words.count(left, "more tensor argument")] if left else [])]
