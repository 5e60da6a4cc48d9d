"""Stretches of a storage without gaps: the places of a tensor and of its tiles.

A result for a stretch holds for each place in it, so it is computed once. Places count elements from element 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from triton_lab.launch.element_index import Ints, contiguous_strides, digits, offsets
from triton_lab.launch.maps.tile_groups import Tiles
from triton_lab.launch.membership_classes import counted


@dataclass(frozen=True)
class Stretches:
    """Stretches with ``starts`` (ascending) and ``lengths``, both (stretches,); each place holds ``times`` elements."""

    starts: Ints
    lengths: Ints
    times: int


def stretches(shape: tuple[int, ...], strides: tuple[int, ...]) -> Stretches | None:
    """The stretches of a tensor's elements; None if each element must be examined."""
    if 0 in shape:
        return Stretches(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 1)
    known = digits(shape, strides)
    if known is None:
        return None
    length, steps = 1, list(known.steps)
    while steps and steps[-1][0] == length:
        length *= steps.pop()[1]
    starts = known.low + offsets(tuple(extent for _, extent, _ in steps), tuple(stride for stride, _, _ in steps))
    times = math.prod(extent for extent, stride in zip(shape, strides, strict=True) if stride == 0)
    return Stretches(starts, np.full(len(starts), length), times)


def tiles_stretched(tiles: Tiles, shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[Ints, Ints, Ints] | None:
    """The stretches of a tensor's tiles: the start, length and tile number of each row of each tile.

    None if tiles are not known, or if a row of a tile has gaps.
    """
    if tiles.edges is None or not shape or 0 in shape or digits(shape, strides) is None:
        return None
    if len(tiles.edges) < len(shape):  # elements in row-major order
        if strides != contiguous_strides(shape):
            return None
        return tiles.edges[0][:-1], np.diff(tiles.edges[0]), np.arange(len(tiles.edges[0]) - 1)
    axes = sorted(range(len(shape)), key=lambda axis: (abs(strides[axis]) if shape[axis] > 1 else 0, -axis))
    moving = [axis for axis in axes if shape[axis] > 1]
    inner = moving[0] if moving else axes[0]
    if (shape[inner] > 1 and abs(strides[inner]) != 1) or any(not strides[axis] for axis in moving):
        return None
    weights = contiguous_strides(tiles.along)
    place, tile = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for axis in [axis for axis in reversed(axes) if axis != inner]:
        own = np.repeat(np.arange(tiles.along[axis]), np.diff(tiles.edges[axis]))
        place = (place[:, None] + np.arange(shape[axis]) * strides[axis]).reshape(-1)
        tile = (tile[:, None] + own * weights[axis]).reshape(-1)
    edges = tiles.edges[inner]
    backwards = strides[inner] < 0 and shape[inner] > 1
    first = 1 - edges[1:] if backwards else edges[:-1]
    starts = (place[:, None] + first).reshape(-1)
    found = (tile[:, None] + np.arange(tiles.along[inner]) * weights[inner]).reshape(-1)
    return starts, np.tile(np.diff(edges), len(place)), found


def cells_of(starts: Ints, lengths: Ints, wide: int) -> tuple[Ints, Ints]:
    """The cells of ``wide`` places that stretches touch, as two arrays of pairs: stretch and cell."""
    first = starts // wide
    count = (starts + lengths - 1) // wide - first + 1
    return np.repeat(np.arange(len(starts)), count), np.repeat(first, count) + counted(count)


def united(
    values: npt.NDArray[np.int64] | npt.NDArray[np.bool_], edges: Ints, starts: Ints, ends: Ints
) -> npt.NDArray[np.int64]:
    """For each range, the *or* of the values of all stretches between ``edges`` that overlap it; no range is empty."""
    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    first = np.searchsorted(edges, starts, side="right") - 1
    last = np.searchsorted(edges, ends - 1, side="right")
    pairs = np.stack([first, last], axis=1).reshape(-1)
    found: Ints = np.bitwise_or.reduceat(np.append(values.astype(np.int64), 0), pairs)[::2]
    return found
