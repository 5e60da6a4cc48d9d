"""Accesses of one program's threads that meet in memory, one of them writing, without a barrier between the two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.ir import effects
from triton_lab.launch.byte_ranges import Flags, Ints, Ranges
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.race.barriers import Barriers, results_used
from triton_lab.launch.checks.race.disjoint_lanes import never_meet
from triton_lab.launch.checks.race.lane_threads import Threads
from triton_lab.launch.checks.race.shared_cells import cells_of, where_threads_meet
from triton_lab.launch.membership_classes import distinct
from triton_lab.launch.recording.access_event import AccessEvent

Small = npt.NDArray[np.int32]

# With at most this many cells for each lane, addresses are used as cells; else they are numbered first.
_SPARSE = 16
# With more than `_FEW` and at most `_SORTED` lanes, lanes without a conflict are left out first, by sorting.
_FEW, _SORTED = 1 << 12, 1 << 26
# The number of cells that are examined at a time, of about 40 bytes each.
_CELLS = 1 << 22


def thread_conflicts(evidence: Evidence, threads: Threads) -> Iterator[tuple[SeenAccess, EvidenceLanes, Small]]:
    """Accesses, their lanes that conflict with another thread, and the time of each conflicting earlier access."""
    writers = [sight for sight in evidence.in_order if writes(sight)]
    if not writers:
        return
    barriers = Barriers(evidence, results_used(evidence.launch.executable.plan))
    for part in together(evidence, writers):
        if _may_meet(part, threads):
            yield from _meetings(evidence, part, threads, barriers)


def _meetings(
    evidence: Evidence, part: list[SeenAccess], threads: Threads, barriers: Barriers
) -> Iterator[tuple[SeenAccess, EvidenceLanes, Small]]:
    """Accesses, their lanes that conflict with another thread, and the time of each conflicting access, by windows."""
    hulls = [_hull(evidence, sight) for sight in part]
    unit = min(sight.itemsize for sight in part)
    low, end = min(low for low, _unused in hulls) // unit * unit, max(high for _unused, high in hulls)
    lanes = sum(len(sight.event.programs) * int(np.prod(sight.event.shape)) for sight in part)
    if _FEW < lanes <= _SORTED and any(isinstance(sight.event.pointer, np.ndarray) for sight in part):
        chosen = where_threads_meet(evidence, part, threads, unit, low)
        if chosen is not None:
            if any(map(len, chosen.values())):
                yield from _Memory(evidence, part, threads, barriers, unit, low, None, chosen).meetings()
            return
    if (end - low) // unit > max(1 << 16, _SPARSE * lanes):
        yield from _Memory(evidence, part, threads, barriers, unit, low, None).meetings()
        return
    for start in range(low, end, _CELLS * unit):
        stop = min(end, start + _CELLS * unit)
        near = [s for s, (first, last) in zip(part, hulls, strict=True) if first < stop and start < last]
        if len(near) > 1:
            yield from _Memory(evidence, near, threads, barriers, unit, start, stop).meetings()


def writes(sight: SeenAccess) -> bool:
    return effects.writes(sight.op)


def together(evidence: Evidence, writers: list[SeenAccess]) -> Iterator[list[SeenAccess]]:
    """Groups of executions that touch the same written run of memory."""
    hulls = {sight.event.order: _hull(evidence, sight) for sight in writers}
    written = Ranges.of([low for low, _unused in hulls.values()], [high for _unused, high in hulls.values()])
    parts: list[list[SeenAccess]] = [[] for _unused in range(len(written))]
    for sight in evidence.in_order:
        if sight.event.order not in hulls and not written.meets(*evidence.hull(sight)):
            continue
        low, high = hulls.get(sight.event.order) or _hull(evidence, sight)
        if low < high:
            first, last = np.searchsorted(written.stop, low, side="right"), np.searchsorted(written.start, high)
            for number in range(int(first), int(last)):
                parts[number].append(sight)
    return (group for part in parts for group in _of_one_batch(part) if len(group) > 1)


def _of_one_batch(part: list[SeenAccess]) -> Iterable[list[SeenAccess]]:
    """Groups of executions by the same programs, if no two groups share a program; else all as one group."""
    groups: dict[bytes, list[SeenAccess]] = {}
    names: dict[int, bytes] = {}
    for sight in part:
        programs = sight.event.programs
        name = names.setdefault(id(programs), programs.tobytes())
        groups.setdefault(name, []).append(sight)
    everyone = np.concatenate([group[0].event.programs for group in groups.values()])
    return groups.values() if len(distinct(everyone)) == len(everyone) else [part]


def _hull(evidence: Evidence, sight: SeenAccess) -> tuple[int, int]:
    """Bounds of the addresses; masked-off lanes with scattered addresses do not count."""
    if isinstance(sight.event.pointer, AffineBlock):
        return evidence.hull(sight)
    runs = evidence.runs(sight)
    return (int(runs.start.min()), int(runs.stop.max())) if len(runs) else (0, 0)


def _may_meet(part: list[SeenAccess], threads: Threads) -> bool:
    """Whether different threads of a program may conflict, so that all lanes must be examined."""
    if all(sight.kind == "atomic" for sight in part):
        return False
    if all(not sight.event.shape for sight in part):
        return any(threads.all_load(sight) for sight in part)
    return not never_meet(part) or any(threads.all_load(sight) for sight in part)


@dataclass(eq=False)
class _Side:
    """The last access to each cell: its program, time and thread, and whether it was an atomic."""

    program: Small
    time: Small
    thread: Ints
    atomic: Flags

    @classmethod
    def untouched(cls, cells: int) -> _Side:
        none, never = np.full(cells, -1, np.int32), np.full(cells, -1, np.int32)
        return cls(none, never, np.zeros(cells, np.int64), np.zeros(cells, np.bool_))

    def here(self, cell: Ints, program: Ints, since: Ints) -> Flags:
        """Whether the last access to each cell was by ``program`` after the time ``since`` of its last barrier."""
        found: Flags = (self.program[cell] == program) & (self.time[cell] > since)
        return found

    def paint(self, cell: Ints, program: Ints, time: int, thread: Ints, atomic: bool) -> None:
        self.program[cell], self.time[cell], self.thread[cell], self.atomic[cell] = program, time, thread, atomic


class _Memory:
    """The last accesses to some memory. If programs share a cell, the last program replaces the others."""

    def __init__(
        self,
        evidence: Evidence,
        part: Sequence[SeenAccess],
        threads: Threads,
        barriers: Barriers,
        unit: int,
        start: int,
        stop: int | None,
        chosen: Mapping[int, EvidenceLanes] | None = None,
    ) -> None:
        """Make cells of ``unit`` bytes from ``start`` to ``stop``; without ``stop``, one for each address in use.

        ``chosen`` are the lanes to examine, by their sight's order; by default all active lanes.
        """
        self._chosen = chosen
        self._evidence, self._part, self._threads, self._barriers = evidence, part, threads, barriers
        self._unit, self._start = unit, start
        self._numbers: Ints | None = None
        if stop is None:
            self._numbers = distinct(np.concatenate([self._cells(self._lanes(s), s)[0] for s in part]))
            self._count = len(self._numbers)
        else:
            self._count = -(-(stop - start) // unit)
        self._written, self._read = _Side.untouched(self._count), _Side.untouched(self._count)
        # The last time when another thread than the last reader has read the cell; -1 for never.
        self._read_by_other = np.full(self._count, -1, np.int32)
        self._sights = {sight.event.order: sight for sight in part}

    def meetings(self) -> Iterator[tuple[SeenAccess, EvidenceLanes, Small]]:
        for sight in self._part:
            lanes = self._lanes(sight)
            if len(lanes):
                yield from self._visit(sight, lanes)

    def _lanes(self, sight: SeenAccess) -> EvidenceLanes:
        return self._evidence.active_lanes(sight) if self._chosen is None else self._chosen[sight.event.order]

    def _cells(self, lanes: EvidenceLanes, sight: SeenAccess) -> tuple[Ints, Ints]:
        """The cells that lanes touch, counted from the start, and the lane of each."""
        cell = cells_of(lanes, sight, self._start, self._unit)
        return cell.reshape(-1), np.repeat(np.arange(len(lanes)), cell.shape[1])

    def _visit(self, sight: SeenAccess, lanes: EvidenceLanes) -> Iterator[tuple[SeenAccess, EvidenceLanes, Small]]:
        cell, of = self._cells(lanes, sight)
        if self._numbers is not None:
            cell = np.searchsorted(self._numbers, cell)
        elif int(cell.min()) < 0 or int(cell.max()) >= self._count:
            inside = (cell >= 0) & (cell < self._count)
            cell, of = cell[inside], of[inside]
        time, atomic = sight.event.order, sight.kind == "atomic"
        program = lanes.program[of]
        thread = self._threads.of(sight, lanes.lane)[of]
        since = self._barriers.last(sight.event.programs, time, never=-1)
        since = since[np.searchsorted(sight.event.programs, program)]
        written, read = self._written, self._read
        met = written.here(cell, program, since) & (written.thread[cell] != thread)
        if atomic:
            met &= ~written.atomic[cell]
        met = self._without_own(sight, cell, self._without_exchanged(sight, written.time[cell], met))
        when = written.time[cell]
        if writes(sight):
            own = read.thread[cell] == thread
            earlier: Small = np.where(own, self._read_by_other[cell], read.time[cell])
            before = (read.program[cell] == program) & (earlier > since)
            if atomic:
                before &= ~read.atomic[cell]
            before = self._without_exchanged(sight, earlier, before)
            when = np.where(met, when, earlier)
            met |= before
        if met.any():
            chosen, first = np.unique(of[met], return_index=True)
            yield sight, lanes.at(chosen), when[met][first]
        if effects.reads(sight.op):
            here = read.here(cell, program, since)
            other = np.where(read.thread[cell] == thread, self._read_by_other[cell], read.time[cell])
            read.paint(cell, program, time, thread, atomic)
            self._read_by_other[cell] = np.where(here, other, -1)
            self._read_by_other[cell[read.thread[cell] != thread]] = time
        if writes(sight):
            written.paint(cell, program, time, thread, atomic)

    def _without_own(self, sight: SeenAccess, cell: Ints, met: Flags) -> Flags:
        """``met`` without cells that the loading thread itself has stored to: blocks whose lanes share one element."""
        if sight.kind != "load" or self._threads.all_load(sight) or not met.any():
            return met
        for time in distinct(self._written.time[cell[met]]).tolist():
            if _same_lanes(sight.event, self._sights[time].event):
                met = met & (self._written.time[cell] != time)
        return met

    def _without_exchanged(self, sight: SeenAccess, times: Small, met: Flags) -> Flags:
        """``met`` without accesses since which the operands of this access passed through a barrier."""
        if not met.any():
            return met
        for time in distinct(times[met]).tolist():
            if self._threads.barrier_between(self._sights[time].op, sight.op):
                met = met & (times != time)
        return met


def _same_lanes(one: AccessEvent, other: AccessEvent) -> bool:
    """Whether each lane of each program has the same address in both, and is active in ``other`` if in ``one``."""
    if one.shape != other.shape or not np.array_equal(one.programs, other.programs):
        return False
    return np.array_equal(one.addresses(), other.addresses()) and bool((one.active() <= other.active()).all())
