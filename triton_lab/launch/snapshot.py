"""What memory held before a launch, so that it can be run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.memory import Memory, Region
from triton_lab.interpreter.values import Value
from triton_lab.launch.ranges import Ranges

Array = NDArray[Any]


class CannotReplay(RuntimeError):
    """The launch cannot be run again, for the reason given."""


@dataclass(frozen=True, eq=False)
class Held:
    """The bytes of one region, and what a kernel may do there: see `Region`."""

    start: int
    data: Array
    verified: bool
    writable: bool

    @classmethod
    def of(cls, region: Region) -> Held:
        return cls(region.start, np.array(region.data), region.verified, bool(region.data.flags.writeable))

    def region(self, instead: tuple[Ranges, int] | None = None) -> Region:
        """A region of its own with these bytes, but for those ``instead``: addresses, and the byte to be there."""
        data = self.data.copy()
        if instead is not None:
            where, byte = instead
            for low, high in zip((where.start - self.start).tolist(), (where.stop - self.start).tolist(), strict=True):
                data[max(low, 0) : max(high, 0)] = byte
        data.flags.writeable = self.writable
        return Region(self.start, data, self.verified)


@dataclass(eq=False)
class Snapshot:
    """The arguments' values and a copy of each region's bytes, or the reason why there is none.

    ``owners`` says for each argument where the regions begin that it points into (None: anywhere).
    """

    arguments: tuple[Value, ...]
    regions: tuple[Held, ...]
    owners: tuple[tuple[int, ...] | None, ...]
    missing: str = ""

    @property
    def nbytes(self) -> int:
        return sum(held.data.nbytes for held in self.regions)

    def held(self, start: int, stop: int) -> Array:
        """The bytes that were at addresses ``start .. stop - 1`` of one region."""
        for held in self.regions:
            if held.start <= start and stop <= held.start + len(held.data):
                return held.data[start - held.start : stop - held.start]
        raise LookupError(f"no region holds the addresses {start:#x} to {stop:#x}")

    def memory(self, instead: tuple[Ranges, int] | None = None) -> Memory:
        """A fresh memory with the bytes of then, at the addresses of then; ``instead``: see `Held.region`."""
        if self.missing:
            raise CannotReplay(self.missing)
        return Memory([held.region(instead) for held in self.regions])


def take(
    memory: Memory, arguments: tuple[Value, ...], owners: Sequence[frozenset[Region] | None], limit: int
) -> Snapshot:
    """Copy all regions, if they take ``limit`` bytes at most; those that the launch finds later, when it does."""
    starts = tuple(None if regions is None else tuple(r.start for r in regions) for regions in owners)
    snapshot = Snapshot(arguments, (), starts)
    # Before the first copy, so that a record that is too large costs nothing.
    if not _too_large(snapshot, sum(region.size for region in memory.regions), limit):
        snapshot.regions = tuple(Held.of(region) for region in memory.regions)
    resolve = memory.resolve
    if resolve is not None:

        def found(low: int, high: int) -> Region | None:
            region = resolve(low, high)
            if region is not None and not _too_large(snapshot, snapshot.nbytes + region.size, limit):
                snapshot.regions += (Held.of(region),)
            return region

        memory.resolve = found
    return snapshot


def _too_large(snapshot: Snapshot, size: int, limit: int) -> bool:
    """Whether ``size`` bytes are too many, which the snapshot then says instead of holding any."""
    if size > limit and not snapshot.missing:
        snapshot.regions = ()
        snapshot.missing = (
            f"the launch's memory ({size / 2**20:.0f} MB) was more than a record keeps ({limit / 2**20:.0f} MB): "
            f"use record(keep={size})"
        )
    return bool(snapshot.missing)
