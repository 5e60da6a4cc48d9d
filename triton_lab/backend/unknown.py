"""Memory that no argument reaches: where a pointer points that the kernel loaded or computed."""

from __future__ import annotations

import bisect
import gc
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from triton_lab.backend.mirror import Mirrors
from triton_lab.backend.pages import peek
from triton_lab.backend.regions import own_memory
from triton_lab.interpreter.memory import Memory, Region

# The longest range of unknown memory that is read at once.
_MOST_PEEKED = 1 << 24


@dataclass(slots=True)
class Run:
    """The addresses ``start .. stop - 1``, and the tensors on one kind of device that lie there."""

    start: int
    stop: int
    kind: str
    tensors: list[Any]


class Finder:
    """Finds the memory at an address: a live torch tensor's, else whatever the process has mapped there.

    Tensors are looked up once a launch, when the first unknown address is met.
    """

    def __init__(self, memory: Memory, mirrors: Mirrors) -> None:
        self._memory = memory
        self._mirrors = mirrors
        self._runs: list[Run] | None = None

    def __call__(self, low: int, high: int) -> Region | None:
        """The region that holds ``low``, or None where nothing is mapped.

        A tensor's region is its whole storage. Other memory is given out as a copy, byte range by
        byte range, as ``verified=False``: nobody can tell whether the kernel was meant to read it, and
        nothing may write to it, since it may be Python's own.
        """
        if self._runs is None:
            self._runs = live_runs()
        position = bisect.bisect_right(self._runs, low, key=lambda run: run.start) - 1
        if position >= 0:
            run = self._runs[position]
            if low < run.stop and self._free(run.start, run.stop):
                return self._region(run, low)
        if high - low <= _MOST_PEEKED and self._free(low, high) and _apart(low, high, self._runs):
            found = peek(low, high)
            if found is not None:
                return Region(low, np.frombuffer(bytearray(found), np.uint8), verified=False)
        return None

    def _region(self, run: Run, address: int) -> Region | None:
        if run.kind == "cpu":
            return own_memory(run.start, run.stop, run.tensors)
        regions = self._mirrors.of(run.kind, run.tensors)
        return next((region for region in regions if region.start <= address < region.stop), None)

    def _free(self, start: int, stop: int) -> bool:
        """Whether no known region shares bytes with the range."""
        return _apart(start, stop, self._memory.regions)


def _apart(start: int, stop: int, others: Iterable[Region] | Iterable[Run]) -> bool:
    """Whether none of ``others`` shares bytes with the range."""
    return all(other.stop <= start or stop <= other.start for other in others)


def live_runs() -> list[Run]:
    """The memory of all tensors that are alive, by address; storages that share bytes make one run."""
    torch: Any = sys.modules["torch"]
    found: dict[tuple[int, int], Any] = {}
    for candidate in gc.get_objects():
        # `isinstance` would run foreign code: lazy proxies answer it.
        if issubclass(type(candidate), torch.Tensor):
            try:
                storage = candidate.untyped_storage()
                start, size = storage.data_ptr(), storage.nbytes()
            except (RuntimeError, NotImplementedError):  # sparse, fake and functional tensors
                continue
            if start and size:
                found[start, start + size] = candidate
    runs: list[Run] = []
    for (start, stop), tensor in sorted(found.items(), key=lambda item: item[0]):
        kind = tensor.device.type
        if runs and start < runs[-1].stop and runs[-1].kind == kind:
            runs[-1].stop = max(stop, runs[-1].stop)
            runs[-1].tensors.append(tensor)
        else:
            runs.append(Run(start, stop, kind, [tensor]))
    return runs
