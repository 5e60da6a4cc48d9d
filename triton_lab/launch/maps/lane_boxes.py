"""Lanes as boxes of positions: one box for the lanes of a program that are adjacent along every axis.

A tile that a program touches is one box, however many lanes it has. All positions in a cell between the borders of
boxes are touched by the same boxes, so the work is done for a few cells instead of for each position.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.lane_positions import Flags
from triton_lab.launch.maps.strided_lanes import Strided, StridedAxis
from triton_lab.launch.membership_classes import counted, distinct


@dataclass(frozen=True)
class Boxes:
    """Box k is the positions ``low[k] <= index < high[k]`` of ``program[k]``; bounds are (boxes, dimensions)."""

    low: Ints
    high: Ints
    program: Ints

    def __len__(self) -> int:
        return len(self.program)

    @property
    def positions(self) -> Ints:
        """(boxes,) the number of positions in each box."""
        found: Ints = np.prod(self.high - self.low, axis=1)
        return found

    def at(self, which: Flags) -> Boxes:
        """The boxes for which ``which`` (boxes,) is true."""
        return self if bool(which.all()) else Boxes(self.low[which], self.high[which], self.program[which])

    def clipped(self, limit: int, start: int = 0) -> Boxes:
        """One-dimensional boxes cut to ``start .. limit - 1``."""
        low, high = np.maximum(self.low, start), np.minimum(self.high, limit)
        return _some(Boxes(low, high, self.program))


@dataclass(frozen=True)
class BoxStep:
    """A block's axis, and the dimension that it follows, ``count`` positions for each lane."""

    dimension: int
    count: int
    axis: StridedAxis


def joined(parts: Sequence[Boxes], dimensions: int) -> Boxes:
    """All boxes of ``parts``, concatenated."""
    nothing = np.zeros((0, dimensions), dtype=np.int64)
    return Boxes(
        np.concatenate([nothing, *(part.low for part in parts)]),
        np.concatenate([nothing, *(part.high for part in parts)]),
        np.concatenate([np.zeros(0, dtype=np.int64), *(part.program for part in parts)]),
    )


def apart(steps: Sequence[BoxStep]) -> bool:
    """Whether no two lanes of a program share a position."""
    for dimension in {step.dimension for step in steps}:
        reach = 1
        for count, extent in sorted(_moving(steps, dimension)):
            if count < reach:
                return False
            reach += count * (extent - 1)
    return True


def _moving(steps: Sequence[BoxStep], dimension: int) -> Iterator[tuple[int, int]]:
    for step in steps:
        if step.dimension == dimension and step.axis.extent > 1:
            yield abs(step.count), step.axis.extent


def boxes_of(blocks: Strided, corner: Ints, steps: Sequence[BoxStep]) -> tuple[Boxes, Boxes]:
    """The active lanes of blocks, and the masked-off ones; ``corner`` (programs, dimensions) is the first lane's index.

    Lanes must be `apart`.
    """
    wide: dict[int, BoxStep] = {}
    rest: list[BoxStep] = []
    for step in steps:
        if step.axis.extent == 1 or abs(step.count) != 1:
            rest.append(step)
        else:  # as lanes are apart, only one axis walks a dimension by steps of one
            wide[step.dimension] = step
    row, low, on = np.arange(len(blocks.program)), corner.copy(), np.ones(len(blocks.program), dtype=bool)
    for step in rest:
        extent, axis = step.axis.extent, step.axis
        lane = np.tile(np.arange(extent), len(row))
        row, low, on = np.repeat(row, extent), np.repeat(low, extent, axis=0), np.repeat(on, extent)
        low[:, step.dimension] += lane * step.count
        on &= (lane >= axis.lower[row]) & (lane < axis.upper[row])
    lower, upper, most = np.zeros_like(low), np.ones_like(low), np.ones_like(low)
    for dimension, step in wide.items():
        lower[:, dimension], upper[:, dimension] = step.axis.lower[row], step.axis.upper[row]
        most[:, dimension] = step.axis.extent
        if step.count < 0:  # count lanes from the lowest position
            low[:, dimension] -= step.axis.extent - 1
            lower[:, dimension], upper[:, dimension] = (
                step.axis.extent - upper[:, dimension],
                step.axis.extent - lower[:, dimension],
            )
    program = blocks.program[row]
    on &= (lower < upper).all(axis=1)
    active = Boxes((low + lower)[on], (low + upper)[on], program[on])
    if blocks.full:
        return active, joined([], low.shape[1])
    upper[~on] = lower[~on] = 0
    return active, joined(list(_around(low, lower, upper, most, program)), low.shape[1])


