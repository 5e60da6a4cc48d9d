"""A way of colouring classes by a number each: levels of a ramp, a legend, words in the regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from triton_lab.launch.places import Ints
from triton_lab.views import style
from triton_lab.views.heatmap import Heatmap, Key, Label, buffer, narrow
from triton_lab.views.parts import program_name
from triton_lab.views.regions import crowded, labels
from triton_lab.views.tiling import MASKED, OUTSIDE, UNTOUCHED

FEW = 6  # distinct numbers that get a swatch each instead of a colour bar
NAMES = {
    "count": "times",
    "program": "program",
    "iteration": "iteration",
    "reuse": "programs",
    "order": "order",
    "wave": "wave",
    "lanes": "lanes",
    "bytes": "bytes",
    "iterations": "iterations",
    "shared": "bytes shared",
}
BLANK, NOBODY, MASKED_ONLY, OUTSIDE_TOUCHED, FIRST = range(5)  # the first levels; those of the ramp follow
FIXED = ((0, 0, 0, 0), UNTOUCHED, MASKED, OUTSIDE)


@dataclass(frozen=True)
class Layer:
    """``levels`` (classes,) index ``styles``; the rest is as in `Heatmap`."""

    levels: npt.NDArray[np.uint8]
    styles: npt.NDArray[np.uint16]
    ramp: tuple[int, int, float, float] | None
    ramp_name: str
    legend: Sequence[Key]
    labels: Sequence[Label]
    groups: Ints | None

    def as_scene(self) -> Mapping[str, Any]:
        """What takes the place of the same fields in a heatmap's scene."""
        return {
            "levels": buffer(self.levels),
            "styles": buffer(self.styles),
            "ramp": list(self.ramp) if self.ramp else None,
            "rampName": self.ramp_name,
            "legend": [[list(key.style), key.text] for key in self.legend],
            "labels": [list(vars(label).values()) for label in self.labels],
            "groups": None if self.groups is None else buffer(narrow(self.groups)),
        }


def layer_of(
    by: str,
    numbers: Ints,
    wrong: npt.NDArray[np.bool_],
    inside: npt.NDArray[np.bool_],
    members: npt.NDArray[np.bool_],
    blank: Heatmap,
    grid: Sequence[int],
) -> Layer:
    """Colour ``numbers`` (classes,), -1 for untouched classes; class 0 is no cell.

    ``wrong`` classes are touched outside the argument; ``members`` have a lane, masked or not.
    """
    there = numbers >= 0
    there[:1] = False
    distinct = np.unique(numbers[there])
    low, high = (int(distinct[0]), int(distinct[-1])) if len(distinct) else (0, 0)
    ramp = (style.LEVELS - 1) * (numbers - low) // max(1, high - low)
    levels = FIRST + (ramp if high > low else np.full(len(numbers), style.LEVELS * 5 // 8))
    looks = [*FIXED, *((style.SEQUENTIAL + k,) * 3 + (style.PLAIN,) for k in range(style.LEVELS))]
    if by == "program" and high < 2 * len(style.PROGRAM_COLOURS):
        levels = FIRST + style.program_colours(np.maximum(numbers, 0), grid) - style.PROGRAM
        looks = [*FIXED, *((style.PROGRAM + k,) * 3 + (style.PLAIN,) for k in range(len(style.PROGRAM_COLOURS)))]
    levels = np.where(there, levels, np.where(members, MASKED_ONLY, np.where(inside, NOBODY, BLANK)))
    levels[wrong & there] = OUTSIDE_TOUCHED
    levels[:1] = BLANK
    # What looks the same is one region; -1 and beyond are regions, too.
    groups = np.where(there & ~wrong, numbers + FIRST, levels)
    groups[:1] = 0
    parted = not crowded(groups[blank.cells], blank.frame) if len(groups) > 1 else False
    few = len(distinct) <= FEW
    right = np.flatnonzero(there & ~wrong if few else np.zeros_like(there))[::-1]
    looked, last = np.unique(levels[right], return_index=True)
    first = dict(zip(looked.tolist(), numbers[right][last].tolist(), strict=True))
    keys = [Key(looks[level], words(by, number, grid)) for level, number in sorted(first.items(), key=lambda kv: kv[1])]
    used = set(np.unique(levels).tolist())
    rest = (
        (MASKED_ONLY, "masked lanes only"),
        (NOBODY, "touched by nobody"),
        (OUTSIDE_TOUCHED, "outside the argument"),
    )
    keys += [Key(FIXED[level], text) for level, text in rest if level in used]
    return Layer(
        levels.astype(np.uint8),
        np.array(looks, dtype=np.uint16),
        None if few else (style.SEQUENTIAL, style.LEVELS, low, high),
        NAMES[by],
        keys,
        labels(blank.frame, groups[blank.cells], lambda group: _word(by, group - FIRST, grid)) if parted else [],
        groups if parted else None,
    )


def words(by: str, number: int, grid: Sequence[int]) -> str:
    """A number in the legend."""
    if by == "count":
        return "once" if number == 1 else f"{number} times"
    if by == "reuse":
        return "by 1 program" if number == 1 else f"by {number} programs"
    if by in ("lanes", "bytes", "iterations", "shared"):
        return f"{number} {NAMES[by]}"
    return f"{NAMES[by]} {program_name(number, grid) if by == 'program' else number}"


def _word(by: str, number: int, grid: Sequence[int]) -> str:
    """A number within its region."""
    if number < 0:
        return ""
    if by == "program":
        return program_name(number, grid)
    return f"×{number}" if by in ("count", "reuse") else str(number)
