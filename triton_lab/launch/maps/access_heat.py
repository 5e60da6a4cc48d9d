"""Counts the `Heat` of an argument's accesses: of lanes one by one, or of boxes of lanes where these are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.access_lanes import Timeline, TouchingLanes
from triton_lab.launch.maps.box_positions import Boxed, over_shape, over_storage
from triton_lab.launch.maps.heat import Heat
from triton_lab.launch.maps.lane_boxes import Raster
from triton_lab.launch.maps.lane_positions import OverShape, OverStorage, Place, StoredArgument, TimedAccess
from triton_lab.launch.maps.position_counts import PositionCounts, Renumbered, salts, table_of, table_of_lanes
from triton_lab.launch.maps.program_sample import sampled, thinned
from triton_lab.launch.maps.tile_groups import Tiles
from triton_lab.launch.membership_classes import distinct, grouped

_SPARSE = 4  # with this many times more positions than lanes, each gap between lanes is one tile


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
