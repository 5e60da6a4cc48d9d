"""`Evidence`: the accesses of a launch as runs of bytes, computed once for all checks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir import Op, effects
from triton_lab.launch.access_footprint import ByteRuns, hull, of_several, runs
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Flags, Ints, Ranges
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary, Write
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.progress_callback import breathe

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded
    from triton_lab.launch.recording.tape import Tape


@dataclass(frozen=True, eq=False)
class SeenAccess:
    """One execution of an access: the operation, its kind, the bytes of an element, and the event."""

    op: Op
    kind: str
    itemsize: int
    event: AccessEvent


@dataclass(frozen=True, eq=False)
class EvidenceLanes:
    """Some lanes of accesses: parallel arrays; ``lane`` is row-major in the block, ``time`` the event's order."""

    program: Ints
    lane: Ints
    address: Ints
    time: Ints

    @classmethod
    def timeless(cls, program: Ints, lane: Ints, address: Ints) -> EvidenceLanes:
        """Lanes whose time is not known, for example of accesses that were stopped."""
        return cls(program, lane, address, _all(-1, len(program)))

    @classmethod
    def of(cls, event: AccessEvent, flags: Flags) -> EvidenceLanes:
        """The lanes of an access that are flagged, sorted by program, then lane; ``flags`` broadcast to its lanes."""
        size = max(1, math.prod(event.shape))
        chosen = np.flatnonzero(np.broadcast_to(flags, (len(event.programs), *event.shape)))
        address = event.addresses().reshape(-1)[chosen]
        return cls(event.programs[chosen // size], chosen % size, address, _all(event.order, len(chosen)))

    def __len__(self) -> int:
        return len(self.program)

    def where(self, chosen: Flags) -> EvidenceLanes:
        """The lanes for which ``chosen`` is True."""
        return self if bool(chosen.all()) else self.at(np.flatnonzero(chosen))

    def at(self, positions: Ints) -> EvidenceLanes:
        """The lanes at these positions, in that order."""
        return EvidenceLanes(
            self.program[positions], self.lane[positions], self.address[positions], self.time[positions]
        )


class Evidence(LaunchSummary):
    """The record of a launch with cached results for its checks."""

    def __init__(self, launch: Recorded, tape: Tape) -> None:
        super().__init__(launch)
        self.tape = tape
        self.ops = {op.index: op for op in launch.executable.plan.walk()}
        self._runs: dict[int, ByteRuns] = {}
        self._hulls: dict[int, tuple[int, int]] = {}
        self._owners: dict[int, Argument | None] = {}

    @property
    def complete(self) -> bool:
        """Whether the tape holds the whole launch."""
        return not self.tape.dropped and self.launch.error is None

    @property
    def unwritten(self) -> Ranges:
        """The bytes that were never written before the launch."""
        return self.tape.unwritten

    def idle(self) -> Ints:
        """The numbers of the programs that touched no memory."""
        own = self.launch.own
        idle = np.ones(len(own), np.bool_)
        for sight in self.in_order:
            idle[_busy(sight.event) - own.start] = False
            if not idle.any():
                break
        return np.flatnonzero(idle) + own.start

    def writes(self) -> Sequence[Write]:
        """The executions of all operations that write, by operation."""
        return [
            Write(sight.op, self.owner(sight.op), self.hull(sight), partial(self.runs, sight))
            for sight in self.sights("store", "atomic")
            if effects.writes(sight.op)
        ]

    def reads(self) -> Sequence[Write]:
        """The executions of all operations that read, by operation, in the form of `writes`."""
        return [
            Write(sight.op, self.owner(sight.op), self.hull(sight), partial(self.runs, sight))
            for sight in self.sights("load", "atomic")
            if effects.reads(sight.op)
        ]

    def read_by_several(self) -> Ranges:
        """The bytes that several programs read; nothing if that would take long."""
        return of_several([self.runs(sight) for sight in self.sights("load", "atomic") if effects.reads(sight.op)])

    def sights(self, *kinds: str) -> Iterator[SeenAccess]:
        """All executions of accesses of these kinds, by operation."""
        for index in sorted(self.tape.events):
            kind, _, itemsize = self.tape.kinds[index]
            if kind in kinds:
                for event in self.tape.events[index]:
                    yield SeenAccess(self.ops[index], kind, itemsize, event)

    @cached_property
    def in_order(self) -> list[SeenAccess]:
        """All executions of all accesses, in execution order."""
        return sorted(self.sights("load", "store", "atomic"), key=lambda sight: sight.event.order)

    def runs(self, sight: SeenAccess) -> ByteRuns:
        """The runs of bytes that an execution touched."""
        breathe()
        order = sight.event.order
        if order not in self._runs:
            self._runs[order] = runs(sight.event, sight.itemsize)
        return self._runs[order]

    def hull(self, sight: SeenAccess) -> tuple[int, int]:
        """The bounds of an execution's addresses, high exclusive."""
        order = sight.event.order
        if order not in self._hulls:
            self._hulls[order] = hull(sight.event, sight.itemsize)
        return self._hulls[order]

    def owner(self, op: Op) -> Argument | None:
        """The argument that the access belongs to; see `Recorded.owner_of`."""
        if op.index not in self._owners:
            self._owners[op.index] = self.launch.owner_of(op.index)
        return self._owners[op.index]

    def is_bound(self, op: Op) -> bool:
        """Whether the plan alone determines the argument that the pointer comes from."""
        roots = self.launch.executable.roots.get(op.index)
        return roots is not None and len(roots) == 1

    def active_lanes(self, sight: SeenAccess) -> EvidenceLanes:
        """All lanes that touch memory, sorted by program, then lane."""
        breathe()
        event = sight.event
        if event.mask is not None:
            return EvidenceLanes.of(event, event.active())
        size = max(1, math.prod(event.shape))
        lane = np.tile(np.arange(size), len(event.programs))
        address = event.addresses().reshape(-1)
        return EvidenceLanes(np.repeat(event.programs, size), lane, address, _all(event.order, len(lane)))

    def lanes(self, sight: SeenAccess, within: Ranges, whole: bool = False) -> EvidenceLanes:
        """The active lanes that touch a byte of ``within``; with ``whole``, those whose bytes all lie in it."""
        lanes = self.active_lanes(sight)
        address, last = lanes.address, lanes.address + sight.itemsize - 1
        if whole:
            hit = within.covers(address) & within.covers(last)
            if within.narrowest_gap < sight.itemsize - 1:
                hit &= within.number(address) == within.number(last)
        else:
            hit = within.covers(address) | within.covers(last)
            if within.shortest < sight.itemsize - 1:
                # A range may lie between the first and the last byte.
                hit |= within.number(address) != within.number(last)
        return lanes.where(hit)


def _all(time: int, count: int) -> Ints:
    return np.broadcast_to(np.int64(time), (count,))


def _busy(event: AccessEvent) -> Ints:
    """The programs that have an active lane."""
    mask = event.mask
    if mask is None:
        return event.programs
    if isinstance(mask, MaskBox):
        on: Flags = np.ones(1, np.bool_)
        for lower, upper in zip(mask.lower, mask.upper, strict=True):
            on = np.asarray(on & (lower < upper))
    else:
        on = np.asarray(mask.reshape(mask.shape[0], -1).any(axis=1))
    return event.programs[np.broadcast_to(on, event.programs.shape)]
