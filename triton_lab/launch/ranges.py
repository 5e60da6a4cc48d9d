"""Sets of bytes as sorted ranges of addresses: what is covered, joined, cut and compared without a list of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from triton_lab.launch.classes import distinct

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Bounds(Protocol):
    """Ranges of any kind and order."""

    @property
    def start(self) -> Ints: ...
    @property
    def stop(self) -> Ints: ...


@dataclass(frozen=True, eq=False)
class Ranges:
    """The bytes ``start[k] .. stop[k] - 1``; ranges ascend, and neither overlap nor touch."""

    start: Ints
    stop: Ints

    @classmethod
    def of(cls, start: npt.ArrayLike, stop: npt.ArrayLike) -> Ranges:
        """The union of any ranges; empty ones count for nothing."""
        starts = np.asarray(start, dtype=np.int64).reshape(-1)
        stops = np.asarray(stop, dtype=np.int64).reshape(-1)
        some = starts < stops
        if not some.all():
            starts, stops = starts[some], stops[some]
        if len(starts) > 1:
            order = np.argsort(starts, kind="stable")
            starts, reach = starts[order], np.maximum.accumulate(stops[order])
            heads = np.concatenate([[True], starts[1:] > reach[:-1]])
            starts, stops = starts[heads], reach[np.append(np.flatnonzero(heads)[1:] - 1, len(reach) - 1)]
        return cls(starts, stops)

    @classmethod
    def joined(cls, parts: Iterable[Bounds]) -> Ranges:
        """The union of all parts: of anything that has ``start`` and ``stop``."""
        known = list(parts)
        if not known:
            return NOTHING
        return cls.of(np.concatenate([part.start for part in known]), np.concatenate([part.stop for part in known]))

    def __len__(self) -> int:
        return len(self.start)

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return int((self.stop - self.start).sum())

    def covers(self, address: Ints) -> Flags:
        """Whether each address is one of the bytes. Keeps the shape."""
        return np.searchsorted(self.start, address, side="right") > np.searchsorted(self.stop, address, side="right")

    def meets(self, start: int, stop: int) -> bool:
        """Whether some byte lies in ``start .. stop - 1``."""
        below = np.searchsorted(self.start, stop, side="left")
        return start < stop and bool(np.searchsorted(self.stop, start, side="right") < below)

    def __or__(self, other: Ranges) -> Ranges:
        return Ranges.joined([self, other])

    def __and__(self, other: Ranges) -> Ranges:
        return self._where(other, inside=True)

    def __sub__(self, other: Ranges) -> Ranges:
        return self._where(other, inside=False)

    def _where(self, other: Ranges, inside: bool) -> Ranges:
        """The bytes that are, or are not, in ``other`` too."""
        if not len(self) or not len(other):
            return NOTHING if inside else self
        # Between two neighbouring borders, either all bytes are in a set or none is.
        borders = distinct(np.concatenate([self.start, self.stop, other.start, other.stop]))
        pieces = borders[:-1]
        chosen = self.covers(pieces) & (other.covers(pieces) == inside)
        return Ranges.of(pieces[chosen], borders[1:][chosen])


NOTHING = Ranges(np.zeros(0, np.int64), np.zeros(0, np.int64))


def true_ranges(flags: Flags, origin: int = 0) -> Ranges:
    """The positions where ``flags`` is true, counted from ``origin``."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8))) + origin
    return Ranges(edges[::2].astype(np.int64), edges[1::2].astype(np.int64))
