"""The places of tensors in the memories that they share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.storage_accesses import CoverPlace
from triton_lab.launch.maps.tensor_storage import Cover, SharedStorage, StridedLike, cover, memories


@dataclass(frozen=True)
class StoragePlaces:
    """The memories of ``tensors``, which are called by their numbers, and what lies where in each."""

    tensors: tuple[StridedLike, ...]

    @cached_property
    def memories(self) -> list[SharedStorage]:
        """The memories, each with its tensors."""
        return memories(self.tensors)

    @cached_property
    def covers(self) -> list[Cover]:
        """The cover of each memory: which tensors lie at each place."""
        return [cover(self.tensors, memory) for memory in self.memories]

    def which(self, number: int) -> int:
        """The number of a tensor's memory."""
        return next(k for k, memory in enumerate(self.memories) if number in memory.tensors)

    def cover_of(self, number: int) -> Cover:
        """The cover of a tensor's memory."""
        return self.covers[self.which(number)]

    def place(self, number: int) -> CoverPlace:
        """The place of a tensor in the cover of its memory."""
        tensor, which = self.tensors[number], self.which(number)
        found = self.covers[which]
        base = (tensor.storage_address - self.memories[which].address) // found.unit - found.first
        wide = tensor.itemsize // found.unit
        return CoverPlace(base + tensor.offset * wide, wide)

    def unit_at(self, number: int, own: Ints) -> Ints:
        """The first unit (counted from the cover's first) of elements at these distances from element 0."""
        place = self.place(number)
        return own * place.wide + place.base
