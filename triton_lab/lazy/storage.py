"""Storages: what tensors share.

A `Storage` is a slot that holds one value, the newest. Every tensor looks at a storage through an index map, and
writing to any of them puts a new value into the slot, where all the others see it: that is all that aliasing is
here. The storage lives as long as a tensor looks at it. Python's own reference counts therefore know who is
visible, and a step asks nothing else: a storage without tensors is gone, and so is its claim on a buffer.
"""

from __future__ import annotations

import itertools
import math
import threading
import weakref
from typing import Any, Protocol

import torch

from triton_lab.lazy.buffer import ValueBuffer, allocate
from triton_lab.lazy.graph import LazyValue, kept
from triton_lab.lazy.tensor_device import default_device

_numbers = itertools.count()
_live: weakref.WeakValueDictionary[int, Storage] = weakref.WeakValueDictionary()
lock = threading.RLock()  # one step at a time (a tensor itself belongs to one thread)


class Looking(Protocol):
    """A tensor that looks at a storage.

    ``variable`` is the global variable that holds it (`naming`), ``known_as`` its name if it has one,
    ``label`` what pictures and messages call it.
    """

    variable: str | None

    @property
    def known_as(self) -> str | None: ...
    @property
    def label(self) -> str: ...


class Storage:
    """A slot for a value and the tensors that look at it."""

    def __init__(self, value: LazyValue, device: torch.device):
        self.value = value
        self.device = device
        self.number = next(_numbers)
        self.failed: LazyValue | None = None  # the value that a step could not compute
        self.tensors: weakref.WeakValueDictionary[int, Looking] = weakref.WeakValueDictionary()
        with lock:
            _live[self.number] = self

    def __deepcopy__(self, memo: dict[int, Any]) -> Storage:
        """Another slot for the same value: it is copied when one of the two is written."""
        return Storage(self.value, self.device)

    @property
    def numel(self) -> int:
        return math.prod(self.value.shape)

    @property
    def buffer(self) -> ValueBuffer | None:
        """Where the value is, if it has been computed."""
        return self.value.buffer

    @property
    def pending(self) -> bool:
        """True if the next step is to compute the value: it is not there, and no step has failed to compute it."""
        return self.buffer is None and self.failed is not self.value

    def settle(self, buffer: ValueBuffer) -> None:
        """The promise is kept: the value is in `buffer`."""
        self.value = kept(buffer, self.value.shape)
        self.failed = None

    def names(self) -> tuple[str, ...]:
        """The names of the tensors that look at this storage, the oldest first."""
        return tuple(tensor.label for _, tensor in sorted(self.tensors.items()))


def restored(values: torch.Tensor, shape: tuple[int, ...], device: torch.device) -> Storage:
    """A storage with these flat values, on its device if that is here, else where kernels run."""
    here = device.type == "cpu" or (device.type == "cuda" and (device.index or 0) < torch.cuda.device_count())
    memory = allocate(values.numel(), values.dtype, device if here else default_device())
    return Storage(kept(ValueBuffer(memory.copy_(values)), shape), memory.device)


def live() -> list[Storage]:
    """Every storage that some tensor looks at, the oldest first."""
    return [storage for _, storage in sorted(_live.items())]
