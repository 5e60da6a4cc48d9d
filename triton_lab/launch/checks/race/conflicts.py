"""Bytes that several programs contend for: all accesses are cut along each other's borders.

Between two neighbouring borders, an access touches all bytes or none. So each stretch of bytes is examined once,
however many lanes touch it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from triton_lab.footprint.access_blocks import clusters
from triton_lab.footprint.access_roles import Roles, contended, flags_of
from triton_lab.footprint.disjoint_programs import apart
from triton_lab.ir.effects import RIVALS, Role, role_of
from triton_lab.launch.access_footprint import ByteRuns, around
from triton_lab.launch.byte_ranges import ALL, NOTHING, Flags, Ints, Ranges
from triton_lab.launch.checks.analysis.evidence import Evidence, SeenAccess
from triton_lab.launch.checks.race.happens_before import hands_on
from triton_lab.launch.checks.race.memory_cells import MemoryCells
from triton_lab.launch.membership_classes import counted, distinct, ordering

# The number of rows that are examined at once.
_ROWS = 1 << 22
# More than `_MANY` runs are marked in an array of cells, if they take fewer than `_SHORT` cells a run.
_MANY, _SHORT = 1 << 14, 64


@dataclass(frozen=True, eq=False)
class ConflictRows:
    """The touches of stretches: parallel arrays, sorted by stretch, then time, then program.

    ``start`` and ``stop`` are the stretch's bytes, and ``sight`` is the number of the execution, ``alone`` marks
    accesses by a single thread.
    """

    stretch: Ints
    start: Ints
    stop: Ints
    program: Ints
    time: Ints
    sight: Ints
    roles: Roles
    alone: Flags

    def __len__(self) -> int:
        return len(self.stretch)

    def are(self, role: Role) -> Flags:
        """Which rows have this role."""
        chosen: Flags = self.roles == role
        return chosen

    def where(self, chosen: Flags) -> ConflictRows:
        """Some of the rows."""
        return self.at(np.flatnonzero(chosen))

    def at(self, positions: Ints) -> ConflictRows:
        """The rows at these positions, in that order."""
        return ConflictRows(*(getattr(self, column.name)[positions] for column in fields(self)))


def role(sight: SeenAccess) -> Role:
    """The role of an access: a compare-and-swap that found nothing that it expected has only loaded."""
    found, took = role_of(sight.op), sight.event.took
    if found is Role.UPDATE and took is not None and not bool((took & sight.event.active()).any()):
        return Role.ATOMIC_LOAD
    return found


def relevant(evidence: Evidence) -> list[SeenAccess]:
    """The accesses that may contend for a byte, as far as the bounds of their addresses tell; in order of execution."""
    groups = clusters(evidence.in_order, evidence.hull)
    return _in_order(sight for group in groups if _may_contend(group) for sight in group)


def _may_contend(sights: Iterable[SeenAccess]) -> bool:
    roles = {role(sight) for sight in sights}
    return any(not roles.isdisjoint(RIVALS[one]) for one in roles)


def _in_order(sights: Iterable[SeenAccess]) -> list[SeenAccess]:
    return sorted(sights, key=lambda sight: sight.event.order)


def not_apart(evidence: Evidence, sights: Sequence[SeenAccess]) -> list[SeenAccess]:
    """The ``sights`` that may touch a byte that two programs contend for, as far as their compact forms tell."""
    left: list[SeenAccess] = []
    for group in clusters(sights, evidence.hull):
        blocks = [around(sight.event, role(sight), sight.itemsize) for sight in group]
        known = [each for each in blocks if each is not None]
        if len(known) < len(blocks) or not apart(known):
            left += group
    return _in_order(left)


def shared_bytes(evidence: Evidence, sights: list[SeenAccess]) -> Ranges:
    """The bytes that several programs contend for."""
    sights = not_apart(evidence, sights)
    if not sights:
        return NOTHING
    runs = [evidence.runs(sight) for sight in sights]
    count, size = sum(len(one) for one in runs), sum(int((one.stop - one.start).sum()) for one in runs)
    by_role = {one: [sight for sight in sights if role(sight) is one] for one in Role}
    written = by_role[Role.STORE] + by_role[Role.UPDATE]
    cells = MemoryCells(evidence, written, min(sight.itemsize for sight in sights))
    # Long runs are few, and sorting is fast; short runs are marked quickly.
    if count > _MANY and size // cells.unit + cells.count < _SHORT * count:
        return cells.contended(evidence, by_role)
    return Ranges.joined(contested(evidence, sights, ALL))


def contested(evidence: Evidence, sights: list[SeenAccess], within: Ranges) -> Iterator[ConflictRows]:
    """The stretches that several programs contend for, part by part.

    On such a stretch one program stores, or one updates and another loads. Runs that touch no byte of ``within`` are
    left out.
    """
    touches = _Touches.of(evidence, sights, within)
    if not touches.meet():
        return
    kinds = _Sights.of(sights)
    stretches = _Stretches.of(touches, kinds)
    for first, last in parts_of(stretches.sizes, _ROWS):
        rows = stretches.rows(touches, kinds, first, last)
        yield rows.where(_contending(rows))


def parts_of(sizes: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Cut a list of items of these sizes into parts ``first .. last - 1`` of total size ``most``, or of one item."""
    ends = np.cumsum(sizes)
    first = 0
    while first < len(ends):
        room = int(np.searchsorted(ends, (ends[first - 1] if first else 0) + most, side="right"))
        last = max(first + 1, room)
        yield first, last
        first = last


