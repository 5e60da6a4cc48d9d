"""Accesses: how often, by whom, when and in which order the elements of an argument are touched."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.access_heat import heat
from triton_lab.launch.maps.heat import BY, OVER, Heat
from triton_lab.launch.maps.picture_cells import INSIDE, WRONG, HeatCells, heat_bins, heat_cells, heat_fallen
from triton_lab.launch.maps.program_sample import MOST_LANES
from triton_lab.localization import _, translated
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout, layout, wrapped_words
from triton_lab.views.drawing.drawing_text import nobody, panel_names, shape_text, some_of, step_names
from triton_lab.views.drawing.heatmap import Heatmap, Mark, buffer, narrow
from triton_lab.views.drawing.picture_window import Window, asked
from triton_lab.views.drawing.raster import CHOSEN, DIMMED, NORMAL
from triton_lab.views.launch.accesses.cache_rules import CacheRules, layout_of_lines
from triton_lab.views.launch.accesses.heat_layer import HeatLayer, layer_of
from triton_lab.views.launch.accesses.heat_words import SAYS, access_words, heat_words
from triton_lab.views.launch.argument_names import tensor_argument
from triton_lab.views.launch.card.argument_panel import ArgumentPanel
from triton_lab.views.launch.finding_marks import marks
from triton_lab.views.launch.last_values import last_values
from triton_lab.views.launch.launch_scenes import AccessesScene, LastValues
from triton_lab.views.launch.zoom_windows import finer_scene, in_window
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing


class Accesses(View):
    """One access of a launch, or all accesses to one argument (given by name), as a heatmap.

    ``by`` is one of `BY`. ``over`` is the argument's ``"shape"`` or its ``"storage"``, which has rules for the lines
    and sectors of a GPU's cache. ``program`` and ``iteration`` pick what stands out. ``most`` is as in `Tiling`.
    """

    tight = True

    def __init__(
        self,
        launch: Launch,
        what: Access | str,
        by: str = "count",
        over: str = "shape",
        program: int | None = None,
        iteration: int | None = None,
        room: tuple[float, float] = style.ROOM,
        most: int | None = None,
    ) -> None:
        if by not in BY:
            raise ValueError(
                _("by is one of {names} (launch.plot.accesses has values, too), not {by}").format(
                    names=", ".join(BY), by=repr(by)
                )
            )
        if over not in OVER:
            raise ValueError(_("over is one of {names}, not {over}").format(names=", ".join(OVER), over=repr(over)))
        self.launch = launch
        self.access = None if isinstance(what, str) else what
        name = what if isinstance(what, str) else what.argument
        if name is None:
            raise ValueError(
                _("{access_words} touches no memory of a single argument, so there is no picture of it").format(
                    access_words=access_words(what)
                )
            )
        self.argument = tensor_argument(launch, name)
        self.programs = math.prod(launch.grid)
        if program is not None and not 0 <= program < self.programs:
            raise ValueError(messages.no_program(program, launch.grid))
        self.by, self.over, self.program, self.iteration, self.room = by, over, program, iteration, room
        self.most = most
        self.finer = f"accesses/{name}"  # the name of its windows
        self.window: Window | None = None
        self._whole: Accesses | None = None  # the picture, if this is a window of it
        self._layers: dict[str, HeatLayer] = {}
        every = [access for access in launch.accesses if access.argument == name]
        self.accesses = every if self.access is None else [self.access]

    @property
    def has_parts(self) -> bool:
        return self.layout.binned

    def part(self, name: str) -> AccessesScene:
        return self.through(asked(name, self.finer, self.layout)).scene()

    def through(self, window: Window) -> Accesses:
        """A window of single positions, in the same colours."""
        what = self.access or self.argument.name
        other = Accesses(self.launch, what, self.by, self.over, self.program, self.iteration, self.room, self.most)
        fine = self.layout.fine
        positions = window.positions(fine)
        there = np.flatnonzero(positions >= 0)
        heat = self.heat.at(positions[there])
        found = marks(self.launch, self.argument, fine, self.heat.origin, window) if self.over == "shape" else []
        other.__dict__["heat"], other.__dict__["layout"] = heat, window.layout
        other.__dict__["cells"] = heat_cells(heat, there, window.rows * window.columns)
        other.__dict__["marks"] = in_window(found, window)
        other.window, other._whole = window, self
        return other

    @cached_property
    def heat(self) -> Heat:
        """The touches of each position."""
        return heat(self.argument, self.accesses, self.programs, self.over, self.most)

    @cached_property
    def layout(self) -> CellLayout:
        if self.over == "shape":
            return layout(self.heat.drawn, self.heat.origin, room=self.room)
        return layout_of_lines(self.heat, self.room)

    @cached_property
    def cells(self) -> HeatCells:
        """The touches of each cell."""
        shown = self.layout
        falls = self.heat.tiles.falls(shown.along(), shown.cells) if shown.binned else None
        if falls is not None:
            return heat_fallen(self.heat, falls)
        gathered = heat_bins if shown.binned else heat_cells
        return gathered(self.heat, shown.cell_of_position(), shown.cells)

    @cached_property
    def numbers(self) -> npt.NDArray[Any]:
        """The class (cells,) of each cell."""
        return narrow(self.cells.numbers)

    def layer(self, by: str) -> HeatLayer:
        """One way of colouring; the cells are the same for all."""
        if by not in self._layers:
            self._layers[by] = self.layer_for(by, self.cells.by[by])
        return self._layers[by]

    def layer_for(self, by: str, numbers: Ints) -> HeatLayer:
        """The classes coloured by ``numbers``, -1 where no lane is active."""
        blank = Heatmap(self.layout, self.numbers, np.zeros((1, 4), dtype=np.uint16), room=self.room)
        members = np.diff(self.cells.members.starts) > 0
        state = self.cells.state
        made = layer_of(
            by,
            numbers,
            state == WRONG,
            state == INSIDE,
            members,
            blank,
            self.launch.grid,
            runs=self.over == "storage",  # in storage with gaps, a word would label only one cell of many
            shown=self.heat.shown,
            ends=None if self._whole is None else self._whole.layer(by).ends,
        )
        if self.heat.shown is None:
            return made
        told = {nobody(None): nobody(self.heat.shown)}
        return replace(made, legend=[replace(key, text=told.get(key.text, key.text)) for key in made.legend])

    @cached_property
    def heatmap(self) -> Heatmap:
        """The heatmap of the chosen layer."""
        return self.heatmap_of(self.layer(self.by))

    def heatmap_of(self, layer: HeatLayer, title: str = "") -> Heatmap:
        """The heatmap of a layer."""
        rules = None if self.over == "shape" else CacheRules.of(self.layout, self.heat.unit, self.room)
        return Heatmap(
            self.layout,
            self.numbers,
            layer.styles[layer.levels],
            title=title,
            labels=layer.labels,
            legend=layer.legend,
            ramp=layer.ramp,
            ramp_name=layer.ramp_name,
            ticks=layer.ticks,
            groups=layer.groups,
            panel_names=panel_names(self.heat.drawn, self.heat.origin, self.layout.panels),
            steps=step_names(self.argument, len(self.heat.drawn) < 2) if rules is None else rules.steps(),
            room=self.room,
            rules=(0, 0) if rules is None else (rules.sector, rules.line),
            marks=self.marks,
        )

    @cached_property
    def marks(self) -> list[Mark]:
        """The elements that findings concern; none over the storage."""
        return marks(self.launch, self.argument, self.layout, self.heat.origin) if self.over == "shape" else []

    def emphasis(self, program: int | None, iteration: int | None = None) -> npt.NDArray[np.uint8]:
        """The emphasis (classes,): CHOSEN for the program's active lanes in that iteration, NORMAL for masked ones."""
        members, moments = self.cells.members, max(1, len(self.heat.moments))
        size = self.programs * moments
        active = members.items < size
        number = np.array([moment.iteration for moment in self.heat.moments] or [0])[members.items % moments]
        own = np.ones(len(members.items), dtype=bool)
        if program is not None:
            own &= members.items % max(1, size) // moments == program
        if iteration is not None:
            own &= number == iteration
        levels = np.full(len(members), DIMMED, dtype=np.uint8)
        levels[members.owners[own & ~active]] = NORMAL
        levels[members.owners[own & active]] = CHOSEN
        return levels

    # --- Words ------------------------------------------------------------------------------------

    def subject(self) -> str:
        """The subject in words: ``x (3×4)``, or ``load of x (3×4) in line 7``."""
        told = f"{self.argument.name} ({shape_text(self.argument.shape)}){some_of(self.heat.shown, self.programs)}"
        if self.access is None:
            return told
        kind, line = messages.access_noun(self.access.kind), self.access.line
        if line is None:
            return _("{kind} of {argument}").format(kind=kind, argument=told)
        return _("{kind} of {argument} in line {line}").format(kind=kind, argument=told, line=line)

    def title(self) -> str:
        values = {"title": self.subject(), "what": translated(SAYS[self.by])}
        return (_("{title}: {what}, over its storage") if self.over == "storage" else _("{title}: {what}")).format(
            **values
        )

    def text(self) -> str:
        wrapped = wrapped_words(self.layout) if self.over == "shape" else ""
        return "\n".join([self.title(), *heat_words(self.heat, self.over, self.argument.name, wrapped)])

    def pieces(self) -> list[Drawing]:
        """The heatmap under its title."""
        from triton_lab.views.drawing.drawing_pieces import one_row, title

        picked = self.program is not None or self.iteration is not None
        emphasis = self.emphasis(self.program, self.iteration) if picked else None
        return [title(self.title()), one_row([self.heatmap], emphasis=[emphasis])]

    def scene(self) -> AccessesScene:
        argument, found, members = self.argument, self.heat, self.cells.members
        several = max((moment.iteration for moment in found.moments), default=0) > 0
        layers = [by for by in BY if several or by != "iteration" or by == self.by]
        marked = [mark.as_scene() for mark in self.marks]
        values = last_values(self.launch, argument) if self.window is None else LastValues()
        return {
            **values,
            **finer_scene(self.finer, self.layout, self.window),
            "kind": "accesses",
            "title": self.subject(),
            "says": {by: translated(text) for by, text in SAYS.items()},
            "nobody": nobody(found.shown),
            "over": self.over,
            "unit": found.unit,
            "argument": {
                "name": argument.name,
                "shape": list(argument.shape),
                "strides": list(argument.strides),
                "offset": argument.offset,
                "itemsize": argument.itemsize,
            },
            "grid": list(self.launch.grid),
            "program": self.program,
            "iteration": self.iteration,
            "layer": self.by,
            "heatmap": self.heatmap.cells_scene(),
            "layers": {by: {**self.layer(by).as_scene(), "marks": marked} for by in layers},
            "counts": buffer(narrow(np.maximum(self.cells.by["count"], 0))),
            "starts": buffer(members.starts.astype(np.uint32)),
            "items": buffer(narrow(members.items)),
            "moments": [(moment.iteration, moment.line, moment.kind) for moment in found.moments],
            "elsewhere": (found.active_elsewhere, found.masked_elsewhere),
        }


class AccessesPanel(ArgumentPanel[Accesses]):
    """A heatmap for each argument that is touched."""

    word = "accesses"

    def picture(self, argument: str) -> Accesses:
        return Accesses(self.launch, argument, most=MOST_LANES)

    def drawn(self) -> list[Accesses]:
        return [Accesses(self.launch, name, room=self.ROOM, most=MOST_LANES) for name in self.names]

    def pieces(self) -> list[Drawing]:
        """The heatmaps side by side, as many as there are tilings."""
        from triton_lab.views.drawing.drawing_pieces import side_by_side

        drawn = self.drawn()[: self.MOST]
        return side_by_side([replace(one.heatmap, title=one.title()) for one in drawn])
