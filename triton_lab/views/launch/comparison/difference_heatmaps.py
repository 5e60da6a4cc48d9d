"""One argument in two results: both and their error as heatmaps, over elements and over programs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.launch.comparison import element_differences, number_formats
from triton_lab.launch.comparison.argument_difference import Compared, Worst
from triton_lab.launch.comparison.chunks import gathered
from triton_lab.launch.comparison.stored_elements import number_last
from triton_lab.launch.element_index import Ints
from triton_lab.localization import N_, _, translated
from triton_lab.views.drawing.cell_layout import CellLayout, layout
from triton_lab.views.drawing.cell_scenes import Buffer, HeatmapScene
from triton_lab.views.drawing.heatmap import Heatmap, buffer
from triton_lab.views.drawing.scene_bounds import Most, Name, Sentence
from triton_lab.views.drawing.value_cells import finite_range, value_heatmap

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Floats = NDArray[np.float64]

ROOM = (270.0, 300.0)  # for one of the three
# Beyond so many units rounding does not explain a difference, and the picture shows the difference itself.
_MOST_ULPS = 1e6
_FAR = 64

HEADINGS = (
    "", N_("dtype"), N_("verdict"), N_("differ"), N_("absolute"), N_("relative"), N_("ulp"), "NaN", "∞",
)  # fmt: skip


class ComparedScene(TypedDict):
    """One argument: heatmaps of both and of the error, and of the error by program if programs are known.

    ``values`` are those of both, ``errors`` are in ``unit`` (signed), and ``programs`` stored the element (-1 for
    none); each for the ``worst`` element of each cell.
    """

    name: Name
    told: Sentence
    heatmaps: Annotated[list[HeatmapScene], Most(8)]
    by_program: HeatmapScene | None
    values: Annotated[list[Buffer], Most(2, least=2)]
    errors: Buffer
    unit: Sentence
    programs: Buffer
    worst: Buffer


@dataclass
class _Seen:
    """What the elements of a picture show, in pieces that begin at cell ``first``.

    ``worst`` (cells,) is the element with the greatest error in each cell, -1 for none, and ``size`` its error;
    ``by_program`` the greatest error of what each program stored; ``most`` the greatest finite error, and ``ends`` the
    least and the greatest finite number, None if there is none.
    """

    worst: Ints
    size: Floats
    by_program: Floats
    most: float = 0.0
    ends: tuple[float, float] | None = None
    first: int = 0

    def add(self, piece: _Seen) -> None:
        """Add what a later piece shows."""
        here = slice(piece.first, piece.first + len(piece.size))
        greater = piece.size > self.size[here]
        self.worst[here] = np.where(greater, piece.worst, self.worst[here])
        self.size[here] = np.maximum(piece.size, self.size[here])
        self.by_program = np.maximum(self.by_program, piece.by_program)
        self.most = max(self.most, piece.most)
        if piece.ends is not None:
            low, high = self.ends or piece.ends
            self.ends = min(low, piece.ends[0]), max(high, piece.ends[1])


class ComparedPicture:
    """The heatmaps of one argument, or of a block of values: the two that ``titles`` name, and their error.

    ``launch`` is the one whose programs stored ``one``, None if no launch stored it.
    """

    def __init__(self, one: Compared, titles: tuple[str, str], launch: Launch | None = None) -> None:
        self.one, self.titles, self.launch = one, titles, launch

    @cached_property
    def layout(self) -> CellLayout:
        return layout(self.one.a.shape, room=ROOM)

    @property
    def worst(self) -> Ints:
        """The element (cells,) that each cell shows, -1 if there is none."""
        return self._seen.worst

    @cached_property
    def unit(self) -> str:
        """The unit of the error: ``ulp`` if that says more than the distance itself."""
        ulps, absolute = self.one.largest_ulps, self.one.largest_absolute
        if not number_formats.is_float(self.one.dtype) or ulps is None or absolute is None or ulps.value > _MOST_ULPS:
            return ""
        # Units near zero are tiny: a few such elements would hide all others.
        there = float(element_differences.ulps(*self._at(np.array([self._number(absolute)])))[0])
        return "ulp" if ulps.value <= _FAR * max(there, 1.0) else ""

    def _number(self, found: Worst) -> int:
        """The row-major number of an element."""
        return int(np.ravel_multi_index(found.index, self.one.a.shape)) if found.index else 0

    def _at(self, elements: Ints) -> tuple[NDArray[Any], NDArray[Any]]:
        """Both sides of some elements, by their row-major numbers."""
        return self.one.a.reshape(-1)[elements], self.one.b.reshape(-1)[elements]

    def errors(self, a: NDArray[Any], b: NDArray[Any]) -> Floats:
        """The error a - b in `unit`; NaN if only one of the two is finite."""
        size = element_differences.ulps(a, b) if self.unit else element_differences.absolute(a, b)
        x, y = element_differences.comparable(a, b)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(x < y, -size, size), np.float64)

    @cached_property
    def _seen(self) -> _Seen:
        """What one look at all elements finds."""
        unit, cells = self.unit, self.layout.cells  # so that threads need not compute it
        programs = 0 if self.launch is None else self.launch.programs
        by = self.programs if programs else np.asarray(-1)
        found = _Seen(np.full(cells, -1, np.int64), np.full(cells, -1.0), np.zeros(programs))
        measure = element_differences.ulps if unit else element_differences.absolute
        number = np.int32 if self.one.a.size < 1 << 31 else np.int64  # which is divided twice as fast

        def look(start: int, a: NDArray[Any], b: NDArray[Any], program: NDArray[np.int32]) -> _Seen:
            size = measure(a, b)
            strange = np.isnan(size)
            rank = np.where(strange, np.inf, size) if strange.any() else size
            cell = self.layout.cells_at(np.arange(start, start + len(a), dtype=number))
            first = int(cell.min())
            most = np.full(int(cell.max()) - first + 1, -1.0)
            _raise_to(most, cell - first, rank)
            there = np.flatnonzero(rank == most[cell - first])[::-1]  # among equal errors the first one counts
            shown = np.full(len(most), -1, np.int64)
            shown[cell[there] - first] = there + start
            by_program = np.zeros(programs)
            if programs:
                known = program >= 0
                stored = (program, rank) if known.all() else (program[known], rank[known])
                _raise_to(by_program, *stored)
            sides = [side if side.dtype == np.float32 else number_formats.wide(side) for side in (a, b)]
            ends = finite_range(*sides) if any(np.isfinite(side).any() for side in sides) else None
            return _Seen(shown, most, by_program, max(finite_range(size)[1], 0.0), ends, first)

        for piece in gathered(look, self.one.a, self.one.b, by):
            found.add(piece)
        return found

    @cached_property
    def programs(self) -> NDArray[np.int32]:
        """The program (elements,) that stored each element last, -1 for none."""
        if self.launch is None:
            return np.full(self.one.a.size, -1, np.int32)
        return number_last(self.launch, self.one.name, self.one.a.size, programs=True)

    @cached_property
    def heatmaps(self) -> tuple[Heatmap, ...]:
        """The heatmaps of a, b, and the error."""
        there, at = self._shown()
        low, high = self._seen.ends or (0.0, 0.0)
        most, titles = self._seen.most, self.titles
        a, b = self._at(at)
        error = _("error, in {unit}").format(unit=self.unit) if self.unit else _("error")
        pick = [number_formats.wide(a), number_formats.wide(b), self.errors(a, b)]
        return (
            value_heatmap(self.layout, pick[0], there, titles[0], low, high, room=ROOM),
            value_heatmap(self.layout, pick[1], there, titles[1], low, high, room=ROOM),
            value_heatmap(self.layout, pick[2], there, error, -most, most, diverging=True, room=ROOM),
        )

    def _shown(self) -> tuple[NDArray[np.bool_], Ints]:
        there = self.worst >= 0
        at = np.maximum(self.worst, 0)
        return there, at if there.any() else at[:0]

    @cached_property
    def by_program(self) -> Heatmap | None:
        """The largest error of each program's stores; None if programs are not known, or all are equal."""
        launch = self.launch
        if launch is None or launch.programs == 1 or not self.one.count or not (self.programs >= 0).any():
            return None
        largest = self._seen.by_program
        shape = tuple(extent for extent in reversed(launch.grid) if extent > 1)
        place = layout(shape, room=ROOM)
        shown = worst(largest, place.cell_of_position(), place.cells)
        title = _("largest error by program, in {unit}") if self.unit else _("largest error by program")
        finite = largest[np.isfinite(largest)]
        return value_heatmap(
            place,
            np.where(np.isinf(largest), np.nan, largest)[np.maximum(shown, 0)],  # it ranked as infinite
            shown >= 0,
            title.format(unit=self.unit),
            0.0,
            float(finite.max(initial=0.0)),
            room=ROOM,
        )

    def scene(self) -> ComparedScene:
        at = np.maximum(self.worst, 0) if self.one.a.size else np.zeros(0, np.int64)
        a, b = self._at(at)
        return {
            "name": self.one.name,
            "told": self.one.told(),
            "heatmaps": [heatmap.as_scene() for heatmap in self.heatmaps],
            "by_program": None if self.by_program is None else self.by_program.as_scene(),
            "values": [buffer(number_formats.wide(side)) for side in (a, b)],
            "errors": buffer(self.errors(a, b)),
            "unit": self.unit,
            "programs": buffer(self.programs[at].astype(np.int32)),
            "worst": buffer(at.astype(np.uint32)),
        }


