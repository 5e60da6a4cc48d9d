"""`Heat`: how often each element is touched, by which programs, in which iterations, and by which first.

Elements that are touched by the same members share a *class*, as in `tiling`. Here a member of a class is a program at
a *moment*: one iteration of one access. Members are numbered such that the smallest one of a class is its first touch,
if programs run in the order of their numbers, in which a GPU starts them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.access_lanes import Moment
from triton_lab.launch.maps.lane_positions import Flags
from triton_lab.launch.maps.overhang import MarginSpace
from triton_lab.launch.maps.tile_groups import Tiles
from triton_lab.launch.membership_classes import Classes, distinct

OVER = ("shape", "storage")
BY = ("count", "program", "iteration", "reuse", "order")


@dataclass(frozen=True)
class Heat:
    """Which programs touch each position, when and how often.

    Over the shape, positions count through ``drawn`` in row-major order (the argument and the margins where lanes
    overhang its edges), and an element's index is its position in ``drawn`` minus ``origin``. Over storage there is
    one position for each ``unit`` bytes, and the first is ``first`` units after the storage's start.
    ``tile_classes`` (tiles,) index ``table``; class 0 is untouched. Member p * moments + m is an active lane of program
    p at moment m; members from ``programs * moments`` on are masked-off lanes in the same order. ``tile_counts``
    (tiles,) is the number of active lanes at each of a tile's positions. ``shown`` is the number of programs that were
    examined, None for all.
    """

    shape: tuple[int, ...]
    drawn: tuple[int, ...]
    origin: tuple[int, ...]
    over: str
    unit: int
    first: int
    programs: int
    moments: tuple[Moment, ...]
    tiles: Tiles
    tile_classes: Ints
    tile_counts: Ints
    table: Classes
    active_elsewhere: int = 0
    masked_elsewhere: int = 0
    shown: int | None = None
    strays: Flags | None = None  # (positions,) of lanes that stopped the launch; None if there are none

    @cached_property
    def classes(self) -> Ints:
        """(positions,) the class of each position."""
        return self.tiles.spread(self.tile_classes)

    @cached_property
    def counts(self) -> Ints:
        """(positions,) the number of active lanes at each position."""
        return self.tiles.spread(self.tile_counts)

    @cached_property
    def inside(self) -> Flags:
        """(positions,) whether a position is an element of the argument (over storage: all True)."""
        return MarginSpace(self.shape, self.origin, self.drawn).inside()

    @cached_property
    def leaves(self) -> bool:
        """Whether active lanes touch anything but elements of the argument."""
        if self.active_elsewhere or self.strays is not None:
            return True
        if self.drawn == self.shape:
            return False
        if self.tiles.edges is not None and len(self.tiles.edges) == len(self.shape):
            return bool((self.tile_counts[~self.tiles.within(self.origin, self.shape)] > 0).any())
        return bool((self.counts[~self.inside] > 0).any())

    @cached_property
    def own_tiles(self) -> tuple[Tiles, Ints] | None:
        """The tiles of the argument's elements, and the class of each; None if tiles are not known."""
        if self.tiles.edges is None:
            return None
        tiles, which = self.tiles.cut(self.origin, self.shape)
        return tiles, self.tile_classes.reshape(self.tiles.along)[which].reshape(-1)

    def of_elements(self, elements: Ints) -> Ints:
        """The classes of some elements of the argument."""
        if self.own_tiles is not None:
            tiles, classes = self.own_tiles
            return classes[tiles.at(elements, self.shape)]
        return self.classes[MarginSpace(self.shape, self.origin, self.drawn).position(elements)]

    def at(self, positions: Ints) -> Heat:
        """The heat of some positions alone, in that order; each is a tile of its own."""
        strays = None if self.strays is None else self.strays[positions]
        classes, counts = self.classes[positions], self.counts[positions]
        found = replace(self, tiles=Tiles(), tile_classes=classes, tile_counts=counts, strays=strays)
        found.__dict__["inside"] = self.inside[positions]
        return found

    def _image(self, masked: bool, of: Callable[[Ints], Ints]) -> Ints:
        """The image of each member under ``of``; -1 for members of the other kind (active or masked off)."""
        size = self.programs * len(self.moments)
        member = np.arange(2 * size)
        return np.where((member >= size) == masked, of(member % max(1, size)), -1)

    @cached_property
    def active(self) -> Classes:
        """For each class, the programs with an active lane."""
        return self.table.mapped(self._image(False, lambda member: member // max(1, len(self.moments))))

    @cached_property
    def masked(self) -> Classes:
        """For each class, the programs with a masked-off lane."""
        return self.table.mapped(self._image(True, lambda member: member // max(1, len(self.moments))))

    @cached_property
    def iterations(self) -> Classes:
        """For each class, the iterations with an active lane."""
        number = np.array([moment.iteration for moment in self.moments], dtype=np.int64)
        return self.table.mapped(self._image(False, lambda member: number[member % max(1, len(self.moments))]))

    def first_touch(self) -> Ints:
        """(classes,) the smallest active member, -1 for none."""
        size = self.programs * len(self.moments)
        first = np.append(self.table.items, 2 * size)[self.table.starts[:-1]]
        return np.where((self.table.counts > 0) & (first < size), first, -1)

    def by(self, what: str) -> Ints:
        """(classes,) the quantity ``what`` of each class, -1 if no lane is active.

        ``program``: the first one. ``iteration``: the first one. ``reuse``: the number of programs. ``order``: the rank
        of the class's first touch among all first touches.
        """
        if what == "reuse":
            return np.where(self.active.counts > 0, self.active.counts, -1)
        if what == "iteration":
            items = np.append(self.iterations.items, -1)[self.iterations.starts[:-1]]
            return np.where(self.iterations.counts > 0, items, -1)
        touch = self.first_touch()
        if what == "program":
            return np.where(touch >= 0, touch // max(1, len(self.moments)), -1)
        return np.where(touch >= 0, np.searchsorted(distinct(touch[touch >= 0]), touch), -1)
