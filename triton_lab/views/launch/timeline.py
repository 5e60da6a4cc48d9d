"""Timeline: which elements of an argument are touched when, time running down and elements across."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from triton_lab import words
from triton_lab.launch.access import Event, elements_at
from triton_lab.views.drawing.heatmap import Heatmap, buffer
from triton_lab.views.drawing.layout import Layout
from triton_lab.views.drawing.values import value_heatmap
from triton_lab.views.drawing.words import shape_text
from triton_lab.views.launch.tiling import tensor_argument
from triton_lab.views.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from triton_lab.launch.launch import Launch

ROWS, COLUMNS = 48, 96  # at most: a row then stands for several accesses, a column for several elements
ROOM = (720.0, 420.0)

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Moment:
    """Accesses that share a row: the first and the last of them, counted from 0, their lines and kinds."""

    first: int
    last: int
    lines: tuple[int, ...]
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        """``accesses 4 to 7 (load, line 12)``."""
        count = f"access {self.first}" if self.first == self.last else f"accesses {self.first} to {self.last}"
        lines = [f"{words.noun(len(self.lines), 'line')} {', '.join(map(str, self.lines))}"] if self.lines else []
        return f"{count} ({', '.join([*self.kinds, *lines])})"


class Timeline(View):
    """All accesses to the argument ``name`` of a launch in the order in which they happened here.

    Programs that ran together share an access, as an instruction is shared by the lanes of a block; with
    ``program`` (a linear number) only that one's are counted. On a GPU programs have no order among themselves.
    """

    def __init__(self, launch: Launch, name: str, program: int | None = None) -> None:
        if program is not None and not 0 <= program < launch.programs:
            raise ValueError(words.no_program(program, launch.grid))
        self.launch, self.program = launch, program
        self.argument = tensor_argument(launch, name)

    @cached_property
    def events(self) -> list[tuple[int, Event]]:
        """The accesses, each with its operation, as they happened."""
        found = [
            (access.op, event)
            for access in self.launch.done
            if access.argument == self.argument.name
            for event in access.events
            if self.program is None or self.program in event.programs
        ]
        return sorted(found, key=lambda each: each[1].order)

    @property
    def elements(self) -> int:
        """How many elements the argument has."""
        return int(np.prod(self.argument.shape))

    @cached_property
    def layout(self) -> Layout:
        """A cell for ``down`` accesses by ``right`` elements."""
        count, elements = len(self.events), self.elements
        down, right = max(1, math.ceil(count / ROWS)), max(1, math.ceil(elements / COLUMNS))
        rows, columns = math.ceil(count / down), math.ceil(elements / right)
        return Layout((count, elements), (0, 0), 1, 1, rows, columns, down, right)

    @cached_property
    def moments(self) -> list[Moment]:
        """What each row stands for."""
        accesses = {access.op: access for access in self.launch.accesses}
        made = []
        for first in range(0, len(self.events), self.layout.down):
            events = self.events[first : first + self.layout.down]
            there = [accesses[op] for op, _ in events]
            lines = sorted({access.line for access in there if access.line is not None})
            kinds = tuple(dict.fromkeys(access.kind for access in there))
            made.append(Moment(first, first + len(events) - 1, tuple(lines), kinds))
        return made

    @cached_property
    def counts(self) -> Ints:
        """(rows, columns) how many lanes touched the elements of a column in a row's time."""
        found = np.zeros((self.layout.rows, self.layout.columns), np.int64)
        for number, (_, event) in enumerate(self.events):
            on = event.active()
            if self.program is not None:
                on = on & (event.programs == self.program).reshape(-1, *(1,) * len(event.shape))
            element = elements_at(event.addresses()[on] - self.argument.address, self.argument)
            column = element[element >= 0] // self.layout.right
            found[number // self.layout.down] += np.bincount(column, minlength=self.layout.columns)
        return found

    def column(self, number: int) -> tuple[int, int]:
        """The first and the last element of a column, row-major."""
        right = self.layout.right
        return number * right, min((number + 1) * right, self.elements) - 1

    @cached_property
    def heatmap(self) -> Heatmap:
        counts = self.counts.reshape(-1)
        most = float(counts.max(initial=0))
        made = value_heatmap(self.layout, counts, counts > 0, "", 0.0, most, room=ROOM)
        return replace(made, ramp_name="lanes", steps=("→ elements", "↓ time"))

    def title(self) -> str:
        whose = "" if self.program is None else f" by {words.who(self.program, self.launch.grid)}"
        return f"{self.argument.name} ({shape_text(self.argument.shape)}): touched{whose} over time"

    def text(self) -> str:
        if not self.events:
            return f"{self.title()}\nnobody touches it"
        lines = [self.title()]
        for moment, counts in zip(self.moments, self.counts, strict=True):
            touched = np.flatnonzero(counts)
            where = "no element"
            if touched.size:
                low, high = self.column(int(touched[0]))[0], self.column(int(touched[-1]))[1]
                where = f"{words.count(int(counts.sum()), 'lane')}, elements {low} to {high}"
            lines.append(f"{moment}: {where}")
        return "\n".join(lines)

    def scene(self) -> Mapping[str, Any]:
        return {
            "kind": "timeline",
            "title": self.title(),
            "heatmap": self.heatmap.as_scene() if self.events else None,
            "counts": buffer(self.counts.astype(np.uint32)),
            "moments": [str(moment) for moment in self.moments],
            "columns": [list(self.column(number)) for number in range(self.layout.columns)],
        }

    def figure(self) -> Figure:
        from triton_lab.views.drawing import style
        from triton_lab.views.drawing.pieces import lines, one_row, stack, title

        if not self.events:
            return stack([title(self.title()), lines([("nobody touches it", style.LIGHT.faint)])])
        return stack([title(self.title()), one_row([self.heatmap], 8)])
