"""One argument in two results: both and their error as heatmaps, over elements and over programs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, TypedDict

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.launch.comparison import number_formats
from triton_lab.launch.comparison.argument_difference import Compared, Worst
from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.last_writer import stored_by
from triton_lab.localization import _
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

HEADINGS = ("", "dtype", "verdict", "differ", "absolute", "relative", "ulp", "NaN", "∞")


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


class ComparedPicture:
    """The heatmaps of one argument, or of a block of values: the two that ``titles`` name, and their error.

    ``launch`` is the one whose programs stored ``one``, None if no launch stored it.
    """

    def __init__(self, one: Compared, titles: tuple[str, str], launch: Launch | None = None) -> None:
        self.one, self.titles, self.launch = one, titles, launch

    @cached_property
    def layout(self) -> CellLayout:
        return layout(self.one.a.shape, room=ROOM)

    @cached_property
    def worst(self) -> Ints:
        """The element (cells,) that each cell shows, -1 if there is none."""
        return worst(self.errors, self.layout.cell_of_position(), self.layout.cells)

    @property
    def unit(self) -> str:
        """The unit of the error: ``ulp`` if that says more than the distance itself."""
        ulps, absolute = self.one.largest_ulps, self.one.largest_absolute
        if not number_formats.is_float(self.one.dtype) or ulps is None or absolute is None or ulps.value > _MOST_ULPS:
            return ""
        # Units near zero are tiny: a few such elements would hide all others.
        there = float(self.one.ulps[absolute.index])
        return "ulp" if ulps.value <= _FAR * max(there, 1.0) else ""

    @cached_property
    def errors(self) -> Floats:
        """The error a - b in `unit`; NaN if only one of the two is finite."""
        size = self.one.ulps if self.unit else self.one.absolute
        a, b = (number_formats.wide(side) for side in self.one.numbers)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(a < b, -size, size), np.float64)

    @cached_property
    def programs(self) -> Ints:
        """The program (elements,) that stored each element last, -1 for none."""
        launch, shape = self.launch, self.one.a.shape
        found = np.full(self.one.a.size, -1, np.int64)
        if launch is None:
            return found
        stores = [access for access in launch.done if access.kind != "load" and access.argument == self.one.name]
        for store in sorted(stores, key=lambda access: access.events[-1].order if access.events else -1):
            program = stored_by(store, shape, launch.programs).program
            found = np.where(program >= 0, program, found)
        return found

    @cached_property
    def heatmaps(self) -> tuple[Heatmap, ...]:
        """The heatmaps of a, b, and the error."""
        there, at = self._shown()
        a, b = (number_formats.wide(side) for side in (self.one.a, self.one.b))
        low, high = finite_range(a, b)
        size = np.abs(self.errors)
        most = float(size[np.isfinite(size)].max(initial=0.0))
        titles = self.titles
        unit = f", in {self.unit}" if self.unit else ""
        pick = [array.reshape(-1)[at] for array in (a, b, self.errors)]
        return (
            value_heatmap(self.layout, pick[0], there, titles[0], low, high, room=ROOM),
            value_heatmap(self.layout, pick[1], there, titles[1], low, high, room=ROOM),
            value_heatmap(self.layout, pick[2], there, f"error{unit}", -most, most, diverging=True, room=ROOM),
        )

    def _shown(self) -> tuple[NDArray[np.bool_], Ints]:
        there = self.worst >= 0
        at = np.maximum(self.worst, 0)
        return there, at if there.any() else at[:0]

    @cached_property
    def by_program(self) -> Heatmap | None:
        """The largest error of each program's stores; None if programs are not known, or all are equal."""
        launch = self.launch
        known = self.programs >= 0
        if launch is None or not known.any() or launch.programs == 1 or not self.one.count:
            return None
        largest = np.zeros(launch.programs)
        size = np.abs(self.errors.reshape(-1))
        np.maximum.at(largest, self.programs[known], np.where(np.isnan(size), np.inf, size)[known])
        shape = tuple(extent for extent in reversed(launch.grid) if extent > 1)
        place = layout(shape, room=ROOM)
        shown = worst(largest, place.cell_of_position(), place.cells)
        unit = f", in {self.unit}" if self.unit else ""
        finite = largest[np.isfinite(largest)]
        return value_heatmap(
            place,
            largest[np.maximum(shown, 0)],
            shown >= 0,
            _("largest error by program{unit}").format(unit=unit),
            0.0,
            float(finite.max(initial=0.0)),
            room=ROOM,
        )

    def scene(self) -> ComparedScene:
        at = np.maximum(self.worst, 0) if self.one.a.size else np.zeros(0, np.int64)
        values = [number_formats.wide(side).reshape(-1)[at] for side in (self.one.a, self.one.b)]
        return {
            "name": self.one.name,
            "told": self.one.told(),
            "heatmaps": [heatmap.as_scene() for heatmap in self.heatmaps],
            "by_program": None if self.by_program is None else self.by_program.as_scene(),
            "values": [buffer(array) for array in values],
            "errors": buffer(self.errors.reshape(-1)[at]),
            "unit": self.unit,
            "programs": buffer(self.programs[at].astype(np.int32)),
            "worst": buffer(at.astype(np.uint32)),
        }


def row(one: Compared) -> tuple[str, ...]:
    """The row of an argument, below `HEADINGS`."""

    def told(found: Worst | None) -> str:
        return "" if found is None or not found.value else messages.significant(found.value)

    strange = (int(np.count_nonzero(where)) for where in (one.nan, one.infinite))
    kind = one.a.dtype.name if one.a.dtype == one.b.dtype else f"{one.a.dtype.name}, {one.b.dtype.name}"
    return (
        one.name,
        kind,
        one.verdict,
        f"{messages.number(one.count)} of {messages.number(one.a.size)}",
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
