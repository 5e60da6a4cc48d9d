"""Data races: two programs on one byte, one of them at least with a plain store, in no order.

Reported at the stores: each lists the lanes that take part, its own and those that they meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.checks.contest import Rows, contested, relevant
from triton_lab.launch.checks.evidence import Evidence, Lanes
from triton_lab.launch.checks.order import Order
from triton_lab.launch.checks.words import element, finding, line_of, others, program, together
from triton_lab.launch.classes import distinct
from triton_lab.launch.finding import Finding
from triton_lab.launch.ranges import NOTHING, Flags, Ints, Ranges
from triton_lab.launch.replay import recall
from triton_lab.launch.snapshot import CannotReplay

Array = NDArray[Any]

_MEND = "Give each program elements of its own, use an atomic (tl.atomic_add, ...), or guard them with a lock."
_MEND_BARRIER = "Call tl.debug_barrier() between the accesses to the block and the atomic that lets other programs in."
_MEND_ORDER = (
    "Between the two, the first program must release (tl.atomic_xchg(flag, 1, sem='release')) and the second "
    "wait for it with an atomic that acquires."
)
_MEND_SAME = (
    "GPUs of today leave the right value there, but nothing promises it: let one program store it (if pid == 0)."
)


# So many stretches are looked at before all of them.
_FEW = 100


class Races:
    """The races of a launch, found once for all who ask."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.sights = relevant(evidence)
        order = Order(evidence) if self.sights else None
        self.order = order if order else None
        self.parts: list[Rows] = []
        for rows in contested(evidence, self.sights):
            racing = rows if self.order is None else rows.where(_unordered(rows, self.order))
            if len(racing):
                self.parts.append(racing)

    def bytes(self) -> Ranges:
        """Where races happen."""
        return Ranges.joined(self.parts) if self.parts else NOTHING


def check(evidence: Evidence, races: Races) -> Iterator[Finding]:
    """One for each plain store that takes part in a race."""
    by_op: dict[int, set[int]] = {}
    for rows in races.parts:
        for number in distinct(rows.sight[rows.stores]).tolist():
            by_op.setdefault(races.sights[number].op.index, set()).add(number)
    for _, numbers in sorted(by_op.items()):
        yield _described(evidence, races, numbers)


def _pairs(rows: Rows) -> tuple[Ints, Ints]:
    """Neighbours in time of which one at least stores: if all of these are ordered, all pairs are."""
    index = np.arange(len(rows))
    heads = np.concatenate([[True], rows.stretch[1:] != rows.stretch[:-1]])
    begins = np.maximum.accumulate(np.where(heads, index, 0))
    ends = np.append(np.flatnonzero(heads)[1:], len(rows))[np.cumsum(heads) - 1]
    upto = np.maximum.accumulate(np.where(rows.stores, index, -1))
    last = np.concatenate([[-1], upto[:-1]])
    after = np.flatnonzero(last >= begins)
    reverse = np.minimum.accumulate(np.where(rows.stores, index, len(rows))[::-1])[::-1]
    following = np.append(reverse[1:], len(rows))
    ahead = np.flatnonzero((following < ends) & ~rows.stores)
    return np.concatenate([last[after], ahead]), np.concatenate([after, following[ahead]])


def _unordered(rows: Rows, order: Order) -> Flags:
    """The rows that take part in a race."""
    racing = np.zeros(len(rows), np.bool_)
    first, second = _racing_pairs(rows, order, rows.alone)
    racing[first] = racing[second] = True
    return racing


def _racing_pairs(rows: Rows, order: Order, alone: Flags) -> tuple[Ints, Ints]:
    if not len(rows):
        none = np.zeros(0, np.int64)
        return none, none
    first, second = _pairs(rows)
    apart = rows.program[first] != rows.program[second]
    first, second = first[apart], second[apart]
    done = order.before(rows.program[first], rows.time[first], alone[first], rows.program[second], rows.time[second])
    return first[~done], second[~done]


