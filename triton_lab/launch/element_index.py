"""The inverse of a tensor's strides: from an offset back to the element.

Strides may be 0, negative, transposed, with gaps, or overlapping. If several elements share one offset, the first of
them in row-major order represents all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

DENSE = 8  # a table over the whole span is used if the span is at most this many times the elements


def offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> Ints:
    """The offset of each element from element 0, ``(elements,)`` in row-major order, in elements."""
    total = np.zeros((1,) * len(shape) or (1,), dtype=np.int64)
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        along = np.arange(size, dtype=np.int64) * stride
        total = total + along.reshape((-1,) + (1,) * (len(shape) - axis - 1))
    return total.reshape(-1)


def offsets_at(positions: Ints, shape: tuple[int, ...], strides: tuple[int, ...]) -> Ints:
    """`offsets` of some elements alone, given by their row-major numbers."""
    total = np.zeros(len(positions), dtype=np.int64)
    for size, stride in zip(shape[::-1], strides[::-1], strict=True):
        positions, index = np.divmod(positions, max(1, size))
        total += index * stride
    return total


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of a row-major array without gaps."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


@dataclass(frozen=True)
class ElementPlaces:
    """The distinct places (offsets) of a tensor's elements.

    ``known`` are the offsets in ascending order, and ``first`` is the first element at each.
    ``first_of`` (elements,) is the first element at each element's place; None if all places differ.
    """

    elements: int
    known: Ints
    first: Ints
    first_of: Ints | None
    low: int
    table: Ints | None  # first element by offset - low, -1 for none; None where the span is too wide

    def element(self, offset: Ints) -> Ints:
        """The first element at each offset, -1 where the tensor has none. Keeps the shape."""
        if not self.elements:
            return np.full(offset.shape, -1, dtype=np.int64)
        if self.table is not None:
            inside = (offset >= self.low) & (offset - self.low < len(self.table))
            return np.where(inside, self.table[np.where(inside, offset - self.low, 0)], -1)
        at = np.minimum(np.searchsorted(self.known, offset), len(self.known) - 1)
        return np.where(self.known[at] == offset, self.first[at], -1)


@dataclass(frozen=True)
class Digits:
    """The places of a tensor whose elements never overlap: strides split an offset as a number splits into digits.

    ``steps`` has for each dimension its stride, its extent, and its row-major weight (below 0 if the stride is),
    the widest stride first. ``low`` is the smallest offset, and ``first`` the element there.
    """

    low: int
    first: int
    steps: tuple[tuple[int, int, int], ...]

    @cached_property
    def _plain(self) -> int | None:
        """The number of elements if the tensor is contiguous in row-major order (offset = element), else None."""
        count = math.prod(extent for _, extent, _ in self.steps)
        plain = self.low == 0 and tuple(stride for stride, _, _ in self.steps) == contiguous_strides(
            tuple(extent for _, extent, _ in self.steps)
        )
        return count if plain and all(stride == weight for stride, _, weight in self.steps) else None

    def element(self, offset: Ints) -> Ints:
        """The element at each offset, -1 where the tensor has none. Keeps the shape."""
        if self._plain is not None:
            beside = (offset < 0) | (offset >= self._plain)
            return np.where(beside, -1, offset) if beside.any() else offset
        rest = offset - self.low
        inside = rest >= 0
        element = np.full(offset.shape, self.first, dtype=np.int64)
        for stride, extent, weight in self.steps:
            index = rest // stride
            rest = rest - index * stride
            inside &= index < extent
            element += index * weight
        return np.where(inside & (rest == 0), element, -1)


def digits(shape: tuple[int, ...], strides: tuple[int, ...]) -> Digits | None:
    """The `Digits` of a tensor; None if steps of one dimension may overlap those of another."""
    if 0 in shape:
        return None
    low, first, reach = 0, 0, 1
    steps: list[tuple[int, int, int]] = []
    axes = [
        (abs(stride), stride, extent, weight)
        for stride, extent, weight in zip(strides, shape, contiguous_strides(shape), strict=True)
        if stride and extent > 1  # a stride of 0 puts all elements in one place: the first represents them
    ]
    for step, stride, extent, weight in sorted(axes):
        if step < reach:
            return None
        reach += step * (extent - 1)
        if stride < 0:
            low += stride * (extent - 1)
            first += weight * (extent - 1)
        steps.insert(0, (step, extent, weight if stride > 0 else -weight))
    return Digits(low, first, tuple(steps))


def places(shape: tuple[int, ...], strides: tuple[int, ...]) -> ElementPlaces:
    """The `ElementPlaces` of a tensor; offsets count from its element 0."""
    all_offsets = offsets(shape, strides)
    count = len(all_offsets)
    if not count:
        return ElementPlaces(0, all_offsets, all_offsets, None, 0, None)
    low = int(all_offsets.min())
    span = int(all_offsets.max()) - low + 1
    if span <= DENSE * count:
        table = np.full(span, -1, dtype=np.int64)
        # Written backwards, so that the first of several elements at one place remains.
        table[all_offsets[::-1] - low] = np.arange(count - 1, -1, -1)
        known = np.flatnonzero(table >= 0)
        first = table[known]
        first_of = table[all_offsets - low] if len(known) < count else None
        return ElementPlaces(count, known + low, first, first_of, low, table)
    known, first, inverse = np.unique(all_offsets, return_index=True, return_inverse=True)
    return ElementPlaces(count, known, first, first[inverse] if len(known) < count else None, low, None)


@lru_cache(maxsize=8)
def inverse(shape: tuple[int, ...], strides: tuple[int, ...]) -> Digits | ElementPlaces:
    """The inverse of strides, cached because it is needed often; a table only if `digits` has none."""
    return digits(shape, strides) or places(shape, strides)
