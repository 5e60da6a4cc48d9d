"""Bytes that several programs contend for: all accesses cut along each other's borders.

Between two neighbouring borders every access touches all bytes or none, so that a stretch of bytes
is one question, however many lanes it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from triton_lab.ir.provenance import ONLY_READ
from triton_lab.launch.checks.cells import Cells
from triton_lab.launch.checks.evidence import Evidence, Sight
from triton_lab.launch.checks.order import hands_on, is_shared
from triton_lab.launch.classes import distinct, ordering
from triton_lab.launch.footprint import Runs
from triton_lab.launch.ranges import ALL, NOTHING, Flags, Ints, Ranges

# So many rows are looked at at once.
_ROWS = 1 << 22
# More runs than this are painted into cells, if they take fewer cells a run than that.
_MANY, _SHORT = 1 << 14, 64


@dataclass(frozen=True, eq=False)
class Rows:
    """Who touches each stretch: parallel arrays, by stretch, then time, then program.

    ``start`` and ``stop`` are the stretch's bytes, ``sight`` numbers the execution, ``stores`` marks plain
    stores (atomics that do not hold against other programs among them) and ``alone`` what one
    thread does by itself.
    """

    stretch: Ints
    start: Ints
    stop: Ints
    program: Ints
    time: Ints
    sight: Ints
    stores: Flags
    alone: Flags

    def __len__(self) -> int:
        return len(self.stretch)

    def where(self, chosen: Flags) -> Rows:
        """Some of the rows."""
        return self.at(np.flatnonzero(chosen))

    def at(self, positions: Ints) -> Rows:
        """The rows at these positions, in that order."""
        return Rows(*(getattr(self, column.name)[positions] for column in fields(self)))


def is_plain_store(sight: Sight) -> bool:
    """Whether another program's access to the same bytes is a race unless something orders the two."""
    if sight.kind == "atomic":
        return not is_shared(sight.op) and sight.op.name not in ONLY_READ
    return sight.kind == "store"


def relevant(evidence: Evidence) -> list[Sight]:
    """The plain stores, and what else may touch the bytes that they write."""
    found = [sight for sight in evidence.in_order if is_plain_store(sight)]
    if not found:
        return []
    hulls = [evidence.hull(sight) for sight in found]
    written = Ranges.of([low for low, _ in hulls], [high for _, high in hulls])
    others = [s for s in evidence.in_order if not is_plain_store(s) and written.meets(*evidence.hull(s))]
    return found + others


def shared_bytes(evidence: Evidence, sights: list[Sight]) -> Ranges:
    """The bytes that several programs touch and some program stores to."""
    if not sights:
        return NOTHING
    runs = [evidence.runs(sight) for sight in sights]
    count, size = sum(len(one) for one in runs), sum(int((one.stop - one.start).sum()) for one in runs)
    stores = [sight for sight in sights if is_plain_store(sight)]
    cells = Cells(evidence, stores, min(sight.itemsize for sight in sights))
    # Long runs are few to sort, short ones are soon painted.
    if count > _MANY and size // cells.unit + cells.count < _SHORT * count:
        return cells.shared(evidence, stores, [sight for sight in sights if not is_plain_store(sight)])
    return Ranges.joined(contested(evidence, sights, ALL))


def contested(evidence: Evidence, sights: list[Sight], within: Ranges) -> Iterator[Rows]:
    """The stretches that several programs touch and some program stores to, part by part.

    Runs that touch no byte of ``within`` are left out.
    """
    parts = [_within(evidence, sight, within) for sight in sights]
    lengths = [len(part) for part in parts]
    if not sum(lengths):
        return
    start = np.concatenate([part.start for part in parts])
    stop = np.concatenate([part.stop for part in parts])
    program = np.concatenate([part.program for part in parts])
    sight = np.repeat(np.arange(len(sights)), lengths)
    by_start = ordering(start)
    start, stop, program, sight = start[by_start], stop[by_start], program[by_start], sight[by_start]
    if bool((start[1:] >= np.maximum.accumulate(stop)[:-1]).all()):
        return  # no two runs have a byte in common
    stores = np.array([is_plain_store(s) for s in sights])[sight]
    borders = distinct(np.concatenate([start, stop]))
    first, last = np.searchsorted(borders, start), np.searchsorted(borders, stop)
    touched, stored = _cover(first, last, len(borders)), _cover(first[stores], last[stores], len(borders))
    open_question = (touched > 1) & (stored > 0)
    below = np.concatenate([[0], np.cumsum(open_question)])
    number = np.flatnonzero(open_question)  # of each stretch that is in question
    low, high = below[first], below[last]  # a run's stretches, counted among those
    ends = np.cumsum(touched[number])
    time = np.array([s.event.order for s in sights])[sight]
    alone = np.array([_alone(s) for s in sights])[sight]
    at = 0
    while at < len(number):
        # As many stretches as there is room for, and one at least.
        room = int(np.searchsorted(ends, (ends[at - 1] if at else 0) + _ROWS, side="right"))
        to = max(at + 1, room)
        lower, upper = np.clip(low, at, to), np.clip(high, at, to)
        count = upper - lower
        run = np.repeat(np.arange(len(start)), count)
        place = np.arange(len(run)) - np.repeat(np.cumsum(count) - count, count) + lower[run]
        order = ordering(place, time[run], program[run])
        run, place = run[order], place[order]
        stretch = number[place]
        rows = Rows(
            stretch,
            borders[stretch],
            borders[stretch + 1],
            program[run],
            time[run],
            sight[run],
            stores[run],
            alone[run],
        )
        yield rows.where(_shared(rows))
        at = to


def _within(evidence: Evidence, sight: Sight, within: Ranges) -> Runs:
    """The runs of a sight that touch a byte of ``within``."""
    runs = evidence.runs(sight)
    if within is ALL:
        return runs
    if not within.meets(*evidence.hull(sight)):
        return runs.at(np.zeros(0, np.int64))
    return runs.at(np.flatnonzero(within.number(runs.stop - 1) > np.searchsorted(within.stop, runs.start, "right")))


def _cover(first: Ints, last: Ints, borders: int) -> Ints:
    """How many runs lie over each stretch."""
    change = np.bincount(first, minlength=borders) - np.bincount(last, minlength=borders)
    return np.cumsum(change)[:-1]


def _shared(rows: Rows) -> Flags:
    """Rows of stretches that more than one program touches."""
    if not len(rows):
        return np.zeros(0, np.bool_)
    heads = np.flatnonzero(np.concatenate([[True], rows.stretch[1:] != rows.stretch[:-1]]))
    several = np.minimum.reduceat(rows.program, heads) != np.maximum.reduceat(rows.program, heads)
    return np.repeat(several, np.diff(np.append(heads, len(rows))))


def _alone(sight: Sight) -> bool:
    # In a block of atomics that release, each thread hands on what it did itself.
    return int(np.prod(sight.event.shape)) == 1 or (sight.kind == "atomic" and hands_on(sight.op))
