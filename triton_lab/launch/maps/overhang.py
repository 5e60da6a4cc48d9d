"""The position of a lane in its argument's index space, also if it overhangs the edge.

A block of pointers usually walks its argument's dimensions: a step along a block axis is a step along one dimension.
Then a lane past the last column has a position past the last column, although its address may be that of the next row.
In other blocks (gathers, a flat walk over a matrix), a lane's position follows from its address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from triton_lab.launch.element_index import ElementPlaces, Ints, contiguous_strides

Step = tuple[int, int]  # a dimension, and the index step from one lane to the next


@dataclass(frozen=True)
class MarginSpace:
    """The argument's index space with margins: positions count through ``padded`` in row-major order."""

    shape: tuple[int, ...]
    before: tuple[int, ...]
    padded: tuple[int, ...]

    def position(self, element: Ints) -> Ints:
        """The positions of elements (linear numbers, in range); -1 if the argument has no elements."""
        if 0 in self.shape:
            return np.full(element.shape, -1, dtype=np.int64)
        strides = contiguous_strides(self.padded)
        total = np.full(element.shape, sum(b * s for b, s in zip(self.before, strides, strict=True)), dtype=np.int64)
        for size, own, stride in zip(self.shape, contiguous_strides(self.shape), strides, strict=True):
            total += element // own % size * stride
        return total

    def holds(self, other: MarginSpace) -> bool:
        """Whether the margins are at least as wide as those of ``other``."""
        after = [p - b - s for p, b, s in zip(other.padded, other.before, self.shape, strict=True)]
        room = [p - b - s for p, b, s in zip(self.padded, self.before, self.shape, strict=True)]
        return all(m <= w for m, w in zip((*other.before, *after), (*self.before, *room), strict=True))

    def inside(self) -> npt.NDArray[np.bool_]:
        """(positions,) whether a position is an element."""
        grid = np.zeros(self.padded, dtype=bool)
        grid[tuple(slice(b, b + size) for b, size in zip(self.before, self.shape, strict=True))] = True
        return grid.reshape(-1)


def space(shape: Sequence[int], walks: Sequence[tuple[Sequence[Step], Sequence[int]]]) -> MarginSpace:
    """The index space with margins wide enough for every walk (its steps and the block's extents)."""
    before, after = [0] * len(shape), [0] * len(shape)
    for steps, extents in walks:
        reach_before, reach_after = [0] * len(shape), [0] * len(shape)
        for (dimension, count), extent in zip(steps, extents, strict=True):
            far = count * (extent - 1)
            reach_before[dimension] += max(0, -far)
            reach_after[dimension] += max(0, far)
        before = [max(pair) for pair in zip(before, reach_before, strict=True)]
        after = [max(pair) for pair in zip(after, reach_after, strict=True)]
    padded = tuple(b + size + a for b, size, a in zip(before, shape, after, strict=True))
    return MarginSpace(tuple(shape), tuple(before), padded)


def walk(offset: Ints, shape: Sequence[int], strides: Sequence[int]) -> list[Step] | None:
    """The dimension that each block axis follows; None if the block does not walk dimensions.

    ``offset`` is (programs, *block), in elements; all programs must have the same steps.
    """
    if not offset.size or not shape or 0 in shape:
        return None
    origin = offset[(slice(None), *(slice(0, 1) for _ in offset.shape[1:]))]
    expected = np.zeros((1, *offset.shape[1:]), dtype=np.int64)
    steps: list[Step] = []
    for axis in range(1, offset.ndim):
        extent = offset.shape[axis]
        if extent == 1:
            steps.append((0, 0))
            continue
        second = [0] * offset.ndim
        second[axis] = 1
        stride = int(offset[tuple(second)] - offset[(0,) * offset.ndim])
        step = step_along(stride, shape, strides)
        if step is None:
            return None
        steps.append(step)
        along = np.arange(extent, dtype=np.int64) * stride
        expected = expected + along.reshape((-1,) + (1,) * (offset.ndim - axis - 1))
    return steps if np.array_equal(offset - origin, np.broadcast_to(expected, offset.shape)) else None


def step_along(stride: int, shape: Sequence[int], strides: Sequence[int]) -> Step | None:
    """The dimension that a lane stride follows: its stride divides the lane stride with the smallest quotient."""
    if stride == 0:
        return 0, 0
    fits = [
        (abs(stride // own), -shape[dimension], dimension, stride // own)
        for dimension, own in enumerate(strides)
        if own and stride % own == 0
    ]
    if not fits:
        return None
    _, _, dimension, count = min(fits)
    return dimension, count


def by_walk(
    offset: Ints,
    active: npt.NDArray[np.bool_],
    steps: Sequence[Step],
    known: ElementPlaces,
    where: MarginSpace,
    told: Ints,
    tile: bool = False,
) -> Ints | None:
    """The position of each lane, from its program's first lane and the steps; -1 if the first lane has none.

    ``told`` are the positions by address. Returns None if they differ for an active lane and the block is not known to
    be a ``tile`` of the argument, since then it does not walk the dimensions.
    """
    corner = (slice(None), *(slice(0, 1) for _ in offset.shape[1:]))
    first = known.element(offset[corner])
    strides = contiguous_strides(where.padded)
    position = where.position(np.maximum(first, 0))
    for axis, (dimension, count) in enumerate(steps, start=1):
        along = np.arange(offset.shape[axis], dtype=np.int64) * (count * strides[dimension])
        position = position + along.reshape((-1,) + (1,) * (offset.ndim - axis - 1))
    position = np.where(first >= 0, position, -1)
    agrees = np.where(told >= 0, position == told, ~_inside(where, position))
    if not tile and not (agrees | ~active | (position < 0)).all():
        return None
    return np.where((position < 0) & active, told, position)


def _inside(where: MarginSpace, position: Ints) -> npt.NDArray[np.bool_]:
    result = np.ones(position.shape, dtype=bool)
    for size, before, extent, stride in zip(
        where.shape, where.before, where.padded, contiguous_strides(where.padded), strict=True
    ):
        index = position // stride % extent - before
        result &= (index >= 0) & (index < size)
    return result & (position >= 0)
