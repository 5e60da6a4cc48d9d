"""The cells of origins: those that a store wrote, and those from which a value was loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from triton_lab.launch.maps.last_writer import StoredBy, StoredByTiles
from triton_lab.views.drawing.cell_layout import CellLayout, layout
from triton_lab.views.drawing.heatmap import buffer, narrow
from triton_lab.views.drawing.picture_window import asked
from triton_lab.views.launch.accesses.iteration_marks import ROOM, STORED_HERE, Marked
from triton_lab.views.launch.launch_scenes import LastValues, StoredScene, WindowScene

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.replay.value_origin import Origin

Ints = npt.NDArray[np.int64]

_AT_ONCE = 1 << 20  # elements that are looked at


@dataclass(frozen=True)
class StoredCells:
    """The cells of an argument, and the lanes that ``stored`` to its elements."""

    argument: Argument
    stored: StoredBy | StoredByTiles

    @property
    def layout(self) -> CellLayout:
        return layout(self.argument.shape, room=ROOM)

    @cached_property
    def first(self) -> Ints:
        """The first stored element (cells,) in each cell of the argument, -1 for none."""
        shown = self.layout
        found = np.full(shown.cells, -1, dtype=np.int64)
        cells, first = shown.first_of_cell()
        there = self.stored.there(first)
        found[cells[there]] = first[there]
        maybe = self.stored.cells(shown.along(), shown.cells)
        left = cells[~there & (True if maybe is None else maybe[cells])]
        for some in np.array_split(left, -(-len(left) * shown.down * shown.right // _AT_ONCE)) if len(left) else []:
            elements = shown.positions_in(some)
            stored = (elements >= 0) & self.stored.there(np.maximum(elements, 0))
            one = elements[np.arange(len(some)), stored.argmax(axis=1)]
            found[some] = np.where(stored.any(axis=1), one, -1)
        return found

    def askable(self) -> npt.NDArray[np.int64]:
        """The elements that a click can pick, ascending."""
        cells = self.first
        return np.sort(cells[cells >= 0])

    def through(self, name: str, finer: str) -> WindowScene:
        """A window of single elements."""
        shown = self.layout
        positions = asked(name, finer, shown).positions(shown.fine)
        elements = np.unique(positions[positions >= 0])
        elements = elements[self.stored.there(elements)]
        return Marked(self.argument, elements, np.zeros_like(elements), "", "").through(name, finer, STORED_HERE)

    def scene(self, finer: str, values: LastValues, line: int | None, grid: Sequence[int]) -> StoredScene:
        """The elements that can be picked; ``finer`` names windows of single ones."""
        nothing = np.zeros(0, np.int64)
        return {
            **Marked(self.argument, nothing, nothing, "", "").as_scene(finer),
            **values,
            "argument": self.argument.name,
            "shape": list(self.argument.shape),
            "line": line,
            # The first element of each cell that this store wrote, + 1; and that of each program.
            "elements": buffer(narrow(self.first + 1)),
            "first": buffer((self.stored.first + 1).astype(np.uint32)),
            "grid": list(grid),
        }


def needed_elements(origins: Sequence[Origin]) -> dict[str, tuple[Ints, Ints]]:
    """For each argument that matters: its elements, ascending, and the iterations that first loaded them."""
    found: dict[str, list[tuple[Ints, int]]] = {}
    for origin in origins:
        if origin.argument is not None:
            inside = origin.elements[origin.elements >= 0]
            found.setdefault(origin.argument, []).append((inside, origin.iteration))
    result = {}
    for name, brought in found.items():
        together = np.concatenate([elements for elements, _unused in brought])
        iterations = np.concatenate([np.full(len(elements), iteration) for elements, iteration in brought])
        elements, first = np.unique(together, return_index=True)
        result[name] = elements, iterations[first]
    return result


def loading_lines(origins: Sequence[Origin], picture: Marked) -> tuple[list[int], list[Ints]]:
    """The lines that loaded the elements of a picture, ascending, and, if these differ, the cells of each."""
    brought: dict[int | None, list[Ints]] = {}
    for origin in origins:
        if origin.argument == picture.argument.name:
            brought.setdefault(origin.line, []).append(origin.elements[origin.elements >= 0])
    lines = sorted(line for line in brought if line is not None)
    cells = [np.unique(picture.layout.cells_at(np.concatenate(brought[line]))) for line in lines]
    return lines, [] if len(brought) == 1 else cells
