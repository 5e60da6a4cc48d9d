"""Timeline: which elements of an argument are touched when; time runs down, elements run across."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.localization import _, translated
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_scenes import Buffer, HeatmapScene
from triton_lab.views.drawing.drawing_text import shape_text
from triton_lab.views.drawing.heatmap import Heatmap, Key, buffer, narrow
from triton_lab.views.drawing.picture_window import Window, asked
from triton_lab.views.drawing.region_labels import labels
from triton_lab.views.drawing.scene_bounds import GridShape, Many, Most, Sentence, Whole
from triton_lab.views.drawing.value_cells import value_heatmap
from triton_lab.views.launch.accesses.timeline_cells import KINDS, TimelineCells
from triton_lab.views.launch.argument_names import tensor_argument
from triton_lab.views.launch.card.argument_panel import ArgumentPanel
from triton_lab.views.launch.last_values import held
from triton_lab.views.launch.launch_scenes import Finer, LastValues
from triton_lab.views.launch.tiling.program_scale import program_scale
from triton_lab.views.launch.zoom_windows import finer_scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

ROOM = (720.0, 420.0)
Ints = npt.NDArray[np.int64]


class _Timeline(TypedDict):
    kind: Literal["timeline"]
    title: Sentence
    heatmap: HeatmapScene | None
    counts: Buffer
    moments: Many[Sentence]
    columns: Many[tuple[Whole, Whole]]


class TimelineScene(_Timeline, Finer, LastValues, total=False):
    """A timeline. ``counts`` of lanes by row and column; ``columns``: the first and the last element of each.
    ``values`` by row and column, where a cell is one access to one element.

    ``nobody``: why there is no heatmap. ``lines``: the source lines of each row's accesses. ``owners``: the first
    and the last program of each cell, -1 for none, where the colours are programs.
    """

    # Older saved notebooks lack these.
    nobody: Sentence
    lines: Many[Many[Whole]]
    grid: GridShape
    owners: Annotated[list[Buffer], Most(2, least=2)]


class TimelineView(View):
    """All accesses of a launch to the argument ``name``, in the order in which they happened here.

    Programs that ran together share an access event, as the lanes of a block share an instruction; with ``program`` (a
    linear number) only that program's lanes count. On a GPU programs have no order among themselves. ``room`` is the
    width and height, in CSS pixels, that the heatmap may take. Raises ValueError if there is no such tensor argument or
    program.
    """

    def __init__(self, launch: Launch, name: str, program: int | None = None, room: tuple[float, float] = ROOM) -> None:
        if program is not None and not 0 <= program < launch.programs:
            raise ValueError(messages.no_program(program, launch.grid))
        self.launch, self.program, self.room = launch, program, room
        self.argument = tensor_argument(launch, name)
        self.finer = f"timeline/{name}"  # the name of its windows
        self.cells = TimelineCells(launch, self.argument, program)

    @property
    def has_parts(self) -> bool:
        return bool(self.cells.events) and self.cells.layout.binned

    def part(self, name: str) -> TimelineScene:
        return self.through(asked(name, self.finer, self.cells.layout)).scene()

    def through(self, window: Window) -> TimelineView:
        """A window of single accesses and elements, in the same colours."""
        other = TimelineView(self.launch, self.argument.name, self.program, self.room)
        other.cells = self.cells.through(window)
        return other

    @property
    def parted(self) -> bool:
        """Whether the colours are programs: for one program, or one alone, they are numbers of lanes."""
        return self.program is None and self.launch.programs > 1

    @cached_property
    def heatmap(self) -> Heatmap:
        plain = self._by_program() if self.parted else self._by_lanes()
        return self._by_kind(plain) if self.cells.mixed and plain.cells.size else plain

    def _by_kind(self, plain: Heatmap) -> Heatmap:
        """The heatmap with a pattern for each kind of access, and a line between kinds.

        Cells of several programs keep their stripes.
        """
        keys, numbers = np.unique(
            plain.cells.astype(np.int64) * len(KINDS) + self.cells.kinds.reshape(-1).clip(0), return_inverse=True
        )
        first = int(keys[0] > 0)  # class 0 is no cell, and there may be none of it
        styles, groups = np.zeros((first + len(keys), 4), np.uint16), np.zeros(first + len(keys), np.int64)
        styles[first:], groups[first:] = plain.styles[keys // len(KINDS)], keys % len(KINDS)
        patterns = np.array([pattern for _name, pattern, _words in KINDS], np.uint16)
        flat = styles[:, 3] == style.PLAIN
        styles[flat, 3] = patterns[groups[flat]]
        shown = [
            Key((style.GROUND,) * 3 + (KINDS[kind][1],), translated(KINDS[kind][2]))
            for kind in np.unique(self.cells.kinds[self.cells.kinds >= 0])
        ]
        # Each kind has its own label, which no border between kinds crosses.
        seen = plain.frame
        at = [(one.panel * seen.layout.rows + one.row) * seen.layout.columns + one.column for one in plain.labels]
        texts = {int(plain.cells[cell]): one.text for cell, one in zip(at, plain.labels, strict=True)}
        words = [""] * first + [texts.get(int(key), "") for key in keys // len(KINDS)]
        return replace(
            plain,
            labels=labels(seen, numbers.reshape(-1) + first, lambda cell: words[cell]),
            cells=narrow(numbers.reshape(-1) + first),
            styles=styles,
            groups=groups,
            legend=[*plain.legend, *shown],
        )

    def _by_program(self) -> Heatmap:
        first, last = (each.reshape(-1) for each in self.cells.owners)
        touched = first >= 0
        keys, classes = np.unique(np.where(touched, 2 * first + (first < last), -1), return_inverse=True)
        known = keys >= 0
        program, several = keys[known] // 2, keys[known] % 2 > 0
        styles = np.zeros((1 + len(program), 4), np.uint16)
        styles[1:, :3] = style.program_colours(program, self.launch.grid)[:, None]
        styles[1:, 1:3][several] = style.GROUND
        styles[1:, 3][several] = style.STRIPES
        numbers = np.where(touched, classes.reshape(-1) + int(known.all()), 0)
        blank = Heatmap(self.cells.layout, narrow(numbers), styles, room=self.room)
        scale = program_scale(self.launch.grid, program[~several].tolist())
        shared = [
            Key((one, two, three, look), _("several programs, in the colour of the first"))
            for one, two, three, look in styles[1:][several].tolist()
        ]
        words = [
            "" if many else messages.mark(one, self.launch.grid) for one, many in zip(program, several, strict=True)
        ]
        return replace(
            blank,
            labels=labels(blank.frame, numbers, lambda cell: words[cell - 1]),
            legend=[*scale.keys, *shared[:1]],
            ramp=scale.ramp,
            ramp_name=scale.name,
            ticks=scale.ticks,
            steps=(_("→ elements"), _("↓ time")),
        )

    def _by_lanes(self) -> Heatmap:
        counts = self.cells.counts.reshape(-1) / (self.cells.layout.down * self.cells.layout.right)
        made = value_heatmap(self.cells.layout, counts, counts > 0, "", 0.0, self.cells.most, room=self.room)
        name = _("lanes/element") if self.cells.layout.binned else _("lanes")
        return replace(made, ramp_name=name, steps=(_("→ elements"), _("↓ time")))

    @property
    def nobody(self) -> str:
        """The words for an argument that no access touches."""
        if any(access.argument == self.argument.name and access.stopped for access in self.launch.accesses):
            return _("the launch stopped at the first access to it")
        return _("not accessed by any program")

    def title(self) -> str:
        subject = f"{self.argument.name} ({shape_text(self.argument.shape)})"
        if self.parted:
            return _("{subject}: which program accesses each element, over time").format(subject=subject)
        if self.program is None:
            return _("{subject}: accessed over time").format(subject=subject)
        whose = messages.who(self.program, self.launch.grid)
        return _("{subject}: accessed by {program} over time").format(subject=subject, program=whose)

    def text(self) -> str:
        if not self.cells.events:
            return f"{self.title()}\n{self.nobody}"
        lines = [self.title()]
        for number, moment in enumerate(self.cells.moments):
            start = number * self.cells.layout.down
            events = self.cells.events[start : start + self.cells.layout.down]
            # From the accesses: a column may stand for more elements than they touch.
            element = np.concatenate([self.cells.touched(event)[1] for _access, event in events])
            where = _("no element")
            if element.size:
                span = messages.numbered(int(element.min()), int(element.max()), "element")
                where = f"{messages.count(element.size, 'lane')}, {span}"
            lines.append(f"{moment}: {where}")
        return "\n".join(lines)

    def scene(self) -> TimelineScene:
        scene: TimelineScene = {
            "kind": "timeline",
            "title": self.title(),
            "heatmap": self.heatmap.as_scene() if self.cells.events else None,
            "counts": buffer(self.cells.counts.astype(np.uint32)),
            "moments": [str(moment) for moment in self.cells.moments],
            "columns": [self.cells.column(number) for number in range(self.cells.layout.columns)],
            "nobody": self.nobody,
            "lines": [list(moment.lines) for moment in self.cells.moments],
            "grid": list(self.launch.grid),
        }
        if self.parted:
            scene["owners"] = [buffer(each.astype(np.int32)) for each in self.cells.owners]
        if not self.cells.events:
            return scene
        return {**scene, **held(self.cells.values), **finer_scene(self.finer, self.cells.layout, self.cells.window)}

    def pieces(self) -> list[Drawing]:
        """The heatmap under its title."""
        from triton_lab.views.drawing.drawing_pieces import one_row, paragraphs, title

        if not self.cells.events:
            return [title(self.title()), *paragraphs([self.nobody])]
        return [title(self.title()), one_row([self.heatmap], 8)]


class TimelinePanel(ArgumentPanel[TimelineView]):
    """A timeline for each argument that is touched."""

    word = "timeline"
    TOLD = 8  # rows of each timeline in the card's words

    @property
    def names(self) -> list[str]:
        return self.card.over_time[: self.card.MOST_ARGUMENTS]

    @property
    def absent(self) -> str:
        """The words for a launch whose tensors are each touched at one instant."""
        return _("Each tensor is accessed at one instant, in all programs together: there is no order to show.")

    def picture(self, argument: str) -> TimelineView:
        return TimelineView(self.launch, argument)

    def drawn(self) -> list[TimelineView]:
        return [TimelineView(self.launch, name, room=self.ROOM) for name in self.names]

    def text(self) -> list[str]:
        """The beginning of each timeline in words."""
        told = []
        for one in self.drawn():
            lines = one.text().splitlines()
            told += lines[: 1 + self.TOLD]
            if (left := len(lines) - 1 - self.TOLD) > 0:
                told.append(
                    _("{rows}: see {call}").format(
                        rows=messages.count(left, "more row"), call=f"launch.plot.timeline({one.argument.name!r})"
                    )
                )
        return told

    def pieces(self) -> list[Drawing]:
        """The timelines side by side, as many as there are tilings."""
        from triton_lab.views.drawing.drawing_pieces import side_by_side

        drawn = [one for one in self.drawn() if one.cells.events][: self.MOST]
        return side_by_side([replace(one.heatmap, title=one.title()) for one in drawn])
