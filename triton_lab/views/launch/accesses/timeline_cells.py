"""The cells of a timeline: a row for one or several accesses, a column for one or several elements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.launch.access import elements_at
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.localization import N_
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout
from triton_lab.views.drawing.picture_window import Window
from triton_lab.views.launch.last_values import event_values

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch

_MOST_LANES = 1 << 22  # of all access events, whose borders are looked at
ROWS, COLUMNS = 48, 96  # at most; beyond that, a row stands for several accesses, a column for several elements
# The kinds of accesses, each with its pattern and its words; a cell shows the last of those in it.
KINDS = (
    ("load", style.PLAIN, N_("plain: loaded")),
    ("store", style.HATCH, N_("hatched: stored to")),
    ("atomic", style.DOTS, N_("dotted: changed by atomics")),
)

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class TimelineRow:
    """The accesses that share a row: the first and the last of them, counted from 0, with their lines and kinds."""

    first: int
    last: int
    lines: tuple[int, ...]
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        """The row in words: ``accesses 4 to 7 (load, line 12)``."""
        count = messages.numbered(self.first, self.last, "access", "accesses")
        lines = [f"{messages.noun(len(self.lines), 'line')} {', '.join(map(str, self.lines))}"] if self.lines else []
        return f"{count} ({', '.join([*self.kinds, *lines])})"


@dataclass(frozen=True)
class TimelineCells:
    """The cells of all accesses to ``argument``; with ``program``, only the lanes of that program count.

    A ``window`` has single accesses and elements.
    """

    launch: Launch
    argument: Argument
    program: int | None = None
    window: Window | None = None

    def through(self, window: Window) -> TimelineCells:
        """The cells of a window, in the same colours."""
        other = replace(self, window=window)
        other.__dict__["most"], other.__dict__["mixed"] = self.most, self.mixed
        other.__dict__["events"] = self.events[window.row : window.row + window.rows]
        other.__dict__["layout"] = window.layout
        return other

    @cached_property
    def events(self) -> list[tuple[Access, AccessEvent]]:
        """The access events, in the order in which they happened."""
        found = [
            (access, event)
            for access in self.launch.done
            if access.argument == self.argument.name
            for event in access.events
            if self.program is None or self.program in event.programs
        ]
        return sorted(found, key=lambda each: each[1].order)

    @property
    def elements(self) -> int:
        """The number of the argument's elements."""
        return int(np.prod(self.argument.shape))

    @cached_property
    def layout(self) -> CellLayout:
        """The layout: a cell stands for ``down`` accesses by ``right`` elements."""
        count, elements = len(self.events), self.elements
        down = max(1, math.ceil(count / ROWS))
        right = 1 if elements <= COLUMNS else bin_width(elements, self._borders())
        rows, columns = math.ceil(count / down), math.ceil(elements / right)
        return CellLayout((count, elements), (0, 0), 1, 1, rows, columns, down, right)

    def _borders(self) -> Ints:
        """The elements at which the lanes of some program begin, in an access event, or behind which they end.

        Of very many lanes they are not looked at: columns of a power of two are as good then.
        """
        if sum(event.lanes for _access, event in self.events) > _MOST_LANES:
            return np.ones(1, np.int64)
        found = [np.zeros(0, np.int64)]
        for _access, event in self.events:
            on, element = self.touched(event)
            whose = np.broadcast_to(self._programs(event), on.shape)[on]
            order = np.lexsort((element, whose))
            element, whose = element[order], whose[order]
            apart = (np.diff(element) > 1) | (np.diff(whose) != 0)
            begin, end = element[1:][apart], element[:-1][apart] + 1
            found.append(np.unique(np.concatenate([element[:1], begin, end, element[-1:] + 1])))
        return np.unique(np.concatenate(found))

    @cached_property
    def moments(self) -> list[TimelineRow]:
        """The accesses of each row."""
        made = []
        before = self.window.row if self.window else 0
        for start in range(0, len(self.events), self.layout.down):
            events = self.events[start : start + self.layout.down]
            first = before + start
            there = [access for access, _unused in events]
            lines = sorted({access.line for access in there if access.line is not None})
            kinds = tuple(dict.fromkeys(access.kind for access in there))
            made.append(TimelineRow(first, first + len(events) - 1, tuple(lines), kinds))
        return made

    @cached_property
    def counts(self) -> Ints:
        """The number of lanes (rows, columns) that touched a column's elements in a row's time."""
        found = np.zeros((self.layout.rows, self.layout.columns), np.int64)
        for row, column, _program, _kind in self._touches():
            found[row] += np.bincount(column, minlength=self.layout.columns)
        return found

    @cached_property
    def owners(self) -> tuple[Ints, Ints]:
        """The first and the last program (rows, columns) that touched a column's elements in a row's time; -1: none."""
        first = np.full((self.layout.rows, self.layout.columns), self.launch.programs)
        last = np.full_like(first, -1)
        for row, column, program, _kind in self._touches():
            np.minimum.at(first[row], column, program)
            np.maximum.at(last[row], column, program)
        return np.where(last < 0, -1, first), last

    @cached_property
    def kinds(self) -> Ints:
        """The kind (rows, columns) of accesses to a column's elements in a row's time, as in `KINDS`; -1 for none."""
        found = np.full((self.layout.rows, self.layout.columns), -1)
        for row, column, _program, kind in self._touches():
            np.maximum.at(found[row], column, kind)
        return found

    @cached_property
    def most(self) -> float:
        """The end of the ramp, as lanes to one element in one access; a cell of several shows the average."""
        return float(self.counts.max(initial=0)) / (self.layout.down * self.layout.right)

    @cached_property
    def mixed(self) -> bool:
        """Whether there are accesses of several kinds, which patterns tell apart."""
        return len({access.kind for access, _unused in self.events}) > 1

    @property
    def values(self) -> npt.NDArray[np.float64] | None:
        """What the accesses load or store (rows, columns); None if a cell stands for several, or it is not known."""
        known = {} if self.layout.binned else event_values(self.launch, self.argument)
        if not known:
            return None
        found = np.zeros((self.layout.rows, self.layout.columns))
        for row, (_access, event) in enumerate(self.events):
            on, column = self._lanes(event)
            found[row, column] = np.broadcast_to(known[event], on.shape)[on]
        return found

    def _touches(self) -> Iterator[tuple[int, Ints, Ints, int]]:
        """For each access event its row, for its lanes the column of the element and the program, and its kind."""
        ranks = {name: rank for rank, (name, *_unused) in enumerate(KINDS)}
        for number, (access, event) in enumerate(self.events):
            on, column = self._lanes(event)
            whose = np.broadcast_to(self._programs(event), on.shape)[on]
            yield number // self.layout.down, column, whose, ranks[access.kind]

    @staticmethod
    def _programs(event: AccessEvent) -> Ints:
        """The programs of an event, to be broadcast over its lanes."""
        return event.programs.reshape(-1, *(1,) * len(event.shape))

    def touched(self, event: AccessEvent) -> tuple[Bools, Ints]:
        """The lanes (programs, *block) of an event that touch the argument, and the element of each."""
        on = event.active().copy()
        if self.program is not None:
            on &= self._programs(event) == self.program
        element = elements_at(event.addresses()[on] - self.argument.address, self.argument)
        there = element >= 0
        on[on] = there
        return on, element[there]

    def _lanes(self, event: AccessEvent) -> tuple[Bools, Ints]:
        """The lanes (programs, *block) of an event that touch something here, and the column of each."""
        on, element = self.touched(event)
        element = element - (self.window.column if self.window else 0)
        there = (element >= 0) & (element < self.layout.columns * self.layout.right)
        on[on] = there
        return on, element[there] // self.layout.right

    def column(self, number: int) -> tuple[int, int]:
        """The first and the last element of a column, in row-major order."""
        right = self.layout.right
        first = number * right + (self.window.column if self.window else 0)
        return first, min(first + right, self.elements) - 1


def bin_width(elements: int, borders: Ints) -> int:
    """How many elements a column stands for, at most `COLUMNS` columns: blocks between these borders fill whole ones.

    Where no such width is near the least one, it is a power of two, as the sizes of blocks are.
    """
    least = math.ceil(elements / COLUMNS)
    common = int(np.gcd.reduce(borders[borders < elements], initial=0))  # 0: there is no border, each width fits
    near = (width for width in range(least, 4 * least) if common % width == 0)
    return next(near, 1 << (least - 1).bit_length())
