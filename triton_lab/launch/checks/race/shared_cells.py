"""The cells of memory that several threads of one program touch, found by sorting; scattered lanes share few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.race.lane_threads import Threads
from triton_lab.launch.membership_classes import distinct

_TOGETHER = 1 << 20  # lanes that are sorted at a time, so that they fit into the processor's cache
_SHAPES = 40  # as in `lane_threads`: bits of a lane's number


@dataclass(frozen=True, eq=False)
class SharedCells:
    """Lanes of one access, sorted by program; ``thread`` (lanes,) is from `Threads.of`, ``cell`` is (lanes, wide)."""

    lanes: EvidenceLanes
    thread: Ints
    cell: Ints


def shared_cells(touching: Sequence[SharedCells]) -> Ints | None:
    """The cells, ascending, that two threads of a program touch; None if the keys do not fit 63 bits."""
    touching = [one for one in touching if len(one.lanes)]
    if not touching:
        return np.zeros(0, np.int64)
    low = min(int(one.cell.min()) for one in touching)
    cells = _bits(max(int(one.cell.max()) for one in touching) - low)
    lane = _bits(max(int((one.thread & ((1 << _SHAPES) - 1)).max()) for one in touching))
    threads = lane + _bits(max(int(one.thread.max()) >> _SHAPES for one in touching))
    found = []
    for first, stop in _programs(touching):
        if cells + threads + _bits(stop - first) > 63:
            return None
        keys = np.concatenate([_keys(one, first, stop, low, cells, lane, threads) for one in touching])
        keys.sort()
        place = keys >> threads
        # Equal places of different threads are neighbours.
        twice = (place[1:] == place[:-1]) & (keys[1:] != keys[:-1])
        found.append(place[1:][twice] & ((1 << cells) - 1))
    return distinct(np.concatenate(found)) + low


def touch(one: SharedCells, cells: Ints) -> Ints:
    """The positions of the lanes that touch any of these cells, which ascend."""
    if not len(cells):
        return np.zeros(0, np.int64)
    low, high = int(cells[0]), int(cells[-1])
    if high - low < 16 * one.cell.size:
        table = np.zeros(high - low + 2, np.bool_)
        table[cells - low] = True
        there = table[np.where((one.cell >= low) & (one.cell <= high), one.cell - low, len(table) - 1)]
    else:
        at = np.minimum(np.searchsorted(cells, one.cell), len(cells) - 1)
        there = cells[at] == one.cell
    return np.flatnonzero(there.any(axis=1))


def where_threads_meet(
    evidence: Evidence, part: list[SeenAccess], threads: Threads, unit: int, low: int
) -> dict[int, EvidenceLanes] | None:
    """The lanes of each sight, by its order, in cells that several threads of a program touch; None as `shared_cells`.

    The other lanes, which are nearly all if lanes are scattered, conflict with no thread.
    """
    touching: dict[int, SharedCells] = {}
    for sight in part:
        lanes = evidence.active_lanes(sight)
        touching[sight.event.order] = SharedCells(
            lanes, threads.of(sight, lanes.lane), cells_of(lanes, sight, low, unit)
        )
    shared = shared_cells(list(touching.values()))
    return None if shared is None else {order: one.lanes.at(touch(one, shared)) for order, one in touching.items()}


def cells_of(lanes: EvidenceLanes, sight: SeenAccess, start: int, unit: int) -> Ints:
    """(lanes, wide) the cells of ``unit`` bytes that each lane touches, counted from address ``start``."""
    found: Ints = ((lanes.address - start) // unit)[:, None] + np.arange(max(1, sight.itemsize // unit))
    return found


def _programs(touching: Sequence[SharedCells]) -> Iterator[tuple[int, int]]:
    """Cut the programs into ranges ``first .. stop - 1`` of about `_TOGETHER` lanes."""
    first = min(int(one.lanes.program[0]) for one in touching)
    stop = max(int(one.lanes.program[-1]) for one in touching) + 1
    lanes = sum(one.cell.size for one in touching)
    step = max(1, (stop - first) * _TOGETHER // max(1, lanes))
    for start in range(first, stop, step):
        yield start, min(stop, start + step)


def _keys(one: SharedCells, first: int, stop: int, low: int, cells: int, lane: int, threads: int) -> Ints:
    """Keys for the lanes of some programs: program, cell and thread packed into one number."""
    a, b = np.searchsorted(one.lanes.program, (first, stop))
    thread = one.thread[a:b]
    compact = ((thread >> _SHAPES) << lane) | (thread & ((1 << _SHAPES) - 1))
    program = (one.lanes.program[a:b] - first) << (cells + threads)
    keys: Ints = (program | compact)[:, None] | ((one.cell[a:b] - low) << threads)
    return keys.reshape(-1)


def _bits(number: int) -> int:
    return max(1, int(number).bit_length())
