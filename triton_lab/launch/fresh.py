"""Memory that nobody has written: what `torch.empty` gave out while a record was running.

Such storages are filled with a pattern, the *poison*, before anyone sees them. A byte counts as
uninitialised while nobody was seen writing it (torch's operations and recorded launches are seen)
and while it still holds the poison (NumPy and other libraries write unseen).

Read as a float of 16, 32 or 64 bits the poison is NaN, read as an integer of 32 or 64 bits it is
huge: a result that depends on it does not look like a result. Its eight bytes differ, and none is 0
or 255, so that memory which was written hardly looks like it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from triton_lab.launch.footprint import tensor_bytes
from triton_lab.launch.ranges import NOTHING, Ranges, true_ranges

Bytes = npt.NDArray[np.uint8]

POISON = np.array([0xF9, 0x7F, 0xFE, 0x7F, 0xFB, 0x7F, 0xFD, 0x7F], np.uint8)

# One byte alone equals the poison by chance in one of 256 cases: so many in a row do not.
_LEAST = 4

_ATEN = torch.ops.aten
_GIVES_EMPTY = frozenset(
    {
        _ATEN.empty,
        _ATEN.empty_like,
        _ATEN.empty_permuted,
        _ATEN.empty_strided,
        _ATEN.new_empty,
        _ATEN.new_empty_strided,
    }
)
_filling = threading.local()
# They change what a tensor is, not what it holds.
_WRITES_NOTHING = frozenset({_ATEN.resize_, _ATEN.resize_as_, _ATEN.set_, _ATEN.requires_grad_, _ATEN.empty})


def pattern(start: int, size: int) -> Bytes:
    """The poison of ``size`` bytes at address ``start``: its phase goes by address."""
    phase = start % len(POISON)
    return np.resize(np.roll(POISON, -phase), size)


class FreshMemory(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's base has no types
    """While active, fills what `torch.empty` and its kin give out on this thread, and keeps track of it.

    Storages of more than ``limit`` bytes are left alone: they may be larger than the machine's
    memory as long as nobody touches them. Tensors from before, or of another thread, count as
    initialised.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.limit = limit
        # What is left of each storage, by its address, with its size: a storage that takes the place of
        # another one replaces it.
        self._left: dict[int, tuple[int, Ranges]] = {}
        self._written_by: dict[Any, tuple[tuple[int, str], ...]] = {}

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True  # what torch.compile makes goes on as if nobody watched

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else torch imports its compiler with the first tensor that is made: a second, for nothing.
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        result = func(*args, **named)
        if getattr(_filling, "now", False):
            return result
        places = self._written_by.get(func)
        if places is None:
            places = self._written_by[func] = _written(func)
        if places:
            for position, name in places:
                self._tensors_written(args[position] if position < len(args) else named.get(name))
        elif func.overloadpacket in _GIVES_EMPTY:
            self._poison(result)
        return result

    def _poison(self, tensor: Any) -> None:
        if not _has_memory(tensor):
            return
        if torch.are_deterministic_algorithms_enabled() and torch.utils.deterministic.fill_uninitialized_memory:  # type: ignore[attr-defined]
            return  # then torch itself has filled it, and says so in its documentation
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if not 0 < size <= self.limit or start % len(POISON):
            return
        _filling.now = True  # an outer record must not take this for a write
        try:
            everything = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
            whole = size // len(POISON) * len(POISON)
            everything[:whole].view(torch.int64).fill_(int(POISON.view(np.int64)[0]))
            everything[whole:].copy_(torch.from_numpy(POISON[: size - whole]))
        finally:
            _filling.now = False
        self._left[start] = size, Ranges.of([start], [start + size])

    def _tensors_written(self, value: Any) -> None:
        if isinstance(value, (list, tuple)):
            for item in value:
                self._tensors_written(item)
        elif _has_memory(value) and value.untyped_storage().data_ptr() in self._left:
            self.written(_extent(value))

    def written(self, where: Ranges) -> None:
        """These bytes have been written."""
        # A copy of the items, since launches of other threads ask meanwhile.
        for start, (size, left) in list(self._left.items()):
            if where.meets(start, start + size):
                rest = left - where
                if len(rest):
                    self._left[start] = size, rest
                else:
                    del self._left[start]

    def unwritten(self, extents: Iterable[tuple[int, int]]) -> Ranges:
        """What nobody was seen writing, in these ranges of addresses ``(start, stop)``."""
        parts = []
        for low, high in extents:
            inside = Ranges.of([low], [high])
            parts += [
                left & inside for start, (size, left) in list(self._left.items()) if start < high and low < start + size
            ]
        return Ranges.joined(parts)


def _has_memory(value: Any) -> bool:
    """Whether it is a plain tensor on a device whose memory has addresses."""
    return (
        type(value) in (torch.Tensor, torch.nn.Parameter)
        and value.layout == torch.strided
        and value.device.type in ("cpu", "cuda")
    )


def _written(func: Any) -> tuple[tuple[int, str], ...]:
    """Positions and names of the arguments that an operation of torch's writes to."""
    if func.overloadpacket in _WRITES_NOTHING or torch.Tag.inplace_view in func.tags:
        return ()
    return tuple(
        (position, argument.name)
        for position, argument in enumerate(func._schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )


def _extent(tensor: torch.Tensor) -> Ranges:
    """The bytes of a tensor's elements."""
    return tensor_bytes(tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), tensor.element_size())


def still_poisoned(unwritten: Ranges, held: Callable[[int, int], Bytes]) -> Ranges:
    """Those of the ``unwritten`` bytes that hold the poison, too: nobody wrote them, seen or unseen.

    ``held(start, stop)`` is what memory held. Where it does not hold for all of them in a row, fewer
    than four that look so may do it by chance.
    """
    found = NOTHING
    if not len(unwritten):
        return found
    for start, stop in zip(unwritten.start.tolist(), unwritten.stop.tolist(), strict=True):
        same = held(start, stop) == pattern(start, stop - start)
        if bool(same.all()):
            found |= Ranges.of([start], [stop])
            continue
        rows = true_ranges(same, start)
        long = rows.stop - rows.start >= _LEAST
        found |= Ranges.of(rows.start[long], rows.stop[long])
    return found
