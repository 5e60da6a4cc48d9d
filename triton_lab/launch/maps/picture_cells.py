"""`HeatCells`: the heat of a picture's cells, each of which represents one or several positions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.heat import BY, Heat
from triton_lab.launch.maps.lane_positions import Flags
from triton_lab.launch.maps.tile_groups import TileFalls
from triton_lab.launch.membership_classes import Classes, classify, distinct, grouped, unions

INSIDE, BESIDE, WRONG = range(3)  # an element; a position past the edge; such a position that is touched


@dataclass(frozen=True)
class HeatCells:
    """The classes of cells: ``numbers`` (cells,), 0 for a blank cell; the other fields are (classes, ...).

    ``by`` has for each of `access_heat.BY` the class's value, -1 if no lane is active: the greatest count and reuse,
    and the least program, iteration and order, of the positions in a cell. ``members`` are as in `Heat.table`.
    """

    numbers: Ints
    members: Classes
    state: Ints
    by: dict[str, Ints]


def heat_cells(found: Heat, cell_of_position: Ints, cells: int) -> HeatCells:
    """One cell for each position; other cells are blank. ``cell_of_position`` are below ``cells``."""
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
    """One cell for each bin of positions; ``bin_of_position`` are below ``bins``."""
    kinds = _kinds(found)
    return _told(found, kinds, bin_of_position, found.tiles.spread(kinds.of_tile), bins)


def heat_fallen(found: Heat, falls: TileFalls) -> HeatCells:
    """`heat_bins` from tiles instead of positions."""
    kinds = _kinds(found)
    told = _told(found, kinds, falls.group, kinds.of_tile[falls.tile], falls.groups)
    return replace(told, numbers=falls.spread(told.numbers))


def _told(found: Heat, kinds: _Kinds, bin_of: Ints, kind_of: Ints, bins: int) -> HeatCells:
    """The cells of bins; bin ``bin_of[k]`` contains kind ``kind_of[k]``."""
    filled, contents, sets = _contents(kinds, bin_of, kind_of)
    numbers = np.zeros(bins, dtype=np.int64)
    numbers[filled] = contents
    no_flags = np.zeros((len(found.table), 0), dtype=bool)
    united, table, _ = unions(kinds.classes[sets.items], found.table, no_flags, sets.owners - 1, len(sets) - 1)
    by = {what: (_greatest if what in _GREATEST else _least)(kinds.by[what], sets) for what in BY}
    return HeatCells(numbers, _rows(table, np.append(0, united)), _strongest(kinds.state, sets), by)


@dataclass(frozen=True)
class _Kinds:
    """Kinds of tiles: tiles that look the same in a cell are one kind. Kind 0 is no position.

    ``of_tile`` (tiles,) is the kind of each tile; ``classes`` (kinds,) index `Heat.table`; ``shown`` (kinds,) says
    whether there is anything to draw; ``state`` and ``by`` are as in `HeatCells`.
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
    """(tiles,) the state of each tile: INSIDE, BESIDE or WRONG."""
    if found.drawn == found.shape:
        return np.full(len(found.tile_classes), INSIDE)
    plain = found.tiles.edges is None
    inside = found.inside if plain else found.tiles.within(found.origin, found.shape)
    return np.where(inside, INSIDE, np.where(found.tile_counts > 0, WRONG, BESIDE))


def _contents(kinds: _Kinds, bin_of: Ints, kind_of: Ints) -> tuple[Ints, Ints, Classes]:
    """The bins that are not empty, the set of kinds in each, and these sets (from 1 up).

    Bins with equal contents share a set, so that each set is computed once.
    """
    count = len(kinds.shown)
    pairs = bin_of * count + kind_of
    pairs = distinct(pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]])  # runs first: sorting is slow
    pairs = pairs[kinds.shown[pairs % count]]
    where = pairs // count
    contents, sets = classify(where, pairs % count)
    return where[np.append(True, where[1:] != where[:-1])[: len(where)]], contents, sets


_GREATEST = ("count", "reuse")
_NEVER = np.iinfo(np.int64).max
# The state of a cell with several: an element counts more than a margin, and a touched margin always shows.
_BY_STRENGTH = np.array([BESIDE, INSIDE, WRONG])
_STRENGTH = np.argsort(_BY_STRENGTH)


def _greatest(values: Ints, sets: Classes) -> Ints:
    """(sets,) the greatest value in each set, -1 in set 0."""
    return np.append(-1, np.maximum.reduceat(values[sets.items], sets.starts[1:-1]))


def _least(values: Ints, sets: Classes) -> Ints:
    """(sets,) the least value >= 0 in each set, -1 if there is none."""
    known = np.where(values < 0, _NEVER, values)
    least = np.minimum.reduceat(known[sets.items], sets.starts[1:-1])
    return np.append(-1, np.where(least == _NEVER, -1, least))


def _strongest(state: Ints, sets: Classes) -> Ints:
    """(sets,) the state of a cell that contains all of a set."""
    strength = np.maximum.reduceat(_STRENGTH[state][sets.items], sets.starts[1:-1])
    return np.append(BESIDE, _BY_STRENGTH[strength])


def _rows(table: Classes, rows: Ints) -> Classes:
    """The classes ``rows`` of a table, in that order."""
    sizes = table.counts[rows]
    ends = np.cumsum(sizes)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return Classes(np.append(0, ends), table.items[np.repeat(table.starts[rows], sizes) + within])
