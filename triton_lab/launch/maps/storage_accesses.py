"""Which programs touch the places of a storage, for the cells of a tensor's picture and of the storage's picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from triton_lab.launch.element_index import Ints, digits, offsets
from triton_lab.launch.maps.access_heat import heat
from triton_lab.launch.maps.access_lanes import Moment
from triton_lab.launch.maps.heat import Heat
from triton_lab.launch.maps.lane_positions import StoredArgument, TimedAccess
from triton_lab.launch.maps.storage_spans import cells_of, tiles_stretched
from triton_lab.launch.maps.tensor_storage import StridedLike
from triton_lab.launch.maps.tile_groups import Along
from triton_lab.launch.membership_classes import Classes, unions


@dataclass(frozen=True)
class CellTouches:
    """The members that touch each cell: ``classes`` (cells,) index ``table``; class 0 is untouched.

    Member p * moments + m of a class is an active lane of program p at moment m, and members from
    ``programs * moments`` on are masked-off lanes, as in `Heat`.
    """

    classes: Ints
    table: Classes
    moments: tuple[Moment, ...]


@dataclass(frozen=True)
class CoverPlace:
    """A tensor's place in a `Cover`: element 0 begins at unit ``base``, and each element takes ``wide`` units."""

    base: int
    wide: int


Touching = tuple[int, Ints, Ints]  # a tensor's number; classes of places where its elements lie, and their cells


class StridedArgument(StoredArgument, StridedLike, Protocol):
    """An argument with its place in memory."""


class StorageTouches:
    """The heats of ``tensors``, each from the accesses by its name; ``most`` is that of `heat`."""

    def __init__(
        self,
        tensors: Sequence[StoredArgument],
        accesses: Sequence[TimedAccess],
        programs: int,
        most: int | None = None,
    ) -> None:
        self.programs = programs
        self._accesses, self._most = accesses, most
        self.heats: list[Heat] = []
        for tensor in tensors:
            self.add(tensor)

    def add(self, tensor: StoredArgument) -> int:
        """Add a tensor and return its number."""
        mine = [one for one in self._accesses if one.argument == tensor.name]
        self.heats.append(heat(tensor, mine, self.programs, most=self._most))
        return len(self.heats) - 1

    def of_elements(self, tensor: int, cell_of_element: Ints, cells: int) -> CellTouches:
        """The touches of cells of one tensor's elements; elements with a cell below 0 are left out."""
        return self._of_tensor(tensor, _elements(self.heats[tensor]), cell_of_element, cells)

    def of_some(self, tensor: int, elements: Ints) -> CellTouches:
        """The touches of some elements of one tensor, a cell for each; numbers below 0 are no element."""
        cells = np.arange(len(elements))
        classes = self.heats[tensor].of_elements(np.maximum(elements, 0))
        return self._of_tensor(tensor, classes, np.where(elements >= 0, cells, -1), len(elements))

    def of_shape(self, tensor: int, along: Sequence[Along] | None, cells: int) -> CellTouches | None:
        """The touches of cells of a tensor's shape, from tiles (see `Tiles.falls`); None if tiles do not suffice."""
        found = self.heats[tensor]
        falls = None if found.own_tiles is None else found.own_tiles[0].falls(along, cells)
        if falls is None or found.own_tiles is None:
            return None
        own = found.own_tiles[1][falls.tile]
        classes, table, _ = unions(own, found.table, _no_flags(found.table), falls.group, falls.groups)
        return CellTouches(falls.spread(classes), table, found.moments)

    def along_storage(self, number: int, tensor: StridedArgument, place: CoverPlace, right: int) -> Touching:
        """The touches of one tensor in cells of ``right`` units along the storage.

        Computed from rows of its tiles if tiles are known, else from each element.
        """
        tiles = self.heats[number].own_tiles
        found = None if tiles is None else tiles_stretched(tiles[0], tuple(tensor.shape), tuple(tensor.strides))
        if found is None or tiles is None:
            own = offsets(tuple(tensor.shape), tuple(tensor.strides)) * place.wide + place.base
            cell = ((own[:, None] + np.arange(place.wide)) // right).reshape(-1)
            return number, np.repeat(_elements(self.heats[number]), place.wide), cell
        starts, lengths, tile = found
        stretch, cell = cells_of(starts * place.wide + place.base, lengths * place.wide, right)
        return number, tiles[1][tile[stretch]], cell

    def at_units(self, number: int, tensor: StridedArgument, place: CoverPlace, units: Ints) -> Touching:
        """The touches of one tensor in cells that are single ``units`` of the storage; numbers below 0 are no unit."""
        shape, strides = tuple(tensor.shape), tuple(tensor.strides)
        known = digits(shape, strides)
        there = np.flatnonzero(units >= 0)
        if known is None or 0 in strides:
            cell = np.full(int(units.max(initial=0)) + 2, -1, dtype=np.int64)
            cell[units[there]] = there
            own = offsets(shape, strides)[:, None] * place.wide + place.base + np.arange(place.wide)
            own = np.minimum(own.reshape(-1), len(cell) - 1)
            return number, np.repeat(_elements(self.heats[number]), place.wide), cell[own]
        element = known.element((units[there] - place.base) // place.wide)
        there, element = there[element >= 0], element[element >= 0]
        return number, self.heats[number].of_elements(element), there

    def of_cells(self, touching: Sequence[Touching], cells: int) -> CellTouches:
        """The touches of cells that contain elements of several tensors."""
        heats = [self.heats[tensor] for tensor, _, _ in touching]
        moments = tuple(moment for found in heats for moment in found.moments)
        size = self.programs * len(moments)
        starts, items, classes, bins = [np.zeros(1, dtype=np.int64)], [], [], []
        count, rows, before = 0, 0, 0
        for found, (_, of_place, cell) in zip(heats, touching, strict=True):
            own = len(found.moments)
            member = found.table.items
            masked = member >= self.programs * own
            within = member % max(1, self.programs * own)
            items.append(within // max(1, own) * len(moments) + before + within % max(1, own) + masked * size)
            starts.append(found.table.starts[1:] + count)
            own_classes, own_bins = _changes(of_place, cell)
            classes.append(own_classes + rows)
            bins.append(own_bins)
            count, rows, before = count + len(member), rows + len(found.table), before + own
        table = Classes(np.concatenate(starts), np.concatenate(items))
        found_classes, united, _ = unions(np.concatenate(classes), table, _no_flags(table), np.concatenate(bins), cells)
        return CellTouches(found_classes, united, moments)

    def _of_tensor(self, tensor: int, of_place: Ints, cell: Ints, cells: int) -> CellTouches:
        found = self.heats[tensor]
        classes, bins = _changes(of_place, cell)
        classes, table, _ = unions(classes, found.table, _no_flags(found.table), bins, cells)
        return CellTouches(classes, table, found.moments)


def _elements(found: Heat) -> Ints:
    """(elements,) the class of each element."""
    inside = found.inside
    return found.classes if inside.all() else found.classes[inside]


def _changes(classes: Ints, cell: Ints) -> tuple[Ints, Ints]:
    """The pairs without those that have no cell or repeat the pair before: of millions, few remain."""
    new = np.append(True, (classes[1:] != classes[:-1]) | (cell[1:] != cell[:-1]))[: len(cell)] & (cell >= 0)
    return classes[new], cell[new]


def _no_flags(table: Classes) -> npt.NDArray[np.bool_]:
    return np.zeros((len(table), 0), dtype=bool)
