"""Which accesses of different programs are ordered: happens-before, by vector clocks.

An atomic that *releases* publishes what its program did before. A later atomic on the same address that *acquires* is
ordered after all this, and after everything that the releasing program had acquired. Nothing else orders two programs:
not relaxed atomics, not ``scope="cta"`` (a program is a CTA), not the order in which this machine happened to run them.

A block is stored by many threads, but an atomic on a scalar is done by one of them. So a release publishes a program's
blocks only up to the last barrier before it (`barriers`), which Triton 3.9 puts there, and Triton 3.6 does not.
An acquire whose result is not used orders nothing, since it may have come before or after the release.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from triton_lab.ir import Op, effects
from triton_lab.launch.byte_ranges import Flags, Ints
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.race.barriers import TIMES, Barriers, results_used

# The number of pairs of programs whose clocks are in memory at a time.
_CLOCKS = 1 << 22


def hands_on(op: Op) -> bool:
    """Whether an atomic releases its program's earlier accesses to other programs."""
    return effects.is_shared(op) and effects.releases(op)


def takes_over(op: Op, used: set[int]) -> bool:
    """Whether an atomic acquires what others release; ``used`` are the operations whose results are used."""
    # A wait without a timeout has acquired when it ends, even if its result is not used.
    seen = op.index in used or (effects.waits(op) and effects.operands_of(op).timeout is None)
    return seen and effects.is_shared(op) and effects.acquires(op)


class HappensBefore:
    """The order that a launch's atomics create."""

    def __init__(self, evidence: Evidence) -> None:
        self._used = results_used(evidence.launch.executable.plan)
        self._steps = _Steps.of(evidence, self._used)
        self._barriers = Barriers(evidence, self._used)

    def __bool__(self) -> bool:
        """Whether the launch's atomics order anything."""
        return len(self._steps.address) > 0

    def before(self, program: Ints, time: Ints, alone: Flags, later: Ints, later_time: Ints) -> Flags:
        """Whether the access of ``program`` at ``time`` happens before that of ``later`` at ``later_time``.

        Times are the orders of events; ``alone`` marks accesses by a single thread. Arrays are parallel.
        """
        result = np.zeros(len(program), np.bool_)
        sources = np.unique(program)
        size = max(1, _CLOCKS // max(1, len(self._steps.address)))
        for start in range(0, len(sources), size):
            part = sources[start : start + size]
            mine = np.flatnonzero((program >= part[0]) & (program <= part[-1]))
            column = 2 * np.searchsorted(part, program[mine]) + alone[mine]
            keys, clocks = self._clocks(part)
            # The last acquire of `later` before its access, or the access itself.
            known = np.searchsorted(keys, later[mine] * TIMES + later_time[mine], side="right") - 1
            some = (known >= 0) & (keys[np.maximum(known, 0)] // TIMES == later[mine]) if len(keys) else known >= 0
            chosen = np.flatnonzero(some)
            result[mine[chosen]] = clocks[known[chosen], column[chosen]] > time[mine[chosen]]
        return result

    def _clocks(self, sources: Ints) -> tuple[Ints, npt.NDArray[np.int64]]:
        """The clocks of each program for ``sources`` after each acquire: keys (program, time) and clocks.

        A clock has two times for each source: its accesses by blocks are done before the first, and those by single
        threads before the second.
        """
        steps = self._steps
        position = {int(program): k for k, program in enumerate(sources)}
        nothing = np.zeros(2 * len(sources), np.int64)
        mine: dict[int, npt.NDArray[np.int64]] = {}
        handed: dict[int, npt.NDArray[np.int64]] = {}
        history: list[tuple[int, npt.NDArray[np.int64]]] = []
        published = self._barriers.last(steps.program, steps.time, never=-1) + 1  # what came before that time
        for k in range(len(steps.address)):
            program, time, address = int(steps.program[k]), int(steps.time[k]), int(steps.address[k])
            known = mine.get(program, nothing)
            if steps.acquires[k]:
                new = handed.get(address)
                if new is not None and bool((new > known).any()):
                    known = mine[program] = np.maximum(known, new)
                    history.append((program * int(TIMES) + time, known))
            if steps.releases[k]:
                given = np.maximum(known, handed.get(address, nothing))
                column = position.get(program)
                if column is not None:
                    given[2 * column] = max(given[2 * column], published[k])
                    given[2 * column + 1] = time + 1
                handed[address] = given
        history.sort(key=lambda entry: entry[0])
        keys = np.array([key for key, _ in history], np.int64)
        return keys, np.array([clock for _, clock in history], np.int64).reshape(len(history), 2 * len(sources))


class _Steps:
    """The atomics that release or acquire, in the order in which they ran: parallel arrays."""

    def __init__(self, columns: list[Any]) -> None:
        self.time, self.program, self.address, self.acquires, self.releases = columns

    @classmethod
    def of(cls, evidence: Evidence, used: set[int]) -> _Steps:
        parts = list(cls._parts(evidence, used))
        if not parts:
            none = np.zeros(0, np.int64)
            return cls([none, none, none, none > 0, none > 0])
        time, program, lane, address, acquires, releases = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        # Only an address with both a release and an acquire can order anything.
        useful = np.isin(address, np.intersect1d(address[acquires], address[releases]))
        order = np.lexsort((lane[useful], program[useful], time[useful]))
        return cls([column[useful][order] for column in (time, program, address, acquires, releases)])

    @staticmethod
    def _parts(evidence: Evidence, used: set[int]) -> Iterator[tuple[Any, ...]]:
        for sight in evidence.sights("atomic"):
            op, event = sight.op, sight.event
            acquires, releases = takes_over(op, used), hands_on(op)
            if not (acquires or releases):
                continue
            chosen = np.flatnonzero(event.active())
            size = max(1, int(np.prod(event.shape)))
            took = np.full(len(chosen), releases)
            if event.took is not None:
                took &= np.broadcast_to(event.took, event.active().shape).reshape(-1)[chosen]
            yield (
                np.full(len(chosen), event.order, np.int64),
                event.programs[chosen // size],
                chosen % size,
                event.addresses().reshape(-1)[chosen],
                np.full(len(chosen), acquires),
                took,
            )
