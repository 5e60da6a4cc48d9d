"""Grid: the programs of a launch in the order in which they start, with the work and the shared inputs of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.program_sample import MOST_LANES
from triton_lab.launch.maps.program_work import Input, Wave, Work, inputs, shared, waves, work
from triton_lab.launch.maps.stopping_points import StoppingPoints, stopped
from triton_lab.localization import _, translated
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout, layout
from triton_lab.views.drawing.drawing_text import panel_names
from triton_lab.views.drawing.heatmap import Heatmap, Mark, buffer, narrow
from triton_lab.views.drawing.raster import CHOSEN, DIMMED, NORMAL
from triton_lab.views.launch.accesses.accesses_view import Accesses
from triton_lab.views.launch.accesses.heat_layer import FIXED, HeatLayer, layer_of
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, unknown
from triton_lab.views.launch.finding_marks import of_programs
from triton_lab.views.launch.tiling.grid_scenes import GridScene, TargetScene
from triton_lab.views.launch.tiling.grid_words import SAYS, wave_words, work_words
from triton_lab.views.launch.tiling.program_scale import program_scale
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

LAYERS = ("order", "wave", "lanes", "bytes", "iterations", "shared")
SMS = 132  # of an H100
ROOM = (360.0, 320.0)
FEW = len(style.PROGRAM_COLOURS)  # programs that have a colour each
# The looks of the live picture's levels from the first number on: the ramp's, then those of a few programs.
LEVEL_LOOKS = [
    (colour, colour, colour, style.PLAIN)
    for colour in (
        *range(style.SEQUENTIAL, style.SEQUENTIAL + style.LEVELS),
        *range(style.PROGRAM, style.PROGRAM + FEW),
    )
]


class GridView(View):
    """The launch's grid coloured by one of `LAYERS`, and an argument with the colours of its programs.

    ``sms``: how many programs run at once. ``argument`` names the argument beside the grid; by default it is the first
    one stored to. ``program`` picks a program; ``shared`` is about it. ``most`` is as in `Tiling`. An input for which
    only some programs could be looked at does not count as shared; the picture says so.
    """

    tight = True

    def __init__(
        self,
        launch: Launch,
        by: str = "order",
        sms: int = SMS,
        argument: str | None = None,
        program: int | None = None,
        room: tuple[float, float] = ROOM,
        most: int | None = None,
    ) -> None:
        if by not in LAYERS:
            raise ValueError(_("by is one of {names}, not {by}").format(names=", ".join(LAYERS), by=repr(by)))
        if sms < 1:
            raise ValueError(_("sms={sms}: a GPU has at least one multiprocessor").format(sms=sms))
        self.launch, self.by, self.sms, self.room = launch, by, sms, room
        self.programs, self.most = math.prod(launch.grid), most
        if program is not None and not 0 <= program < self.programs:
            raise ValueError(messages.no_program(program, launch.grid))
        self.program = program
        stored = [one.argument for one in launch.accesses if one.kind != "load" and one.argument is not None]
        touched = stored + [one.argument for one in launch.accesses if one.argument is not None]
        name = argument or (touched[0] if touched else None)
        self.target = None if name is None else Accesses(launch, name, "program", room=room, most=most)
        if self.target is not None:
            self.target.finer = "grid"

    @property
    def has_parts(self) -> bool:
        return self.target is not None and self.target.has_parts

    def part(self, name: str) -> Scene:
        return super().part(name) if self.target is None else self.target.part(name)

    # --- The model ----------------------------------------------------------------------------------

    @cached_property
    def work(self) -> Work:
        """The work of each program."""
        return work(self.launch.done, self.programs)

    @cached_property
    def inputs(self) -> list[Input]:
        """The inputs that programs load, and which programs load the same."""
        tensors = [one for one in self.launch.arguments if one.kind in ("tensor", "descriptor")]
        return inputs(tensors, self.launch.done, self.programs, self.most)

    @property
    def says(self) -> dict[str, str]:
        """The words for each layer."""
        loaded = {one.argument for one in self.launch.done if one.kind == "load" and one.argument is not None}
        left = sorted(loaded - {one.name for one in self.inputs})
        says = {by: translated(text) for by, text in SAYS.items()}
        if left:
            says["shared"] = _("{shared}, {names} left out").format(shared=says["shared"], names=", ".join(left))
        return says

    @cached_property
    def stopped(self) -> StoppingPoints | None:
        """The places of the programs when the launch was stopped, if it was."""
        return stopped(self.launch)

    @cached_property
    def waves(self) -> list[Wave]:
        return waves(self.inputs, self.programs, self.sms)

    def numbers(self, by: str) -> Ints:
        """The number (programs,) that a layer shows for each program."""
        order = np.arange(self.programs)
        if by == "shared":
            return shared(self.inputs, self.program or 0, self.programs) if self.programs else order
        return {
            "order": order,
            "wave": order // self.sms,
            "lanes": self.work.lanes,
            "bytes": self.work.loaded + self.work.stored,
            "iterations": self.work.iterations,
        }[by]

    # --- Pictures -----------------------------------------------------------------------------------

    @cached_property
    def layout(self) -> CellLayout:
        """The layout: programs in reading order, x to the right, y down, z in panels."""
        x, y, z = self.launch.grid
        return layout((z, y, x) if z > 1 else (y, x) if y > 1 else (x,), room=self.room)

    @cached_property
    def cells(self) -> npt.NDArray[Any]:
        """The class (cells,): program + 1 (the first of them if a cell stands for several)."""
        cells = np.zeros(self.layout.cells, dtype=np.int64)
        cells[self.layout.cell_of_position()[::-1]] = np.arange(self.programs, 0, -1)
        return narrow(cells)

    def layer(self, by: str) -> HeatLayer:
        numbers = np.append(-1, self.numbers(by))
        blank = Heatmap(self.layout, self.cells, np.zeros((1, 4), dtype=np.uint16), room=self.room)
        nothing = np.zeros(len(numbers), dtype=bool)
        return layer_of("start" if by == "order" else by, numbers, nothing, ~nothing, nothing, blank, self.launch.grid)

    def target_layer(self, by: str) -> HeatLayer | None:
        """The same numbers on the argument; each element has that of its first program."""
        if self.target is None:
            return None
        first = self.target.cells.by["program"]
        numbers = np.where(first >= 0, np.append(self.numbers(by), -1)[first], -1)
        return self.target.layer_for("start" if by == "order" else by, numbers)

    @cached_property
    def marks(self) -> list[Mark]:
        """The programs that findings concern."""
        return of_programs(self.launch, self.layout)

    def _heatmap(self, layer: HeatLayer) -> Heatmap:
        return Heatmap(
            self.layout,
            self.cells,
            layer.styles[layer.levels],
            title=_("grid {grid}").format(grid=f"({', '.join(map(str, self.launch.grid))})"),
            labels=layer.labels,
            legend=layer.legend,
            ramp=layer.ramp,
            ramp_name=layer.ramp_name,
            ticks=layer.ticks,
            groups=layer.groups,
            panel_names=panel_names(self.layout.shape, self.layout.origin, self.layout.panels),
            steps=("→ x", "" if self.layout.wrapped else "↓ y"),
            room=self.room,
            marks=self.marks,
            noun="program",
        )

    @cached_property
    def heatmaps(self) -> list[Heatmap]:
        """The grid, and the argument beside it."""
        found = [self._heatmap(self.layer(self.by))]
        layer = self.target_layer(self.by)
        if self.target is not None and layer is not None:
            title = _("{subject}: the program that touches it first").format(subject=self.target.subject())
            found.append(self.target.heatmap_of(layer, title))
        return found

    def emphasis(self, program: int) -> npt.NDArray[np.uint8]:
        """The emphasis (programs + 1,): CHOSEN for the program or that of its cell, NORMAL for those sharing inputs."""
        levels = np.where(shared(self.inputs, program, self.programs) > 0, NORMAL, DIMMED).astype(np.uint8)
        levels = np.append(np.uint8(NORMAL), levels)
        levels[self.cells[self.layout.cells_at(np.array([program]))]] = CHOSEN
        return levels

    def title(self) -> str:
        picked = f" ({messages.program(self.program or 0, self.launch.grid)})" if self.by == "shared" else ""
        says = self.says[self.by] if self.by == "shared" else translated(SAYS[self.by])
        return f"{self.launch.kernel}: {says}{picked}"

    def text(self) -> str:
        lines = [self.title()]
        if not self.programs:
            return _("{lines}\n{a_grid} has no programs").format(
                lines=lines[0], a_grid=messages.a_grid(self.launch.grid)
            )
        lines += work_words(self.work, self.stopped)
        if self.stopped is not None and not self.work.lanes.any():
            return "\n".join(lines)
        return "\n".join([*lines, *wave_words(self.waves, self.sms, self.launch.grid)])

    def pieces(self) -> list[Drawing]:
        """The heatmaps side by side under their title."""
        from triton_lab.views.drawing.drawing_pieces import one_row, title

        emphasis: list[npt.NDArray[np.uint8] | None] = [None] * len(self.heatmaps)
        if self.program is not None:
            emphasis = [one.emphasis(self.program) for one in (self, self.target) if one is not None]
        return [title(self.title()), one_row(self.heatmaps, 28, emphasis)]

    def scene(self) -> GridScene:
        done = self.work
        target: TargetScene | None = None
        if self.target is not None:
            first = buffer((self.target.cells.by["program"] + 1).astype(np.uint32))
            target = {"accesses": self.target.scene(), "first": first}
        order, scale = self.layer("order"), program_scale(self.launch.grid, range(min(self.programs, FEW)))
        scene: GridScene = {
            "kind": "grid",
            "kernel": self.launch.kernel,
            "says": self.says,
            "grid": list(self.launch.grid),
            "program": self.program,
            "layer": self.by,
            "sms": self.sms,
            "heatmap": self._heatmap(order).cells_scene(),
            "ramp": {
                "styles": buffer(np.array([*FIXED, *LEVEL_LOOKS], dtype=np.uint16)),
                "start": style.SEQUENTIAL,
                "levels": style.LEVELS,
                "programs": [key.as_scene() for key in scale.keys],
                "name": scale.name,
                "ticks": scale.ticks,
            },
            "numbers": {by: buffer(narrow(self.numbers(by))) for by in ("lanes", "bytes", "iterations")},
            "masked": buffer(narrow(done.masked)),
            "loaded": buffer(narrow(done.loaded)),
            "stored": buffer(narrow(done.stored)),
            "inputs": [
                {
                    "name": one.name,
                    "nbytes": buffer(one.nbytes.astype(np.uint32)),
                    "starts": buffer(one.table.starts.astype(np.uint32)),
                    "items": buffer(narrow(one.table.items)),
                }
                for one in self.inputs
            ],
            "target": target,
        }
        if self.marks:
            scene["marks"] = [mark.as_scene() for mark in self.marks]
        if self.stopped is not None:
            scene["stopped"] = {"states": buffer(self.stopped.states), "says": self.stopped.says}
        return scene


class GridPanel(Panel):
    """The grid, and an argument that a finding concerns, or an output."""

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> GridView:
        if len(path) > 1:
            raise unknown(path)
        return self._grid

    def scene(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Scene:
        """The scene, or that of a window of the argument if the path names one."""
        return self._grid.part("/".join(path)) if path[1:] else super().scene(path, first, numbers)

    @cached_property
    def _grid(self) -> GridView:
        return GridView(self.launch, argument=next(iter(self.card.touched), None), most=MOST_LANES)

    def drawn(self) -> list[GridView]:
        return [self._grid]