@dataclass(frozen=True, eq=False)
class _Sights:
    """The time and role of each execution: arrays by its number. See `ConflictRows`."""

    time: Ints
    roles: Roles
    alone: Flags

    @classmethod
    def of(cls, sights: list[SeenAccess]) -> _Sights:
        return cls(
            np.array([sight.event.order for sight in sights], np.int64),
            np.array([role(sight) for sight in sights], np.int8),
            np.array([_alone(sight) for sight in sights], np.bool_),
        )


@dataclass(frozen=True, eq=False)
class _Touches:
    """The byte runs of all executions: parallel arrays, sorted by ``start``; ``sight`` is the execution's number."""

    start: Ints
    stop: Ints
    program: Ints
    sight: Ints

    @classmethod
    def of(cls, evidence: Evidence, sights: list[SeenAccess], within: Ranges) -> _Touches:
        none = np.zeros(0, np.int64)
        runs = [_within(evidence, sight, within) for sight in sights]
        start = np.concatenate([none, *(each.start for each in runs)])
        stop = np.concatenate([none, *(each.stop for each in runs)])
        program = np.concatenate([none, *(each.program for each in runs)])
        sight = np.repeat(np.arange(len(sights)), [len(each) for each in runs])
        order = ordering(start)
        return cls(start[order], stop[order], program[order], sight[order])

    def meet(self) -> bool:
        """Whether any two runs have a byte in common."""
        return bool((self.start[1:] < np.maximum.accumulate(self.stop)[:-1]).any())


@dataclass(frozen=True, eq=False)
class _Stretches:
    """The stretches that may have a conflict, between neighbouring ``borders`` of runs.

    ``number`` is the number of each among all stretches, and ``sizes`` the number of runs that cover it. Run ``r``
    covers those from ``low[r]`` to ``high[r] - 1``.
    """

    borders: Ints
    number: Ints
    sizes: Ints
    low: Ints
    high: Ints

    @classmethod
    def of(cls, touches: _Touches, sights: _Sights) -> _Stretches:
        borders = distinct(np.concatenate([touches.start, touches.stop]))
        first, last = np.searchsorted(borders, touches.start), np.searchsorted(borders, touches.stop)
        touched = _cover(first, last, len(borders))
        stored, updated, loaded = (
            _cover(first[some], last[some], len(borders)) > 0 for some in flags_of(sights.roles[touches.sight])
        )
        in_question = (touched > 1) & (stored | updated & loaded)
        number = np.flatnonzero(in_question)
        before = np.concatenate([[0], np.cumsum(in_question)])
        return cls(borders, number, touched[number], before[first], before[last])

    def rows(self, touches: _Touches, sights: _Sights, first: int, last: int) -> ConflictRows:
        """The rows of the stretches ``first`` to ``last - 1``: one for each run that covers each of them."""
        lower, upper = np.clip(self.low, first, last), np.clip(self.high, first, last)
        count = upper - lower
        run = np.repeat(np.arange(len(count)), count)
        place = lower[run] + counted(count)
        order = ordering(place, sights.time[touches.sight[run]], touches.program[run])
        run, stretch = run[order], self.number[place[order]]
        sight = touches.sight[run]
        return ConflictRows(
            stretch=stretch,
            start=self.borders[stretch],
            stop=self.borders[stretch + 1],
            program=touches.program[run],
            time=sights.time[sight],
            sight=sight,
            roles=sights.roles[sight],
            alone=sights.alone[sight],
        )


def _within(evidence: Evidence, sight: SeenAccess, within: Ranges) -> ByteRuns:
    """The runs of a sight that touch a byte of ``within``."""
    runs = evidence.runs(sight)
    if within is ALL:
        return runs
    if not within.meets(*evidence.hull(sight)):
        return runs.at(np.zeros(0, np.int64))
    return runs.at(np.flatnonzero(within.number(runs.stop - 1) > np.searchsorted(within.stop, runs.start, "right")))


def _cover(first: Ints, last: Ints, borders: int) -> Ints:
    """The number of runs that cover each stretch."""
    change = np.bincount(first, minlength=borders) - np.bincount(last, minlength=borders)
    return np.cumsum(change)[:-1]


def _contending(rows: ConflictRows) -> Flags:
    """Which rows are of stretches that several programs contend for."""
    if not len(rows):
        return np.zeros(0, np.bool_)
    heads = np.flatnonzero(np.concatenate([[True], rows.stretch[1:] != rows.stretch[:-1]]))
    lengths = np.diff(np.append(heads, len(rows)))
    stored, updated = (np.repeat(some, lengths) for some in contended(heads, rows.program, rows.roles))
    return stored | updated & (rows.are(Role.UPDATE) | rows.are(Role.LOAD))


def _alone(sight: SeenAccess) -> bool:
    # In a block of atomics that release, each thread releases its own accesses.
    return int(np.prod(sight.event.shape)) == 1 or (sight.kind == "atomic" and hands_on(sight.op))
