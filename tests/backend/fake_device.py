"""A device whose memory the CPU cannot touch: its addresses are mapped nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

# No process on x86-64 or arm64 Linux has anything there.
FIRST = 0x4000_0000_0000_0000


class FakeStorage:
    """Bytes that only the device's own reads and writes reach."""

    def __init__(self, address: int, data: np.ndarray) -> None:
        self.address = address
        self.data = data
        self.device = SimpleNamespace(type="fake")

    def data_ptr(self) -> int:
        return self.address

    def nbytes(self) -> int:
        return len(self.data)


class FakeTensor:
    """What Triton and the backend ask of a tensor; made from a tensor of the CPU, storage and all."""

    def __init__(self, storage: FakeStorage, like: torch.Tensor) -> None:
        self.device = storage.device
        self.dtype = like.dtype
        self.shape = like.shape
        self._storage = storage
        self._strides = like.stride()
        self._offset = like.storage_offset()

    def untyped_storage(self) -> FakeStorage:
        return self._storage

    def data_ptr(self) -> int:
        return self._storage.address + self._offset * self.dtype.itemsize

    def stride(self) -> tuple[int, ...]:
        return self._strides

    def storage_offset(self) -> int:
        return self._offset

    def element_size(self) -> int:
        return self.dtype.itemsize

    def numel(self) -> int:
        return int(np.prod(self.shape))

    def view_as(self, like: torch.Tensor) -> FakeTensor:
        """Another view of the same storage."""
        return FakeTensor(self._storage, like)

    def cpu(self) -> torch.Tensor:
        """A copy, as a contiguous tensor of the CPU."""
        data = torch.from_numpy(self._storage.data.copy())
        whole = data[: len(data) // self.dtype.itemsize * self.dtype.itemsize].view(self.dtype)
        return whole.as_strided(self.shape, self._strides, self._offset).clone()


class FakeDevice:
    """The device interface over such tensors. It keeps a log, and can be told to fail."""

    def __init__(self) -> None:
        self.reads: list[tuple[int, int]] = []
        self.writes: list[tuple[int, np.ndarray]] = []
        self._next = FIRST
        self._storages: list[FakeStorage] = []

    def tensor(self, like: torch.Tensor, address: int | None = None) -> FakeTensor:
        """A tensor of the device with the whole storage of ``like``."""
        data = np.array(torch.empty(0, dtype=torch.uint8).set_(like.untyped_storage()).numpy())
        start = self._next if address is None else address
        self._next = max(self._next, (start + len(data)) // 512 * 512 + 1024)
        return FakeTensor(FakeStorage(start, data), like)

    def share(self, like: torch.Tensor, other: FakeTensor, byte: int) -> FakeTensor:
        """A tensor with a storage of its own that lies in ``other``'s memory from ``byte`` on."""
        whole = other.untyped_storage()
        data = whole.data[byte : byte + like.untyped_storage().nbytes()]
        return FakeTensor(FakeStorage(whole.address + byte, data), like)

    def __call__(self, tensors: Sequence[Any]) -> FakeDevice:
        self._storages = [tensor.untyped_storage() for tensor in tensors]
        return self

    def regions(self) -> list[tuple[int, int]]:
        from triton_lab.backend.plugin.device_mirror import joined

        return joined([(storage.address, storage.address + storage.nbytes()) for storage in self._storages])

    def read(self, start: int, stop: int) -> np.ndarray:
        self.reads.append((start, stop))
        result = np.zeros(stop - start, np.uint8)
        for storage in self._inside(start, stop):
            result[storage.address - start :][: storage.nbytes()] = storage.data
        return result

    def write(self, start: int, data: np.ndarray, stored: np.ndarray) -> None:
        self.writes.append((start, stored.copy()))
        for storage in self._inside(start, start + len(data)):
            part = slice(storage.address - start, storage.address - start + storage.nbytes())
            chosen = stored[part] != 0
            storage.data[chosen] = data[part][chosen]

    def _inside(self, start: int, stop: int) -> Iterator[FakeStorage]:
        return (s for s in self._storages if start <= s.address and s.address + s.nbytes() <= stop)
