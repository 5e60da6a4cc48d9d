"""The memory that a launch can reach, by byte address.

A `MemoryRegion` is a run of addresses that belong together: the storage of an argument, or several storages whose
ranges meet. Its bytes are the tensor's own memory if the CPU can access it, else a mirror of it. Kernels see the same
addresses in both cases.
"""

from __future__ import annotations

import bisect
import ctypes
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class MemoryRegion:
    """``size`` bytes from address ``start`` on; ``data`` holds them as uint8.

    ``verified`` is False for memory that was found only by its address.
    """

    __slots__ = ("_typed", "data", "flags", "size", "start", "stop", "verified")

    def __init__(self, start: int, data: Array, verified: bool = True) -> None:
        self.start = start
        self.data = data
        self.size = len(data)
        self.stop = start + self.size
        self.verified = verified
        # Only for mirrors: a region with the same addresses, where written bytes become 0xff.
        self.flags: MemoryRegion | None = None
        self._typed: dict[tuple[np.dtype[Any], int], Array] = {}

    @property
    def writable(self) -> bool:
        """Whether a kernel may store here.

        Not to memory that was found only by its address, which may be Python's own. Nor to memory that the system
        protects from writing (then ``data`` is read-only).
        """
        return self.verified and bool(self.data.flags.writeable)

    @classmethod
    def over(cls, start: int, size: int) -> MemoryRegion:
        """The CPU's own memory from address ``start`` on, without a copy."""
        if size == 0:
            return cls(start, np.empty(0, np.uint8))
        return cls(start, np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(start)))

    def typed(self, dtype: np.dtype[Any], phase: int) -> Array:
        """The bytes as elements of ``dtype`` that begin at ``start + phase``, ``phase < itemsize``."""
        key = (dtype, phase)
        if key not in self._typed:
            count = max(0, self.size - phase) // dtype.itemsize
            self._typed[key] = self.data[phase : phase + count * dtype.itemsize].view(dtype)
        return self._typed[key]

    def blocks(self, dtype: np.dtype[Any], phase: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
        """All blocks of ``shape`` that fit: entry ``b`` of the result is the block based at element ``b``.

        ``strides`` count bytes. The result is a view; indexing its first axis with one base per program gathers whole
        blocks at once. Blocks that would leave the region are not in it. If strides are negative, the lowest lane of
        entry ``b`` is at element ``b``.
        """
        itemsize = dtype.itemsize
        low, high = span(shape, strides)
        count = (self.size - phase - (high - low) - itemsize) // itemsize + 1
        return np.ndarray((count, *shape), dtype, self.data, phase - low, (itemsize, *strides))


def span(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """The lowest (0 or less) and the highest offset of the lanes' first bytes from a block's base."""
    reaches = [stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True)]
    return sum(min(0, reach) for reach in reaches), sum(max(0, reach) for reach in reaches)


class Memory:
    """The regions of one launch, sorted by address.

    ``resolve`` is called for addresses that lie in no region: it returns a region, or None if nothing is mapped there.
    """

    def __init__(self, regions: Iterable[MemoryRegion]) -> None:
        self.regions = sorted(regions, key=lambda region: region.start)
        self._starts = [region.start for region in self.regions]
        self.resolve: Callable[[int, int], MemoryRegion | None] | None = None
        # Counts the writes, for programs that wait. While ``watching``, only writes that change something count; if
        # ``awaited`` regions are known, only writes to those.
        self.version = 0
        self.watching = False
        self.awaited: frozenset[MemoryRegion] | None = None
        self.before_write: Callable[[MemoryRegion], None] | None = None

    def holding(self, address: int) -> MemoryRegion | None:
        """The known region that ``address`` lies in."""
        position = bisect.bisect_right(self._starts, address) - 1
        if position >= 0:
            region = self.regions[position]
            if address < region.stop:
                return region
        return None

    def beginning_at(self, starts: Sequence[Iterable[int] | None]) -> list[frozenset[MemoryRegion] | None]:
        """For each of several arguments, the regions at its start addresses; None: anywhere."""
        known = dict(zip(self._starts, self.regions, strict=True))
        return [None if own is None else frozenset(known[start] for start in own) for own in starts]

    def around(self, start: int, stop: int) -> tuple[int, int] | None:
        """The end of the known region before the range and the start of the next one; None if a region overlaps the
        range.
        """
        position = bisect.bisect_left(self._starts, stop)
        before = self.regions[position - 1].stop if position else 0
        after = self._starts[position] if position < len(self._starts) else 1 << 64
        return (before, after) if before <= start else None

    def find(self, low: int, high: int) -> MemoryRegion | None:
        """The region that holds the bytes ``low .. high - 1``, known already or resolved now."""
        region = self.holding(low)
        if region is None and self.resolve is not None:
            region = self.resolve(low, high)
            if region is not None:
                self.add(region)
        return None if region is None or high > region.stop else region

    def add(self, region: MemoryRegion) -> None:
        position = bisect.bisect_left(self._starts, region.start)
        self.regions.insert(position, region)
        self._starts.insert(position, region.start)


class Reachable:
    """The part of ``memory`` that one operation may touch: the ``allowed`` regions.

    ``allowed`` is None if the operation's pointer is of unknown origin: then it may touch all regions, also new ones.
    """

    __slots__ = ("allowed", "memory")

    def __init__(self, memory: Memory, allowed: frozenset[MemoryRegion] | None = None) -> None:
        self.memory = memory
        self.allowed = allowed

    @property
    def regions(self) -> Collection[MemoryRegion]:
        """The regions within reach that are known already."""
        return self.memory.regions if self.allowed is None else self.allowed

    def find(self, low: int, high: int) -> MemoryRegion | None:
        """The region within reach that holds the bytes ``low .. high - 1``."""
        if self.allowed is None:
            return self.memory.find(low, high)
        region = self.memory.holding(low)
        return None if region is None or high > region.stop or region not in self.allowed else region
