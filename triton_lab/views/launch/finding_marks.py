"""The findings at an argument, marked in its picture: the elements concerned, and those that a mask would keep out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.launch.access import elements_at
from triton_lab.launch.byte_ranges import Flags, Ranges
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.diagnosis.finding import MOST_ENDS
from triton_lab.launch.diagnosis.severity import ERROR, WARNING
from triton_lab.launch.element_index import offsets
from triton_lab.launch.membership_classes import distinct
from triton_lab.localization import _, translated
from triton_lab.views.drawing.cell_layout import CellLayout
from triton_lab.views.drawing.heatmap import Mark
from triton_lab.views.drawing.picture_window import Window

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.diagnosis.finding import Finding
    from triton_lab.launch.launch import Launch

Ints = npt.NDArray[np.int64]

_MOST_OUTLINES = 256  # of one mark
# For larger launches (lanes of all events), findings are computed for a card, but not for a single picture.
_LARGE = 1 << 20
# In a larger argument, only the elements that a finding lists are marked, and searched for one by one.
_MOST_LOOKED = 1 << 25


def marks(
    launch: Launch, argument: Argument, shown: CellLayout, origin: Sequence[int], window: Window | None = None
) -> list[Mark]:
    """The elements of ``argument`` that findings concern, as cells of a picture over its shape; one mark for each kind.

    With a ``window``, only the elements in it.
    """
    found = []
    for kind, places, whole in _by_kind(launch, argument):
        if window is not None:
            positions = window.positions(shown)
            there = _covered(places, positions, argument, shown.shape, origin)
            cells = distinct(shown.cells_at(positions[there]))
            told = translated(rules()[kind].mark)
        else:
            count, cells = _cells(places, argument, shown, origin)
            if not count:
                continue
            told = messages.count(count, "element")
            if not whole and count != math.prod(argument.shape):
                told = _("the first {elements}").format(elements=told)
            told = _("{what}: {elements}").format(what=translated(rules()[kind].mark), elements=told)
        found.append(outline(told, cells, shown))
    beside = [one.count for one in _findings(launch) if one.argument == argument.name and one.kind == "outside-view"]
    if beside:
        # These elements have no cell in a picture of the view.
        lanes = messages.count(sum(beside), "lane reaches", "lanes reach")
        found.append(
            Mark(_("{lanes} between or beside the elements of this view: see Storage").format(lanes=lanes), [])
        )
    return found


def outline(told: str, cells: Ints, shown: CellLayout) -> Mark:
    """A mark for some cells (ascending).

    If there are too many areas to outline, the outlines become coarser: each surrounds a stretch of cells with some of
    them in it, and the mark says so.
    """
    outlined, wide = runs(cells, shown), 1
    while len(outlined) > _MOST_OUTLINES and wide < shown.columns:
        wide *= 2
        coarse = replace(shown, columns=math.ceil(shown.columns / wide))
        row, column = np.divmod(cells, shown.columns)
        outlined = [
            (panel, down, right * wide, rows, min(columns * wide, shown.columns - right * wide))
            for panel, down, right, rows, columns in runs(distinct(row * coarse.columns + column // wide), coarse)
        ]
    return Mark(told if wide == 1 else _("{told}, among those outlined").format(told=told), outlined)


def ghost(launch: Launch, argument: Argument, lanes: int, cells: Ints, shown: CellLayout) -> list[Mark]:
    """The missing mask as a mark: ``cells`` are those of the lanes beyond the edge, ``lanes`` is their number.

    It is drawn if a fix was tried that masks exactly these lanes.
    """
    fixes = [one.fix for one in _findings(launch) if one.argument == argument.name and one.fix is not None]
    if not fixes or not fixes[0].condition or fixes[0].kept_out != lanes or not len(cells):
        return []
    return [
        outline(
            _("{condition} would mask off these lanes").format(condition=fixes[0].condition), np.unique(cells), shown
        )
    ]


def of_programs(launch: Launch, shown: CellLayout) -> list[Mark]:
    """The findings about programs and no argument, as marks in a picture of the grid; errors come first."""
    found = []
    for kind, rule in rules().items():
        which = [one for one in _findings(launch) if one.kind == kind and one.argument is None]
        programs = np.unique(np.concatenate([_programs_of(one) for one in which])) if which else np.zeros(0, np.int64)
        told = rule.programs_mark(len(programs))
        if not told or not len(programs):
            continue
        told = told.format(count=messages.number(len(programs)))
        place = messages.shared_place(programs.tolist(), launch.grid)
        if place:
            told = _("{programs}, all with {place}").format(programs=told, place=place)
        # Some findings count lanes, and list only the first programs.
        whole = all(one.count <= len(one.programs) or len(one.extent) for one in which)
        cells = np.unique(shown.cells_at(programs))
        if not whole:
            told = _("{programs}; there are more than are outlined").format(programs=told)
        found.append(outline(told, cells, shown))
    return found


def _programs_of(found: Finding) -> Ints:
    """All programs that a finding about no argument concerns, or the first, if it knows no more."""
    return np.concatenate([np.arange(*one) for one in found.extent]) if len(found.extent) else found.programs


def by_program(launch: Launch) -> bool:
    """Whether the gravest finding is about programs alone, so that only the picture of the grid shows it."""
    order = (ERROR, WARNING)
    wrong = [one for one in _findings(launch) if one.severity in order]
    first = min(wrong, key=lambda one: (order.index(one.severity), not one.stopped), default=None)
    if first is None or first.argument is not None or first.ends:
        return False
    return bool(rules()[first.kind].programs_mark(len(first.programs)) and len(first.programs))


def _by_kind(launch: Launch, argument: Argument) -> Iterator[tuple[str, Ranges, bool]]:
    """The kinds of findings, the gravest first, with their places and whether these are complete.

    Places count in elements from the argument's first.
    """
    by_kind: dict[str, list[Ints]] = {}
    cut: set[str] = set()
    look = math.prod(argument.shape) <= _MOST_LOOKED
    for one in _findings(launch):
        if not rules()[one.kind].mark:
            continue
        parts = by_kind.setdefault(one.kind, [])
        if one.argument == argument.name and len(one.extent) and look:
            parts.append(one.extent)
        elif one.argument == argument.name and len(one.elements):
            parts.append(_singly(one.elements))
            if one.count > len(one.elements):
                cut.add(one.kind)
        for name, elements in one.ends:
            if name == argument.name:
                parts.append(_singly(elements))
                if len(elements) >= MOST_ENDS:
                    cut.add(one.kind)
    for kind, parts in by_kind.items():
        if parts:
            first, stop = np.concatenate(parts).T
            yield kind, Ranges.of(first, stop), kind not in cut


def _singly(elements: Ints) -> Ints:
    """Single elements in the form of a finding's extent."""
    return np.stack([elements, elements + 1], axis=1).astype(np.int64)


