"""The cells of a tiling: the class of touched positions that each stands for, and whether it lies in the argument."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from triton_lab.launch.maps.program_sample import reaching
from triton_lab.launch.maps.tiling import TilingAccesses, touches
from triton_lab.views.drawing.cell_layout import CellLayout
from triton_lab.views.drawing.heatmap import narrow

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument

Ints = npt.NDArray[np.int64]

# The states of a cell: elements; places beyond the edge; touched places beyond the edge; places beside the tile of a
# stopped launch that hold memory of other elements; elements at which the launch was stopped.
STATES = 5
INSIDE_STATE, OUTSIDE_STATE, ERROR_STATE, GHOST_STATE, STOPPED_STATE = range(STATES)


@dataclass(frozen=True)
class TiledCells:
    """The cells of a picture: ``numbers`` (cells,) are classes of the heatmap.

    For each of these, ``class_of`` is the class in ``touches``, and ``state`` says whether it is inside the argument.
    """

    touches: TilingAccesses
    layout: CellLayout
    numbers: npt.NDArray[Any]
    class_of: Ints
    state: Ints

    @classmethod
    def of(cls, found: TilingAccesses, shown: CellLayout) -> TiledCells:
        """The cells of all positions; cells inside, outside and wrongly touched are kept apart."""
        touched = found.active().counts > 0
        falls = found.tiles.falls(shown.along(), shown.cells)
        if falls is None:
            state = np.full(shown.cells, OUTSIDE_STATE)
            inside, cell = found.inside(), shown.cell_of_position()
            state[cell[inside]] = INSIDE_STATE
            wrong = ~inside & touched[found.classes]
            if found.strays is None:
                state[cell[wrong]] = ERROR_STATE
            else:
                state[cell[wrong]] = GHOST_STATE
                state[cell[found.strays]] = ERROR_STATE
                state[cell[found.strays & inside]] = STOPPED_STATE
            found = found.binned(cell, shown.cells)
        else:
            of_group = np.full(falls.groups, OUTSIDE_STATE)
            inside = found.tiles.within(found.origin, found.shape)[falls.tile]
            of_group[falls.group[inside]] = INSIDE_STATE
            of_group[falls.group[~inside & touched[found.tile_classes[falls.tile]]]] = ERROR_STATE
            state = falls.spread(of_group, OUTSIDE_STATE)
            found = found.fallen(falls)
        return cls._told(found, shown, found.classes, state)

    @classmethod
    def at(cls, found: TilingAccesses, positions: Ints, shown: CellLayout) -> TiledCells:
        """A cell for each of some positions; no cell for a position below 0."""
        there = positions >= 0
        classes = np.where(there, found.at(np.maximum(positions, 0)), 0)
        inside = there & (True if found.drawn == found.shape else found.inside()[positions])
        wrong = there & ~inside & (found.active().counts > 0)[classes]
        state = np.where(inside, INSIDE_STATE, OUTSIDE_STATE)
        state[wrong] = ERROR_STATE if found.strays is None else GHOST_STATE
        if found.strays is not None:
            stopped = there & found.strays[positions]
            state[stopped] = np.where(inside[stopped], STOPPED_STATE, ERROR_STATE)
        return cls._told(found, shown, classes, state)

    @classmethod
    def _told(cls, found: TilingAccesses, shown: CellLayout, classes: Ints, state: Ints) -> TiledCells:
        key = classes * STATES + state
        present = np.bincount(key, minlength=len(found.table) * STATES) > 0
        present[OUTSIDE_STATE] = False  # class 0 outside the argument is no cell
        numbers = np.where(present, np.cumsum(present), 0)[key]
        kept = np.flatnonzero(present)
        class_of, states = np.append(0, kept // STATES), np.append(OUTSIDE_STATE, kept % STATES)
        return cls(found, shown, narrow(numbers), class_of, states)


def nearby(
    found: TilingAccesses, argument: Argument, accesses: Sequence[Access], positions: Ints, most: int | None
) -> tuple[TilingAccesses, Ints]:
    """The accesses to these positions, and the index of each position in them.

    The answer is exact: if the picture shows only some programs, all programs that reach these positions are looked
    at.
    """
    there = positions >= 0
    if found.shown is None or not there.any():
        return found, positions
    index = [
        at - first for at, first in zip(np.unravel_index(positions[there], found.drawn), found.origin, strict=True)
    ]
    if any((at < 0).any() or (at >= size).any() for at, size in zip(index, argument.shape, strict=True)):
        return found, positions
    reach = sum(at * stride for at, stride in zip(index, argument.strides, strict=True)) * argument.itemsize
    low, high = int(np.min(reach)) + argument.address, int(np.max(reach)) + argument.address + argument.itemsize
    near = touches(argument, reaching(accesses, low, high), found.programs, most)
    if near.shown is not None:
        return found, positions
    place = np.full(len(positions), -1)
    place[there] = np.ravel_multi_index([at + first for at, first in zip(index, near.origin, strict=True)], near.drawn)
    return near, place
