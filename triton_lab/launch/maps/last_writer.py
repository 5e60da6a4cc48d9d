"""Which lane of a store was the last to write each element of its argument.

If the store's lanes are known as tiles, nothing is computed for each element: tiles are queried for the elements that
a caller needs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from triton_lab.launch.access import Access, elements_at
from triton_lab.launch.argument import Argument
from triton_lab.launch.element_index import Ints, digits
from triton_lab.launch.maps.access_heat import heat
from triton_lab.launch.maps.heat import Heat
from triton_lab.launch.maps.lane_positions import Flags
from triton_lab.launch.maps.strided_lanes import strided
from triton_lab.launch.maps.tile_groups import Along, Tiles


class StoreLike(Protocol):
    """The part of an access that `stored_by` needs; arrays are (programs, *block)."""

    @property
    def iterations(self) -> int: ...
    def element(self, argument: None = None, iteration: int = 0) -> Ints: ...
    def mask(self, iteration: int) -> npt.NDArray[np.bool_]: ...


@dataclass(frozen=True)
class StoredBy:
    """The last lane that stored to each element, as its ``number`` (elements,); -1 for elements not stored to.

    Lanes are numbered by iteration, then by program, with ``lanes`` lanes in each program. ``first`` (programs,) is the
    first element that a program stored to, in lane order; -1 for none.
    """

    number: Ints
    first: Ints
    lanes: int

    @property
    def program(self) -> Ints:
        """(elements,) the last program that stored to each element; -1 for elements not stored to."""
        return np.where(self.number < 0, -1, self.number // max(1, self.lanes) % max(1, len(self.first)))

    def there(self, elements: Ints) -> Flags:
        """Which of some elements were stored to."""
        return np.asarray(self.number[elements] >= 0)

    def last(self, element: int) -> tuple[int, int, int] | None:
        """Program, lane and iteration of the last lane that stored to an element; None if there is none."""
        number = int(self.number[element])
        if number < 0:
            return None
        rest, lane = divmod(number, self.lanes)
        iteration, program = divmod(rest, len(self.first))
        return program, lane, iteration

    def middle(self) -> int:
        """The middle one of the elements that were stored to; -1 if none was."""
        stored = np.flatnonzero(self.number >= 0)
        return int(stored[len(stored) // 2]) if len(stored) else -1

    def cells(self, along: Sequence[Along] | None, cells: int) -> Flags | None:
        """(cells,) whether an element in the cell was stored to (see `Tiles.falls`); None if that is not known."""
        return None


@dataclass(frozen=True)
class StoredByTiles:
    """`StoredBy` from tiles: ``heat`` is that of the ``store`` alone, to ``argument``."""

    store: Access
    argument: Argument
    heat: Heat
    first: Ints

    @cached_property
    def _stored(self) -> tuple[Tiles, Flags]:
        """The tiles of the argument's elements, and whether they were stored to."""
        assert self.heat.own_tiles is not None
        tiles, classes = self.heat.own_tiles
        return tiles, (self.heat.active.counts > 0)[classes]

    def there(self, elements: Ints) -> Flags:
        tiles, stored = self._stored
        return np.asarray(stored[tiles.at(elements, self.heat.shape)])

    def last(self, element: int) -> tuple[int, int, int] | None:
        moments = len(self.heat.moments)
        members = self.heat.table.members(int(self.heat.of_elements(np.array([element]))[0]))
        active = members[members < self.heat.programs * moments]
        if not len(active):
            return None
        turns = np.array([moment.iteration for moment in self.heat.moments])[active % moments]
        turn = int(turns.max())
        program = int((active // moments)[turns == turn].max())
        for event in self.store.of(np.array([program])).parts(turn):
            elements = elements_at(event.addresses().reshape(-1) - self.argument.address, self.argument)
            lanes = np.flatnonzero(event.active().reshape(-1) & (elements == element))
            if len(lanes):
                return program, int(lanes[-1]), turn
        return None

    def middle(self) -> int:
        tiles, stored = self._stored
        assert tiles.edges is not None
        rest = int(tiles.sizes()[stored].sum()) // 2
        if not stored.any():
            return -1
        element, left = 0, stored.reshape(tiles.along).astype(np.int64)
        for axis, edges in enumerate(tiles.edges):
            inner = left
            for other in tiles.edges[:axis:-1]:
                inner = inner @ np.diff(other)
            ends = np.cumsum(inner * np.diff(edges))
            tile = int(np.searchsorted(ends, rest, side="right"))
            rest -= int(ends[tile - 1]) if tile else 0
            index, rest = divmod(rest, max(1, int(inner[tile])))
            element = element * int(edges[-1]) + int(edges[tile]) + index
            left = left[tile]
        return element

    def cells(self, along: Sequence[Along] | None, cells: int) -> Flags | None:
        tiles, stored = self._stored
        falls = tiles.falls(along, cells)
        if falls is None:
            return None
        found = np.zeros(falls.groups, dtype=np.int64)
        found[falls.group[stored[falls.tile]]] = 1
        return falls.spread(found) > 0


def stored_in(store: Access, argument: Argument, programs: int) -> StoredBy | StoredByTiles:
    """The last writers of ``argument``, a tensor, by ``store``; from tiles if they are known."""
    tiled = heat(argument, [store], programs, most=1, thin=False)
    first = (
        None
        # A sample of the lanes does not cover all elements.
        if tiled.own_tiles is None or tiled.shown is not None or store.itemsize != argument.itemsize
        else _first(store, argument, programs)
    )
    if first is None:
        return stored_by(store, tuple(argument.shape), programs)
    return StoredByTiles(store, argument, tiled, first)


def _first(store: Access, argument: Argument, programs: int) -> Ints | None:
    """(programs,) `StoredBy.first`; None if each lane must be examined."""
    known = digits(tuple(argument.shape), tuple(argument.strides))
    first = np.full(programs, -1, dtype=np.int64)
    for turn in range(store.iterations):
        blocks = strided(store, turn, argument.address, argument.itemsize)
        if blocks is None or known is None:
            return None
        place, on = blocks.first.copy(), np.ones(len(blocks.first), dtype=bool)
        for axis in blocks.axes:
            place += axis.lower * axis.step
            on &= axis.lower < axis.upper
        element = known.element(place[on])
        if bool((element < 0).any()):  # a lane outside the argument: a later lane may be on it
            return None
        program = blocks.program[on]
        new = first[program] < 0
        first[program[new]] = element[new]
    return first


def stored_by(store: StoreLike, shape: tuple[int, ...], programs: int) -> StoredBy:
    """The last writers of an argument of this ``shape`` by ``store``, found lane by lane."""
    number = np.full(math.prod(shape), -1, dtype=np.int64)
    first = np.full(programs, -1, dtype=np.int64)
    lanes = 0
    for turn in range(store.iterations):
        elements = store.element(iteration=turn).reshape(programs, -1)
        there = store.mask(turn).reshape(programs, -1) & (elements >= 0)
        lanes = elements.shape[1]
        # If an index occurs several times, NumPy's assignment uses the last value.
        if there.all():
            number[elements.reshape(-1)] = np.arange(turn * elements.size, (turn + 1) * elements.size)
        else:
            on = np.flatnonzero(there)
            number[elements.reshape(-1)[on]] = on + turn * elements.size
        new = (first < 0) & there.any(axis=1)
        first[new] = elements[new, there[new].argmax(axis=1)]
    return StoredBy(number, first, lanes)