def _cells(places: Ranges, argument: Argument, shown: CellLayout, origin: Sequence[int]) -> tuple[int, Ints]:
    """The number of elements at some places, and their cells, ascending."""
    if math.prod(argument.shape) <= _MOST_LOOKED:
        marked = places.covers(offsets(argument.shape, argument.strides))
        drawn = np.zeros(shown.shape, np.bool_)
        own = tuple(slice(start, start + size) for start, size in zip(origin, argument.shape, strict=True))
        drawn[own] = marked.reshape(argument.shape)
        return int(np.count_nonzero(marked)), distinct(shown.cells_at(np.flatnonzero(drawn)))
    listed = np.concatenate(
        [np.arange(*pair) for pair in zip(places.start.tolist(), places.stop.tolist(), strict=True)]
    )
    elements = elements_at(listed * argument.itemsize, argument)
    elements = np.unique(elements[elements >= 0])
    return len(elements), np.unique(shown.cells_at(_positions(elements, shown.shape, argument.shape, origin)))


def _covered(places: Ranges, positions: Ints, argument: Argument, drawn: Sequence[int], origin: Sequence[int]) -> Flags:
    """Whether each position of a picture with margins (-1 for none) is an element at one of the places."""
    there = positions >= 0
    at = np.zeros(len(positions), np.int64)
    index = np.unravel_index(np.where(there, positions, 0), tuple(drawn)) if drawn else ()
    for own, start, size, stride in zip(index, origin, argument.shape, argument.strides, strict=True):
        there = there & (own >= start) & (own < start + size)
        at += (own - start) * stride
    return there & places.covers(at)


def _findings(launch: Launch) -> Sequence[Finding]:
    """The findings; of a large launch that is not yet checked, none."""
    if "verdict" not in vars(launch):
        events = (event for access in launch.accesses for event in getattr(access, "events", ()))
        if sum(len(event.programs) * math.prod(event.shape) for event in events) > _LARGE:
            return []
    return launch.findings


def _positions(elements: Ints, drawn: Sequence[int], shape: Sequence[int], origin: Sequence[int]) -> Ints:
    """The positions of elements in a picture with margins."""
    position = np.zeros(len(elements), np.int64)
    index = np.unravel_index(elements, tuple(shape)) if shape else ()
    for axis, extent in enumerate(drawn):
        position = position * extent + index[axis] + origin[axis]
    return position


def runs(cells: Ints, shown: CellLayout) -> list[tuple[int, int, int, int, int]]:
    """Cells (ascending) joined into rectangles: panel, row, column, number of rows, number of columns."""
    if not len(cells):
        return []
    breaks = np.flatnonzero((np.diff(cells) != 1) | (cells[1:] % shown.columns == 0))
    starts, stops = np.append(0, breaks + 1), np.append(breaks, len(cells) - 1)
    found: list[tuple[int, int, int, int, int]] = []
    above: dict[tuple[int, int, int, int], int] = {}
    for first, last in zip(cells[starts].tolist(), cells[stops].tolist(), strict=True):
        panel, within = divmod(first, shown.rows * shown.columns)
        row, column = divmod(within, shown.columns)
        columns = last - first + 1
        at = above.get((panel, row, column, columns), len(found))
        if at == len(found):
            found.append((panel, row, column, 1, columns))
        else:
            top, rows = found[at][1], found[at][3]
            found[at] = (panel, top, column, rows + 1, columns)
        above[panel, row + 1, column, columns] = at
    return found
