"""The positions of boxes of lanes: over their argument's shape, or along its storage.

The results equal those of `lane_positions`, which goes lane by lane. The functions return None if lanes are not
recorded in a compact form, or if each lane must be examined to find its position.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from triton_lab.launch.element_index import Digits, Ints, contiguous_strides, digits
from triton_lab.launch.maps.access_lanes import Timeline
from triton_lab.launch.maps.lane_boxes import Boxes, BoxStep, Raster, apart, boxes_of
from triton_lab.launch.maps.lane_positions import Flags, OverStorage, StoredArgument, TimedAccess
from triton_lab.launch.maps.overhang import space, step_along
from triton_lab.launch.maps.strided_lanes import Strided, strided

MOST_BOXES = 1 << 22  # more boxes would take more memory than lanes, of which one visit at a time is in memory

Blocks = dict[tuple[int, int], Strided]  # by access and iteration
Pair = tuple[Boxes, Boxes]  # active lanes, and masked-off ones


@dataclass(frozen=True)
class Boxed:
    """The active and masked-off lanes of each visit of a timeline, and how many of each kind have no position.

    The space is ``padded``; the argument's own ``shape`` begins at ``before`` in it, as in `overhang`.
    """

    shape: tuple[int, ...]
    padded: tuple[int, ...]
    before: tuple[int, ...]
    visits: tuple[Pair, ...]
    active_elsewhere: int
    masked_elsewhere: int

    @property
    def own(self) -> list[tuple[int, int]]:
        """The first position and the end of the argument along each dimension of ``padded``."""
        if len(self.padded) < len(self.shape):  # elements in row-major order
            return [(0, self.padded[0])]
        return [(low, low + size) for low, size in zip(self.before, self.shape, strict=True)]

    def crop(self, raster: Raster, classes: Ints) -> tuple[tuple[int, ...], tuple[int, ...], tuple[slice, ...]]:
        """Leave out empty margins: returns the shape drawn, its origin, and the window in ``padded``."""
        if len(self.padded) < len(self.shape):  # elements in row-major order
            return self.shape, (0,) * len(self.shape), (slice(0, *self.padded),)
        grid = classes.reshape(raster.cells_along)
        window, origin = [], []
        for axis, (size, low) in enumerate(zip(self.shape, self.before, strict=True)):
            high, before = low + size, low
            used = np.flatnonzero(grid.any(axis=tuple(other for other in range(grid.ndim) if other != axis)))
            if len(used):
                low = min(low, int(raster.edges[axis][used[0]]))
                high = max(high, int(raster.edges[axis][used[-1] + 1]))
            window.append(slice(low, high))
            origin.append(before - low)
        return tuple(w.stop - w.start for w in window), tuple(origin), tuple(window)


def over_shape(argument: StoredArgument, accesses: Sequence[TimedAccess], timeline: Timeline) -> Boxed | None:
    """Boxes of the argument's indices, or of its row-major elements if blocks continue from one row into the next."""
    shape, strides = tuple(argument.shape), tuple(argument.strides)
    known = digits(shape, strides)
    expanded = any(stride == 0 and extent > 1 for stride, extent in zip(strides, shape, strict=True))
    if known is None or expanded or not shape:
        return None
    blocks = _blocks(accesses, argument.address, argument.itemsize)
    if blocks is None:
        return None
    return _Shape(shape, strides, known, blocks, len(accesses)).boxed(timeline)


def over_storage(place: OverStorage, accesses: Sequence[TimedAccess], timeline: Timeline) -> Boxed | None:
    """Boxes of units along the storage."""
    blocks = _blocks(accesses, place.start + place.first * place.unit, place.unit)
    return None if blocks is None else _line(blocks, timeline, place.positions, place.shape)


def _blocks(accesses: Sequence[TimedAccess], origin: int, unit: int) -> Blocks | None:
    """All lanes in compact form; None if some are not."""
    found = {}
    for number, access in enumerate(accesses):
        for iteration in range(access.iterations):
            one = strided(access, iteration, origin, unit)
            if one is None:
                return None
            found[number, iteration] = one
    return found


def _line(blocks: Blocks, timeline: Timeline, positions: int, shape: tuple[int, ...]) -> Boxed | None:
    """Boxes along one line, where a lane's offset is its position."""
    visits, elsewhere, room = [], [0, 0], MOST_BOXES
    for visit in timeline.visits:
        one = blocks[visit.access, visit.iteration]
        steps = [BoxStep(0, axis.step, axis) for axis in one.axes]
        room -= _expected(one, steps)
        if room < 0 or not apart(steps):
            return None
        there = []
        for role, boxes in enumerate(boxes_of(one, one.first[:, None], steps)):
            inside = boxes.clipped(positions)
            elsewhere[role] += int(boxes.positions.sum() - inside.positions.sum())
            there.append(inside)
        visits.append((there[0], there[1]))
    return Boxed(shape, (positions,), (0,), tuple(visits), *elsewhere)


def _expected(blocks: Strided, steps: Sequence[BoxStep]) -> int:
    """About how many boxes these lanes become."""
    apart = math.prod(step.axis.extent for step in steps if abs(step.count) != 1)
    return len(blocks.program) * apart * (1 if blocks.full else 1 + 2 * len(steps))


