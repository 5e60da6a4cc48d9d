"""Memory that no argument reaches: behind pointers that the kernel loaded or computed."""

from __future__ import annotations

import bisect
import itertools
import sys
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from triton_lab.backend.plugin.device_mirror import Mirrors
from triton_lab.backend.plugin.launch_regions import UnreadableMemory, own_memory
from triton_lab.backend.plugin.live_objects import instances
from triton_lab.backend.plugin.page_permissions import peek
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion

# The longest range of unknown memory that is read at once.
_MOST_PEEKED = 1 << 24
# The block size for reading unknown memory, in bytes. It divides a page; blocks help since stray lanes are often
# neighbours.
_PEEKED = 256


@dataclass(slots=True)
class AddressRun:
    """The addresses ``start .. stop - 1``, and the tensors there, on one kind of device."""

    start: int
    stop: int
    kind: str
    tensors: list[Any]


class Finder:
    """Finds the memory at an address: a live torch tensor's, else what the process has mapped there.

    Tensors are searched once per launch, at the first unknown address: first recent tensors, then all if needed.
    """

    def __init__(self, memory: Memory, mirrors: Mirrors) -> None:
        self._memory = memory
        self._mirrors = mirrors
        self._near: AddressRuns | None = None
        self._runs: AddressRuns | None = None

    def __call__(self, low: int, high: int) -> MemoryRegion | None:
        """The region that holds ``low``, or None if nothing is mapped there.

        A tensor's region is its whole storage. Other memory is returned as a copy, a little larger than requested, with
        ``verified=False``: it is unknown whether the kernel should read it. It may not be written, since it may be
        Python's own.
        """
        if self._near is None:
            self._near = AddressRuns(near_runs())
        run = self._near.holding(low)
        if run is None:
            if self._runs is None:
                self._runs = AddressRuns(live_runs())
            run = self._runs.holding(low)
        if run is not None and self._memory.around(run.start, run.stop) is not None:
            _met.extend(map(weakref.ref, run.tensors))
            return self._region(run, low)
        if self._runs is None:
            return None
        if high - low > _MOST_PEEKED:
            return None
        around = (self._memory.around(low, high), self._runs.around(low, high))
        if around[0] is None or around[1] is None:
            return None
        # Whole pages are mapped: bytes on the range's own pages can be read if the range can.
        start = max(low // _PEEKED * _PEEKED, around[0][0], around[1][0])
        stop = min(-(-high // _PEEKED) * _PEEKED, around[0][1], around[1][1])
        found = peek(start, stop)
        return None if found is None else MemoryRegion(start, np.frombuffer(bytearray(found), np.uint8), verified=False)

    def _region(self, run: AddressRun, address: int) -> MemoryRegion | None:
        if run.kind == "cpu":
            try:
                return own_memory(run.start, run.stop, run.tensors)
            except UnreadableMemory:
                return None
        regions = self._mirrors.of(run.kind, run.tensors)
        return next((region for region in regions if region.start <= address < region.stop), None)


class AddressRuns:
    """Runs sorted by address. Those on different devices may overlap."""

    def __init__(self, runs: Sequence[AddressRun]) -> None:
        self._runs = runs
        self._starts = [run.start for run in runs]
        # For each run, the greatest end among it and all runs before it.
        self._ends = list(itertools.accumulate((run.stop for run in runs), max))

    def holding(self, address: int) -> AddressRun | None:
        """The last run that starts at or before ``address``, if it contains it."""
        position = bisect.bisect_right(self._starts, address) - 1
        return self._runs[position] if position >= 0 and address < self._runs[position].stop else None

    def around(self, start: int, stop: int) -> tuple[int, int] | None:
        """The end of the runs before the range and the start of the next one; None if a run shares bytes with it."""
        position = bisect.bisect_left(self._starts, stop)
        before = self._ends[position - 1] if position else 0
        after = self._starts[position] if position < len(self._starts) else 1 << 64
        return (before, after) if before <= start else None


# Tensors found by earlier launches.
_met: deque[weakref.ref[Any]] = deque(maxlen=128)


def live_runs() -> list[AddressRun]:
    """The memory of all live tensors, by address. Storages that share bytes make one run.

    Takes about 0.1 s in a process with a notebook's usual imports.
    """
    return _runs(_tensors())


def near_runs() -> list[AddressRun]:
    """The memory of recently made tensors, and of those found before, if torch has allocated it.

    Such memory belongs to one storage alone, or lies inside one. So a run of it is complete, whatever else is alive.
    """
    young = _tensors(0, 1)
    met = [tensor for kept in list(_met) if (tensor := kept()) is not None]
    return _runs(t for t in (*young, *met) if t.device.type == "cpu" and _is_torchs(t))


def _is_torchs(tensor: Any) -> bool:
    try:
        return bool(tensor.untyped_storage().resizable())
    except (RuntimeError, NotImplementedError):
        return False


def _tensors(*generations: int) -> list[Any]:
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return []
    fake = getattr(sys.modules.get("torch._subclasses.fake_tensor"), "FakeTensor", ())  # these have no memory
    return [found for found in instances(torch.Tensor, *generations) if not issubclass(type(found), fake)]


def _runs(tensors: Iterable[Any]) -> list[AddressRun]:
    found: dict[tuple[int, int], Any] = {}
    for candidate in tensors:
        try:
            storage = candidate.untyped_storage()
            start, size = storage.data_ptr(), storage.nbytes()
        except (RuntimeError, NotImplementedError):  # sparse, fake and functional tensors
            continue
        if start and size:
            found[start, start + size] = candidate
    runs: list[AddressRun] = []
    for (start, stop), tensor in sorted(found.items(), key=lambda item: item[0]):
        kind = tensor.device.type
        if runs and start < runs[-1].stop and runs[-1].kind == kind:
            runs[-1].stop = max(stop, runs[-1].stop)
            runs[-1].tensors.append(tensor)
        else:
            runs.append(AddressRun(start, stop, kind, [tensor]))
    return runs
