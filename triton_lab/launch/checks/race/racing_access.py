"""`RacingAccess`: an operation that takes part in a race, the lanes of both sides and the words for two of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from triton_lab.ir.effects import Role
from triton_lab.launch.byte_ranges import NOTHING, Ranges
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import element, finding, line_of, listed, others, program
from triton_lab.launch.checks.race.conflicts import ConflictRows, role
from triton_lab.launch.checks.race.memory_cells import MemoryCells
from triton_lab.launch.checks.race.races import Races
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import recall
from triton_lab.localization import N_, _, translated
from triton_lab.messages import count

_DEED = {"load": N_("loads"), "store": N_("stores to"), "atomic": N_("updates")}


@dataclass(frozen=True, eq=False)
class RacingAccess:
    """The races of one operation on the bytes ``where``.

    ``lanes`` has those of both sides by the number of their execution in `Races.sights`; ``rows`` are the accesses to
    the first byte, of which ``first``, one of the operation, and ``second`` are described. ``same``: all are stores,
    and all store the same value.
    """

    where: Ranges
    lanes: Mapping[int, EvidenceLanes]
    rows: ConflictRows
    first: SeenAccess
    second: SeenAccess
    programs: tuple[int, int]
    same: bool

    def finding(self, evidence: Evidence, kind: str, why: str, remedy: str) -> Finding:
        """The finding, with ``why`` the two accesses race, and what to do."""
        count = sum(len(some) for some in self.lanes.values())
        return finding(
            evidence.launch,
            kind,
            _("{what}, {why}{others}").format(what=self._deeds(evidence), why=why, others=others(count)),
            remedy,
            op=self.first.op,
            argument=evidence.owner(self.first.op),
            lanes=listed(list(self.lanes.values())),
            count=count,
            where=self.where,
        )

    def _deeds(self, evidence: Evidence) -> str:
        launch = evidence.launch
        place = element(evidence.owner(self.first.op), int(self.where.start[0]))
        who, whom = (program(launch, number) for number in self.programs)
        if self.second.op is self.first.op:
            return _("{who} and {whom} both store to {place}").format(who=who, whom=whom, place=place)
        return _("{who} {deed} {place} and {whom} {other_deed} it ({line})").format(
            who=who,
            deed=translated(_DEED[self.first.kind]),
            place=place,
            whom=whom,
            other_deed=translated(_DEED[self.second.kind]),
            line=line_of(launch, self.second.op),
        )


def racing_accesses(evidence: Evidence) -> list[RacingAccess]:
    """One for each plain store that takes part in a race, and for each load that races only with atomics."""
    return list(_racing_accesses(evidence, evidence.once(Races)))


def _racing_accesses(evidence: Evidence, races: Races) -> Iterator[RacingAccess]:
    stores, loads = _by_op(races, Role.STORE), _by_op(races, Role.LOAD)
    if not any(role(sight) is Role.UPDATE for sight in races.sights):
        loads = {}  # then each race has a store
    stored = NOTHING
    for op, numbers in sorted(stores.items()):
        where = races.bytes() if len(stores) == 1 and not loads else races.bytes_of(numbers)
        if len(where):
            stored |= where
            yield _racing_access(evidence, races, op, where)
    for op, numbers in sorted(loads.items()):
        where = races.bytes_of(numbers) - stored
        if len(where):
            yield _racing_access(evidence, races, op, where)


def conflict_of_parts(evidence: Evidence, kind: str, remedy: str) -> Iterator[Finding]:
    """The finding for a conflict between the launch's parts, which is known even if accesses were dropped."""
    launch, meeting = evidence.launch, evidence.launch.met
    if not evidence.tape.dropped or meeting is None or meeting.kind != kind:
        return
    argument = launch.argument(meeting.argument) if meeting.argument else None
    text = _("{text}, and the order of the two accesses is undefined").format(text=meeting.text)
    yield finding(launch, kind, text, remedy, op=meeting.op, argument=argument)


def _by_op(races: Races, one: Role) -> dict[int, list[int]]:
    """The numbers of the executions with this role, by operation."""
    found: dict[int, list[int]] = {}
    for number, sight in enumerate(races.sights):
        if role(sight) is one:
            found.setdefault(sight.op.index, []).append(number)
    return found


def _racing_access(evidence: Evidence, races: Races, op: int, where: Ranges) -> RacingAccess:
    lanes = {number: found for number in range(len(races.sights)) if (found := races.lanes(number, where))}
    here = races.at(int(where.start[0]))
    k, other = _two(races, here, op)
    return RacingAccess(
        where,
        lanes,
        here,
        races.sights[int(here.sight[k])],
        races.sights[int(here.sight[other])],
        (int(here.program[k]), int(here.program[other])),
        _same_value(evidence, races, lanes, where),
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


def _same_value(evidence: Evidence, races: Races, lanes: Mapping[int, EvidenceLanes], where: Ranges) -> bool:
    """Whether all stores to a byte of ``where`` have the same value, and only programs that stored it load it.

    A load then gives this value, whichever program stored last.
    """
    loads = {number: some for number, some in lanes.items() if races.sights[number].kind == "load"}
    lanes = {number: some for number, some in lanes.items() if number not in loads}
    sights = [races.sights[number] for number in lanes]
    if not sights or not all(sight.kind == "store" for sight in sights):
        return False
    if not all(_stored_before(races, lanes, number, some) for number, some in loads.items()):
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


def _stored_before(races: Races, stores: Mapping[int, EvidenceLanes], load: int, loaded: EvidenceLanes) -> bool:
    """Whether each lane of a load has an element that its own program has stored before, by one of ``stores``."""
    size = races.sights[load].itemsize
    earlier = [
        some
        for number, some in stores.items()
        if races.sights[number].itemsize == size and races.sights[number].event.order < races.sights[load].event.order
    ]
    addresses = np.concatenate([some.address for some in (loaded, *earlier)])
    programs = np.concatenate([some.program for some in (loaded, *earlier)])
    _, places = np.unique(addresses, return_inverse=True)
    pairs = places.reshape(-1) * (int(programs.max(initial=0)) + 1) + programs
    return bool(np.isin(pairs[: len(loaded)], pairs[len(loaded) :]).all())


def overlap(each: RacingAccess, evidence: Evidence) -> str:
    """The advice if the blocks of programs begin closer together than they are long; "" if they do not.

    ``offsets = tl.program_id(0) + tl.arange(0, BLOCK)`` lacks a factor BLOCK.
    """
    op, shape = each.first.op, each.first.event.shape
    first: dict[int, int] = {}
    for event in evidence.tape.events.get(op.index, ()):
        addresses = event.addresses().reshape(len(event.programs), -1)
        if addresses.shape[1] > 1 and (np.diff(addresses[0]) != each.first.itemsize).any():
            return ""
        for number, address in zip(event.programs.tolist(), addresses[:, 0].tolist(), strict=True):
            first.setdefault(number, address)
    numbers = sorted(first)
    steps = {first[b] - first[a] for a, b in pairwise(numbers)}
    size = math.prod(shape)
    step = next(iter(steps), 0) // each.first.itemsize
    if len(steps) != 1 or not 0 < step < size:
        return ""
    return _(
        "The block of each program begins {step} after that of the program before, and has {size}. Multiply "
        "tl.program_id by the size of the block: tl.program_id(0) * BLOCK."
    ).format(step=count(step, "element"), size=count(size, "element"))
