"""Storage: tensors as they lie in memory, and the arithmetic from an index to its place.

The colour of an element is its place in storage, pale at the start and strong at the end: a
contiguous tensor darkens in reading order, a transposed one down its columns, an expanded one
repeats itself, and a slice leaves gaps in the storage's strip.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab import messages
from triton_lab.launch.element_index import Ints, offsets, offsets_at
from triton_lab.launch.maps.program_sample import MOST_LANES
from triton_lab.launch.maps.storage_accesses import CoverPlace, StorageTouches
from triton_lab.launch.maps.storage_spans import united
from triton_lab.launch.maps.tensor_storage import (
    Cover,
    SharedStorage,
    StridedLike,
    cover,
    elements,
    is_contiguous,
    memories,
    stored,
    traits,
)
from triton_lab.launch.membership_classes import distinct
from triton_lab.localization import N_, _, all_translated
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout, layout
from triton_lab.views.drawing.drawing_text import nobody, panel_names, shape_text, some_of, step_names, table_lines
from triton_lab.views.drawing.heatmap import Heatmap, Key, Label, Mark, narrow
from triton_lab.views.drawing.region_labels import MOST, cell_labels
from triton_lab.views.launch.argument_names import names_in, tensor_argument
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, unknown
from triton_lab.views.launch.finding_marks import outline
from triton_lab.views.launch.launch_scenes import StorageHeatmap, StorageScene, TouchedScene, WindowScene
from triton_lab.views.launch.storage.storage_styles import BARE, grid_styles, look, plain, strip_styles, told_apart
from triton_lab.views.launch.zoom_windows import finer_scene
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    import torch

    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

GRID_ROOM = (290.0, 240.0)  # for one tensor beside others
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
        self.most = most
        self.tensors = tuple(tensors)
        self.memories = memories(self.tensors)
        self.launch = launch

    @cached_property
    def covers(self) -> list[Cover]:
        """The cover of each memory: which tensors lie at each place."""
        return [cover(self.tensors, memory) for memory in self.memories]

    # --- Pictures ---------------------------------------------------------------------------------

    @cached_property
    def strips(self) -> list[Heatmap]:
        """Each memory as a line of units, wrapped into rows."""
        return [self._strip(memory, found) for memory, found in zip(self.memories, self.covers, strict=True)]

    def _strip(self, memory: SharedStorage, found: Cover) -> Heatmap:
        units = found.units
        shown = layout((units,), (-found.first,), self._row(found))
        starts = np.arange(0, units, shown.right)
        ends = np.minimum(starts + shown.right, units)
        sets = united(found.stretch_sets, found.edges, starts, ends)
        several = united(found.several, found.edges, starts, ends) > 0
        partly = (united(found.stretch_sets == 0, found.edges, starts, ends) > 0) & (sets != 0)
        level = np.arange(len(sets)) * style.TENSOR_LEVELS // max(1, len(sets))
        kinds, kind = np.unique(sets * 4 + partly * 2 + several, return_inverse=True)
        cells = np.zeros(shown.cells, dtype=np.int64)
        cells[: len(sets)] = 1 + kind.reshape(-1) * style.TENSOR_LEVELS + level
        styles = strip_styles(found.tensors, kinds)
        title = _("storage {letter}: {bytes}").format(letter=memory.letter, bytes=messages.count(memory.nbytes, "byte"))
        if found.unit != memory.nbytes:
            title = _("{title}, {units} of {bytes}").format(
                title=title,
                units=messages.count(memory.nbytes // found.unit, "unit"),
                bytes=messages.count(found.unit, "byte"),
            )
        groups = np.concatenate([[0], 1 + np.repeat(np.arange(len(kinds)), style.TENSOR_LEVELS)])
        return Heatmap(
            shown,
            narrow(cells),
            np.array(styles, dtype=np.uint16),
            marks=self.outside(found.tensors, shown),
            title=title,
            labels=_numbers(shown, lambda: np.arange(units) + found.first, style.ROOM),
            legend=self._legend(found, kinds),
            groups=groups,
            noun="byte" if found.unit == 1 else "unit",
        )

    def _row(self, found: Cover) -> int | None:
        """A row length that is a multiple of the longest stride, so that rows of tensors line up, or None."""
        strides = [
            stride * self.tensors[t].itemsize // found.unit
            for t in found.tensors
            for stride, size in zip(self.tensors[t].strides, self.tensors[t].shape, strict=True)
            if size > 1
        ]
        longest = max(strides, default=0)
        row = longest * max(1, 32 // max(1, longest))
        return row if 2 <= longest <= 256 and 32 < found.units <= 100 * row else None

    def _legend(self, found: Cover, kinds: np.ndarray[Any, Any]) -> list[Key]:
        keys = [Key(look([t], False, 11), self.tensors[t].name) for t in found.tensors if elements(self.tensors[t])]
        if (np.bitwise_count(kinds >> 2) > 1).any():
            keys.append(Key(look(list(found.tensors[:3]), False, 11), _("shared by several tensors")))
        if (kinds & 1).any():
            keys.append(Key(look([found.tensors[0]], True, 11), _("several elements at one place")))
        if (kinds & 2).any():
            keys.append(Key(look([found.tensors[0]], False, 11, style.HATCH), "partly"))
        if (kinds >> 2 == 0).any():
            keys.append(Key(BARE, _("in none of them")))
        return keys

    @cached_property
    def grids(self) -> list[Heatmap]:
        """Each tensor in its own shape, coloured by place in storage."""
        return [self._grid(number) for number in range(len(self.tensors))]

    def _grid(self, number: int) -> Heatmap:
        tensor = self.tensors[number]
        which = next(k for k, memory in enumerate(self.memories) if number in memory.tensors)
        found = self.covers[which]
        room = GRID_ROOM if len(self.tensors) > 1 else (style.ROOM[0], 320.0)
        shown = layout(tuple(tensor.shape), room=room)
        there, first = shown.first_of_cell()
        unit = self.unit_at(number, offsets_at(first, tensor.shape, tensor.strides))
        level = np.clip(unit * style.TENSOR_LEVELS // max(1, found.units), 0, style.TENSOR_LEVELS - 1)
        cells = np.zeros(shown.cells, dtype=np.uint8)
        cells[there] = 1 + level
        return Heatmap(
            shown,
            cells,
            np.array(grid_styles(number), dtype=np.uint16),
            title=f"{tensor.name} ({shape_text(tensor.shape)}): {', '.join(traits(tensor))}",
            labels=_numbers(shown, lambda: tensor.offset + offsets(tensor.shape, tensor.strides), room),
            panel_names=panel_names(tensor.shape, (0,) * len(tensor.shape), shown.panels),
            steps=step_names(tensor, shown.wrapped),
            room=room,
        )

    # --- Words ------------------------------------------------------------------------------------

    HEADINGS = (
        "", N_("Shape"), N_("Stride"), N_("Offset"), N_("dtype"), N_("Bytes"), N_("Is contiguous"), N_("Storage"),
    )  # fmt: skip

    def table(self) -> list[tuple[str, ...]]:
        """One row for each tensor, below `HEADINGS`."""
        letters = {number: memory.letter for memory in self.memories for number in memory.tensors}
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
        for covering in self.covers:
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
                    "memory": next(k for k, memory in enumerate(self.memories) if number in memory.tensors),
                    "start": tensor.storage_address - self._memory_of(number).address,
                }
                for number, tensor in enumerate(self.tensors)
            ],
            "memories": [
                {"letter": memory.letter, "unit": found.unit, "tensors": list(found.tensors)}
                for memory, found in zip(self.memories, self.covers, strict=True)
            ],
            **self._touched_scene(),
        }

    def _touched_scene(self) -> TouchedScene:
        """The pictures; if a launch touches their cells, also which programs touch each cell."""
        found = self.touching
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
                found.along_storage(*self.seen_through(number), strip.layout.right)
                for number in self.covers[which].tensors
            ]
            strips.append(told_apart(strip, found.of_cells(there, strip.layout.cells)))
        return {
            "launchGrid": list(self.launch.grid),
            "strips": [self._finer(one, self.strips[k], "strip", k) for k, one in enumerate(strips)],
            "grids": [self._finer(one, self.grids[k], "grid", k) for k, one in enumerate(grids)],
            "overlaps": [*self.overlaps(), *left],
            "nobody": nobody(0 if left else None),
        }

    @cached_property
    def touching(self) -> StorageTouches | None:
        """The touches of the tensors, if a launch touches any."""
        if self.launch is None or not any(access.argument for access in self.launch.accesses):
            return None
        return StorageTouches(self.named, self.launch.done, self.launch.programs, self.most)

    @cached_property
    def wider(self) -> dict[int, tuple[int, Argument, CoverPlace]]:
        """The wider arguments, by tensors whose lanes leave their view.

        Such an argument has all of the shown storage as its elements; the number before it is its place in `touching`.
        """
        found: dict[int, tuple[int, Argument, CoverPlace]] = {}
        if self.touching is None:
            return found
        for number, heat in enumerate(self.touching.heats[: len(self.tensors)]):
            own, place = self.named[number], self.place(number)
            if not own.itemsize or not heat.leaves:
                continue
            units = self._cover_of(number).units
            before = place.base // place.wide
            first = place.base - before * place.wide
            wide = replace(
                own,
                shape=((units - first) // place.wide,),
                strides=(1,),
                offset=own.offset - before,
                address=own.address - before * own.itemsize,
            )
            found[number] = self.touching.add(wide), wide, CoverPlace(first, place.wide)
        return found

    def seen_through(self, number: int) -> tuple[int, Argument, CoverPlace]:
        """The arguments to pass to `touching` for the units that a tensor's lanes touch."""
        return self.wider.get(number) or (number, self.named[number], self.place(number))

    def outside(self, tensors: Sequence[int], shown: CellLayout) -> list[Mark]:
        """The places that lanes touch through one of ``tensors`` outside its elements, marked in a picture of units."""
        found = []
        for row, number in enumerate(tensors):
            if self.touching is None or number not in self.wider:
                continue
            asked, wide, place = self.wider[number]
            heat, covering = self.touching.heats[asked], self._cover_of(number)
            touched = (heat.active.counts > 0)[heat.classes[heat.inside]]
            units = np.flatnonzero(touched) * place.wide + place.base
            units = units[covering.stretch_sets[covering.stretch_at(units)] >> row & 1 == 0]
            if len(units):
                cells = distinct(((units[:, None] + np.arange(place.wide)) // shown.right).reshape(-1))
                told = messages.count(len(units), "element")
                found.append(
                    outline(
                        _("touched through {name}, outside its view: {told}").format(name=wide.name, told=told),
                        cells,
                        shown,
                    )
                )
        return found

    def _cover_of(self, number: int) -> Cover:
        return next(one for one in self.covers if number in one.tensors)

    @cached_property
    def named(self) -> list[Argument]:
        """The arguments of the launch that the tensors are."""
        return [] if self.launch is None else [tensor_argument(self.launch, tensor.name) for tensor in self.tensors]

    def _finer(self, scene: StorageHeatmap, heatmap: Heatmap, what: str, number: int) -> StorageHeatmap:
        return {**scene, **finer_scene(f"storage/{what}/{number}", heatmap.layout, None)}

    @property
    def has_parts(self) -> bool:
        return any(one.layout.binned for one in (*self.strips, *self.grids))

    def part(self, name: str) -> WindowScene:
        from triton_lab.views.launch.storage.storage_window import storage_window

        return storage_window(self, name)

    def place(self, number: int) -> CoverPlace:
        """The place of a tensor in the cover of its memory."""
        tensor = self.tensors[number]
        which = next(k for k, memory in enumerate(self.memories) if number in memory.tensors)
        found = self.covers[which]
        base = (tensor.storage_address - self.memories[which].address) // found.unit - found.first
        wide = tensor.itemsize // found.unit
        return CoverPlace(base + tensor.offset * wide, wide)

    def unit_at(self, number: int, own: Ints) -> Ints:
        """The first unit (counted from the cover's first) of elements at these distances from element 0."""
        place = self.place(number)
        return own * place.wide + place.base

    def _memory_of(self, number: int) -> SharedStorage:
        return next(memory for memory in self.memories if number in memory.tensors)

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


def _numbers(shown: CellLayout, numbers: Callable[[], Ints], room: tuple[float, float]) -> list[Label]:
    """The label of each cell: a number, in reading order."""
    if shown.binned or shown.cells > MOST:  # cells get no labels
        return []
    told = [""] * shown.cells
    for cell, number in zip(shown.cell_of_position().tolist(), numbers().tolist(), strict=True):
        told[cell] = str(number)
    return cell_labels(shown, told, room)


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
