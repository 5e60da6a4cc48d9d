"""Copies of memory that the CPU cannot access, in memory that it can.

A launch mirrors each connected run of storage once, whole, so that every argument keeps its offset, its strides and its
aliasing with others. Afterwards only the bytes that the kernel stored are written back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.memory_regions import MemoryRegion

Bytes = NDArray[np.uint8]


class MirroredDevice(Protocol):
    """The memory of another device, by the addresses in its pointers."""

    def regions(self) -> Sequence[tuple[int, int]]:
        """The known runs ``(start, stop)`` of addresses, ascending, without overlaps."""

    def read(self, start: int, stop: int) -> Bytes:
        """The bytes ``start .. stop - 1``, of one run, as a writable array."""

    def write(self, start: int, data: Bytes, stored: Bytes) -> None:
        """Write ``data`` to ``start`` where ``stored`` is not 0; leave all other bytes alone."""


def joined(extents: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The runs of addresses that ``extents`` cover; extents that share bytes make one run."""
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
    """A device of torch. Its storages are read and written with torch's own copies."""

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


# How to access the memory of a kind of device, given tensors there. Kinds that are not named here use `TorchDevice`.
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
        """Write to the devices what the kernel stored, and nothing else."""
        for device, region in self._kept:
            assert region.flags is not None
            if region.flags.data.any():
                device.write(region.start, region.data, region.flags.data)
