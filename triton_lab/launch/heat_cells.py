"""What happens to the cells of a picture, each of which stands for one position or for several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from triton_lab.launch.classes import Classes, distinct, grouped, unions
from triton_lab.launch.heat import BY, Heat
from triton_lab.launch.places import Ints

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


def heat_cells(found: Heat, cell_of_position: Ints, cells: int, binned: bool) -> HeatCells:
    """Gather positions into cells; ``cell_of_position`` are below ``cells``."""
    state = np.full(len(found.classes), INSIDE)
    if found.drawn != found.shape:
        state = np.where(found.inside, INSIDE, np.where(found.counts > 0, WRONG, BESIDE))
    most = int(found.counts.max(initial=0)) + 1
    key = (found.classes * most + found.counts) * 3 + state + 1
    classes, heads = grouped(key.astype(np.uint64))
    heads = np.append(0, heads)  # class 0 is no position
    there = ~((state[heads] == BESIDE) & (found.classes[heads] == 0)) if len(classes) else np.zeros(1, dtype=bool)
    there[0] = False
    own = found.classes[heads] if len(classes) else np.zeros(1, dtype=np.int64)
    own[0] = 0
    by = {what: found.by(what)[own] for what in BY[1:]}
    by["count"] = np.where(by["program"] >= 0, found.counts[heads], -1) if len(classes) else np.full(1, -1)
    states = state[heads] if len(classes) else np.zeros(1, dtype=np.int64)
    if binned:
        return _binned(found, classes, own, there, states, by, cell_of_position, cells)
    kept = np.flatnonzero(there)
    renumber = np.zeros(len(there), dtype=np.int64)
    renumber[kept] = np.arange(1, len(kept) + 1)
    kept = np.append(0, kept)
    numbers = np.zeros(cells, dtype=np.int64)
    numbers[cell_of_position] = renumber[classes]
    return HeatCells(numbers, _rows(found.table, own[kept]), states[kept], {what: by[what][kept] for what in BY})


def _binned(
    found: Heat,
    classes: Ints,
    own: Ints,
    there: npt.NDArray[np.bool_],
    states: Ints,
    by: dict[str, Ints],
    cell_of_position: Ints,
    cells: int,
) -> HeatCells:
    pairs = cell_of_position * len(there) + classes
    if len(pairs):
        pairs = distinct(pairs[np.append(True, pairs[1:] != pairs[:-1])])  # runs first: sorting is dear
    pairs = pairs[there[pairs % len(there)]]
    if not len(pairs):
        return HeatCells(np.zeros(cells, dtype=np.int64), _rows(found.table, own[:1]), states[:1], by)
    cell, number = pairs // len(there), pairs % len(there)
    # Cells of equal contents are one class: what follows is worked out for the first cell of each.
    starts = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
    salt = np.random.default_rng(1).integers(1, 1 << 64, size=len(there), dtype=np.uint64)
    merged, heads = grouped(np.add.reduceat(salt[number], starts))
    numbers = np.zeros(cells, dtype=np.int64)
    numbers[cell[starts]] = merged
    sizes = np.diff(np.append(starts, len(pairs)))[heads]
    bins = np.repeat(np.arange(len(heads)), sizes)
    begin = np.cumsum(sizes) - sizes
    number = number[np.repeat(starts[heads] - begin, sizes) + np.arange(len(bins))]
    flags = np.zeros((len(found.table), 0), dtype=bool)
    united, table, _ = unions(own[number], found.table, flags, bins, len(heads))
    told: dict[str, Ints] = {}
    for what in BY:
        values = by[what][number]
        if what in ("count", "reuse"):
            told[what] = np.append(-1, np.maximum.reduceat(values, begin))
        else:
            least = np.minimum.reduceat(np.where(values < 0, _NEVER, values), begin)
            told[what] = np.append(-1, np.where(least == _NEVER, -1, least))
    # An element in a cell makes it one; a lane that went astray shows in any case.
    rank = np.array([1, 0, 2])[states[number]]
    state = np.array([BESIDE, INSIDE, WRONG])[np.maximum.reduceat(rank, begin)]
    return HeatCells(numbers, _rows(table, np.append(0, united)), np.append(BESIDE, state), told)


_NEVER = np.iinfo(np.int64).max


def _rows(table: Classes, rows: Ints) -> Classes:
    """The classes ``rows`` of a table, in that order."""
    sizes = table.counts[rows]
    ends = np.cumsum(sizes)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return Classes(np.append(0, ends), table.items[np.repeat(table.starts[rows], sizes) + within])
