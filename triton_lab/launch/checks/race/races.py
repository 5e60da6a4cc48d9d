"""The races of a launch, found once for several rules: the bytes, and the lanes of each execution that take part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from triton_lab.launch.byte_ranges import Flags, Ints, Ranges
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes
from triton_lab.launch.checks.race.candidates import racing_pairs
from triton_lab.launch.checks.race.conflicts import ConflictRows, contested, relevant, shared_bytes
from triton_lab.launch.checks.race.happens_before import HappensBefore
from triton_lab.launch.membership_classes import distinct, ordering


class Races:
    """The races of a launch, found once for several checks."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.sights = relevant(evidence)
        order = HappensBefore(evidence) if self.sights else None
        self.order = order if order else None
        # If nothing is ordered, all accesses to shared bytes race, and rows are not needed.
        self._where = shared_bytes(evidence, self.sights)
        self._rows: ConflictRows | None = None
        if self.order is not None:
            parts = [rows.where(_unordered(rows, self.order)) for rows in contested(evidence, self.sights, self._where)]
            if parts:
                self._rows = _by_sight(parts)
                self._where = Ranges.joined([self._rows])

    def bytes(self) -> Ranges:
        """The bytes with races."""
        return self._where

    def bytes_of(self, numbers: Sequence[int]) -> Ranges:
        """The bytes on which the executions with these ``numbers`` in `sights` take part in a race."""
        if self._rows is not None:
            return Ranges.joined([self._rows_of(number) for number in numbers])
        near = [n for n in numbers if self._where.meets(*self.evidence.hull(self.sights[n]))]
        return Ranges.joined([self.evidence.runs(self.sights[number]) for number in near]) & self._where

    def lanes(self, number: int, within: Ranges) -> EvidenceLanes | None:
        """The lanes of an execution that take part in races on ``within``, bytes with races; None if there are none."""
        sight = self.sights[number]
        if not within.meets(*self.evidence.hull(sight)):
            return None
        if self._rows is None:
            return self.evidence.lanes(sight, within) or None
        rows = self._rows_of(number)
        rows = rows.where(within.covers(rows.start))
        lanes = self.evidence.lanes(sight, Ranges.joined([rows]))
        # In the same execution, another program's access to these bytes may be ordered.
        starts = distinct(rows.start)
        keys = np.searchsorted(starts, rows.start) * self.evidence.launch.programs + rows.program
        at = np.maximum(np.searchsorted(starts, lanes.address + sight.itemsize - 1, side="right") - 1, 0)
        return lanes.where(np.isin(at * self.evidence.launch.programs + lanes.program, keys)) or None

    def at(self, address: int) -> ConflictRows:
        """The rows that race on the byte at ``address``, by time, then program."""
        if self._rows is None:
            (rows,) = contested(self.evidence, self.sights, Ranges.of([address], [address + 1]))
        else:
            rows = self._rows
        rows = rows.where((rows.start <= address) & (address < rows.stop))
        return rows.at(ordering(rows.time, rows.program))

    def _rows_of(self, number: int) -> ConflictRows:
        assert self._rows is not None
        first, last = np.searchsorted(self._rows.sight, [number, number + 1])
        return self._rows.at(np.arange(first, last))


def _by_sight(parts: list[ConflictRows]) -> ConflictRows:
    whole = ConflictRows(
        *(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(ConflictRows))
    )
    return whole.at(ordering(whole.sight))


def pairs_that_race(rows: ConflictRows, order: HappensBefore, alone: Flags) -> tuple[Ints, Ints]:
    """Pairs of rows that race; ``alone`` marks accesses by a single thread."""

    def unordered(first: Ints, second: Ints) -> Flags:
        program, time = rows.program, rows.time
        return ~order.before(program[first], time[first], alone[first], program[second], time[second])

    return racing_pairs(rows, unordered)


def _unordered(rows: ConflictRows, order: HappensBefore) -> Flags:
    """Which rows take part in a race."""
    racing = np.zeros(len(rows), np.bool_)
    first, second = pairs_that_race(rows, order, rows.alone)
    racing[first] = racing[second] = True
    return racing
