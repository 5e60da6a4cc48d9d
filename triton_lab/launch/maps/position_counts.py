"""`PositionCounts`: the number of lanes at each position, and a hash of the members that touch it.

The hash is a sum of salts. Positions with the same members have the same sum, and so are in one class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.access_lanes import AccessLanes, TouchingLanes
from triton_lab.launch.membership_classes import Classes, distinct

_FEW = 16  # with this many times more positions than lanes, sorting lanes is faster than arrays over positions


@dataclass(frozen=True)
class Renumbered:
    """Lanes whose positions are indices into ``few``, the positions that are touched."""

    lanes: TouchingLanes
    few: Ints

    @property
    def members(self) -> int:
        return self.lanes.members

    def __iter__(self) -> Iterator[AccessLanes]:
        for some in self.lanes:
            yield replace(some, position=np.searchsorted(self.few, some.position))


class PositionCounts:
    """Sums over the lanes added so far, at each position.

    ``signature`` (positions,) sums the salts of the distinct members there, for each visit, so positions with the same
    members have the same signature. ``counts`` (positions,) counts active lanes. ``active_elsewhere`` and
    ``masked_elsewhere`` count lanes without a position.
    """

    def __init__(self, positions: int, members: int) -> None:
        self.signature = np.zeros(positions, dtype=np.uint64)
        self.counts = np.zeros(positions, dtype=np.int64)
        self.active_elsewhere = self.masked_elsewhere = 0
        self._salt = salts(members)

    def add(self, lanes: AccessLanes) -> None:
        """Add the lanes of one visit."""
        if lanes.active:
            self.active_elsewhere += lanes.elsewhere
        else:
            self.masked_elsewhere += lanes.elsewhere
        run = lanes.run()
        if run is not None:
            self._add_run(lanes, run)
        elif lanes.position.size:
            self._add_scattered(lanes)

    def _add_run(self, lanes: AccessLanes, run: slice) -> None:
        """Add lanes that fill a range in order, with slices instead of gathers."""
        self.signature[run].reshape(lanes.position.shape)[...] += self._salt[lanes.member]
        if lanes.active:
            self.counts[run] += 1

    def _add_scattered(self, lanes: AccessLanes) -> None:
        if lanes.position.size * _FEW < len(self.counts):
            self._sign_pairs(lanes)
            if lanes.active:
                np.add.at(self.counts, lanes.position, 1)
            return
        here = np.bincount(lanes.position.reshape(-1), minlength=len(self.counts))
        if int(here.max()) == 1:
            self.signature[lanes.position] += self._salt[lanes.member]
        else:
            self._sign_crowded(lanes)
        if lanes.active:
            self.counts += here

    def _sign_crowded(self, lanes: AccessLanes) -> None:
        """Add the salt of each distinct pair of position and member, if several lanes share a position."""
        position, member, salt = lanes.position, lanes.member, self._salt
        last = np.full(len(self.signature), -1, dtype=np.int64)
        last[position] = member
        if (last[position] == member).all():  # one member at each position
            there = last >= 0
            self.signature[there] += salt[last[there]]
            return
        self._sign_pairs(lanes)

    def _sign_pairs(self, lanes: AccessLanes) -> None:
        keys = distinct(lanes.position * len(self._salt) + lanes.member)
        np.add.at(self.signature, keys // len(self._salt), self._salt[keys % len(self._salt)])


def table_of_lanes(lanes: TouchingLanes | Renumbered, heads: Ints, positions: int) -> Classes:
    """The members of each class; ``heads`` are the first positions of the classes from 1 up."""
    known = _Heads(heads, positions)
    numbers, members = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for some in lanes:
        run = some.run()
        if run is None:
            number, member = known.at(some.position), some.members()
            there = number > 0
            number, member = number[there], member[there]
        else:
            first = heads[(heads >= run.start) & (heads < run.stop)]
            block = some.position.size // some.member.size
            number, member = np.searchsorted(heads, first) + 1, some.member.reshape(-1)[(first - run.start) // block]
        numbers.append(number)
        members.append(member)
    return table_of(np.concatenate(numbers), np.concatenate(members), len(heads), 2 * lanes.members)


@dataclass(frozen=True)
class _Heads:
    """The first positions of the classes, ascending."""

    heads: Ints
    positions: int

    @cached_property
    def _table(self) -> Ints:
        table = np.zeros(self.positions, dtype=np.int64)
        table[self.heads] = np.arange(1, len(self.heads) + 1)
        return table

    def at(self, position: Ints) -> Ints:
        """The class of which each position is the head; 0 if it is no head."""
        if position.size * _FEW >= self.positions or not len(self.heads):
            return self._table[position]
        number = np.minimum(np.searchsorted(self.heads, position), len(self.heads) - 1)
        return np.where(self.heads[number] == position, number + 1, 0)


def table_of(classes: Ints, members: Ints, count: int, limit: int) -> Classes:
    """The table from pairs of a class, from 1 to ``count``, and one of its members, below ``limit``."""
    limit = max(1, limit)
    keys = distinct(classes * limit + members)
    return Classes(np.searchsorted(keys, np.arange(count + 2) * limit), keys % limit)


def salts(members: int) -> npt.NDArray[np.uint64]:
    """A pseudorandom number for each active member, then for each masked-off one (splitmix64, Steele and others 2014).

    ``numpy.random`` is not imported, as that would delay the first picture.
    """
    found = np.arange(1, max(1, 2 * members) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))
