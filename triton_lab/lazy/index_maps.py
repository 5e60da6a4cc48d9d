"""Index maps: the element of a base at each coordinate of a view.

A view has no memory of its own; it is a formula, `offset + sum(coordinate * stride)`, in elements of its base. Every
base in this package is contiguous, so a map contains all information about strides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a contiguous tensor of this shape, in elements."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all of these broadcast to. Raises torch's RuntimeError if there is none."""
    return tuple(torch.broadcast_shapes(*shapes))  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Map:
    """The elements of a contiguous base that a view of `shape` shows; strides and offset in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @classmethod
    @lru_cache(maxsize=1024)
    def whole(cls, shape: tuple[int, ...]) -> Map:
        """The map of every element of a contiguous base of this shape, in order."""
        return cls(shape, row_major(shape))

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Map:
        """The map of a torch tensor onto its storage."""
        return cls(tuple(tensor.shape), tuple(tensor.stride()), int(tensor.storage_offset()))

    def twin(self) -> torch.Tensor:
        """A torch tensor without memory that has this map; torch applies view operations to it."""
        return torch.empty(self.last + 1, device="meta").as_strided(self.shape, self.strides, self.offset)

    @cached_property
    def numel(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def last(self) -> int:
        """The highest element that the map reaches (the offset, if the shape is empty)."""
        if self.numel == 0:
            return self.offset
        return self.offset + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))

    @cached_property
    def dims(self) -> tuple[tuple[int, int], ...]:
        """(size, stride) pairs, outermost first, without dimensions of size 1 and with mergeable neighbours merged.

        Two views with equal `dims` and `offset` visit the same elements in the same order.
        """
        merged: list[tuple[int, int]] = []
        for size, stride in zip(self.shape, self.strides, strict=True):
            if size == 1:
                continue
            if merged and merged[-1][1] == size * stride:
                merged[-1] = (merged[-1][0] * size, stride)
            else:
                merged.append((size, stride))
        return tuple(merged)

    def same_elements(self, other: Map) -> bool:
        """Whether both visit the same elements of the base in the same order, whatever their shapes."""
        return self.offset == other.offset and self.dims == other.dims

    def covers(self, numel: int) -> bool:
        """Whether the map visits every element of a base of `numel` elements, in the order of the base."""
        if self.numel != numel:
            return False
        return numel == 0 or (self.offset == 0 and self.dims in ((), ((numel, 1),)))

    @property
    def repeats(self) -> bool:
        """Whether two coordinates give one element (an expanded dimension): such a view cannot be written."""
        return any(stride == 0 for size, stride in self.dims if size > 1)

    def apart(self, other: Map) -> bool:
        """Whether the ranges of both do not overlap. Two maps with interleaved elements count as overlapping."""
        return self.last < other.offset or other.last < self.offset

    def address(self, index: str) -> str:
        """Python text for the element at position `index` (the name of a linear, row-major position)."""
        terms = [str(self.offset)] if self.offset else []
        inner = 1
        for level, (size, stride) in enumerate(reversed(self.dims)):
            if stride:
                coordinate = index if inner == 1 else f"{index} // {inner}"
                if level + 1 < len(self.dims):
                    coordinate += f" % {size}"
                terms.append(coordinate if stride == 1 else f"{coordinate} * {stride}")
            inner *= size
        if not any(stride for _, stride in self.dims):
            terms.append(f"{index} * 0")  # one element for every lane: gives it the block's shape
        return " + ".join(reversed(terms))

    def __str__(self) -> str:
        offset = f" + {self.offset}" if self.offset else ""
        return f"{self.shape}, strides {self.strides}{offset}"
