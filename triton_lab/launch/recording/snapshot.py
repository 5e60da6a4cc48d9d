"""`Snapshot`: a copy of memory from before a launch, so that the launch can be replayed."""

from __future__ import annotations

import mmap
import os
import weakref
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.memory_regions import Memory, MemoryRegion
from triton_lab.interpreter.runtime_values import Value
from triton_lab.launch.byte_ranges import NOTHING, Ranges, true_ranges
from triton_lab.launch.recording.replay_error import CannotReplay as CannotReplay
from triton_lab.localization import _

Array = NDArray[Any]
PAGE = mmap.PAGESIZE
# The bits of /proc/self/pagemap for a page that is in memory or in swap.
_HELD = np.uint64(3 << 62)


# Regions of at least this many bytes are stored in a file in memory: each replay maps it copy-on-write.
_MAPPED = 16 << 20


@dataclass(frozen=True, eq=False)
class SavedRegion:
    """The bytes of one region, with the flags of `MemoryRegion`.

    ``nbytes`` counts the bytes that take memory. ``file`` is the file descriptor of a large region, None for others.
    """

    start: int
    data: Array
    verified: bool
    writable: bool
    nbytes: int
    file: int | None = None

    @classmethod
    def of(cls, region: MemoryRegion) -> SavedRegion:
        writable = bool(region.data.flags.writeable)
        file = _file(region.size) if region.size >= _MAPPED else None
        if file is None:
            return cls(region.start, np.array(region.data), region.verified, writable, region.size)
        data = np.frombuffer(mmap.mmap(file, region.size), np.uint8)
        kept = Ranges.of([region.start], [region.stop]) - blank(region)
        for start, stop in zip((kept.start - region.start).tolist(), (kept.stop - region.start).tolist(), strict=True):
            data[start:stop] = region.data[start:stop]
        held = cls(region.start, data, region.verified, writable, kept.size, file)
        weakref.finalize(held, os.close, file)
        return held

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes; a file in memory stays in its process."""
        return SavedRegion, (self.start, np.array(self.data), self.verified, self.writable, self.nbytes)

    def region(self, instead: tuple[Ranges, int] | None = None) -> MemoryRegion:
        """A new region with these bytes; ``instead`` gives addresses and the byte to put there."""
        if self.file is None:
            data = self.data.copy()
        else:
            data = np.frombuffer(mmap.mmap(self.file, len(self.data), mmap.MAP_PRIVATE), np.uint8)
        if instead is not None:
            where, byte = instead
            for low, high in zip((where.start - self.start).tolist(), (where.stop - self.start).tolist(), strict=True):
                data[max(low, 0) : max(high, 0)] = byte
        data.flags.writeable = self.writable
        return MemoryRegion(self.start, data, self.verified)

    def region_for(self, read: bool, written: bool) -> MemoryRegion:
        """A region for a replay that reads it, writes it, both or neither: it copies only what it must."""
        if read and written:
            return self.region()
        data = np.empty(len(self.data), np.uint8) if written else self.data.view()
        data.flags.writeable = written and self.writable
        return MemoryRegion(self.start, data, self.verified)


def _file(size: int) -> int | None:
    """A file in memory, all zeros, which takes memory only where it is written; None if it cannot be made."""
    try:
        file = os.memfd_create("triton_lab")
    except OSError:  # too many files are open
        return None
    os.ftruncate(file, size)
    return file


def blank(region: MemoryRegion) -> Ranges:
    """The bytes that are zero because they were never touched; none for a region that is a copy."""
    return untouched(region.start, region.stop) if region.data.ctypes.data == region.start else NOTHING


def _weight(region: MemoryRegion) -> int:
    """The bytes that a copy of the region takes."""
    return region.size - (blank(region).size if region.size >= _MAPPED else 0)


@dataclass(eq=False)
class Snapshot:
    """The arguments' values and a copy of each region's bytes, or in ``missing`` the reason why there is none.

    ``owners`` has for each argument the start addresses of the regions that it may point into (None: any region).
    ``reads`` counts how often the bytes were asked for.
    """

    arguments: tuple[Value, ...]
    regions: tuple[SavedRegion, ...]
    owners: tuple[tuple[int, ...] | None, ...]
    missing: str = ""
    reads: int = 0

    @property
    def nbytes(self) -> int:
        return sum(held.nbytes for held in self.regions)

    def held(self, start: int, stop: int) -> Array:
        """The saved bytes at addresses ``start .. stop - 1`` of one region. Raises LookupError without one."""
        self.reads += 1
        for held in self.regions:
            if held.start <= start and stop <= held.start + len(held.data):
                return held.data[start - held.start : stop - held.start]
        raise LookupError(
            _("no region holds the addresses {start} to {stop}").format(start=f"{start:#x}", stop=f"{stop:#x}")
        )

    def zeroed(self, start: int, stop: int) -> Snapshot:
        """This snapshot with zeros at the addresses ``start .. stop - 1``."""
        kept = []
        for held in self.regions:
            if held.start < stop and start < held.start + len(held.data):
                data = held.data.copy()
                data[max(start - held.start, 0) : stop - held.start] = 0
                held = replace(held, data=data, file=None)
            kept.append(held)
        return replace(self, regions=tuple(kept))

    def patched(self, start: int, data: Array) -> Snapshot:
        """This snapshot with other bytes from the address ``start`` on; ``data`` is uint8, of bytes of one region."""
        kept = []
        for held in self.regions:
            if held.start <= start and start + len(data) <= held.start + len(held.data):
                changed = np.array(held.data)
                changed[start - held.start : start - held.start + len(data)] = data
                held = replace(held, data=changed, file=None)
            kept.append(held)
        return replace(self, regions=tuple(kept))

    def exchanged(self, one: int, two: int) -> Snapshot:
        """This snapshot with two arguments exchanged."""
        order = list(range(len(self.arguments)))
        order[one], order[two] = two, one
        arguments = tuple(self.arguments[k] for k in order)
        return replace(self, arguments=arguments, owners=tuple(self.owners[k] for k in order))

    def memory(self, instead: tuple[Ranges, int] | None = None) -> Memory:
        """A new memory with the saved bytes at their addresses; ``instead`` as in `SavedRegion.region`."""
        self.reads += 1
        if self.missing:
            raise CannotReplay(self.missing)
        return Memory([held.region(instead) for held in self.regions])

    def scratch(self, read: Set[int], written: Set[int]) -> Memory:
        """A new memory for a replay of which the memory is not looked at afterwards, and that touches only the regions
        at these addresses. Regions that are only read are shared; those that are only written begin as anything."""
        self.reads += 1
        if self.missing:
            raise CannotReplay(self.missing)
        return Memory([held.region_for(held.start in read, held.start in written) for held in self.regions])


def take(
    memory: Memory, arguments: tuple[Value, ...], owners: Sequence[frozenset[MemoryRegion] | None], limit: int
) -> Snapshot:
    """Copy all regions, if they take at most ``limit`` bytes. Regions that the launch finds later are copied then.

    Memory that was never touched takes no bytes.
    """
    starts = tuple(None if regions is None else tuple(r.start for r in regions) for regions in owners)
    snapshot = Snapshot(arguments, (), starts)
    # Checked before the first copy, so that a record that is too large costs nothing.
    if not _too_large(snapshot, sum(map(_weight, memory.regions)), limit):
        snapshot.regions = tuple(SavedRegion.of(region) for region in memory.regions)
    resolve = memory.resolve
    if resolve is not None:

        def found(low: int, high: int) -> MemoryRegion | None:
            region = resolve(low, high)
            if region is not None and not _too_large(snapshot, snapshot.nbytes + _weight(region), limit):
                snapshot.regions += (SavedRegion.of(region),)
            return region

        memory.resolve = found
    return snapshot


def _too_large(snapshot: Snapshot, size: int, limit: int) -> bool:
    """Whether ``size`` bytes are too many. If so, the snapshot drops its regions and sets ``missing``."""
    if size > limit and not snapshot.missing:
        snapshot.regions = ()
        snapshot.missing = _(
            "the launch's memory ({size} MB) was more than a record keeps ({limit} MB): use record(max_bytes={size_2})"
        ).format(size=f"{size / 2**20:.0f}", limit=f"{limit / 2**20:.0f}", size_2=size)
    return bool(snapshot.missing)


def untouched(start: int, stop: int) -> Ranges:
    """The bytes in ``start .. stop - 1`` on pages that were never touched; none if the system does not report it.

    So a snapshot of a tensor of many gigabytes from `torch.empty` costs nothing, as long as the tensor is not filled.
    Only private memory is considered: memory that is shared or mapped from a file has content before it is touched.
    """
    try:
        own = _private(start, stop)
    except OSError:
        return NOTHING
    found = []
    for low, high in own:
        first, last = -(-low // PAGE), high // PAGE
        if first >= last:
            continue
        try:
            with open("/proc/self/pagemap", "rb", buffering=0) as pages:
                entries = np.frombuffer(os.pread(pages.fileno(), (last - first) * 8, first * 8), np.uint64)
        except OSError:
            return NOTHING
        # Pages missing from a short read count as touched.
        runs = true_ranges(entries & _HELD == 0)
        found.append(Ranges.of((first + runs.start) * PAGE, (first + runs.stop) * PAGE))
    return Ranges.joined(found)


def _private(start: int, stop: int) -> list[tuple[int, int]]:
    """The parts of the range that are neither mapped from a file nor shared."""
    found = []
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        for line in maps:
            span, rights, _, _, inode = line.split(None, 5)[:5]
            low, _, high = span.partition("-")
            first, last = max(start, int(low, 16)), min(stop, int(high, 16))
            if first < last and rights[0] == "r" and rights[3] == "p" and inode == "0":
                found.append((first, last))
    return found
