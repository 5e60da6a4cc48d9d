"""One way of colouring classes by a number each: levels of a ramp, a legend, words in the regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np
import numpy.typing as npt

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.lane_positions import Flags
from triton_lab.launch.membership_classes import distinct
from triton_lab.localization import N_, _, translated
from triton_lab.messages import count, mark
from triton_lab.views.drawing import style
from triton_lab.views.drawing.heatmap import Heatmap, Key, Label, buffer, narrow
from triton_lab.views.drawing.region_labels import cell_labels, crowded, labels, run_labels
from triton_lab.views.launch.launch_scenes import LayerScene
from triton_lab.views.launch.tiling.program_scale import program_scale
from triton_lab.views.launch.tiling.tiling_layer import MASKED, OUTSIDE, UNTOUCHED

FEW = 6  # so many distinct numbers get a swatch each instead of a colour bar
NAMES = {
    "count": N_("times"),
    "program": N_("program"),
    "start": N_("program"),
    "iteration": N_("iteration"),
    "reuse": N_("programs"),
    "order": N_("order"),
    "wave": N_("wave"),
    "lanes": N_("lanes"),
    "bytes": N_("bytes"),
    "iterations": N_("iterations"),
    "shared": N_("bytes shared"),
}
BLANK, NOBODY, MASKED_ONLY, OUTSIDE_TOUCHED, FIRST = range(5)  # the first levels; those of the ramp follow
FIXED = ((0, 0, 0, 0), UNTOUCHED, MASKED, OUTSIDE)


@dataclass(frozen=True)
class HeatLayer:
    """A way of colouring: ``levels`` (classes,) index ``styles``; the other fields are those of `Heatmap`."""

    levels: npt.NDArray[np.uint8]
    styles: npt.NDArray[np.uint16]
    ramp: tuple[int, int, float, float] | None
    ramp_name: str
    legend: Sequence[Key]
    labels: Sequence[Label]
    groups: Ints | None
    ends: tuple[int, int]  # the least and the greatest number
    ticks: Sequence[tuple[float, str]] = ()

    def as_scene(self) -> LayerScene:
        """The fields that replace those of the same name in a heatmap's scene."""
        return {
            "levels": buffer(self.levels),
            "styles": buffer(self.styles),
            "ramp": self.ramp,
            "rampName": self.ramp_name,
            "ticks": list(self.ticks),
            "legend": [key.as_scene() for key in self.legend],
            "labels": [label.as_scene() for label in self.labels],
            "groups": None if self.groups is None else buffer(narrow(self.groups)),
        }


def layer_of(
    by: str,
    numbers: Ints,
    wrong: Flags,
    inside: Flags,
    members: Flags,
    blank: Heatmap,
    grid: Sequence[int],
    runs: bool = False,
    shown: int | None = None,
    ends: tuple[int, int] | None = None,
) -> HeatLayer:
    """Colour ``numbers`` (classes,), -1 for untouched classes; class 0 is no cell.

    If ``by`` is ``"program"`` or ``"start"`` (places bear the number alone), the numbers are programs, in the colours
    that they have in all pictures. ``wrong`` classes are touched outside the argument; ``members`` have a lane, masked
    or not. With ``runs``, regions are no rectangles, and programs are named along each of their runs. ``shown`` is as
    in `program_scale`. A window gets the ``ends`` of its picture, so that a number has the same colour in both.
    """
    touched = numbers >= 0
    touched[:1] = False
    right = touched & ~wrong
    seen = distinct(numbers[touched])
    few = len(seen) <= FEW
    low, high = ends or ((int(seen[0]), int(seen[-1])) if len(seen) else (0, 0))
    named = seen.tolist() if prod(grid) <= len(style.PROGRAM_COLOURS) else ()  # many programs get ticks instead
    scale = program_scale(grid, named, shown) if by in OF_PROGRAMS else None
    colours = _ramp(numbers, low, high) if scale is None else _program_colours(numbers, grid)
    levels = np.where(touched, colours.levels, np.where(members, MASKED_ONLY, np.where(inside, NOBODY, BLANK)))
    levels[wrong & touched] = OUTSIDE_TOUCHED
    levels[:1] = BLANK
    groups = _regions(numbers, levels, right)
    parted = len(groups) > 1 and not crowded(groups[blank.cells], blank.frame)
    looks = [*FIXED, *colours.looks]
    told = _numbers_of(levels[right], numbers[right]) if few and scale is None else {}
    ramp = (None if few else (style.SEQUENTIAL, style.LEVELS, low, high)) if scale is None else scale.ramp
    word = partial(_region_word, by, grid)
    worded: list[Label] = []
    if runs and scale is not None:
        worded = run_labels(blank.frame, groups[blank.cells], word)
    if parted and not worded and not (runs and scale is None):
        cells = groups[blank.cells]
        if scale is None and 2 * np.count_nonzero(np.diff(cells)) >= len(cells):
            # As in a histogram: all of its bins have their number, or none.
            bare = [word(number).removeprefix("×") for number in cells.tolist()]
            worded = cell_labels(blank.layout, bare, blank.room)
        else:
            worded = labels(blank.frame, cells, word)
    return HeatLayer(
        levels=levels.astype(np.uint8),
        styles=np.array(looks, dtype=np.uint16),
        ramp=ramp,
        ramp_name=translated(NAMES[by]) if scale is None else scale.name,
        ticks=() if scale is None else scale.ticks,
        legend=[
            *(() if scale is None else scale.keys),
            *(Key(looks[level], words(by, number)) for level, number in told.items()),
            *_fixed_keys(levels),
        ],
        labels=worded,
        groups=groups if parted else None,
        ends=(low, high),
    )


