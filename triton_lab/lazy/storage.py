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
from typing import TYPE_CHECKING

import torch

from triton_lab.lazy.buffer import Buffer
from triton_lab.lazy.graph import Value, kept

if TYPE_CHECKING:
    from triton_lab.lazy.handle import Handle

_numbers = itertools.count()
_live: weakref.WeakValueDictionary[int, Storage] = weakref.WeakValueDictionary()
lock = threading.RLock()  # one step at a time (a tensor itself belongs to one thread)


class Storage:
    """A slot for a value and the tensors that look at it."""

    def __init__(self, value: Value, device: torch.device):
        self.value = value
        self.device = device
        self.number = next(_numbers)
        self.tensors: weakref.WeakValueDictionary[int, Handle] = weakref.WeakValueDictionary()
        with lock:
            _live[self.number] = self

    @property
    def numel(self) -> int:
        return math.prod(self.value.shape)

    @property
    def buffer(self) -> Buffer | None:
        """Where the value is, if it has been computed."""
        return self.value.buffer

    def settle(self, buffer: Buffer) -> None:
        """The promise is kept: the value is in `buffer`."""
        self.value = kept(buffer, self.value.shape)

    def names(self) -> tuple[str, ...]:
        """The names of the tensors that look at this storage, the oldest first."""
        return tuple(tensor.label for _, tensor in sorted(self.tensors.items()))


def live() -> list[Storage]:
    """Every storage that some tensor looks at, the oldest first."""
    return [storage for _, storage in sorted(_live.items())]
