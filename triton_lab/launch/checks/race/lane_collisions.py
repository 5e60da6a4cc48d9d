"""Lanes of one program that store to the same element with one operation, and what becomes of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from triton_lab.footprint.access_blocks import span_of
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.ir import Op, effects
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.launch.byte_ranges import Flags, Ints
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.race.barriers import Barriers, results_used
from triton_lab.launch.checks.race.races import Races
from triton_lab.launch.membership_classes import distinct, ordering
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.recording.tape import block_shape
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay

# With at most this many cells for each lane, an array of cells is cheaper than sorting the lanes.
_SPARSE = 16


def lane_collisions(evidence: Evidence) -> tuple[list[list[LaneCollision]], CannotReplay | None]:
    """The collisions by store, and why it is not known which of them store different values.

    Bytes with a race are left to its check.
    """
    meetings = [found for sight in evidence.sights("store") if (found := _met(evidence, sight)) is not None]
    if not meetings:
        return [], None
    raced = evidence.once(Races).bytes()
    meetings = [found for each in meetings if (found := each.where(~raced.covers(each.lanes.address)))]
    if not meetings:
        return [], None
    try:
        different, impossible = _different(evidence, meetings), None
    except CannotReplay as reason:
        # Lost updates can be found without a replay.
        different, impossible = [np.zeros(len(meeting), np.bool_) for meeting in meetings], reason
    known = _Lost(evidence)
    collisions: dict[int, list[LaneCollision]] = {}
    for meeting, differ in zip(meetings, different, strict=True):
        one = LaneCollision(meeting, differ, known.of(meeting))
        if one.different.any() or one.lost.any():
            collisions.setdefault(meeting.sight.op.index, []).append(one)
    return [some for _unused, some in sorted(collisions.items())], impossible


@dataclass(frozen=True, eq=False)
class LaneMeeting:
    """Lanes of one execution, and in ``there`` for each the number of a lane of its program at the same address."""

    sight: SeenAccess
    lanes: EvidenceLanes
    there: Ints

    def __len__(self) -> int:
        return len(self.lanes)

    def where(self, chosen: Flags) -> LaneMeeting:
        return LaneMeeting(self.sight, self.lanes.where(chosen), self.there[chosen])


@dataclass(frozen=True, eq=False)
class LaneCollision:
    """The lanes of a meeting that store different values, and those that lose an update."""

    meeting: LaneMeeting
    different: Flags
    lost: Flags


def _met(evidence: Evidence, sight: SeenAccess) -> LaneMeeting | None:
    if _is_injective(sight.event, sight.itemsize):
        return None
    lanes = evidence.active_lanes(sight)
    same = _same_place(lanes.address, sight.itemsize)
    here = np.flatnonzero((same != np.arange(len(same))) & (lanes.program[same] == lanes.program))
    return LaneMeeting(sight, lanes.at(here), lanes.lane[same[here]]) if len(here) else None


def _is_injective(event: AccessEvent, itemsize: int) -> bool:
    """Whether a quick test shows that no two lanes of a program have the same address."""
    pointer = event.pointer
    if isinstance(pointer, AffineBlock):
        return span_of(pointer.strides, event.shape, itemsize) is not None
    if int(np.prod(event.shape)) <= 1:
        return True
    if pointer.shape[1:] != event.shape:
        return False
    rows = pointer.reshape(len(pointer), -1)
    return bool((rows[:, 1:] > rows[:, :-1]).all())


def _same_place(address: Ints, itemsize: int) -> Ints:
    """For each lane, a representative lane at its address."""
    if not len(address):
        return address
    low = int(address.min())
    cells = (int(address.max()) - low) // itemsize + 1
    index = np.arange(len(address))
    if cells <= _SPARSE * len(address) and not bool(((address - low) % itemsize).any()):
        owner = np.empty(cells, np.int64)
        cell = (address - low) // itemsize
        owner[cell] = index
        return owner[cell]
    order = ordering(address)
    heads = np.concatenate([[True], address[order][1:] != address[order][:-1]])
    same = np.empty(len(address), np.int64)
    same[order] = order[np.maximum.accumulate(np.where(heads, index, 0))]
    return same


class _Values(Watcher):
    """Compares the values that colliding lanes store, during a replay. Counts events as the tape does."""

    def __init__(self, meetings: list[LaneMeeting]) -> None:
        self._wanted = {meeting.sight.event.order: k for k, meeting in enumerate(meetings)}
        self._meetings = meetings
        self.different: list[Flags] = [np.zeros(len(meeting), np.bool_) for meeting in meetings]
        self._count = 0

    def barrier(self, frame: Frame, op: Op) -> None:
        self._count += 1

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Any) -> None:
        number = self._wanted.get(self._count)
        self._count += 1
        if number is None or values is None:
            return
        meeting = self._meetings[number]
        whole = np.broadcast_to(values, (frame.count, *block_shape(frame, op, pointer)))
        whole = whole.reshape(frame.count, -1)
        row = np.searchsorted(frame.programs, meeting.lanes.program)
        bits = f"u{whole.dtype.itemsize}"
        mine, theirs = (np.ascontiguousarray(whole[row, k]).view(bits) for k in (meeting.lanes.lane, meeting.there))
        self.different[number] = mine != theirs


def _different(evidence: Evidence, meetings: list[LaneMeeting]) -> list[Flags]:
    """For each meeting, the lanes that store another value than their partner. Raises CannotReplay."""
    watcher = _Values(meetings)
    replay(evidence.launch, access_observer=watcher)
    return watcher.different


class _Lost:
    """Finds stores of values that were computed from the element that is stored to."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        plan = evidence.launch.executable.plan
        self._flow = Flow.of(plan)
        self._barriers = Barriers(evidence, results_used(plan))
        self._loads: dict[int, list[int]] = {}

    def of(self, meeting: LaneMeeting) -> Flags:
        """The lanes that loaded the element, as their partner did, with no barrier since."""
        found = np.zeros(len(meeting), np.bool_)
        for op in self._behind(meeting.sight.op):
            found |= self._loaded(meeting, op)
        return found

    def _behind(self, store: Op) -> list[int]:
        """The loads from which the value of ``store`` is computed."""
        if store.index not in self._loads:
            position = effects.operands_of(store).value
            assert position is not None
            start = Value(self._flow.function_of[store.index], store.operands[position])
            makers = (self._flow.maker.get(value) for value in self._flow.behind([start]))
            found = {op.index for op in makers if op is not None and effects.brings_in(op) and not effects.writes(op)}
            self._loads[store.index] = sorted(found)
        return self._loads[store.index]

    def _loaded(self, meeting: LaneMeeting, load: int) -> Flags:
        event, lanes = meeting.sight.event, meeting.lanes
        found, open_ = np.zeros(len(lanes), np.bool_), np.ones(len(lanes), np.bool_)
        last = self._barriers.last(lanes.program, event.order, never=-1)
        for before in reversed(self._evidence.tape.events.get(load, [])):
            if before.order > event.order or before.shape != event.shape:
                continue
            mine = np.flatnonzero(open_ & np.isin(lanes.program, before.programs))
            if not len(mine):
                continue
            open_[mine] = False
            row = np.searchsorted(before.programs, lanes.program[mine])
            there = before.addresses().reshape(len(before.programs), -1)
            on = before.active().reshape(len(before.programs), -1)
            both = on[row, lanes.lane[mine]] & on[row, meeting.there[mine]]
            same = (there[row, lanes.lane[mine]] == lanes.address[mine]) & (
                there[row, meeting.there[mine]] == lanes.address[mine]
            )
            found[mine] = both & same & (before.order > last[mine])
            if not open_.any():
                break
        return found


def both_lanes(evidence: Evidence, meeting: LaneMeeting) -> EvidenceLanes:
    """The lanes and their partners, sorted by program, then lane."""
    size = np.int64(max(1, int(np.prod(meeting.sight.event.shape))))
    mine = meeting.lanes.program * size + meeting.lanes.lane
    keys = distinct(np.concatenate([mine, meeting.lanes.program * size + meeting.there]))
    lanes = evidence.active_lanes(meeting.sight)
    return lanes.where(np.isin(lanes.program * size + lanes.lane, keys))