class _Shape:
    """Blocks over a shape whose elements do not overlap."""

    def __init__(
        self, shape: tuple[int, ...], strides: tuple[int, ...], known: Digits, blocks: Blocks, accesses: int
    ) -> None:
        self.shape, self.strides, self.known, self.blocks = shape, strides, known, blocks
        far = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
        self.span = sum(min(0, reach) for reach in far), sum(max(0, reach) for reach in far)
        self.space = space(shape, [walk for number in range(accesses) if (walk := self._first_walk(number))])

    def _first_walk(self, access: int) -> tuple[list[tuple[int, int]], list[int]] | None:
        """The walk of an access's first iteration that may overhang the edge; None if there is none."""
        for (number, _), one in self.blocks.items():
            if number == access and self._may_overhang(one):
                steps = self._steps(one)
                return None if steps is None else _walk(steps)
        return None

    def _may_overhang(self, one: Strided) -> bool:
        """Whether a lane is masked off, or lies outside the span of the elements."""
        if not len(one.program) or not one.lanes:
            return False
        low, high = one.reach
        return not one.full or low < self.span[0] or high > self.span[1]

    def _steps(self, one: Strided) -> list[BoxStep] | None:
        found = []
        for axis in one.axes:
            step = (0, 0) if axis.extent == 1 else step_along(axis.step, self.shape, self.strides)
            if step is None:
                return None
            found.append(BoxStep(*step, axis))
        return found

    def boxed(self, timeline: Timeline) -> Boxed | None:
        """Boxes of indices if all blocks have them; else, if no block overhangs the edge, of row-major elements."""
        visits: list[Pair] = []
        hanging = rows = False
        elsewhere, room = 0, MOST_BOXES
        for visit in timeline.visits:
            one = self.blocks[visit.access, visit.iteration]
            steps = self._steps(one)
            overhang = self._may_overhang(one)
            if steps is None or (overhang and not self._fits(steps)):
                rows = True
                continue
            room -= _expected(one, steps)
            if room < 0 or not apart(steps):
                return None
            corner, found = self._corners(one)
            active, masked = boxes_of(one, corner, steps)
            strays = self._strays(active, one.program[~found])
            if strays and overhang and not self._meets_rows(one, steps, corner, found):
                return None  # unmasked lanes outside the argument: each must be examined
            if strays or (not overhang and not found.all()):
                rows = True
                continue
            hanging |= overhang
            # If a program's first lane has no position, nor have its others; none of them is active.
            kept = ~np.isin(masked.program, one.program[~found])
            there = masked.at(kept)
            if len(self.shape) == 1:  # a line begins with its first element, as in `lane_positions`
                there = there.clipped(self.space.padded[0], self.space.before[0])
            elsewhere += int(masked.positions.sum() - there.positions.sum())
            visits.append((active, there))
        if not rows:
            return Boxed(self.shape, self.space.padded, self.space.before, tuple(visits), 0, elsewhere)
        if hanging or self.strides != contiguous_strides(self.shape):
            return None
        return _line(self.blocks, timeline, math.prod(self.shape), self.shape)

    def _fits(self, steps: Sequence[BoxStep]) -> bool:
        """Whether the margins are wide enough."""
        return self.space.holds(space(self.shape, [_walk(steps)]))

    def _corners(self, one: Strided) -> tuple[Ints, Flags]:
        """(programs, dimensions) the index of each first lane, and whether it is an element."""
        element = self.known.element(one.first)
        index = np.stack(np.unravel_index(np.maximum(element, 0), self.shape), axis=1)
        return index + np.array(self.space.before), element >= 0

    def _outside(self, low: Ints, high: Ints) -> Flags:
        """(boxes,) whether a box reaches outside the argument."""
        begin = np.array(self.space.before)
        outside: Flags = np.any((low < begin) | (high > begin + self.shape), axis=1)
        return outside

    def _strays(self, active: Boxes, lost: Ints) -> bool:
        """Whether an active lane is not on an element, or belongs to one of the ``lost`` programs."""
        return bool(self._outside(active.low, active.high).any()) or bool(np.isin(active.program, lost).any())

    def _meets_rows(self, one: Strided, steps: Sequence[BoxStep], corner: Ints, found: Flags) -> bool:
        """Whether a lane past the end of its row is on an element of another row, as in a row-major walk."""
        on = found.copy()
        for step in steps:
            on &= step.axis.lower < step.axis.upper
        for last in (False, True):
            index, place = corner.copy(), one.first.copy()
            for step in steps:
                lane = step.axis.upper - 1 if last else step.axis.lower
                index[:, step.dimension] += step.count * lane
                place += step.axis.step * lane
            if bool((on & self._outside(index, index + 1) & (self.known.element(place) >= 0)).any()):
                return True
        return False


def _walk(steps: Sequence[BoxStep]) -> tuple[list[tuple[int, int]], list[int]]:
    """The steps as a walk for `overhang.space`."""
    return [(step.dimension, step.count) for step in steps], [step.axis.extent for step in steps]
