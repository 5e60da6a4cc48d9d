"""Simulates a small cache: the cost of an order of execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.polyhedral.access_visits import touches
from triton_lab.polyhedral.core.schedule_visits import Ordered
from triton_lab.polyhedral.execute import extent


@dataclass(frozen=True)
class Cache:
    """A cache of ``lines`` lines of ``line_size`` elements each, in sets of ``ways`` lines (None: all in one set).

    It evicts the least recently used line.
    """

    lines: int = 32
    line_size: int = 8
    ways: int | None = None

    def __post_init__(self) -> None:
        if self.lines < 1 or self.line_size < 1:
            raise ValueError(_("a cache has at least one line of one element"))
        if self.ways is not None and (self.ways < 1 or self.lines % self.ways):
            raise ValueError(
                _("{lines} cannot be sets of {ways}").format(
                    lines=counted(self.lines, "line"), ways=counted(self.ways, "way")
                )
            )

    def misses(self, lines: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each access to a memory line misses.

        >>> lab.polyhedral.Cache(lines=2, line_size=1).misses(np.array([0, 1, 2, 0, 2]))
        array([ True,  True,  True,  True, False])
        """
        ways = self.ways or self.lines
        count = self.lines // ways
        # A dict keeps the order of insertion: its first key is the least recently used line.
        sets: list[dict[int, None]] = [{} for _ in range(count)]
        missed = np.zeros(len(lines), dtype=bool)
        for position, line in enumerate(lines.tolist()):
            held = sets[line % count]
            if line in held:
                del held[line]
            else:
                missed[position] = True
                if len(held) == ways:
                    del held[next(iter(held))]
            held[line] = None
        return missed


@dataclass(frozen=True)
class Cost:
    """The cost of all accesses, in the order of execution.

    ``arrays[k]`` is the array of access ``k``, as an index of ``names``; ``visit[k]`` is its visit.

    >>> cost = schedule.cost()
    >>> cost.accesses, cost.misses, cost.by_array
    (12, 2, {'A': (12, 2)})
    """

    cache: Cache
    names: tuple[str, ...]
    arrays: NDArray[np.int32]
    visit: NDArray[np.int64]
    missed: NDArray[np.bool_]

    @property
    def accesses(self) -> int:
        """The number of accesses."""
        return len(self.missed)

    @property
    def misses(self) -> int:
        """The number of misses."""
        return int(self.missed.sum())

    @property
    def by_array(self) -> dict[str, tuple[int, int]]:
        """Array -> (accesses, misses)."""
        return {
            name: (int((self.arrays == k).sum()), int(self.missed[self.arrays == k].sum()))
            for k, name in enumerate(self.names)
        }

    def __str__(self) -> str:
        rate = f" ({self.misses / self.accesses:.1%})" if self.accesses else ""
        parts = ", ".join(f"{name} {misses}/{accesses}" for name, (accesses, misses) in self.by_array.items())
        misses = counted(self.misses, "miss", "misses")
        return _("{misses} of {accesses}{rate}: {parts}").format(
            misses=misses, accesses=counted(self.accesses, "access", "accesses"), rate=rate, parts=parts
        )


def simulate(schedule: Ordered, cache: Cache, shapes: Mapping[str, Sequence[int]]) -> Cost:
    """Run all accesses of ``schedule`` through ``cache``. Arrays are row-major; each starts on a line of its own."""
    scop = schedule.scop
    names = tuple(a.name for a in scop.arrays)
    first_line = 0
    visits, slots, arrays, lines = [], [], [], []
    layout: dict[str, tuple[NDArray[np.int64], NDArray[np.int64], int]] = {}
    for name in names:
        low, high = extent(scop, name)
        least = np.maximum(high - np.minimum(low, 0) + 1, 1)
        size = np.array(shapes.get(name, least), dtype=np.int64)
        strides = np.append(np.cumprod(size[:0:-1])[::-1], 1)[: len(size)].astype(np.int64)
        layout[name] = np.minimum(low, 0), strides, first_line
        first_line += -(-int(np.prod(size)) // cache.line_size)
    for touched in touches(schedule):
        origin, strides, start = layout[touched.access.array]
        count = len(touched.visits)
        pairs = zip(touched.subscripts, origin, strides, strict=True)
        address = sum(((s - o) * stride for s, o, stride in pairs), np.zeros(count, dtype=np.int64))
        visits.append(touched.visits)
        slots.append(np.full(count, touched.number))
        arrays.append(np.full(count, names.index(touched.access.array), dtype=np.int32))
        lines.append(start + address // cache.line_size)
    in_order = np.lexsort((np.concatenate(slots), np.concatenate(visits)))
    missed = cache.misses(np.concatenate(lines)[in_order])
    return Cost(cache, names, np.concatenate(arrays)[in_order], np.concatenate(visits)[in_order], missed)
