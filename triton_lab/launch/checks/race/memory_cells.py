"""`MemoryCells`: one cell for each element that a launch's stores may write, to find sharing without sorting.

If millions of lanes overlap, sorting them takes longer than the launch. Instead, a first pass over the lanes writes
their program into the cells that they touch, and a second pass finds the cells that hold another program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir.effects import Role
from triton_lab.launch.access_footprint import ByteRuns
from triton_lab.launch.byte_ranges import Flags, Ints, Ranges, true_ranges
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.membership_classes import counted

_NO_PROGRAM = -1


class MemoryCells:
    """``count`` cells of ``unit`` bytes each, over the memory that ``sights`` may touch."""

    def __init__(self, evidence: Evidence, sights: Sequence[SeenAccess], unit: int) -> None:
        hulls = np.array([evidence.hull(sight) for sight in sights], np.int64)
        self.unit = unit
        # Masked-off lanes may point anywhere, also to odd addresses.
        self.where = Ranges.of(hulls[:, 0] // unit * unit, -(-hulls[:, 1] // unit) * unit)
        # The number of the first cell of each range.
        self._first = np.concatenate([[0], np.cumsum((self.where.stop - self.where.start) // self.unit)])
        self.count = int(self._first[-1])

    def of(self, address: Ints) -> Ints:
        """The cell of each address, -1 for none."""
        if len(self.where) == 1:
            cell = (address - self.where.start[0]) // self.unit
            return np.where((cell >= 0) & (cell < self.count), cell, -1)
        number = self.where.number(address) - 1
        cell = (address - self.where.start[number]) // self.unit + self._first[number]
        return np.where((number >= 0) & (address < self.where.stop[number]), cell, -1)

    def ranges(self, chosen: Flags) -> Ranges:
        """The bytes of the cells for which ``chosen`` is True."""
        cells = true_ranges(chosen)
        parts = []
        for start, first, last in zip(self.where.start, self._first[:-1], self._first[1:], strict=True):
            low, high = np.maximum(cells.start, first), np.minimum(cells.stop, last)
            parts.append(Ranges.of(start + (low - first) * self.unit, start + (high - first) * self.unit))
        return Ranges.joined(parts)

    def contended(self, evidence: Evidence, sights: Mapping[Role, Sequence[SeenAccess]]) -> Ranges:
        """The bytes that two programs contend for: by a store, or by an update and a load alone."""
        owner = np.full(self.count, _NO_PROGRAM, np.int32)
        several = np.zeros(self.count, np.bool_)
        touched = {role: np.zeros(self.count, np.bool_) for role in sights}

        def mark(role: Role) -> None:
            # A cell holds the last program that touched it: of two in one access, the first one finds the other there.
            for cell, program in self._touched(evidence, sights[role]):
                before = owner[cell]
                owner[cell] = program
                several[cell[(owner[cell] != program) | (before != program) & (before != _NO_PROGRAM)]] = True
                touched[role][cell] = True

        mark(Role.UPDATE)
        mark(Role.LOAD)
        mixed = touched[Role.UPDATE] & touched[Role.LOAD] & several
        mark(Role.ATOMIC_LOAD)
        mark(Role.STORE)
        return self.ranges(np.where(touched[Role.STORE], several, mixed))

    def _touched(self, evidence: Evidence, sights: Iterable[SeenAccess]) -> Iterator[tuple[Ints, Ints]]:
        """The cells that each sight touches, with the programs."""
        for sight in sights:
            if not self.where.meets(*evidence.hull(sight)):
                continue
            cell, program = self._of_runs(evidence.runs(sight))
            known = cell >= 0
            yield (cell, program) if bool(known.all()) else (cell[known], program[known])

    def _of_runs(self, runs: ByteRuns) -> tuple[Ints, Ints]:
        length = (runs.stop - runs.start) // self.unit
        if bool((length == 1).all()):
            return self.of(runs.start), runs.program
        program = np.repeat(runs.program, length)
        return self.of(np.repeat(runs.start, length) + counted(length) * self.unit), program

    def all_same(self, stored: Iterable[tuple[EvidenceLanes, NDArray[Any]]], where: Ranges) -> bool:
        """Whether all values stored to each byte of ``where`` are equal; ``stored`` has lanes and their values."""
        held = np.zeros(self.count, f"u{self.unit}")
        known = []
        for lanes, values in stored:
            parts = np.ascontiguousarray(values).view(held.dtype).reshape(len(lanes), -1)
            address = lanes.address[:, None] + np.arange(parts.shape[1]) * self.unit
            hit = where.covers(address) if len(where) else np.zeros(address.shape, np.bool_)
            cell, content = self.of(address[hit]), parts[hit]
            held[cell] = content
            known.append((cell, content))
        return all(bool((held[cell] == content).all()) for cell, content in known)
