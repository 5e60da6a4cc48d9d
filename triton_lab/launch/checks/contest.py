"""Bytes that several programs contend for: all accesses cut along each other's borders.

Between two neighbouring borders every access touches all bytes or none, so that a stretch of bytes
is one question, however many lanes it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import numpy as np

from triton_lab.ir import effects
from triton_lab.launch.checks.cells import Cells
from triton_lab.launch.checks.evidence import Evidence, Sight
from triton_lab.launch.checks.order import hands_on
from triton_lab.launch.checks.rectangles import not_known_apart
from triton_lab.launch.classes import distinct, ordering
from triton_lab.launch.footprint import Runs
from triton_lab.launch.ranges import ALL, NOTHING, Flags, Ints, Ranges

# So many rows are looked at at once.
_ROWS = 1 << 22
# More runs than this are painted into cells, if they take fewer cells a run than that.
_MANY, _SHORT = 1 << 14, 64
# Beyond all programs.
_FAR = np.int64(1) << 62


@dataclass(frozen=True, eq=False)
class Rows:
    """Who touches each stretch: parallel arrays, by stretch, then time, then program.

    ``start`` and ``stop`` are the stretch's bytes, ``sight`` numbers the execution, ``stores`` marks plain
    stores (atomics that do not hold against other programs among them), ``updates`` the other atomics
    that write, ``loads`` plain loads, and ``alone`` what one thread does by itself.
    """

    stretch: Ints
    start: Ints
    stop: Ints
    program: Ints
    time: Ints
    sight: Ints
    stores: Flags
    updates: Flags
    loads: Flags
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
    """See `effects.is_plain_store`."""
    return effects.is_plain_store(sight.op)


def is_update(sight: Sight) -> bool:
    """Whether it is an atomic that holds against other programs and has written something."""
    if not effects.is_shared_update(sight.op):
        return False
    return sight.event.took is None or bool((sight.event.took & sight.event.active()).any())


def is_plain_load(sight: Sight) -> bool:
    """See `effects.is_plain_load`."""
    return effects.is_plain_load(sight.op)


def relevant(evidence: Evidence) -> list[Sight]:
    """The plain stores with what else may touch the bytes that they write; atomics and the loads beside them."""
    stores = [sight for sight in evidence.in_order if is_plain_store(sight)]
    updates = [sight for sight in evidence.in_order if is_update(sight)]
    loads = _near(evidence, filter(is_plain_load, evidence.in_order), updates)
    updates = _near(evidence, updates, loads)
    chosen = {sight.event.order for sight in (*updates, *loads)}
    written = _hulls(evidence, stores)
    others = [
        sight
        for sight in evidence.in_order
        if not is_plain_store(sight) and (sight.event.order in chosen or written.meets(*evidence.hull(sight)))
    ]
    return stores + others


def _near(evidence: Evidence, sights: Iterable[Sight], others: Iterable[Sight]) -> list[Sight]:
    """Those whose addresses may meet those of the others."""
    there = _hulls(evidence, others)
    if not len(there):
        return []
    return [sight for sight in sights if there.meets(*evidence.hull(sight))]


def _hulls(evidence: Evidence, sights: Iterable[Sight]) -> Ranges:
    hulls = [evidence.hull(sight) for sight in sights]
    return Ranges.of([low for low, _ in hulls], [high for _, high in hulls])


def shared_bytes(evidence: Evidence, sights: list[Sight]) -> Ranges:
    """The bytes on which several programs contend."""
    sights = not_known_apart(evidence, sights, [s for s in sights if is_plain_store(s) or is_update(s)])
    if not sights:
        return NOTHING
    runs = [evidence.runs(sight) for sight in sights]
    count, size = sum(len(one) for one in runs), sum(int((one.stop - one.start).sum()) for one in runs)
    stores, updates = ([s for s in sights if some(s)] for some in (is_plain_store, is_update))
    unit = min(sight.itemsize for sight in sights)
    cells = Cells(evidence, stores + updates, unit)
    # Long runs are few to sort, short ones are soon painted.
    if count > _MANY and size // cells.unit + cells.count < _SHORT * count:
        return _painted(evidence, sights, stores, updates, unit)
    return Ranges.joined(contested(evidence, sights, ALL))


def _painted(evidence: Evidence, sights: list[Sight], stores: list[Sight], updates: list[Sight], unit: int) -> Ranges:
    others = [sight for sight in sights if not is_plain_store(sight)]
    found = Cells(evidence, stores, unit).shared(evidence, stores, others) if stores else NOTHING
    if not updates:
        return found
    return found | Cells(evidence, updates, unit).met(evidence, updates, [s for s in sights if is_plain_load(s)])


def contested(evidence: Evidence, sights: list[Sight], within: Ranges) -> Iterator[Rows]:
    """The stretches on which several programs contend, part by part: one stores to it, or one updates and one loads it.

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
    stores, updates, loads = (
        np.array([some(s) for s in sights])[sight] for some in (is_plain_store, is_update, is_plain_load)
    )
    borders = distinct(np.concatenate([start, stop]))
    first, last = np.searchsorted(borders, start), np.searchsorted(borders, stop)
    touched = _cover(first, last, len(borders))
    stored, updated, loaded = (_cover(first[some], last[some], len(borders)) > 0 for some in (stores, updates, loads))
    open_question = (touched > 1) & (stored | updated & loaded)
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
            updates[run],
            loads[run],
            alone[run],
        )
        yield rows.where(_contending(rows))
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


def _contending(rows: Rows) -> Flags:
    """Rows of stretches on which several programs contend."""
    if not len(rows):
        return np.zeros(0, np.bool_)
    heads = np.flatnonzero(np.concatenate([[True], rows.stretch[1:] != rows.stretch[:-1]]))
    lengths = np.diff(np.append(heads, len(rows)))

    def several(some: Flags) -> Flags:
        least = np.minimum.reduceat(np.where(some, rows.program, _FAR), heads)
        return least < np.maximum.reduceat(np.where(some, rows.program, -1), heads)

    def has(some: Flags) -> Flags:
        return np.repeat(np.logical_or.reduceat(some, heads), lengths)

    everyone = np.ones(len(rows), np.bool_)
    mixed = rows.updates | rows.loads
    stored = has(rows.stores) & np.repeat(several(everyone), lengths)
    beside = has(rows.updates) & has(rows.loads) & np.repeat(several(mixed), lengths)
    return stored | beside & ~has(rows.stores) & mixed


def _alone(sight: Sight) -> bool:
    # In a block of atomics that release, each thread hands on what it did itself.
    return int(np.prod(sight.event.shape)) == 1 or (sight.kind == "atomic" and hands_on(sight.op))