@dataclass(frozen=True)
class _Colours:
    """The ``levels`` (classes,) of touched classes, and the looks of the levels from `FIRST` on."""

    levels: Ints
    looks: Sequence[tuple[int, int, int, int]]


OF_PROGRAMS = ("program", "start")


def _program_colours(numbers: Ints, grid: Sequence[int]) -> _Colours:
    """The colours of programs, the same in all pictures."""
    colours = style.program_colours(np.maximum(numbers, 0), grid)
    if prod(grid) <= len(style.PROGRAM_COLOURS):
        return _Colours(FIRST + colours - style.PROGRAM, _plain(style.PROGRAM, len(style.PROGRAM_COLOURS)))
    return _Colours(FIRST + colours - style.SEQUENTIAL, _plain(style.SEQUENTIAL, style.LEVELS))


def _ramp(numbers: Ints, low: int, high: int) -> _Colours:
    """The colours from dark to light; if all numbers are equal, one colour beyond the middle."""
    one = np.full(len(numbers), style.LEVELS * 5 // 8)
    steps = (style.LEVELS - 1) * (np.clip(numbers, low, high) - low) // (high - low) if high > low else one
    return _Colours(FIRST + steps, _plain(style.SEQUENTIAL, style.LEVELS))


def _plain(first: int, count: int) -> list[tuple[int, int, int, int]]:
    """The styles of ``count`` colours of the palette, without a pattern."""
    return [(colour, colour, colour, style.PLAIN) for colour in range(first, first + count)]


def _regions(numbers: Ints, levels: Ints, right: Flags) -> Ints:
    """The region (classes,) of each class: equal numbers are one region; so is each level without a number."""
    groups = np.where(right, numbers + FIRST, levels)
    groups[:1] = 0
    return groups


def _numbers_of(levels: Ints, numbers: Ints) -> dict[int, int]:
    """A number for each level, that of its last class, in ascending order of the numbers."""
    used, last = np.unique(levels[::-1], return_index=True)
    found = zip(used.tolist(), numbers[::-1][last].tolist(), strict=True)
    return dict(sorted(found, key=lambda pair: pair[1]))


def _fixed_keys(levels: Ints) -> list[Key]:
    """The legend of the used levels that have no number."""
    keys = (
        (MASKED_ONLY, _("masked lanes only")),
        (NOBODY, _("not accessed")),
        (OUTSIDE_TOUCHED, _("outside the argument")),
    )
    used = set(distinct(levels).tolist())
    return [Key(FIXED[level], text) for level, text in keys if level in used]


def words(by: str, number: int) -> str:
    """A number in the legend."""
    if by == "count":
        return _("once") if number == 1 else count(number, "time")
    if by == "reuse":
        return _("by {programs}").format(programs=count(number, "program"))
    if by in ("lanes", "bytes", "iterations", "shared"):
        return _("{count} {noun}").format(count=number, noun=translated(NAMES[by]))
    return _("{noun} {number}").format(noun=translated(NAMES[by]), number=number)


def _region_word(by: str, grid: Sequence[int], group: int) -> str:
    """The word for a region of `_regions`."""
    return _word(by, group - FIRST, grid)


def _word(by: str, number: int, grid: Sequence[int]) -> str:
    """The word for a number within its region."""
    if number < 0:
        return ""
    if by == "program":
        return mark(number, grid)
    return f"×{number}" if by in ("count", "reuse") else str(number)
