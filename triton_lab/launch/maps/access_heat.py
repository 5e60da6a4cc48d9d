"""`Heat`: how often each element is touched, by which programs, in which iterations, and by which first.

Elements that are touched by the same members share a *class*, as in `tiling`. Here a member of a class is a program at
a *moment*: one iteration of one access. Members are numbered such that the smallest one of a class is its first touch,
if programs run in the order of their numbers, in which a GPU starts them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.access_lanes import Moment, Timeline, TouchingLanes
from triton_lab.launch.maps.box_positions import Boxed, over_shape, over_storage
from triton_lab.launch.maps.lane_boxes import Raster
from triton_lab.launch.maps.lane_positions import Flags, OverShape, OverStorage, Place, StoredArgument, TimedAccess
from triton_lab.launch.maps.overhang import MarginSpace
from triton_lab.launch.maps.position_counts import PositionCounts, Renumbered, salts, table_of, table_of_lanes
from triton_lab.launch.maps.program_sample import sampled, thinned
from triton_lab.launch.maps.tile_groups import Tiles
from triton_lab.launch.membership_classes import Classes, distinct, grouped

OVER = ("shape", "storage")
_SPARSE = 4  # with this many times more positions than lanes, each gap between lanes is one tile
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


def heat(
    argument: StoredArgument,
    accesses: Sequence[TimedAccess],
    programs: int,
    over: str = "shape",
    most: int | None = None,
    thin: bool = True,
) -> Heat:
    """The heat of these accesses to ``argument``, over its ``shape`` or over its ``storage``.

    Over the shape, if each lane must be examined, at most ``most`` lanes are, from programs at even distances. With
    ``thin``, very many programs are sampled in the same way even if lanes are known as boxes.
    """
    if over == "shape":
        return _over_shape(argument, accesses, Timeline.of_iterations, programs, most, thin)
    timeline = Timeline.of_iterations(accesses)
    place = OverStorage(argument, accesses)
    boxed = None if _stopped(accesses) else over_storage(place, accesses, timeline)
    return _heat(place, accesses, timeline, programs) if boxed is None else _of_boxes(boxed, place, timeline, programs)


def heat_of_accesses(
    argument: StoredArgument, accesses: Sequence[TimedAccess], programs: int, most: int | None = None
) -> Heat:
    """`heat` over the shape, with all iterations of an access as one moment."""
    return _over_shape(argument, accesses, Timeline.of_accesses, programs, most)


def _over_shape(
    argument: StoredArgument,
    accesses: Sequence[TimedAccess],
    timeline: Callable[[Sequence[TimedAccess]], Timeline],
    programs: int,
    most: int | None,
    thin: bool = True,
) -> Heat:
    if not _stopped(accesses):
        few, shown = thinned(accesses, programs, most if thin else None)
        moments = timeline(few)
        boxed = over_shape(argument, few, moments)
        if boxed is not None:
            return replace(_of_boxes(boxed, None, moments, programs), shown=shown)
    some, shown = sampled(accesses, programs, most)
    return replace(_heat(OverShape(argument, some), some, timeline(some), programs), shown=shown)


def _stopped(accesses: Sequence[TimedAccess]) -> bool:
    """Whether an access stopped the launch: its failed lanes are marked one by one, which boxes cannot do."""
    return any(access.stopped is not None for access in accesses)


def _heat(place: Place, accesses: Sequence[TimedAccess], timeline: Timeline, programs: int) -> Heat:
    lanes = TouchingLanes(place, accesses, timeline, programs)
    few = None if _stopped(accesses) else _few(place, lanes)
    if few is not None:
        return _of_few(place, Renumbered(lanes, few), few, timeline, programs)
    tally = PositionCounts(place.positions, lanes.members)
    for some in lanes:
        tally.add(some)
    place.alias(tally.signature, tally.counts)
    classes, heads = grouped(tally.signature)
    drawn, origin, window = place.crop(classes)
    strays = place.strays(accesses)
    return Heat(
        shape=place.shape,
        drawn=drawn,
        origin=origin,
        over=place.over,
        unit=place.unit,
        first=place.first,
        programs=programs,
        moments=timeline.moments,
        tiles=Tiles(),
        tile_classes=classes.reshape(place.padded)[window].reshape(-1),
        tile_counts=tally.counts.reshape(place.padded)[window].reshape(-1),
        table=table_of_lanes(lanes, heads, place.positions),
        active_elsewhere=tally.active_elsewhere,
        masked_elsewhere=tally.masked_elsewhere,
        strays=strays.reshape(place.padded)[window].reshape(-1) if strays.any() else None,
    )


def _few(place: Place, lanes: TouchingLanes) -> Ints | None:
    """The positions along one line with any lane, ascending; None if counting at all positions is faster."""
    if not place.is_line:
        return None
    found, room = [np.zeros(0, dtype=np.int64)], place.positions // _SPARSE
    for some in lanes:
        room -= some.position.size
        if room < 0:
            return None
        found.append(some.position.reshape(-1))
    return distinct(np.concatenate(found))


def _of_few(place: Place, lanes: Renumbered, few: Ints, timeline: Timeline, programs: int) -> Heat:
    """The heat with a tile for each touched position, and one for each gap between them."""
    tally = PositionCounts(len(few), lanes.members)
    for some in lanes:
        tally.add(some)
    classes, heads = grouped(tally.signature)
    edges = distinct(np.concatenate([np.array([0]), few, few + 1, np.array([place.positions])]))
    which = np.searchsorted(edges, few)
    tile_classes, tile_counts = np.zeros((2, len(edges) - 1), dtype=np.int64)
    tile_classes[which], tile_counts[which] = classes, tally.counts
    return Heat(
        shape=place.shape,
        drawn=place.shape,
        origin=(0,),
        over=place.over,
        unit=place.unit,
        first=place.first,
        programs=programs,
        moments=timeline.moments,
        tiles=Tiles((edges,)),
        tile_classes=tile_classes,
        tile_counts=tile_counts,
        table=table_of_lanes(lanes, heads, len(few)),
        active_elsewhere=tally.active_elsewhere,
        masked_elsewhere=tally.masked_elsewhere,
    )


def _of_boxes(boxed: Boxed, storage: OverStorage | None, timeline: Timeline, programs: int) -> Heat:
    """The heat with a tile for each cell between the borders of boxes."""
    moments, size = len(timeline.moments), programs * len(timeline.moments)
    raster = Raster.of(boxed.padded, [boxes for pair in boxed.visits for boxes in pair], boxed.own)
    salt = salts(size)
    signature = np.zeros(raster.cells, dtype=np.uint64)
    counts = np.zeros(raster.cells, dtype=np.int64)
    cells, members = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for visit, pair in zip(timeline.visits, boxed.visits, strict=True):
        for role, boxes in enumerate(pair):
            box, cell = raster.covered(boxes)
            member = role * size + boxes.program[box] * moments + visit.moment
            np.add.at(signature, cell, salt[member])
            if role == 0:
                np.add.at(counts, cell, 1)
            cells.append(cell)
            members.append(member)
    of_cell, heads = grouped(signature)
    class_at = np.zeros(raster.cells, dtype=np.int64)
    class_at[heads] = np.arange(1, len(heads) + 1)
    number = class_at[np.concatenate(cells)]
    table = table_of(number[number > 0], np.concatenate(members)[number > 0], len(heads), 2 * size)
    drawn, origin, window = boxed.crop(raster, of_cell)
    edges, which = raster.cut(window)
    return Heat(
        shape=boxed.shape,
        drawn=drawn,
        origin=origin,
        over="shape" if storage is None else storage.over,
        unit=0 if storage is None else storage.unit,
        first=0 if storage is None else storage.first,
        programs=programs,
        moments=timeline.moments,
        tiles=Tiles(edges),
        tile_classes=of_cell.reshape(raster.cells_along)[which].reshape(-1),
        tile_counts=counts.reshape(raster.cells_along)[which].reshape(-1),
        table=table,
        active_elsewhere=boxed.active_elsewhere,
        masked_elsewhere=boxed.masked_elsewhere,
    )
