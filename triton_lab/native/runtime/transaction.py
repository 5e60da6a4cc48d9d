"""A launch that is undone if it cannot end natively, as if nothing had happened (see `function_contract`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.localization import N_, _, translated
from triton_lab.native.function_contract import Guard

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from triton_lab.interpreter.memory_regions import MemoryRegion

# Saved bytes have the same alignment as the originals, for elements of any size.
_ALIGNED = 64
# The consecutive rollbacks after which launches of a grid go to NumPy, and the number of grids that are recorded.
_MOST_FALLS, _MOST_GRIDS = 2, 1000

Grid = tuple[int, int, int]

WAITED = N_("a program waited for a later one")
FAILED = N_("a check failed that depends on what was written")


class Fell(Exception):
    """A launch was not run and has changed nothing; its text says why."""


class RollbackCounts:
    """How often launches of a kernel were rolled back. `ended` records one, `why` says why the next one would be."""

    def __init__(self) -> None:
        self._known: dict[Grid, tuple[int, str]] = {}

    def why(self, grid: Grid) -> str:
        """Why a launch of this grid would be rolled back; empty if that is not expected."""
        count, why = self._known.get(grid, (0, ""))
        return _("{why}, in both launches of this grid before").format(why=why) if count >= _MOST_FALLS else ""

    def ended(self, grid: Grid, fell: str) -> None:
        """Record the end of a launch. ``fell`` is why it was rolled back; empty if it was not."""
        if not fell:
            self._known.pop(grid, None)
            return
        if len(self._known) >= _MOST_GRIDS:
            self._known.clear()
        self._known[grid] = self._known.get(grid, (0, ""))[0] + 1, fell


class Kept:
    """Space for the old contents of memory that a launch changes; ``regions`` are those that it may write to."""

    def __init__(self, regions: Iterable[MemoryRegion], most: int) -> None:
        """Allocate the space. Raises Fell if it needs more than ``most`` bytes."""
        regions = list(dict.fromkeys(regions))
        if 2 * sum(region.size for region in regions) > most:
            raise Fell(_("the memory that it may write is too large for an undo copy"))
        self._rooms = {region.start: (region, _room(np.empty, region), _room(np.zeros, region)) for region in regions}

    def behind(self, region: MemoryRegion) -> tuple[int, int]:
        """The distances from the region's bytes to their saved values and to the flags that say which are saved."""
        _unused, held, seen = self._rooms[region.start]
        return held.ctypes.data - region.start, seen.ctypes.data - region.start

    def put_back(self) -> None:
        """Restore every byte that was changed, and no other: the bytes beside it may have other owners by now."""
        for region, held, seen in self._rooms.values():
            np.copyto(region.data, held, where=seen != 0)


def _room(make: Callable[[int, type[np.uint8]], NDArray[np.uint8]], region: MemoryRegion) -> NDArray[np.uint8]:
    """Bytes for those of ``region``, with the same offset from a multiple of `_ALIGNED`."""
    whole = make(region.size + _ALIGNED, np.uint8)
    first = (region.start - whole.ctypes.data) % _ALIGNED
    return whole[first : first + region.size]


def reason(guard: Guard) -> str:
    """Why a launch in which ``guard`` failed was not native."""
    return translated(WAITED) if guard.what == "waits" else translated(FAILED)
