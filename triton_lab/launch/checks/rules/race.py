"""Finds data races: unordered accesses of two programs to a byte, one a plain store, or a load and an atomic update.

They are reported at the stores, and at loads that race with atomics only. Each finding lists the lanes that take part,
on both sides. Stores of the same value to an element are reported separately, as they are no error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

import numpy as np

from triton_lab.ir.effects import Role
from triton_lab.launch.byte_ranges import NOTHING, Flags, Ints, Ranges
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import element, finding, line_of, listed, others, program
from triton_lab.launch.checks.analysis.memory_cells import MemoryCells
from triton_lab.launch.checks.race.candidates import racing_pairs
from triton_lab.launch.checks.race.conflicts import (
    ConflictRows,
    contested,
    relevant,
    role,
    shared_bytes,
)
from triton_lab.launch.checks.race.happens_before import HappensBefore
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.membership_classes import distinct, ordering
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import recall
from triton_lab.localization import N_, _, translated

_MEND = N_("Give each program its own elements, use an atomic (tl.atomic_add, ...), or guard the accesses with a lock.")
_MEND_BARRIER = N_(
    "Call tl.debug_barrier() between the accesses to the block and the atomic that lets other programs continue."
)
_MEND_ORDER = N_(
    "Let the first program release a flag (tl.atomic_xchg with sem='release'), and let "
    "the second wait for that flag with an atomic that acquires."
)
_MEND_UPDATES = N_(
    "Load it in a second launch, or only in the last program: let each program add 1 to "
    "a counter with tl.atomic_add when it is done. The program that gets the last number "
    "sees the updates of all others."
)
_MEND_SAME = N_(
    "This is correct only if all programs compute the same bits and the GPU stores an "
    "aligned element as a whole. Neither is guaranteed. Let one program store it (with a "
    "mask, or an if on tl.program_id)."
)


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


def check(evidence: Evidence, races: Races) -> Iterator[Finding]:
    """One finding for each plain store that takes part in a race, and for each load that races only with atomics."""
    stores, loads = _by_op(races, Role.STORE), _by_op(races, Role.LOAD)
    if not any(role(sight) is Role.UPDATE for sight in races.sights):
        loads = {}  # then each race has a store
    stored = NOTHING
    for op, numbers in sorted(stores.items()):
        where = races.bytes() if len(stores) == 1 and not loads else races.bytes_of(numbers)
        if len(where):
            stored |= where
            yield _described(evidence, races, op, where)
    for op, numbers in sorted(loads.items()):
        where = races.bytes_of(numbers) - stored
        if len(where):
            yield _described(evidence, races, op, where)


def met(evidence: Evidence) -> Iterator[Finding]:
    """The finding for a conflict between the launch's parts, which is known even if accesses were dropped."""
    launch, meeting = evidence.launch, evidence.launch.met
    if meeting is None or not meeting.kind:
        return
    argument = launch.argument(meeting.argument) if meeting.argument else None
    mend = translated(_MEND_SAME) if meeting.kind == "same-value" else translated(_MEND)
    text = _("{text}, and nothing orders the two accesses").format(text=meeting.text)
    yield finding(launch, meeting.kind, text, mend, op=meeting.op, argument=argument)


def _by_op(races: Races, one: Role) -> dict[int, list[int]]:
    """The numbers of the executions with this role, by operation."""
    found: dict[int, list[int]] = {}
    for number, sight in enumerate(races.sights):
        if role(sight) is one:
            found.setdefault(sight.op.index, []).append(number)
    return found


def _racing_pairs(rows: ConflictRows, order: HappensBefore, alone: Flags) -> tuple[Ints, Ints]:
    """Pairs of rows that race; ``alone`` marks accesses by a single thread."""

    def unordered(first: Ints, second: Ints) -> Flags:
        program, time = rows.program, rows.time
        return ~order.before(program[first], time[first], alone[first], program[second], time[second])

    return racing_pairs(rows, unordered)


