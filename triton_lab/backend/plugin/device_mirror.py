"""Copies, in memory that the CPU can touch, of memory that it cannot.

A launch mirrors each connected run of storage once, whole, so that every argument keeps its
offset, its strides and what it shares with others. Afterwards only what the kernel stored to goes
back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.memory_regions import MemoryRegion

Bytes = NDArray[np.uint8]


class MirroredDevice(Protocol):
    """Memory of another device, by the addresses that its pointers hold."""

    def regions(self) -> Sequence[tuple[int, int]]:
        """The runs ``(start, stop)`` of addresses that are known, ascending, none meeting another."""

    def read(self, start: int, stop: int) -> Bytes:
        """The bytes ``start .. stop - 1``, of one run, as an array that may be written to."""

    def write(self, start: int, data: Bytes, stored: Bytes) -> None:
        """Put ``data`` at ``start``, where ``stored`` is not 0; leave all other bytes alone."""


def joined(extents: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The runs of addresses that ``extents`` cover; those that share bytes make one run."""
    runs: list[tuple[int, int]] = []
    for start, stop in sorted(extents):
        if start == stop:
            continue
        if runs and start < runs[-1][1]:
            runs[-1] = (runs[-1][0], max(runs[-1][1], stop))
        else:
            runs.append((start, stop))
    return runs


class TorchDevice:
    """A device of torch's: its storages, read and written with torch's own copies."""

    def __init__(self, tensors: Sequence[Any]) -> None:
        self._storages: dict[tuple[int, int], Any] = {}
        for tensor in tensors:
            storage = tensor.untyped_storage()
            start = storage.data_ptr()
            self._storages[start, start + storage.nbytes()] = storage

    def regions(self) -> Sequence[tuple[int, int]]:
        return joined(list(self._storages))

    def read(self, start: int, stop: int) -> Bytes:
        result = np.zeros(stop - start, np.uint8)
        for (low, high), storage in self._storages.items():
            if start <= low and high <= stop:
                result[low - start : high - start] = _as_bytes(storage).cpu().numpy()
        return result

    def write(self, start: int, data: Bytes, stored: Bytes) -> None:
        import torch

        for (low, high), storage in self._storages.items():
            part = slice(low - start, high - start)
            if low < start or high > start + len(data) or not stored[part].any():
                continue
            there = _as_bytes(storage)
            flags = torch.from_numpy(stored[part]).to(there.device) != 0
            there.copy_(torch.where(flags, torch.from_numpy(data[part]).to(there.device), there))


def _as_bytes(storage: Any) -> Any:
    """All of a storage as a tensor of bytes."""
    import torch

    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage, 0, (storage.nbytes(),), (1,))


# How the memory of a kind of device is reached, given tensors there: torch's way unless named here.
devices: dict[str, Callable[[Sequence[Any]], MirroredDevice]] = {}


class Mirrors:
    """The mirrors of one launch."""

    def __init__(self) -> None:
        self._kept: list[tuple[MirroredDevice, MemoryRegion]] = []

    def of(self, kind: str, tensors: Sequence[Any]) -> list[MemoryRegion]:
        """Mirrors of all memory behind ``tensors``, which are on a device of this kind."""
        device = devices.get(kind, TorchDevice)(tensors)
        result = []
        for start, stop in device.regions():
            region = MemoryRegion(start, device.read(start, stop))
            region.flags = MemoryRegion(start, np.zeros(stop - start, np.uint8))
            self._kept.append((device, region))
            result.append(region)
        return result

    def write_back(self) -> None:
        """Give the devices what the kernel stored, and nothing else."""
        for device, region in self._kept:
            assert region.flags is not None
            if region.flags.data.any():
                device.write(region.start, region.data, region.flags.data)
