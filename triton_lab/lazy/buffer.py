"""Buffers: the memory of values, and a count of its bytes.

A buffer is a flat, contiguous piece of device memory that holds one computed value. A step that *donates* a buffer
gives its memory to another buffer; the donor is then empty and must not be read again. (JAX calls such an array
deleted.) All memory of lazy tensors is allocated here, so that it can be counted.
"""

from __future__ import annotations

import itertools
import weakref

import torch

from triton_lab.localization import _

_numbers = itertools.count()
_places = itertools.count(1)
_place_of: dict[int, int] = {}  # by the id of live memory


class Gone(RuntimeError):
    """A buffer no longer has memory."""


class ValueBuffer:
    """One computed value in memory: `numel` elements of `dtype`; `memory` is None after a donation."""

    def __init__(self, memory: torch.Tensor, name: str | None = None):
        self.memory: torch.Tensor | None = memory
        self.numel = memory.numel()
        self.dtype = memory.dtype
        self.device = memory.device
        self.number = next(_numbers)
        self.name = name
        self.gone = ""  # why its memory is gone

    def read(self) -> torch.Tensor:
        """The memory, flat. Raises RuntimeError (`Gone`) if a step took it."""
        if self.memory is None:
            raise Gone(_("the memory of {value} is gone: {gone}").format(value=self, gone=self.gone))
        return self.memory

    def lose(self, why: str) -> None:
        """Give up the memory, for this reason."""
        self.memory, self.gone = None, why

    def __str__(self) -> str:
        return _("buffer {number}").format(number=self.number) + (f" ({self.name})" if self.name else "")


class Meter:
    """Bytes of live tensor memory, and the peak since the last `reset_peak`."""

    def __init__(self) -> None:
        self.live_bytes = 0
        self.peak_bytes = 0

    def reset_peak(self) -> None:
        """Reset the peak to the bytes that are alive now."""
        self.peak_bytes = self.live_bytes

    def add(self, size: int) -> None:
        self.live_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)


meter = Meter()


def allocate(numel: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """New flat memory, uninitialised, counted by `meter` until it is freed."""
    memory = torch.empty(numel, dtype=dtype, device=device)
    size = memory.numel() * memory.element_size()
    meter.add(size)
    _place_of[id(memory)] = next(_places)
    weakref.finalize(memory, _freed, id(memory), size).atexit = False
    return memory


def place_of(memory: torch.Tensor) -> int:
    """The number of a piece of allocated memory; unlike an address, it is never reused."""
    return _place_of[id(memory)]


def _freed(identity: int, size: int) -> None:
    del _place_of[identity]
    meter.add(-size)
