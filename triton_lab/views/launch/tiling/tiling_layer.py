"""One layer of a tiling: its loads, its stores or both, in the colours of their programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from triton_lab import messages as words
from triton_lab.launch.maps.tiling import LAYERS, TilingAccesses
from triton_lab.launch.membership_classes import Classes, distinct
from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing_text import nobody
from triton_lab.views.drawing.heatmap import Heatmap, Key, Label
from triton_lab.views.drawing.region_labels import labels
from triton_lab.views.launch.tiling.tiled_cells import (
    ERROR_STATE,
    GHOST_STATE,
    INSIDE_STATE,
    STATES,
    STOPPED_STATE,
    TiledCells,
)

Ints = npt.NDArray[np.int64]

UNTOUCHED = (style.UNTOUCHED, style.UNTOUCHED, style.UNTOUCHED, style.DOTS)
MASKED = (style.MASKED, style.MASKED, style.MASKED, style.HATCH)
OUTSIDE = (style.ERROR, style.ERROR, style.ERROR, style.CROSS)

GHOST = (style.GHOST, style.GHOST, style.GHOST, style.HATCH)

STRIPED = 3  # programs that a shared element has the colours of; more than these are counted instead


@dataclass(frozen=True)
class TilingLayer:
    """The layer ``name`` of a picture's ``cells``; ``whole`` has the accesses of all cells, if this is a window."""

    cells: TiledCells
    whole: TilingAccesses
    name: str
    grid: Sequence[int]

    @cached_property
    def active(self) -> Classes:
        """The programs with an active lane, by class of the accesses."""
        return self.cells.touches.active(self.name)

    @cached_property
    def count(self) -> Ints:
        """The number of these programs (classes,)."""
        return self.active.counts[self.cells.class_of]

    @cached_property
    def masked(self) -> npt.NDArray[np.bool_]:
        """Whether a lane is masked off there (classes,)."""
        counts: Ints = self.cells.touches.masked(self.name).counts[self.cells.class_of]
        return counts > 0

    @cached_property
    def groups(self) -> Ints:
        """The region (classes,): cells that look the same form one, even if other lines or masked lanes touch some."""
        state, active = self.cells.state, self.active
        groups = STATES * active.groups()[self.cells.class_of] + state
        last = groups.max(initial=0) // STATES
        groups = np.where(self.count == 0, STATES * (last + 1 + self.masked) + state, groups)
        groups[0] = 0
        return groups

    @cached_property
    def styles(self) -> npt.NDArray[np.uint16]:
        """The styles (classes,)."""
        count, masked, state = self.count, self.masked, self.cells.state
        several = self.cells.touches.several[self.cells.class_of, list(LAYERS).index(self.name)]
        styles = self._colours()
        styles[:, 3] = np.where(several, style.STRIPES, style.PLAIN)
        # Neighbours on a ramp are too alike for stripes of both, and three colours cannot stand for many programs: such
        # elements are bright, for a number to be read on them, with stripes in the colour of the first.
        plain = several & ((count > STRIPED) | (self.whole.programs > len(style.PROGRAM_COLOURS)))
        styles[plain, 1:3] = styles[plain, :1]
        styles[plain, 0] = style.GROUND
        styles[count == 0] = UNTOUCHED
        styles[(count == 0) & masked] = MASKED
        styles[np.isin(state, (ERROR_STATE, STOPPED_STATE)) & (count > 0)] = OUTSIDE
        styles[(state == GHOST_STATE) & (count > 0)] = GHOST
        styles[~np.isin(state, (INSIDE_STATE, STOPPED_STATE)) & (count == 0) & ~masked] = 0
        return styles

    def _colours(self) -> npt.NDArray[np.uint16]:
        """The styles with the colours of the first three programs of each class."""
        items = np.append(self.active.items, 0)
        first = self.active.starts[self.cells.class_of]
        styles = np.zeros((len(first), 4), dtype=np.uint16)
        for place in range(3):
            program = items[first + np.where(place < self.count, place, 0)]
            styles[:, place] = style.program_colours(program, self.grid)
        return styles

    def labels(self, blank: Heatmap) -> list[Label]:
        """The program of each tile, or how many programs share it."""
        regions = self.groups[self.cells.numbers]
        first = np.zeros(int(self.groups.max()) + 1, dtype=np.int64)  # a class of each region
        first[self.groups[::-1]] = self.cells.class_of[::-1]

        def word(region: int, several: Callable[[int], str]) -> str:
            programs = self.active.members(int(first[region]))
            if len(programs) > 1:
                return several(len(programs))
            return words.mark(int(programs[0]), self.grid) if len(programs) else ""

        full = labels(blank.frame, regions, lambda region: word(region, lambda many: words.count(many, "program")))
        short = labels(blank.frame, regions, lambda region: word(region, lambda many: f"×{many}"))
        # "8 programs" in all tiles that several share, or "×8" in all, which the legend explains.
        return full if len(full) == len(short) else short

    def keys(self, counted: bool) -> list[Key]:
        """The legend entries for cells that do not belong to a single program; ``counted`` if some have a "×8"."""
        keys, styles = [], self.styles
        striped = styles[styles[:, 3] == style.STRIPES]
        if len(striped):
            first, second, third = striped[0, :3].tolist()
            told = _("several programs (× how many)") if counted else _("several programs")
            keys.append(Key((first, second, third, style.STRIPES), told))
        packed = distinct(np.ascontiguousarray(styles).view(np.uint64))  # packs four small numbers into one
        used = {tuple(row) for row in packed.view(np.uint16).reshape(-1, 4).tolist()}
        rest = (
            (MASKED, _("masked lanes only")),
            (UNTOUCHED, nobody(self.whole.shown)),
            (OUTSIDE, _("stopped the launch here") if self.whole.strays_drawn else "outside the argument"),
            (GHOST, _("past the edge, in the memory of other elements: mask off these lanes too")),
        )
        return [*keys, *(Key(look, words) for look, words in rest if look in used)]

    def coloured(self) -> list[int]:
        """The programs drawn in colours of their own: as areas, or as stripes of each program of an element."""
        styles = self.styles
        striped, counted = styles[:, 3] == style.STRIPES, styles[:, 0] == style.GROUND
        drawn = np.append(styles[~(striped & counted), 0], styles[striped & ~counted, :3].reshape(-1)).astype(np.int64)
        programs = distinct(drawn) - style.PROGRAM
        found: list[int] = programs[(programs >= 0) & (programs < len(style.PROGRAM_COLOURS))].tolist()
        return found
