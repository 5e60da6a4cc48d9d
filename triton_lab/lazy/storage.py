"""Storages: the values that tensors share.

A `Storage` is a slot for one value, the newest. Every tensor reads a storage through an index map. Writing to a
tensor puts a new value into the slot, which all tensors on it then read: that is all of aliasing here. The storage
lives as long as a tensor uses it. So Python's reference counts determine which values are visible, and a step needs
no other information: a storage without tensors is gone, and so is its claim on a buffer.
"""

from __future__ import annotations

import itertools
import math
import threading
import weakref
from typing import Any, Generic, Protocol, TypeVar

import torch
import triton
from triton.runtime import driver

from triton_lab.lazy.buffer import ValueBuffer, allocate
from triton_lab.lazy.graph import LazyValue, kept

_numbers = itertools.count()
lock = threading.RLock()  # one step at a time (a tensor itself belongs to one thread)


class Looking(Protocol):
    """A tensor that uses a storage.

    ``variable`` is the global variable that holds it (`operations/variable_names`), ``known_as`` its name if it has
    one, ``label`` its name in pictures and messages.
    """

    variable: str | None

    @property
    def known_as(self) -> str | None: ...
    @property
    def label(self) -> str: ...


T = TypeVar("T")


class _Living(Generic[T]):
    """Objects that are forgotten when nobody else holds them any more, the oldest first.

    A dead one is dropped before the list doubles: unlike in a dictionary of weak references, its end costs nothing.
    """

    __slots__ = ("_most", "_references")

    def __init__(self) -> None:
        self._references: list[weakref.ref[T]] = []
        self._most = 8

    def add(self, one: T) -> None:
        if len(self._references) >= self._most:
            self._references = [each for each in self._references if each() is not None]
            self._most = max(8, 2 * len(self._references))
        self._references.append(weakref.ref(one))

    def clear(self) -> None:
        self._references.clear()

    def all(self) -> list[T]:
        return [one for each in self._references if (one := each()) is not None]


_live: _Living[Storage] = _Living()


class Storage:
    """A slot for a value, and the tensors that use it."""

    def __init__(self, value: LazyValue, device: torch.device):
        self.value = value
        self.device = device
        self.number = next(_numbers)
        self.failed: LazyValue | None = None  # the value that a step could not compute
        self._tensors: _Living[Looking] = _Living()
        with lock:
            _live.add(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Storage:
        """Another slot for the same value, which is copied when one of the two is written."""
        return Storage(self.value, self.device)

    @property
    def tensors(self) -> list[Looking]:
        """The living tensors on this storage, the oldest first."""
        return self._tensors.all()

    def add(self, tensor: Looking) -> None:
        """Note that a tensor uses this storage, as long as it lives."""
        self._tensors.add(tensor)

    @property
    def numel(self) -> int:
        return math.prod(self.value.shape)

    @property
    def buffer(self) -> ValueBuffer | None:
        """The buffer of the value, if it has been computed."""
        return self.value.buffer

    @property
    def pending(self) -> bool:
        """Whether the next step should compute the value: it has no buffer, and no step has failed to compute it."""
        return self.buffer is None and self.failed is not self.value

    def settle(self, buffer: ValueBuffer) -> None:
        """Store the computed value: it is in `buffer`."""
        self.value = kept(buffer, self.value.shape)
        self.failed = None

    def names(self) -> tuple[str, ...]:
        """The names of the tensors on this storage, the oldest first."""
        return tuple(tensor.label for tensor in self.tensors)


def restored(values: torch.Tensor, shape: tuple[int, ...], device: torch.device) -> Storage:
    """A storage with these flat values, on its device if this machine has it, else where kernels run."""
    here = device.type == "cpu" or (device.type == "cuda" and (device.index or 0) < torch.cuda.device_count())
    memory = allocate(values.numel(), values.dtype, device if here else default_device())
    return Storage(kept(ValueBuffer(memory.copy_(values)), shape), memory.device)


def live() -> list[Storage]:
    """Every storage with a living tensor, the oldest first."""
    return _live.all()


def target() -> str:
    """The current target of kernels, as text for the hash: 'cuda:90:32', or 'cpu:...' on a machine without a GPU."""
    if _interprets():
        return "interpreter"
    found = driver.active.get_current_target()
    return f"{found.backend}:{found.arch}:{found.warp_size}"


def default_device() -> torch.device:
    """The device of new tensors: the GPU if kernels run there, else the CPU."""
    if _interprets():
        return torch.device("cpu")
    backend = driver.active.get_current_target().backend
    return torch.device("cpu") if backend == "cpu" else torch.device(driver.active.get_active_torch_device())


def _interprets() -> bool:
    """Whether TRITON_INTERPRET=1 is set, where Triton may have no driver."""
    return bool(triton.knobs.runtime.interpret)
