"""Sets of bytes as sorted ranges of addresses, which are joined, cut and compared without a list of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from triton_lab.launch.membership_classes import distinct, ordering

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# From `_MANY` ranges on, a set makes a table of all its bytes if that has at most `_DENSE` bytes a range. Looking up
# millions of addresses in the table takes a tenth of the time of a search.
_MANY, _DENSE = 1 << 10, 256
_FAR = 1 << 62


class Bounds(Protocol):
    """Ranges of any kind and order."""

    @property
    def start(self) -> Ints: ...
    @property
    def stop(self) -> Ints: ...


@dataclass(frozen=True, eq=False)
class Ranges:
    """The bytes ``start[k] .. stop[k] - 1``; the ranges ascend and neither overlap nor touch."""

    start: Ints
    stop: Ints

    @classmethod
    def of(cls, start: npt.ArrayLike, stop: npt.ArrayLike) -> Ranges:
        """The union of any ranges; empty ranges are ignored."""
        starts = np.asarray(start, dtype=np.int64).reshape(-1)
        stops = np.asarray(stop, dtype=np.int64).reshape(-1)
        some = starts < stops
        if not some.all():
            starts, stops = starts[some], stops[some]
        if len(starts) > 1:
            if not bool((starts[1:] >= starts[:-1]).all()):
                order = ordering(starts)
                starts, stops = starts[order], stops[order]
            reach = np.maximum.accumulate(stops)
            heads = np.concatenate([[True], starts[1:] > reach[:-1]])
            starts, stops = starts[heads], reach[np.append(np.flatnonzero(heads)[1:] - 1, len(reach) - 1)]
        return cls(starts, stops)

    @classmethod
    def joined(cls, parts: Iterable[Bounds]) -> Ranges:
        """The union of all parts, which are any objects with ``start`` and ``stop``."""
        known = [part for part in parts if len(part.start)]
        if not known:
            return NOTHING
        if len(known) == 1 and isinstance(known[0], Ranges):
            return known[0]
        return cls.of(np.concatenate([part.start for part in known]), np.concatenate([part.stop for part in known]))

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, some: slice) -> Ranges:
        """Some of the ranges, in order."""
        return Ranges(self.start[some], self.stop[some])

    def near(self, other: Ranges) -> Ranges:
        """The ranges that lie, at least in part, between the first and the last byte of ``other``."""
        if not len(other):
            return NOTHING
        first = int(np.searchsorted(self.stop, other.start[0], side="right"))
        return self[first : int(np.searchsorted(self.start, other.stop[-1], side="left"))]

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return int((self.stop - self.start).sum())

    def covers(self, address: Ints) -> Flags:
        """Whether each address is one of the bytes. Keeps the shape."""
        if self._table is not None:
            # As unsigned numbers, addresses below the first byte are far above the table's last entry, which is False.
            at = (address - self.start[0]).view(np.uint64)
            inside: Flags = self._table[np.minimum(at, np.uint64(len(self._table) - 1))]
            return inside
        return np.searchsorted(self.start, address, side="right") > np.searchsorted(self.stop, address, side="right")

    def number(self, address: Ints) -> Ints:
        """How many ranges begin at or before each address."""
        return np.searchsorted(self.start, address, side="right")

    @cached_property
    def shortest(self) -> int:
        """The bytes of the shortest range; `_FAR` if there is none."""
        return int((self.stop - self.start).min(initial=_FAR))

    @cached_property
    def narrowest_gap(self) -> int:
        """The bytes between the two ranges that lie closest together; `_FAR` if there are no two."""
        return int((self.start[1:] - self.stop[:-1]).min(initial=_FAR))

    @cached_property
    def _table(self) -> Flags | None:
        """Whether each byte from the first on belongs to the set; the last entry is False. None for a sparse set."""
        if len(self) < _MANY or self.stop[-1] - self.start[0] > _DENSE * len(self):
            return None
        return self._flags(int(self.start[0]), int(self.stop[-1]) + 1)

    def _flags(self, low: int, high: int) -> Flags:
        """Whether each byte of ``low .. high - 1``, which contains the whole set, belongs to it."""
        change = np.zeros(high - low + 1, np.int8)
        change[self.start - low] = 1
        change[self.stop - low] = -1
        return np.cumsum(change[:-1], dtype=np.int8).view(np.bool_)

    def meets(self, start: int, stop: int) -> bool:
        """Whether any byte of the set lies in ``start .. stop - 1``."""
        below = np.searchsorted(self.start, stop, side="left")
        return start < stop and bool(np.searchsorted(self.stop, start, side="right") < below)

    def __or__(self, other: Ranges) -> Ranges:
        return Ranges.joined([self, other])

    def __and__(self, other: Ranges) -> Ranges:
        return self._where(other, inside=True)

    def __sub__(self, other: Ranges) -> Ranges:
        return self._where(other, inside=False)

    def _where(self, other: Ranges, inside: bool) -> Ranges:
        """The bytes that are also in ``other`` (``inside``), or that are not."""
        near = self.near(other)
        if len(near) < len(self):
            # Only the ranges near ``other`` can be cut.
            if inside:
                return near._where(other, inside)
            first = int(np.searchsorted(self.stop, other.start[0], side="right")) if len(other) else len(self)
            parts = [self[:first], near._where(other, inside), self[first + len(near) :]]
            return Ranges(np.concatenate([p.start for p in parts]), np.concatenate([p.stop for p in parts]))
        other = other.near(self)
        if not len(self) or not len(other):
            return NOTHING if inside else self
        if len(self) == len(other) == 1 and bool(other.start[0] <= self.start[0] and self.stop[0] <= other.stop[0]):
            return self if inside else NOTHING
        low = int(min(self.start[0], other.start[0]))
        high = int(max(self.stop[-1], other.stop[-1]))
        if len(self) + len(other) >= _MANY and high - low <= _DENSE * (len(self) + len(other)):
            return true_ranges(self._flags(low, high) & (other._flags(low, high) == inside), low)
        # Between two neighbouring borders, all bytes are in a set or none is.
        borders = distinct(np.concatenate([self.start, self.stop, other.start, other.stop]))
        pieces = borders[:-1]
        chosen = self.covers(pieces) & (other.covers(pieces) == inside)
        return Ranges.of(pieces[chosen], borders[1:][chosen])


NOTHING = Ranges(np.zeros(0, np.int64), np.zeros(0, np.int64))
ALL = Ranges(np.zeros(1, np.int64), np.array([np.iinfo(np.int64).max]))


def true_ranges(flags: Flags, origin: int = 0) -> Ranges:
    """The positions where ``flags`` is true, counted from ``origin``."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8))) + origin
    return Ranges(edges[::2].astype(np.int64), edges[1::2].astype(np.int64))
