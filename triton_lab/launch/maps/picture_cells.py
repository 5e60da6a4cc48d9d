"""What happens to the cells of a picture, each of which stands for one position or for several."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.access_heat import BY, Heat
from triton_lab.launch.maps.lane_positions import Flags
from triton_lab.launch.maps.tile_groups import TileFalls
from triton_lab.launch.membership_classes import Classes, classify, distinct, grouped, unions

INSIDE, BESIDE, WRONG = range(3)  # an element; a place over the edge; one that is touched there


@dataclass(frozen=True)
class HeatCells:
    """``numbers`` (cells,) are classes, 0 where there is no cell; the rest is (classes, ...).

    ``by`` has, for each of `heat.BY`, the class's number, -1 where no lane is active: the greatest
    count and reuse, and the least program, iteration and order, of the positions in a cell.
    ``members`` are those of `Heat.table`.
    """

    numbers: Ints
    members: Classes
    state: Ints
    by: dict[str, Ints]


def heat_cells(found: Heat, cell_of_position: Ints, cells: int) -> HeatCells:
    """A cell for each position, and blank ones beside them; ``cell_of_position`` are below ``cells``."""
    kinds = _kinds(found)
    kept = np.flatnonzero(kinds.shown)
    class_of = np.zeros(len(kinds.shown), dtype=np.int64)
    class_of[kept] = np.arange(1, len(kept) + 1)
    kept = np.append(0, kept)
    numbers = np.zeros(cells, dtype=np.int64)
    numbers[cell_of_position] = found.tiles.spread(class_of[kinds.of_tile])
    members = _rows(found.table, kinds.classes[kept])
    return HeatCells(numbers, members, kinds.state[kept], {what: kinds.by[what][kept] for what in BY})


def heat_bins(found: Heat, bin_of_position: Ints, bins: int) -> HeatCells:
    """A cell for each bin of positions; ``bin_of_position`` are below ``bins``."""
    kinds = _kinds(found)
    return _told(found, kinds, bin_of_position, found.tiles.spread(kinds.of_tile), bins)


def heat_fallen(found: Heat, falls: TileFalls) -> HeatCells:
    """The same, of what is known of tiles alone."""
    kinds = _kinds(found)
    told = _told(found, kinds, falls.group, kinds.of_tile[falls.tile], falls.groups)
    return replace(told, numbers=falls.spread(told.numbers))


def _told(found: Heat, kinds: _Kinds, bin_of: Ints, kind_of: Ints, bins: int) -> HeatCells:
    """What is told of bins, each of which has all kinds in it that it is paired with."""
    filled, contents, sets = _contents(kinds, bin_of, kind_of)
    numbers = np.zeros(bins, dtype=np.int64)
    numbers[filled] = contents
    no_flags = np.zeros((len(found.table), 0), dtype=bool)
    united, table, _ = unions(kinds.classes[sets.items], found.table, no_flags, sets.owners - 1, len(sets) - 1)
    by = {what: (_greatest if what in _GREATEST else _least)(kinds.by[what], sets) for what in BY}
    return HeatCells(numbers, _rows(table, np.append(0, united)), _strongest(kinds.state, sets), by)


@dataclass(frozen=True)
class _Kinds:
    """Tiles that are alike in all that cells tell are one kind. Kind 0 is no position.

    ``of_tile`` (tiles,); ``classes`` (kinds,) index `Heat.table`, ``shown`` (kinds,) says
    whether there is something to draw, ``state`` and ``by`` are as in `HeatCells`.
    """

    of_tile: Ints
    classes: Ints
    shown: Flags
    state: Ints
    by: dict[str, Ints]


def _kinds(found: Heat) -> _Kinds:
    states = _states(found)
    most = int(found.tile_counts.max(initial=0)) + 1
    key = (found.tile_classes * most + found.tile_counts) * 3 + states + 1
    of_tile, heads = grouped(key.astype(np.uint64))
    classes = np.append(0, found.tile_classes[heads])
    state = np.append(BESIDE, states[heads])
    by = {what: found.by(what)[classes] for what in BY[1:]}
    by["count"] = np.where(by["program"] >= 0, np.append(0, found.tile_counts[heads]), -1)
    return _Kinds(of_tile, classes, (state != BESIDE) | (classes > 0), state, by)


def _states(found: Heat) -> Ints:
    """(tiles,) what each is."""
    if found.drawn == found.shape:
        return np.full(len(found.tile_classes), INSIDE)
    plain = found.tiles.edges is None
    inside = found.inside if plain else found.tiles.within(found.origin, found.shape)
    return np.where(inside, INSIDE, np.where(found.tile_counts > 0, WRONG, BESIDE))


def _contents(kinds: _Kinds, bin_of: Ints, kind_of: Ints) -> tuple[Ints, Ints, Classes]:
    """The bins in which there is something, the set of kinds in each, and these sets (from 1 up).

    Bins of equal contents have the same set: what is told of them is worked out once.
    """
    count = len(kinds.shown)
    pairs = bin_of * count + kind_of
    pairs = distinct(pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]])  # runs first: sorting is dear
    pairs = pairs[kinds.shown[pairs % count]]
    where = pairs // count
    contents, sets = classify(where, pairs % count)
    return where[np.append(True, where[1:] != where[:-1])[: len(where)]], contents, sets


_GREATEST = ("count", "reuse")
_NEVER = np.iinfo(np.int64).max
# What a cell is that holds all three: an element makes it one; a lane that went astray shows in any case.
_BY_STRENGTH = np.array([BESIDE, INSIDE, WRONG])
_STRENGTH = np.argsort(_BY_STRENGTH)


def _greatest(values: Ints, sets: Classes) -> Ints:
    """(sets,) the greatest value in each, -1 in set 0."""
    return np.append(-1, np.maximum.reduceat(values[sets.items], sets.starts[1:-1]))


def _least(values: Ints, sets: Classes) -> Ints:
    """(sets,) the least value from 0 up in each, -1 where there is none."""
    known = np.where(values < 0, _NEVER, values)
    least = np.minimum.reduceat(known[sets.items], sets.starts[1:-1])
    return np.append(-1, np.where(least == _NEVER, -1, least))


def _strongest(state: Ints, sets: Classes) -> Ints:
    """(sets,) the state of a cell that has all of a set in it."""
    strength = np.maximum.reduceat(_STRENGTH[state][sets.items], sets.starts[1:-1])
    return np.append(BESIDE, _BY_STRENGTH[strength])


def _rows(table: Classes, rows: Ints) -> Classes:
    """The classes ``rows`` of a table, in that order."""
    sizes = table.counts[rows]
    ends = np.cumsum(sizes)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return Classes(np.append(0, ends), table.items[np.repeat(table.starts[rows], sizes) + within])