def _raise_to(most: Floats, group: NDArray[Any], rank: Floats) -> None:
    """Raise ``most`` (groups,) to the greatest ``rank`` (elements,) of each group; neighbours often share a group."""
    heads = np.flatnonzero(np.append(len(group) > 0, group[1:] != group[:-1]))
    if len(heads):
        np.maximum.at(most, group[heads], np.maximum.reduceat(rank, heads))


def row(one: Compared) -> tuple[str, ...]:
    """The row of an argument, below `HEADINGS`."""

    def told(found: Worst | None) -> str:
        return "" if found is None or not found.value else messages.significant(found.value)

    strange = (int(np.count_nonzero(where)) for where in (one.nan, one.infinite))
    kind = one.a.dtype.name if one.a.dtype == one.b.dtype else f"{one.a.dtype.name}, {one.b.dtype.name}"
    return (
        one.name,
        kind,
        translated(one.verdict),
        messages.of_all(one.count, one.a.size),
        told(one.largest_absolute),
        told(one.largest_relative),
        told(one.largest_ulps),
        *(messages.number(count) if count else "" for count in strange),
    )


def worst(errors: Floats, cell_of_element: Ints, cells: int) -> Ints:
    """The element (cells,) with the greatest error in each cell (NaN and infinity first); -1 for none."""
    size = np.abs(errors.reshape(-1))
    rank = np.where(np.isnan(size), np.inf, size)
    order = np.lexsort((-np.arange(len(rank)), rank))  # among equal errors the first element is last
    result = np.full(cells, -1, dtype=np.int64)
    result[cell_of_element[order]] = order
    return result
