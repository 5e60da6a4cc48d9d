"""Accesses: how often, by whom, when and in which order the elements of an argument are touched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.access_heat import heat
from triton_lab.launch.maps.heat import BY, OVER, Heat
from triton_lab.launch.maps.lane_positions import LINE_BYTES, SECTOR_BYTES
from triton_lab.launch.maps.picture_cells import INSIDE, WRONG, HeatCells, heat_bins, heat_cells, heat_fallen
from triton_lab.launch.maps.program_sample import MOST_LANES
from triton_lab.localization import N_, _, translated
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout, layout, wrapped_words
from triton_lab.views.drawing.drawing_text import nobody, panel_names, shape_text, some_of, step_names
from triton_lab.views.drawing.heatmap import Heatmap, Mark, buffer, narrow
from triton_lab.views.drawing.picture_window import Window, asked
from triton_lab.views.drawing.raster import CHOSEN, DIMMED, NORMAL
from triton_lab.views.launch.accesses.heat_layer import HeatLayer, layer_of
from triton_lab.views.launch.argument_names import tensor_argument
from triton_lab.views.launch.card.card_scenes import ItemScene
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, item, unknown
from triton_lab.views.launch.finding_marks import marks
from triton_lab.views.launch.last_values import last_values
from triton_lab.views.launch.launch_scenes import AccessesScene, LastValues
from triton_lab.views.launch.tiling.tiling_view import TilingPanel
from triton_lab.views.launch.zoom_windows import finer_scene, in_window
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

SAYS = {
    "count": N_("how often each element is touched"),
    "program": N_("which program touches each element first"),
    "iteration": N_("in which iteration each element is first touched"),
    "reuse": N_("how many programs touch each element"),
    "order": N_("in which order elements are first touched"),
}


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
        self.accesses = (
            [self.access]
            if self.access is not None
            else [access for access in launch.accesses if access.argument == name]
        )

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
        shown = layout(self.heat.drawn, (-self.heat.first,), room=self.room)
        # A row is a whole number of cache lines, so that their borders line up.
        line = max(1, LINE_BYTES // (self.heat.unit * shown.right))
        columns = max(line, shown.columns if shown.columns % line == 0 else line)
        return layout(self.heat.drawn, (-self.heat.first,), columns, self.room)

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
            steps=self._steps(),
            room=self.room,
            rules=self._rules(),
            marks=self.marks,
        )

    @cached_property
    def marks(self) -> list[Mark]:
        """The elements that findings concern; none over the storage."""
        return marks(self.launch, self.argument, self.layout, self.heat.origin) if self.over == "shape" else []

    def _rules(self) -> tuple[int, int]:
        """The columns of a sector and of a cache line, if a rule there would be visible."""
        if self.over == "shape":
            return 0, 0
        cell = self.heat.unit * self.layout.right
        wide = Heatmap(self.layout, self.numbers, np.zeros((1, 4), dtype=np.uint16), room=self.room).frame.cell_width
        sector, line = (size // cell for size in (SECTOR_BYTES, LINE_BYTES))
        several = line < self.layout.columns
        return (sector if sector * wide >= 6 else 0), (line if several and line * wide >= 16 else 0)

    def _steps(self) -> tuple[str, str]:
        if self.over == "shape":
            return step_names(self.argument, len(self.heat.drawn) < 2)
        row = self.layout.columns * self.layout.right * self.heat.unit
        thin, strong = self._rules()
        told = _("a row is {lines} of {LINE_BYTES} bytes").format(
            lines=messages.count(row // LINE_BYTES, "cache line"), LINE_BYTES=LINE_BYTES
        )
        told += " (strong rules)" if strong else ""
        return "", told + (
            _(" · thin rules: sectors of {SECTOR_BYTES}").format(SECTOR_BYTES=SECTOR_BYTES) if thin else ""
        )

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
        found = self.heat
        inside = slice(None) if found.drawn == found.shape else found.inside
        counts = found.counts[inside]
        touched = counts[counts > 0]
        of = messages.count(len(counts), "element")
        if self.over != "shape":
            of = _("{units} of {bytes}").format(
                units=messages.count(len(counts), "unit"), bytes=messages.count(found.unit, "byte")
            )
        lines = [self.title()]
        if not len(found.moments):
            lines.append(_("nothing touches {name}").format(name=self.argument.name))
            return "\n".join(lines)
        lines.append(
            _("{programs}; {number} of {of} touched").format(
                programs=messages.count(self.programs, "program"), number=messages.number(len(touched)), of=of
            )
        )
        if len(touched):
            reuse = found.by("reuse")[found.classes[inside]][counts > 0]
            lines.append(
                _("each {range} ({mean} on average), by {range_2}, in {iterations}").format(
                    range=_range(touched),
                    mean=f"{touched.mean():.3g}",
                    range_2=_range(reuse, "program"),
                    iterations=_iterations(found),
                )
            )
        if self.over == "storage" and len(touched):
            at = (np.flatnonzero(found.counts) + found.first) * found.unit
            lines.append(
                _("{bytes} in {sectors} of {SECTOR_BYTES} and {lines} of {LINE_BYTES}").format(
                    bytes=messages.count(len(touched) * found.unit, "byte"),
                    sectors=messages.count(len(np.unique(at // SECTOR_BYTES)), "sector"),
                    SECTOR_BYTES=SECTOR_BYTES,
                    lines=messages.count(len(np.unique(at // LINE_BYTES)), "line"),
                    LINE_BYTES=LINE_BYTES,
                )
            )
        if wrapped := wrapped_words(self.layout) if self.over == "shape" else "":
            lines.append(wrapped)
        if found.active_elsewhere:
            lanes = messages.count(found.active_elsewhere, "lane touches", "lanes touch")
            lines.append(_("{lanes} memory outside {name}").format(lanes=lanes, name=self.argument.name))
        if found.masked_elsewhere:
            lanes = messages.count(found.masked_elsewhere, "masked lane stands", "masked lanes stand")
            lines.append(_("{lanes} outside {name}").format(lanes=lanes, name=self.argument.name))
        return "\n".join(lines)

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


def _iterations(found: Heat) -> str:
    """The number of iterations in words: ``4 iterations``."""
    return messages.count(max((moment.iteration for moment in found.moments), default=0) + 1, "iteration")


def access_words(access: Any) -> str:
    """An access in words: ``the load in line 7``."""
    kind = messages.access_noun(access.kind)
    if access.line is None:
        return _("the {kind}").format(kind=kind)
    return _("the {kind} in line {line}").format(kind=kind, line=access.line)


def _range(numbers: npt.NDArray[np.int64], unit: str = "") -> str:
    """A range in words: ``1 to 4 programs``; without a unit, ``3 times``."""
    return messages.span(int(numbers.min()), int(numbers.max()), unit or "time")


class AccessesPanel(Panel):
    """A heatmap for each argument that is touched."""

    def items(self) -> list[ItemScene]:
        return [item(f"accesses/{name}", name, self.card.lines(name)) for name in self.card.drawn]

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Accesses:
        match path:
            case ["accesses", argument]:
                return self._accesses(argument)
        raise unknown(path)

    def scene(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Scene:
        """The scene of a heatmap, or of a window of it if the path names one."""
        return self.view(path[:2]).part("/".join(path)) if path[2:] else super().scene(path, first, numbers)

    def _accesses(self, argument: str) -> Accesses:
        """The view of an argument, made once: finding its touches takes a while."""
        if argument not in self._made:
            self._made[argument] = Accesses(self.launch, argument, most=MOST_LANES)
        return self._made[argument]

    @cached_property
    def _made(self) -> dict[str, Accesses]:
        return {}

    def drawn(self) -> list[Accesses]:
        return [Accesses(self.launch, name, room=TilingPanel.ROOM, most=MOST_LANES) for name in self.card.drawn]

    def pieces(self) -> list[Drawing]:
        """The heatmaps side by side, as many as there are tilings."""
        from triton_lab.views.drawing.drawing_pieces import side_by_side

        drawn = self.drawn()[: TilingPanel.MOST]
        return side_by_side([replace(one.heatmap, title=one.title()) for one in drawn])