def _described(evidence: Evidence, races: Races, numbers: set[int]) -> Finding:
    launch = evidence.launch
    stores = [rows.where(np.isin(rows.sight, list(numbers))) for rows in races.parts]
    # All that touches what these store to.
    parts = [
        rows.where(np.isin(rows.stretch, own.stretch))
        for rows, own in zip(races.parts, stores, strict=True)
        if len(own)
    ]
    lanes = _lanes(evidence, races, parts)
    here = parts[0].where(parts[0].stretch == parts[0].stretch[0])
    k = int(np.flatnonzero(np.isin(here.sight, list(numbers)))[0])
    other = int(np.flatnonzero(here.program != here.program[k])[0])
    first, second = races.sights[int(here.sight[k])], races.sights[int(here.sight[other])]
    argument = evidence.owner(first.op)
    place = element(argument, int(here.start[k]))
    who, whom = program(launch, int(here.program[k])), program(launch, int(here.program[other]))
    if second.op is first.op:
        what = f"{who} and {whom} both store to {place}"
    else:
        what = f"{who} stores to {place} and {whom} {_DEED[second.kind]} it ({line_of(launch, second.op)})"
    why, mend = _reason(evidence, races, parts, here)
    return finding(
        launch, "race", f"{what}, {why}{others(len(lanes))}", mend, op=first.op, argument=argument, lanes=lanes
    )


_DEED = {"load": "loads", "store": "stores to", "atomic": "updates"}


def _reason(evidence: Evidence, races: Races, parts: Sequence[Rows], rows: Rows) -> tuple[str, str]:
    """Why the rows of one stretch race, and what to do about it."""
    if races.order is None:
        if _same_value(evidence, races, parts):
            return "the same value, in no order", _MEND_SAME
        return "and nothing orders the two", _MEND
    if not len(_racing_pairs(rows, races.order, np.ones(len(rows), np.bool_))[0]):
        return "and the atomic between them does not wait for all threads of the first", _MEND_BARRIER
    return "and no release and acquire orders the two", _MEND_ORDER


def _lanes(evidence: Evidence, races: Races, parts: Sequence[Rows]) -> Lanes:
    """The lanes that these rows stand for."""
    found: list[Lanes] = []
    for rows in parts:
        for number in distinct(rows.sight).tolist():
            mine = rows.where(rows.sight == number)
            sight = races.sights[number]
            lanes = evidence.lanes(sight, Ranges.joined([mine]))
            # Another program of the same execution may touch these bytes in order.
            starts = distinct(mine.start)
            keys = np.searchsorted(starts, mine.start) * evidence.launch.programs + mine.program
            at = np.maximum(np.searchsorted(starts, lanes.address + sight.itemsize - 1, side="right") - 1, 0)
            racing = np.isin(at * evidence.launch.programs + lanes.program, keys)
            found.append(Lanes(lanes.program[racing], lanes.lane[racing], lanes.address[racing]))
    return together(found)


def _same_value(evidence: Evidence, races: Races, parts: Sequence[Rows]) -> bool:
    """Whether all that races here is stores, and all stores to a byte leave the same there."""
    sights = [races.sights[number] for number in distinct(np.concatenate([rows.sight for rows in parts]))]
    if not all(sight.kind == "store" for sight in sights):
        return False
    try:
        values = {index: recall(evidence.launch, index) for index in {sight.op.index for sight in sights}}
    except CannotReplay:
        return False
    # Where values differ, they mostly do so at once.
    few = Ranges.of(parts[0].start[:_FEW], parts[0].stop[:_FEW])
    return all(_is_same(evidence, values, where) for where in (few, Ranges.joined(parts)))


def _is_same(evidence: Evidence, values: Mapping[int, Sequence[Array]], where: Ranges) -> bool:
    """Whether all that these operations store to a byte of ``where`` is the same."""
    addresses, contents = [], []
    for index, stored in values.items():
        for event, block in zip(evidence.tape.events[index], stored, strict=False):
            active = event.active()
            raw = np.ascontiguousarray(block[active]).view(np.uint8)
            raw = raw.reshape(-1, block.dtype.itemsize)
            address = event.addresses()[active][:, None] + np.arange(raw.shape[1])
            hit = where.covers(address)
            addresses.append(address[hit])
            contents.append(raw[hit])
    address, content = np.concatenate(addresses), np.concatenate(contents)
    order = np.argsort(address, kind="stable")
    address, content = address[order], content[order]
    same_place = address[1:] == address[:-1]
    return bool((content[1:] == content[:-1])[same_place].all())
