"""Tiling: an argument's elements coloured by the program that touches them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from triton_lab import messages as words
from triton_lab.launch.maps.program_sample import MOST_LANES, reaching
from triton_lab.launch.maps.tiling import LAYERS, TilingAccesses, touches
from triton_lab.launch.membership_classes import Classes, distinct
from triton_lab.localization import N_, _, translated
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout, layout, wrapped_words
from triton_lab.views.drawing.cell_scenes import DressedPlace
from triton_lab.views.drawing.drawing_text import nobody, panel_names, shape_text, some_of, step_names
from triton_lab.views.drawing.heatmap import Heatmap, Key, Label, Mark, buffer, narrow
from triton_lab.views.drawing.picture_window import Window, asked
from triton_lab.views.drawing.raster import CHOSEN, DIMMED, NORMAL
from triton_lab.views.drawing.region_labels import crowded, labels
from triton_lab.views.launch.card.card_scenes import ItemScene
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, item, unknown
from triton_lab.views.launch.finding_marks import ghost, marks
from triton_lab.views.launch.last_values import last_values
from triton_lab.views.launch.launch_scenes import LastValues, TilingScene
from triton_lab.views.launch.stray_lanes import astray
from triton_lab.views.launch.tiling.program_scale import program_scale
from triton_lab.views.launch.tiling.tiled_cells import (
    ERROR_STATE,
    GHOST_STATE,
    INSIDE_STATE,
    STATES,
    STOPPED_STATE,
    TiledCells,
)
from triton_lab.views.launch.zoom_windows import finer_scene, in_window
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

Ints = npt.NDArray[np.int64]

UNTOUCHED = (style.UNTOUCHED, style.UNTOUCHED, style.UNTOUCHED, style.DOTS)
MASKED = (style.MASKED, style.MASKED, style.MASKED, style.HATCH)
OUTSIDE = (style.ERROR, style.ERROR, style.ERROR, style.CROSS)

GHOST = (style.GHOST, style.GHOST, style.GHOST, style.HATCH)

TITLES = {
    "loads": N_("{subject}: which program loads each element"),
    "stores": N_("{subject}: which program stores each element"),
    "updates": N_("{subject}: which program updates each element, with atomics"),
    "both": N_("{subject}: which program accesses each element"),
}
STRIPED = 3  # programs that a shared element has the colours of; more than these are counted instead


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
        other.__dict__["cells"] = TiledCells.at(*self._near(positions), window.layout)
        found, strays = self.touches, self.touches.strays
        over = np.zeros(0, np.int64)
        if strays is not None:
            over = np.flatnonzero(strays | (~found.inside() & (found.active().counts > 0)[found.classes]))
        other.__dict__["marks"] = in_window(self._marks(fine, over, window), window)
        other.crowds, other.window = self.crowds, window
        return other

    def _near(self, positions: Ints) -> tuple[TilingAccesses, Ints]:
        """The accesses to these positions, and the index of each position in them.

        The answer is exact: if the picture shows only some programs, all programs that reach these positions are looked
        at.
        """
        found, argument = self.touches, self.argument
        there = positions >= 0
        if found.shown is None or not there.any():
            return found, positions
        index = [
            at - first for at, first in zip(np.unravel_index(positions[there], found.drawn), found.origin, strict=True)
        ]
        if any((at < 0).any() or (at >= size).any() for at, size in zip(index, argument.shape, strict=True)):
            return found, positions
        reach = sum(at * stride for at, stride in zip(index, argument.strides, strict=True)) * argument.itemsize
        low, high = int(np.min(reach)) + argument.address, int(np.max(reach)) + argument.address + argument.itemsize
        near = touches(argument, reaching(self.launch.accesses, low, high), self.programs, self.most)
        if near.shown is not None:
            return found, positions
        place = np.full(len(positions), -1)
        place[there] = np.ravel_multi_index(
            [at + first for at, first in zip(index, near.origin, strict=True)], near.drawn
        )
        return near, place

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
        cells = self.cells
        active = cells.touches.active(layer)
        masked = cells.touches.masked(layer).counts[cells.class_of] > 0
        count = active.counts[cells.class_of]
        # Cells that look the same form one region, even if other lines or masked lanes touch some of them.
        groups = STATES * active.groups()[cells.class_of] + cells.state
        groups = np.where(count == 0, STATES * (groups.max(initial=0) // STATES + 1 + masked) + cells.state, groups)
        groups[0] = 0
        blank = Heatmap(cells.layout, cells.numbers, np.zeros((1, 4), dtype=np.uint16), room=self.room)
        if layer not in self.crowds:
            self.crowds[layer] = crowded(groups[cells.numbers], blank.frame)
        crowd = self.crowds[layer]
        first = np.zeros(int(groups.max()) + 1, dtype=np.int64)
        first[groups[::-1]] = cells.class_of[::-1]
        several = cells.touches.several[cells.class_of, list(LAYERS).index(layer)]
        styles = self._styles(active)
        styles[:, 3] = np.where(several, style.STRIPES, style.PLAIN)
        # Neighbours on a ramp are too alike for stripes of both, and three colours cannot stand for many programs: such
        # elements are bright, for a number to be read on them, with stripes in the colour of the first.
        plain = several & ((count > STRIPED) | (self.programs > len(style.PROGRAM_COLOURS)))
        styles[plain, 1:3] = styles[plain, :1]
        styles[plain, 0] = style.GROUND
        styles[count == 0] = UNTOUCHED
        styles[(count == 0) & masked] = MASKED
        styles[np.isin(cells.state, (ERROR_STATE, STOPPED_STATE)) & (count > 0)] = OUTSIDE
        styles[(cells.state == GHOST_STATE) & (count > 0)] = GHOST
        styles[~np.isin(cells.state, (INSIDE_STATE, STOPPED_STATE)) & (count == 0) & ~masked] = 0
        scale = program_scale(self.launch.grid, _coloured(styles), cells.touches.shown)
        return Heatmap(
            cells.layout,
            cells.numbers,
            styles,
            labels=(worded := self._labels(blank, groups[cells.numbers], active, first)),
            legend=[*scale.keys, *self._keys(styles, any(label.text.startswith("×") for label in worded))],
            ramp=scale.ramp,
            ramp_name=scale.name,
            ticks=scale.ticks,
            groups=None if crowd else groups,
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

    def _styles(self, active: Classes) -> npt.NDArray[np.uint16]:
        """The styles, with the colours of the first three programs of each class."""
        items = np.append(active.items, 0)
        first, count = active.starts[self.cells.class_of], active.counts[self.cells.class_of]
        styles = np.zeros((len(first), 4), dtype=np.uint16)
        for place in range(3):
            program = items[first + np.where(place < count, place, 0)]
            styles[:, place] = style.program_colours(program, self.launch.grid)
        return styles

    def _labels(self, blank: Heatmap, regions: Ints, active: Classes, first: Ints) -> list[Label]:
        """The program of each tile, or how many programs share it; ``first`` is a class of each of the ``regions``."""

        def word(region: int, several: Callable[[int], str]) -> str:
            programs = active.members(int(first[region]))
            if len(programs) > 1:
                return several(len(programs))
            return words.mark(int(programs[0]), self.launch.grid) if len(programs) else ""

        full = labels(blank.frame, regions, lambda region: word(region, lambda many: words.count(many, "program")))
        short = labels(blank.frame, regions, lambda region: word(region, lambda many: f"×{many}"))
        # "8 programs" in all tiles that several share, or "×8" in all, which the legend explains.
        return full if len(full) == len(short) else short

    def _keys(self, styles: npt.NDArray[np.uint16], counted: bool) -> list[Key]:
        """The legend entries for cells that do not belong to a single program; ``counted`` if some have a "×8"."""
        keys = []
        striped = styles[styles[:, 3] == style.STRIPES]
        if len(striped):
            first, second, third = striped[0, :3].tolist()
            told = _("several programs (× how many)") if counted else _("several programs")
            keys.append(Key((first, second, third, style.STRIPES), told))
        packed = distinct(np.ascontiguousarray(styles).view(np.uint64))  # packs four small numbers into one
        used = {tuple(row) for row in packed.view(np.uint16).reshape(-1, 4).tolist()}
        rest = (
            (MASKED, _("masked lanes only")),
            (UNTOUCHED, nobody(self.touches.shown)),
            (OUTSIDE, _("stopped the launch here") if self.touches.strays_drawn else "outside the argument"),
            (GHOST, _("past the edge, in the memory of other elements: mask off these lanes too")),
        )
        return [*keys, *(Key(look, words) for look, words in rest if look in used)]

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
        found = self.touches
        active, masked = found.active(self.layer).counts, found.masked(self.layer).counts > 0
        several = found.several[:, list(LAYERS).index(self.layer)]
        many = found.elements()
        facts = [
            ((active > 0) & ~several, _("one program")),
            (several, _("several programs")),
            ((active == 0) & masked, _("masked lanes only")),
            ((active == 0) & ~masked, _("no program") if found.shown is None else _("none of those shown")),
        ]
        told = [
            _("{elements} by {who}").format(elements=words.count(int(many[which].sum()), "element"), who=who)
            for which, who in facts
            if many[which].sum()
        ]
        if found.shown is not None:
            told.append(_("launch.plot.tiling({name}) examines all of them").format(name=repr(self.argument.name)))
        lines = [self.title(), f"{words.count(self.programs, 'program')}; {', '.join(told) or _('no elements')}"]
        wrong = int(found.elements(inside=False)[active > 0].sum()) if found.drawn != found.shape else 0
        if wrong:
            lines.append(
                _("{elements} outside the argument {is_} touched").format(
                    elements=words.count(wrong, "element"), is_=words.noun(wrong, "is", "are")
                )
            )
        lines += [*self.astray, *(mark.text for mark in self.marks)]
        if wrapped := wrapped_words(self.cells.layout):
            lines.append(wrapped)
        return "\n".join(lines)


def _coloured(styles: npt.NDArray[np.uint16]) -> list[int]:
    """The programs that are drawn in colours of their own: as areas, or as stripes of each program of an element."""
    striped, counted = styles[:, 3] == style.STRIPES, styles[:, 0] == style.GROUND
    drawn = np.append(styles[~(striped & counted), 0], styles[striped & ~counted, :3].reshape(-1)).astype(np.int64)
    programs = distinct(drawn) - style.PROGRAM
    found: list[int] = programs[(programs >= 0) & (programs < len(style.PROGRAM_COLOURS))].tolist()
    return found


def tensor_argument(launch: Launch, name: str) -> Argument:
    """The tensor argument of that name; if there is none, the error lists those that exist."""
    tensors = {argument.name: argument for argument in launch.arguments if argument.kind in ("tensor", "descriptor")}
    if name not in tensors:
        there = ", ".join(tensors) or _("none")
        raise ValueError(
            _("{kernel} has no tensor argument {name}; tensor arguments: {there}").format(
                kernel=launch.kernel, name=repr(name), there=there
            )
        )
    return tensors[name]


class TilingPanel(Panel):
    """A tiling for each argument that is touched; the static form shows as many as fit."""

    MOST = 6  # in the static picture
    ROOM = (290.0, 240.0)  # for one of several

    def items(self) -> list[ItemScene]:
        return [item(f"tiling/{name}", name, self.card.lines(name)) for name in self.card.drawn]

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Tiling:
        match path:
            case ["tiling", argument]:
                return self._tiling(argument)
        raise unknown(path)

    def scene(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Scene:
        """The scene of a tiling, or of a window of it if the path names one."""
        return self.view(path[:2]).part("/".join(path)) if path[2:] else super().scene(path, first, numbers)

    def _tiling(self, argument: str) -> Tiling:
        """The view of an argument, made once: finding its touches takes a while."""
        if argument not in self._made:
            self._made[argument] = Tiling(self.launch, argument, most=MOST_LANES)
        return self._made[argument]

    @cached_property
    def _made(self) -> dict[str, Tiling]:
        return {}

    def drawn(self) -> list[Tiling]:
        return [self._tiling(name) for name in self.card.drawn]

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
