"""The pairs of accesses to a stretch of bytes that must be examined to decide whether they all are ordered.

Order is transitive, so a store need only be ordered with its neighbours in time. Atomic updates are not ordered among
themselves, so each of them must be ordered with every load of the stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from triton_lab.ir.effects import Role
from triton_lab.launch.byte_ranges import Flags, Ints
from triton_lab.launch.checks.race.conflicts import ConflictRows, parts_of
from triton_lab.launch.membership_classes import counted, mixed

Pairs = tuple[Ints, Ints]
# For pairs of row positions, `first` before `second` in time: whether each pair is unordered.
Unordered = Callable[[Ints, Ints], Flags]
# The number of pairs that are examined at a time.
_PAIRS = 1 << 22


def racing_pairs(rows: ConflictRows, unordered: Unordered) -> Pairs:
    """Pairs of rows that race: not all of them, but at least one on every stretch that has a race."""
    if not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    first, second = _racing(rows, unordered, [_beside_stores(rows), *_nearest_updates(rows)])
    alike = _Alike.of(rows, first)
    parts = [alike.everywhere(*_racing(rows, unordered, [pairs])) for pairs in _all_with_updates(rows, alike.rows)]
    return np.concatenate([first, *(one for one, _ in parts)]), np.concatenate([second, *(two for _, two in parts)])


def _racing(rows: ConflictRows, unordered: Unordered, parts: list[Pairs]) -> Pairs:
    first, second = (np.concatenate(side) for side in zip(*parts, strict=True))
    apart = rows.program[first] != rows.program[second]
    first, second = first[apart], second[apart]
    open_ = unordered(first, second)
    return first[open_], second[open_]


def _begins(rows: ConflictRows) -> Ints:
    """The first row of each row's stretch."""
    heads = np.concatenate([[True], rows.stretch[1:] != rows.stretch[:-1]])
    return np.maximum.accumulate(np.where(heads, np.arange(len(rows)), 0))


def _reversed(rows: ConflictRows) -> ConflictRows:
    return rows.at(np.arange(len(rows))[::-1])


def _last_before(some: Flags) -> Ints:
    """For each row, the last row of ``some`` before it; -1 for none."""
    upto = np.maximum.accumulate(np.where(some, np.arange(len(some)), -1))
    return np.concatenate([[-1], upto[:-1]])


def _beside_stores(rows: ConflictRows) -> Pairs:
    """Neighbours in time of which at least one stores: if all of these are ordered, all pairs with a store are."""
    last, begins = _last_before(rows.are(Role.STORE)), _begins(rows)
    after = np.flatnonzero(last >= begins)
    backward = _reversed(rows)
    following = _last_before(backward.are(Role.STORE))
    ahead = np.flatnonzero((following >= _begins(backward)) & ~backward.are(Role.STORE))
    end = len(rows) - 1
    return np.concatenate([last[after], end - ahead]), np.concatenate([after, end - following[ahead]])


def _nearest_updates(rows: ConflictRows) -> Iterator[Pairs]:
    """For each load, the nearest updates of other programs in time, before and after; and the reverse."""
    backward, end = _reversed(rows), len(rows) - 1
    for one, other in ((Role.UPDATE, Role.LOAD), (Role.LOAD, Role.UPDATE)):
        yield _nearest(rows, rows.are(one), rows.are(other))
        later, earlier = _nearest(backward, backward.are(one), backward.are(other))
        yield end - earlier, end - later


def _nearest(rows: ConflictRows, some: Flags, others: Flags) -> Pairs:
    """For each row of ``others``, the last row of ``some`` before it that is of another program."""
    positions = np.flatnonzero(some)
    program = rows.program[positions]
    heads = np.concatenate([[True], program[1:] != program[:-1]])[: len(positions)]
    run = np.maximum.accumulate(np.where(heads, np.arange(len(positions)), 0))
    # For each row of ``some``, the last one before it of another program.
    before = np.full(len(rows), -1, np.int64)
    before[positions[run > 0]] = positions[run[run > 0] - 1]
    asking = np.flatnonzero(others)
    found = _last_before(some)[asking]
    own = (found >= 0) & (rows.program[found] == rows.program[asking])
    found = np.where(own, before[found], found)
    known = found >= _begins(rows)[asking]
    return found[known], asking[known]


class _Alike:
    """Classes of stretches with loads and updates on which no race is known yet.

    Stretches with the same accesses in the same order are one class; ``rows`` are those of one stretch of each class.
    """

    def __init__(self, rows: Ints, heads: Ints, kind: Ints, first: Ints) -> None:
        self.rows = rows
        # By stretch: its first row, and its class (-1: not examined). By class: the stretch that represents it.
        self._heads, self._kind, self._first = heads, kind, first

    @classmethod
    def of(cls, rows: ConflictRows, racing: Ints) -> _Alike:
        begins = _begins(rows)
        heads = np.flatnonzero(begins == np.arange(len(rows)))
        number = np.searchsorted(heads, begins)
        loads, updates = rows.are(Role.LOAD), rows.are(Role.UPDATE)
        asked = np.logical_or.reduceat(loads, heads) & np.logical_or.reduceat(updates, heads)
        asked[number[racing]] = False
        kind = np.full(len(heads), -1, np.int64)
        # The accesses are identified by a sum of hashes, as in `membership_classes.classify`.
        mark = mixed(rows.time.astype(np.uint64) << np.uint64(32) | rows.program.astype(np.uint64))
        _, first, kind[asked] = np.unique(np.add.reduceat(mark, heads)[asked], return_index=True, return_inverse=True)
        first = np.flatnonzero(asked)[first]
        return cls(np.flatnonzero(np.isin(number, first)), heads, kind, first)

    def everywhere(self, first: Ints, second: Ints) -> Pairs:
        """The pairs, and the same pairs on all other stretches of their classes."""
        if not len(first):
            return first, second
        stretch = np.searchsorted(self._heads, first, side="right") - 1
        ordered = np.argsort(self._kind, kind="stable")
        low, high = (np.searchsorted(self._kind[ordered], self._kind[stretch], side) for side in ("left", "right"))
        count = high - low
        shift = self._heads[ordered[np.repeat(low, count) + counted(count)]] - np.repeat(self._heads[stretch], count)
        return np.repeat(first, count) + shift, np.repeat(second, count) + shift


def _all_with_updates(rows: ConflictRows, among: Ints) -> Iterator[Pairs]:
    """All pairs of an update and a load on the same stretch, part by part."""
    chosen = rows.at(among)
    begins = _begins(chosen)
    updates, loads = chosen.are(Role.UPDATE), chosen.are(Role.LOAD)
    for some, others in ((updates, loads), (loads, updates)):
        positions, asking = np.flatnonzero(some), np.flatnonzero(others)
        # Each row of `others` is paired with all rows of `some` before it on its stretch.
        low, high = np.searchsorted(positions, begins[asking]), np.searchsorted(positions, asking)
        for start, stop in parts_of(high - low, _PAIRS):
            count = (high - low)[start:stop]
            first = positions[np.repeat(low[start:stop], count) + counted(count)]
            yield among[first], among[np.repeat(asking[start:stop], count)]