def _unordered(rows: ConflictRows, order: HappensBefore) -> Flags:
    """Which rows take part in a race."""
    racing = np.zeros(len(rows), np.bool_)
    first, second = _racing_pairs(rows, order, rows.alone)
    racing[first] = racing[second] = True
    return racing


def _described(evidence: Evidence, races: Races, op: int, where: Ranges) -> Finding:
    """The finding for the races of ``op`` on ``where``, with all lanes that take part."""
    launch = evidence.launch
    lanes = {number: found for number in range(len(races.sights)) if (found := races.lanes(number, where))}
    here = races.at(int(where.start[0]))
    k, other = _two(races, here, op)
    first, second = races.sights[int(here.sight[k])], races.sights[int(here.sight[other])]
    argument = evidence.owner(first.op)
    place = element(argument, int(where.start[0]))
    who, whom = program(launch, int(here.program[k])), program(launch, int(here.program[other]))
    if second.op is first.op:
        what = _("{who} and {whom} both store to {place}").format(who=who, whom=whom, place=place)
    else:
        line = line_of(launch, second.op)
        what = _("{who} {deed} {place} and {whom} {other_deed} it ({line})").format(
            who=who,
            deed=translated(_DEED[first.kind]),
            place=place,
            whom=whom,
            other_deed=translated(_DEED[second.kind]),
            line=line,
        )
    same = _same_value(evidence, races, lanes, where)
    if same:
        why, mend = _("the same value, in no defined order"), translated(_MEND_SAME)
    elif races.order is not None:
        why, mend = _disorder(races.order, here)
    else:
        why, mend = (
            _("and nothing orders the two accesses"),
            translated(_MEND_UPDATES) if first.kind == "load" else translated(_MEND),
        )
    count = sum(len(some) for some in lanes.values())
    return finding(
        launch,
        "same-value" if same else "race",
        _("{what}, {why}{others}").format(what=what, why=why, others=others(count)),
        mend,
        op=first.op,
        argument=argument,
        lanes=listed(list(lanes.values())),
        count=count,
        where=where,
    )


def _two(races: Races, rows: ConflictRows, op: int) -> tuple[int, int]:
    """The first row of ``op`` on a stretch, and the first row that it races with."""
    own = [races.sights[number].op.index == op for number in rows.sight.tolist()]
    for k in np.flatnonzero(own):
        partner = rows.program != rows.program[k]
        if rows.roles[k] == Role.LOAD:
            partner &= rows.are(Role.UPDATE)
        if partner.any():
            return int(k), int(np.flatnonzero(partner)[0])
    raise AssertionError("a stretch without a race")


_DEED = {"load": N_("loads"), "store": N_("stores to"), "atomic": N_("updates")}


def _disorder(order: HappensBefore, rows: ConflictRows) -> tuple[str, str]:
    """Why the rows of a stretch race although atomics order some accesses, and the advice."""
    if not len(_racing_pairs(rows, order, np.ones(len(rows), np.bool_))[0]):
        return _("and the atomic between them does not wait for all threads of the first"), translated(_MEND_BARRIER)
    return _("and no release with an acquire orders the two accesses"), translated(_MEND_ORDER)


def _same_value(evidence: Evidence, races: Races, lanes: Mapping[int, EvidenceLanes], where: Ranges) -> bool:
    """Whether all racing accesses on ``where`` are stores, and all stores to a byte have the same value."""
    sights = [races.sights[number] for number in lanes]
    if not all(sight.kind == "store" for sight in sights):
        return False
    try:
        values = recall(evidence.launch, {sight.op.index for sight in sights})
    except CannotReplay:
        return False
    stored = []
    for sight, some in zip(sights, lanes.values(), strict=True):
        event = sight.event
        block = values[sight.op.index][evidence.tape.events[sight.op.index].index(event)]
        row = np.searchsorted(event.programs, some.program)
        stored.append((some, block.reshape(len(event.programs), -1)[row, some.lane]))
    return MemoryCells(evidence, sights, min(sight.itemsize for sight in sights)).all_same(stored, where)
