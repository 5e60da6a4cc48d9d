"""`Tiles`: tiles of positions that are touched alike. `TileFalls`: the tiles in each cell of a picture.

With thousands of tiles instead of millions of positions, results are cheap: cells between the same borders of tiles
contain the same tiles, so their result is computed once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from triton_lab.launch.element_index import Ints, contiguous_strides
from triton_lab.launch.maps.lane_positions import Flags
from triton_lab.launch.membership_classes import counted


@dataclass(frozen=True)
class Along:
    """A dimension of ``size`` positions cut into cells: every ``step`` positions the cell number grows by ``adds``."""

    size: int
    step: int
    adds: int

    @property
    def starts(self) -> Ints:
        """The first position of each cell."""
        return np.arange(0, self.size, self.step, dtype=np.int64)


@dataclass(frozen=True)
class Tiles:
    """Tiles of positions: ``edges`` are their borders along each dimension, the end included.

    Tiles are numbered in row-major order. Without ``edges`` every position is a tile. One dimension may represent
    several, with positions in row-major order.
    """

    edges: tuple[Ints, ...] | None = None

    @property
    def along(self) -> tuple[int, ...]:
        """The number of tiles along each dimension."""
        assert self.edges is not None
        return tuple(len(edges) - 1 for edges in self.edges)

    def spread(self, of_tile: Ints) -> Ints:
        """Values of tiles repeated for each position, in row-major order."""
        if self.edges is None:
            return of_tile
        found = of_tile.reshape(self.along)
        for dimension, edges in enumerate(self.edges):
            found = np.repeat(found, edges[1:] - edges[:-1], axis=dimension)
        return found.reshape(-1)

    def at(self, positions: Ints, shape: Sequence[int]) -> Ints:
        """The tile of each of some positions of ``shape``."""
        if self.edges is None:
            return positions
        tile = np.zeros(positions.shape, dtype=np.int64)
        own = shape if len(self.edges) == len(shape) else (math.prod(shape),)
        for edges, size, weight in zip(self.edges, own, contiguous_strides(tuple(own)), strict=True):
            index = positions // max(1, weight) % max(1, size)
            tile = tile * (len(edges) - 1) + np.searchsorted(edges, index, side="right") - 1
        return tile

    def cut(self, origin: Sequence[int], shape: Sequence[int]) -> tuple[Tiles, tuple[slice, ...]]:
        """The tiles inside the window of ``shape`` at ``origin``, and their slices among all tiles; see `within`."""
        assert self.edges is not None
        if len(self.edges) < len(shape):
            origin, shape = (0,), (math.prod(shape),)
        edges, which = [], []
        for own, low, size in zip(self.edges, origin, shape, strict=True):
            first, last = np.searchsorted(own, [low, low + size]).tolist()
            edges.append(own[first : last + 1] - low)
            which.append(slice(first, last))
        return Tiles(tuple(edges)), tuple(which)

    def sizes(self) -> Ints:
        """(tiles,) the number of positions in each tile."""
        assert self.edges is not None
        sizes = np.ones(1, dtype=np.int64)
        for edges in self.edges:
            sizes = (sizes[:, None] * (edges[1:] - edges[:-1])).reshape(-1)
        return sizes

    def within(self, origin: Sequence[int], shape: Sequence[int]) -> Flags:
        """(tiles,) whether a tile is inside the window of ``shape`` at ``origin``, whose borders are tile borders."""
        assert self.edges is not None
        inside = np.ones(1, dtype=bool)
        for edges, low, size in zip(self.edges, origin, shape, strict=True):
            inside = (inside[:, None] & ((edges[:-1] >= low) & (edges[1:] <= low + size))).reshape(-1)
        return inside

    def falls(self, along: Sequence[Along] | None, cells: int) -> TileFalls | None:
        """The tiles in each cell.

        A position's cell is the sum of what its indices add, and ascends along each dimension. None if the cells or the
        tiles are not known for each dimension.
        """
        if self.edges is None or along is None or len(along) != len(self.edges):
            return None
        group, tile = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        number = np.zeros(1, dtype=np.int64)
        kinds = []
        for edges, own in zip(self.edges, along, strict=True):
            starts = own.starts
            ends = np.append(starts[1:], own.size)[: len(starts)]
            first = np.searchsorted(edges, starts, side="right") - 1
            last = np.searchsorted(edges, ends - 1, side="right") - 1
            new = np.append(True, (first[1:] != first[:-1]) | (last[1:] != last[:-1]))[: len(first)]
            kinds.append(np.cumsum(new) - 1)
            count = last[new] - first[new] + 1
            group = (group[:, None] * len(count) + np.repeat(np.arange(len(count)), count)).reshape(-1)
            tile = (tile[:, None] * (len(edges) - 1) + np.repeat(first[new], count) + counted(count)).reshape(-1)
            number = (number[:, None] + np.arange(len(starts)) * own.adds).reshape(-1)
        return TileFalls(group, tile, tuple(kinds), number, cells)


@dataclass(frozen=True)
class TileFalls:
    """Groups of cells: cells between the same borders of tiles are one group, numbered in row-major order.

    ``group`` and ``tile`` are pairs: the tiles of which a group's cells have positions. ``kinds`` has for each
    dimension the group index of each step of cells along it; ``number`` has the cell number at each combination of
    these steps.
    """

    group: Ints
    tile: Ints
    kinds: tuple[Ints, ...]
    number: Ints
    cells: int

    @property
    def groups(self) -> int:
        return math.prod(int(kinds[-1]) + 1 if len(kinds) else 0 for kinds in self.kinds)

    def spread(self, of_group: Ints, blank: int = 0) -> Ints:
        """Values of groups repeated for each cell; ``blank`` for cells without a position."""
        found = of_group.reshape([int(kinds[-1]) + 1 if len(kinds) else 0 for kinds in self.kinds])
        for dimension, kinds in enumerate(self.kinds):
            found = found.take(kinds, axis=dimension)
        result = np.full(self.cells, blank, dtype=of_group.dtype)
        result[self.number] = found.reshape(-1)
        return result
