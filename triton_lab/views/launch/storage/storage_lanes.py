"""The lanes of a launch that touch tensors in their storages, also outside of the tensors' elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.launch.maps.storage_accesses import CoverPlace, StorageTouches
from triton_lab.launch.membership_classes import distinct
from triton_lab.localization import _
from triton_lab.views.drawing.cell_layout import CellLayout
from triton_lab.views.drawing.heatmap import Mark
from triton_lab.views.launch.argument_names import tensor_argument
from triton_lab.views.launch.finding_marks import outline
from triton_lab.views.launch.storage.storage_places import StoragePlaces

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True)
class StorageLanes:
    """The lanes of ``launch``, if there is one, at the ``places`` of its tensors; ``most`` is as in `Tiling`."""

    places: StoragePlaces
    launch: Launch | None = None
    most: int | None = None

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
        for number, heat in enumerate(self.touching.heats[: len(self.places.tensors)]):
            own, place = self.named[number], self.places.place(number)
            if not own.itemsize or not heat.leaves:
                continue
            units = self.places.cover_of(number).units
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
        return self.wider.get(number) or (number, self.named[number], self.places.place(number))

    def outside(self, tensors: Sequence[int], shown: CellLayout) -> list[Mark]:
        """The places that lanes touch through one of ``tensors`` outside its elements, marked in a picture of units."""
        found = []
        for row, number in enumerate(tensors):
            if self.touching is None or number not in self.wider:
                continue
            asked, wide, place = self.wider[number]
            heat, covering = self.touching.heats[asked], self.places.cover_of(number)
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

    @cached_property
    def named(self) -> list[Argument]:
        """The arguments of the launch that the tensors are."""
        if self.launch is None:
            return []
        return [tensor_argument(self.launch, tensor.name) for tensor in self.places.tensors]