def _around(low: Ints, lower: Ints, upper: Ints, most: Ints, program: Ints) -> Iterator[Boxes]:
    """The part of each box of extents ``most`` outside of ``lower .. upper``, cut into boxes."""
    start, stop = np.zeros_like(most), most.copy()
    for dimension in range(most.shape[1]):
        for begin, end in ((start, lower), (upper, stop)):
            one, other = start.copy(), stop.copy()
            one[:, dimension], other[:, dimension] = begin[:, dimension], end[:, dimension]
            yield _some(Boxes(low + one, low + other, program))
        start[:, dimension], stop[:, dimension] = lower[:, dimension], upper[:, dimension]


def _some(boxes: Boxes) -> Boxes:
    """The boxes that are not empty."""
    return boxes.at(np.all(boxes.low < boxes.high, axis=1))


@dataclass(frozen=True)
class Raster:
    """A space cut along each dimension wherever a box begins or ends.

    ``edges`` has for each dimension the borders, the end included. The pieces between borders are cells, numbered in
    row-major order.
    """

    edges: tuple[Ints, ...]
    numbers: tuple[Ints | None, ...]  # index -> its place among the edges; None if a search is used instead

    @classmethod
    def of(cls, shape: Sequence[int], boxes: Sequence[Boxes], own: Sequence[tuple[int, int]]) -> Raster:
        """Cut a space of ``shape`` at the borders of boxes, and along each dimension at the two ends in ``own``."""
        edges: list[Ints] = []
        numbers: list[Ints | None] = []
        for dimension, size in enumerate(shape):
            ends = [end[:, dimension] for some in boxes for end in (some.low, some.high)]
            borders = np.concatenate([np.array([0, size, *own[dimension]]), *ends])
            if size > len(borders):
                edges.append(distinct(borders))
                numbers.append(None)
                continue
            marked = np.zeros(size + 1, dtype=bool)
            marked[borders] = True
            edges.append(np.flatnonzero(marked))
            numbers.append(np.cumsum(marked) - 1)
        return cls(tuple(edges), tuple(numbers))

    def _place(self, dimension: int, index: Ints) -> Ints:
        """The places of borders of boxes among the edges."""
        known = self.numbers[dimension]
        return np.searchsorted(self.edges[dimension], index) if known is None else known[index]

    @property
    def cells_along(self) -> tuple[int, ...]:
        return tuple(len(edges) - 1 for edges in self.edges)

    @property
    def cells(self) -> int:
        return math.prod(self.cells_along)

    def covered(self, boxes: Boxes) -> tuple[Ints, Ints]:
        """The cells of each box, as two arrays of pairs: box and cell."""
        box = np.arange(len(boxes))
        cell = np.zeros(len(boxes), dtype=np.int64)
        for dimension, along in enumerate(self.cells_along):
            first = self._place(dimension, boxes.low[:, dimension])
            count = self._place(dimension, boxes.high[:, dimension]) - first
            first, count = first[box], count[box]
            if bool((count == 1).all()):
                cell = cell * along + first
                continue
            box, cell = np.repeat(box, count), np.repeat(cell * along + first, count) + counted(count)
        return box, cell

    def cut(self, window: Sequence[slice]) -> tuple[tuple[Ints, ...], tuple[slice, ...]]:
        """The edges within a window that begins and ends at edges, counted from its corner, and its cells."""
        edges, which = [], []
        for own, part in zip(self.edges, window, strict=True):
            first, last = np.searchsorted(own, [part.start, part.stop]).tolist()
            edges.append(own[first : last + 1] - part.start)
            which.append(slice(first, last))
        return tuple(edges), tuple(which)
