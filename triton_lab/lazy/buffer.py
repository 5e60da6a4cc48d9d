"""Buffers: the memory that values live in, and how much of it there is.

A buffer is a flat, contiguous piece of device memory that holds one finished value. A step that *donates* a
buffer hands its memory to another buffer; the giver is then empty and may not be read again. (JAX calls such
an array deleted.) All tensor memory of the lazy world is allocated here, so that it can be counted.
"""

from __future__ import annotations

import itertools
import weakref

import torch

_numbers = itertools.count()
_places = itertools.count(1)
_place_of: dict[int, int] = {}  # by the identity of live memory


class Gone(RuntimeError):
    """A buffer has no memory any more."""


class ValueBuffer:
    """One finished value in memory: `numel` elements of `dtype`, and its `memory` unless it was given away."""

    def __init__(self, memory: torch.Tensor, name: str | None = None):
        self.memory: torch.Tensor | None = memory
        self.numel = memory.numel()
        self.dtype = memory.dtype
        self.device = memory.device
        self.number = next(_numbers)
        self.name = name
        self.gone = ""  # why there is no memory any more

    def read(self) -> torch.Tensor:
        """The memory, flat. RuntimeError (`Gone`) if a step took it."""
        if self.memory is None:
            raise Gone(f"{self} has no memory any more: {self.gone}")
        return self.memory

    def lose(self, why: str) -> None:
        """Give the memory up."""
        self.memory, self.gone = None, why

    def __str__(self) -> str:
        return f"buffer {self.number}" + (f" ({self.name})" if self.name else "")


class Meter:
    """Bytes of tensor memory alive now, and the most there ever were since the last `reset_peak`."""

    def __init__(self) -> None:
        self.live_bytes = 0
        self.peak_bytes = 0

    def reset_peak(self) -> None:
        """Forget the peak: count from what is alive now."""
        self.peak_bytes = self.live_bytes

    def add(self, size: int) -> None:
        self.live_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)


meter = Meter()


def allocate(numel: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Fresh flat memory, uninitialised, counted by `meter` until it is freed."""
    memory = torch.empty(numel, dtype=dtype, device=device)
    size = memory.numel() * memory.element_size()
    meter.add(size)
    _place_of[id(memory)] = next(_places)
    weakref.finalize(memory, _freed, id(memory), size).atexit = False
    return memory


def place_of(memory: torch.Tensor) -> int:
    """The number of a piece of allocated memory: unlike an address, it is never given out again."""
    return _place_of[id(memory)]


def _freed(identity: int, size: int) -> None:
    del _place_of[identity]
    meter.add(-size)
