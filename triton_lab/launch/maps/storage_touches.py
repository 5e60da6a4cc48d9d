"""Who touches the places of a storage: for the cells of a tensor's picture, and for those of the storage's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from triton_lab.launch.classes import Classes, unions
from triton_lab.launch.maps.heat import Heat, heat
from triton_lab.launch.maps.lanes import Moment
from triton_lab.launch.maps.positions import StoredArgument, TimedAccess
from triton_lab.launch.places import Ints


@dataclass(frozen=True)
class CellTouches:
    """``classes`` (cells,) index ``table``; class 0 is touched by nobody.

    Member p * moments + m of a class is an active lane of program p at moment m, and from
    ``programs * moments`` on a masked one, as in `heat`.
    """

    classes: Ints
    table: Classes
    moments: tuple[Moment, ...]


class StorageTouches:
    """What accesses do to ``tensors``, each through its own name; ``most`` is that of `heat`."""

    def __init__(
        self,
        tensors: Sequence[StoredArgument],
        accesses: Sequence[TimedAccess],
        programs: int,
        most: int | None = None,
    ) -> None:
        self.programs = programs
        self.heats: list[Heat] = [
            heat(tensor, [one for one in accesses if one.argument == tensor.name], programs, most=most)
            for tensor in tensors
        ]

    def of_elements(self, tensor: int, cell_of_element: Ints, cells: int) -> CellTouches:
        """Cells that stand for elements of one tensor; elements with a cell below 0 are left out."""
        found = self.heats[tensor]
        classes, bins = _changes(_elements(found), cell_of_element)
        classes, table, _ = unions(classes, found.table, _no_flags(found.table), bins, cells)
        return CellTouches(classes, table, found.moments)

    def of_storage(self, places: Sequence[tuple[int, Ints]], cells: int) -> CellTouches:
        """Cells of a storage: ``places`` are a tensor's number and (elements, n) the n cells of each element,
        of which those below 0 are left out."""
        heats = [self.heats[tensor] for tensor, _ in places]
        moments = tuple(moment for found in heats for moment in found.moments)
        size = self.programs * len(moments)
        starts, items, classes, bins = [np.zeros(1, dtype=np.int64)], [], [], []
        count, rows, before = 0, 0, 0
        for found, (_, cell) in zip(heats, places, strict=True):
            own = len(found.moments)
            member = found.table.items
            masked = member >= self.programs * own
            within = member % max(1, self.programs * own)
            items.append(within // max(1, own) * len(moments) + before + within % max(1, own) + masked * size)
            starts.append(found.table.starts[1:] + count)
            of_elements = _elements(found)
            if cell.shape[1] > 1:
                of_elements = np.repeat(of_elements, cell.shape[1])
            own_classes, own_bins = _changes(of_elements, cell.reshape(-1))
            classes.append(own_classes + rows)
            bins.append(own_bins)
            count, rows, before = count + len(member), rows + len(found.table), before + own
        table = Classes(np.concatenate(starts), np.concatenate(items))
        found_classes, united, _ = unions(np.concatenate(classes), table, _no_flags(table), np.concatenate(bins), cells)
        return CellTouches(found_classes, united, moments)


def _elements(found: Heat) -> Ints:
    """(elements,) the class of each."""
    inside = found.inside
    return found.classes if inside.all() else found.classes[inside]


def _changes(classes: Ints, cell: Ints) -> tuple[Ints, Ints]:
    """The same without what has no cell or says again what stands before it: of millions of elements few are left."""
    new = np.append(True, (classes[1:] != classes[:-1]) | (cell[1:] != cell[:-1]))[: len(cell)] & (cell >= 0)
    return classes[new], cell[new]


def _no_flags(table: Classes) -> npt.NDArray[np.bool_]:
    return np.zeros((len(table), 0), dtype=bool)
