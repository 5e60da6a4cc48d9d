"""An argument continued beyond both ends: positions for the lanes that stopped a launch.

The outermost dimension, the one with the widest stride, is extended at both ends. So an address past the end of a
matrix has a position in a row below the last one, and an address past the end of a line is right behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from triton_lab.launch.element_index import Digits, ElementPlaces, Ints, digits, places
from triton_lab.launch.maps.overhang import MarginSpace, Step

# Bounds of the places drawn on each side: half as many as the argument has elements, between these.
LEAST, MOST = 64, 4096


@dataclass(frozen=True)
class Continued:
    """An argument with ``before`` more indices at the start of its ``dimension`` and ``after`` more at its end."""

    shape: tuple[int, ...]
    dimension: int
    before: int
    after: int
    known: Digits | ElementPlaces
    shift: int  # from an offset in the argument to one in the continued argument, in elements

    def element(self, offset: Ints) -> Ints:
        """The element (row-major in ``shape``) at each offset from the argument's element 0; -1 for none."""
        return self.known.element(offset + self.shift)

    def within(self, where: MarginSpace) -> MarginSpace:
        """The continued argument's place in ``where``, whose margins must be wide enough."""
        before = list(where.before)
        before[self.dimension] -= self.before
        return MarginSpace(self.shape, tuple(before), where.padded)

    def widened(self, where: MarginSpace) -> MarginSpace:
        """``where`` with margins wide enough for the continued argument."""
        before = [0] * len(where.shape)
        after = [0] * len(where.shape)
        before[self.dimension], after[self.dimension] = self.before, self.after
        ahead = tuple(map(max, zip(where.before, before, strict=True)))
        behind = (p - b - s for p, b, s in zip(where.padded, where.before, where.shape, strict=True))
        end = map(max, zip(behind, after, strict=True))
        padded = tuple(b + s + e for b, s, e in zip(ahead, where.shape, end, strict=True))
        return MarginSpace(where.shape, ahead, padded)


def continued(shape: tuple[int, ...], strides: tuple[int, ...], astray: Ints) -> Continued | None:
    """Continue an argument as far as the offsets ``astray`` go, within bounds; None if it has no such dimension.

    Offsets are in elements, from element 0.
    """
    dimension = max(range(len(shape)), key=lambda axis: abs(strides[axis]), default=None)
    if dimension is None or not strides[dimension] or not astray.size:
        return None
    others = int(np.prod([size for axis, size in enumerate(shape) if axis != dimension], dtype=np.int64))
    if not others:
        return None
    stride = strides[dimension]
    index = astray // stride
    most = max(1, min(MOST, max(LEAST, shape[dimension] * others // 2)) // others)
    before = min(most, max(0, -int(index.min())))
    after = min(most, max(0, int(index.max()) - shape[dimension] + 1))
    grown = list(shape)
    grown[dimension] += before + after
    if 0 in grown:
        return None
    known = digits(tuple(grown), strides) or places(tuple(grown), strides)
    return Continued(tuple(grown), dimension, before, after, known, before * stride)


def covers(steps: Sequence[Step], shape: Sequence[int]) -> bool:
    """Whether a block is a tile of an argument: each dimension is walked by a block axis of its own."""
    walked = [dimension for dimension, count in steps if count]
    return len(set(walked)) == len(walked) and {k for k, size in enumerate(shape) if size > 1} <= set(walked)
