"""Storage: tensors as they lie in memory, and the arithmetic from an index to its place."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.launch.maps.program_sample import MOST_LANES
from triton_lab.launch.maps.tensor_storage import (
    StridedLike,
    elements,
    is_contiguous,
    stored,
)
from triton_lab.localization import N_, _, all_translated
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing_text import nobody, some_of, table_lines
from triton_lab.views.drawing.heatmap import Heatmap
from triton_lab.views.launch.argument_names import names_in
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, unknown
from triton_lab.views.launch.launch_scenes import StorageHeatmap, StorageScene, TouchedScene, WindowScene
from triton_lab.views.launch.storage.storage_heatmaps import storage_grid, storage_strip
from triton_lab.views.launch.storage.storage_lanes import StorageLanes
from triton_lab.views.launch.storage.storage_places import StoragePlaces
from triton_lab.views.launch.storage.storage_styles import plain, told_apart
from triton_lab.views.launch.zoom_windows import finer_scene
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    import torch

    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

MOST_NOTES = 4  # overlaps that the static picture tells


def storage(*tensors: torch.Tensor, names: Sequence[str] | None = None) -> StorageView:
    """A picture of ``tensors`` in their storage. Default names are those of the caller's variables.

    >>> halves = torch.zeros(4, 6).split([2, 4], dim=1)
    >>> print(lab.storage(*halves, names=["left", "right"]).text())
           Shape   Stride  Offset       dtype    Bytes  Is contiguous  Storage
    left   (4, 2)  (6, 1)  0 (0 bytes)  float32  32     False          A
    right  (4, 4)  (6, 1)  2 (8 bytes)  float32  64     False          A
    """
    if not tensors:
        raise TypeError(_("storage() needs at least one tensor: storage(x)"))
    if names is None:
        names = names_in(sys._getframe(1), tensors, "tensor")
    if len(names) != len(tensors):
        raise ValueError(
            _("{tensors}, but {names}: {names_2}").format(
                tensors=messages.count(len(tensors), "tensor"),
                names=messages.count(len(names), "name"),
                names_2=", ".join(names),
            )
        )
    return StorageView([stored(tensor, name) for tensor, name in zip(tensors, names, strict=True)])


class StorageView(View):
    """Tensors in their storages.

    If they are arguments of a launch, the live picture follows the picked program, iteration and line; ``most`` is as
    in `Tiling`.
    """

    def __init__(self, tensors: Sequence[StridedLike], launch: Launch | None = None, most: int | None = None) -> None:
        self.tensors, self.launch = tuple(tensors), launch
        self.places = StoragePlaces(self.tensors)
        self.lanes = StorageLanes(self.places, launch, most)

    # --- Pictures ---------------------------------------------------------------------------------

    @cached_property
    def strips(self) -> list[Heatmap]:
        """Each memory as a line of units, wrapped into rows."""
        return [storage_strip(self.places, which, self.lanes) for which in range(len(self.places.memories))]

    @cached_property
    def grids(self) -> list[Heatmap]:
        """Each tensor in its own shape, coloured by place in storage."""
        return [storage_grid(self.places, number) for number in range(len(self.tensors))]

    # --- Words ------------------------------------------------------------------------------------

    HEADINGS = (
        "", N_("Shape"), N_("Stride"), N_("Offset"), N_("dtype"), N_("Bytes"), N_("Is contiguous"), N_("Storage"),
    )  # fmt: skip

    def table(self) -> list[tuple[str, ...]]:
        """One row for each tensor, below `HEADINGS`."""
        letters = {number: memory.letter for memory in self.places.memories for number in memory.tensors}
        return [
            (
                tensor.name,
                str(tuple(tensor.shape)),
                str(tuple(tensor.strides)),
                f"{tensor.offset} ({messages.count(tensor.offset * tensor.itemsize, 'byte')})",
                tensor.dtype,
                messages.number(elements(tensor) * tensor.itemsize),
                str(is_contiguous(tensor)),
                letters[number],
            )
            for number, tensor in enumerate(self.tensors)
        ]

    def overlaps(self) -> list[str]:
        """A sentence for each two tensors that share bytes."""
        found = []
        for covering in self.places.covers:
            for place, one in enumerate(covering.tensors):
                for other in covering.tensors[place + 1 :]:
                    shared = covering.overlap(one, other)
                    if shared:
                        a, b = self.tensors[one].name, self.tensors[other].name
                        found.append(
                            _("{a} and {b} share {bytes}").format(a=a, b=b, bytes=messages.count(shared, "byte"))
                        )
        return found

    def title(self) -> str:
        return _("Storage of {tensors}").format(tensors=", ".join(tensor.name for tensor in self.tensors))

    def text(self) -> str:
        return "\n".join([*table_lines([all_translated(self.HEADINGS), *self.table()]), *self.overlaps()])

    def scene(self) -> StorageScene:
        return {
            "kind": "storage",
            "headings": list(all_translated(self.HEADINGS)),
            "table": [list(row) for row in self.table()],
            "tensors": [
                {
                    "name": tensor.name,
                    "shape": list(tensor.shape),
                    "strides": list(tensor.strides),
                    "offset": tensor.offset,
                    "itemsize": tensor.itemsize,
                    "memory": self.places.which(number),
                    "start": tensor.storage_address - self.places.memories[self.places.which(number)].address,
                }
                for number, tensor in enumerate(self.tensors)
            ],
            "memories": [
                {"letter": memory.letter, "unit": found.unit, "tensors": list(found.tensors)}
                for memory, found in zip(self.places.memories, self.places.covers, strict=True)
            ],
            **self._touched_scene(),
        }

    def _touched_scene(self) -> TouchedScene:
        """The pictures; if a launch touches their cells, also which programs touch each cell."""
        found = self.lanes.touching
        if self.launch is None or found is None:
            return {
                "launchGrid": None,
                "strips": [self._finer(plain(one), one, "strip", k) for k, one in enumerate(self.strips)],
                "grids": [self._finer(plain(one), one, "grid", k) for k, one in enumerate(self.grids)],
                "overlaps": self.overlaps(),
                "nobody": nobody(None),
            }
        programs = self.launch.programs
        left = [
            _("programs that access {tensor}{some}").format(tensor=tensor.name, some=some_of(one.shown, programs))
            for tensor, one in zip(self.tensors, found.heats, strict=False)  # the remaining heats are those of `wider`
            if one.shown is not None
        ]
        grids = []
        for number, grid in enumerate(self.grids):
            touched = found.of_shape(number, grid.layout.along(), grid.layout.cells)
            if touched is None:
                touched = found.of_elements(number, grid.layout.cell_of_position(), grid.layout.cells)
            grids.append(told_apart(grid, touched))
        strips = []
        for which, strip in enumerate(self.strips):
            there = [
                found.along_storage(*self.lanes.seen_through(number), strip.layout.right)
                for number in self.places.covers[which].tensors
            ]
            strips.append(told_apart(strip, found.of_cells(there, strip.layout.cells)))
        return {
            "launchGrid": list(self.launch.grid),
            "strips": [self._finer(one, self.strips[k], "strip", k) for k, one in enumerate(strips)],
            "grids": [self._finer(one, self.grids[k], "grid", k) for k, one in enumerate(grids)],
            "overlaps": [*self.overlaps(), *left],
            "nobody": nobody(0 if left else None),
        }

    def _finer(self, scene: StorageHeatmap, heatmap: Heatmap, what: str, number: int) -> StorageHeatmap:
        return {**scene, **finer_scene(f"storage/{what}/{number}", heatmap.layout, None)}

    @property
    def has_parts(self) -> bool:
        return any(one.layout.binned for one in (*self.strips, *self.grids))

    def part(self, name: str) -> WindowScene:
        from triton_lab.views.launch.storage.storage_window import storage_window

        return storage_window(self, name)

    def pieces(self) -> list[Drawing]:
        """The table, each storage's strip, and each tensor in its shape."""
        from triton_lab.views.drawing.drawing_pieces import paragraphs, side_by_side, table

        looks = [(*(style.tensor_colour(number, 11),) * 3, style.PLAIN) for number in range(len(self.tensors))]
        strips = [piece for strip in self.strips for piece in side_by_side([strip])]
        notes = paragraphs(self.overlaps()[:MOST_NOTES])
        return [
            table([all_translated(self.HEADINGS), *self.table()], looks),
            *notes,
            *strips,
            *side_by_side(self.grids),
        ]


class StoragePanel(Panel):
    """The tensor arguments in their storages, and the programs that touch them."""

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> StorageView:
        if len(path) > 1:
            raise unknown(path)
        return self._storage

    def scene(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Scene:
        """The scene, or that of a window if the path names one."""
        return self._storage.part("/".join(path)) if path[1:] else super().scene(path, first, numbers)

    @cached_property
    def _storage(self) -> StorageView:
        return StorageView(self.card.tensors[: self.card.MOST_ARGUMENTS], self.launch, MOST_LANES)

    def drawn(self) -> list[StorageView]:
        return [self._storage]

    def text(self) -> list[str]:
        """No lines: the card's own table has them."""
        return []
