"""Uninitialised memory: storages from `torch.empty` while a record is running.

Such storages are filled with a pattern (`poison`) before the program gets them. A byte counts as uninitialised if
no write to it was seen (torch's operations and recorded launches are seen) and it still holds the poison (NumPy and
other libraries write unseen).

A copy of such memory (by `clone`, `to`, `cat`) is uninitialised too: the poison is written again where the copy lies,
since a conversion changes its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from triton_lab.launch.access_footprint import tensor_bytes
from triton_lab.launch.byte_ranges import NOTHING, Ranges, true_ranges
from triton_lab.launch.recording.poison import POISON, pattern, still_poisoned
from triton_lab.launch.recording.torch_calls import TorchCalls, of_this_thread
from triton_lab.launch.recording.torch_moves import copied

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
_RESIZES = frozenset({_ATEN.resize_, _ATEN.resize_as_})
# These change the tensor, not the memory.
_WRITES_NOTHING = frozenset({*_RESIZES, _ATEN.set_, _ATEN.requires_grad_, _ATEN.empty})


class FreshMemory:
    """A context that fills memory from `torch.empty` and similar functions on this thread, and tracks its writes.

    Storages of more than ``limit`` bytes are not filled, since untouched they may be larger than the machine's memory:
    only their writes are tracked. Tensors from before, or from another thread, count as initialised. Several of these
    contexts may be open at a time and close in any order.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        # By a storage's address: its size, and its bytes that were not written. A new storage at the same address
        # replaces the old one.
        self._left: dict[int, tuple[int, Ranges]] = {}
        # The same for storages that are too large for the poison.
        self._large: dict[int, tuple[int, Ranges]] = {}
        self._written_by: dict[Any, tuple[tuple[int, str], ...]] = {}
        self._calls: TorchCalls | None = None

    def __enter__(self) -> FreshMemory:
        self._calls = of_this_thread()
        self._calls.tell(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._calls is not None
        self._calls.leave(self)

    def before(self, func: Any, args: tuple[Any, ...]) -> Any:
        """The address and size of the storage that ``func`` will resize; None for other operations."""
        if func.overloadpacket in _RESIZES and _has_memory(args[0]):
            storage = args[0].untyped_storage()
            return storage.data_ptr(), storage.nbytes()
        return None

    def after(self, func: Any, args: tuple[Any, ...], named: dict[str, Any], result: Any, storage: Any) -> None:
        """Update the records after torch has called ``func``; ``storage`` is the result of `before`."""
        if storage is not None:
            self._resized(args[0], *storage)
            return
        if func.overloadpacket in _GIVES_EMPTY and "out" not in named:
            self._poison(result)
            return
        places = self._written_by.get(func)
        if places is None:
            places = self._written_by[func] = _written(func)
        # Computed before the writes are noted, as a tensor may be copied onto itself.
        garbage = copied(func, args, named, self._unwritten_elements) if self._left else None
        for position, name in places:
            self._tensors_written(args[position] if position < len(args) else named.get(name))
        if garbage is not None and _has_memory(result):
            self._spread(result, garbage, new=not places)

    def _poison(self, tensor: Any) -> None:
        if not _has_memory(tensor) or _filled_by_torch():
            return
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if not size or start % len(POISON):
            return
        self._left.pop(start, None)
        self._large.pop(start, None)
        if size > self.limit:
            self._large[start] = size, Ranges.of([start], [start + size])
            return
        everything = _bytes(tensor)
        whole = size // len(POISON) * len(POISON)
        everything[:whole].view(torch.int64).fill_(int(POISON.view(np.int64)[0]))
        everything[whole:].copy_(torch.from_numpy(POISON[: size - whole]))
        self._left[start] = size, Ranges.of([start], [start + size])

    def _resized(self, tensor: torch.Tensor, old: int, old_size: int) -> None:
        """Move the records of a resized storage to its new address; the added bytes are uninitialised."""
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if (start, size) == (old, old_size) or not 0 < size <= self.limit or _filled_by_torch():
            return
        _, left = self._left.pop(old, (0, NOTHING))
        kept = Ranges.of(left.start + (start - old), np.minimum(left.stop - old, size) + start)
        added = Ranges.of([start + old_size], [start + size])
        self._lay(tensor, kept | added)

    def _spread(self, tensor: torch.Tensor, garbage: npt.NDArray[np.bool_], new: bool) -> None:
        """Mark the elements of ``tensor`` that are ``garbage``: they were copied from uninitialised memory."""
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if not 0 < size <= self.limit:
            return
        flags = np.zeros(size, np.bool_)
        _bytes_of_elements(tensor, flags)[garbage] = True
        before = NOTHING if new else self._left.get(start, (size, NOTHING))[1]
        self._lay(tensor, true_ranges(flags, start), before)

    def _lay(self, tensor: torch.Tensor, where: Ranges, besides: Ranges = NOTHING) -> None:
        """Fill the bytes ``where`` of a tensor's storage with poison; the bytes ``besides`` hold it already."""
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if len(where):
            flags = np.zeros(size, np.bool_)
            for low, high in zip(where.start.tolist(), where.stop.tolist(), strict=True):
                flags[low - start : high - start] = True
            everything = _bytes(tensor)
            chosen = torch.from_numpy(flags).to(tensor.device)
            everything[chosen] = torch.from_numpy(pattern(start, size)[flags]).to(tensor.device)
        left = where | besides
        if len(left):
            self._left[start] = size, left
        else:
            self._left.pop(start, None)

    def _unwritten_elements(self, tensor: Any) -> npt.NDArray[np.bool_] | None:
        """Which elements of a tensor are uninitialised; None if none is known to be."""
        if not _has_memory(tensor):
            return None
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        known, left = self._left.get(start, (0, NOTHING))
        if known != size or not len(left):
            return None
        held = _bytes(tensor)
        left = still_poisoned(left, lambda low, high: held[low - start : high - start].cpu().numpy())
        flags = np.zeros(size, np.bool_)
        for low, high in zip(left.start.tolist(), left.stop.tolist(), strict=True):
            flags[low - start : high - start] = True
        elements = np.asarray(_bytes_of_elements(tensor, flags).all(axis=-1))
        return elements if bool(elements.any()) else None

    def _tensors_written(self, value: Any) -> None:
        if isinstance(value, (list, tuple)):
            for item in value:
                self._tensors_written(item)
        elif _has_memory(value):
            start = value.untyped_storage().data_ptr()
            if start in self._left or start in self._large:
                self.written(_extent(value))

    def written(self, where: Ranges) -> None:
        """Note that these bytes have been written."""
        for known in (self._left, self._large):
            # A copy of the items, since launches on other threads may change them meanwhile.
            for start, (size, left) in list(known.items()):
                if where.meets(start, start + size):
                    rest = left - where
                    if len(rest):
                        known[start] = size, rest
                    else:
                        del known[start]

    def unwritten(self, extents: Iterable[tuple[int, int]]) -> Ranges:
        """The bytes in these address ranges ``(start, stop)`` that were poisoned and for which no write was seen."""
        return _inside(self._left, extents)

    def unfilled(self, extents: Iterable[tuple[int, int]]) -> Ranges:
        """The bytes in these address ranges of storages too large for the poison, for which no write was seen."""
        return _inside(self._large, extents)


def _inside(known: dict[int, tuple[int, Ranges]], extents: Iterable[tuple[int, int]]) -> Ranges:
    parts = []
    for low, high in extents if known else ():
        inside = Ranges.of([low], [high])
        parts += [left & inside for start, (size, left) in list(known.items()) if start < high and low < start + size]
    return Ranges.joined(parts)


def _filled_by_torch() -> bool:
    """Whether torch itself fills new memory, as its documentation says for deterministic runs."""
    return torch.are_deterministic_algorithms_enabled() and bool(torch.utils.deterministic.fill_uninitialized_memory)  # type: ignore[attr-defined]


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor's whole storage."""
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())


def _bytes_of_elements(tensor: torch.Tensor, flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """A view of ``flags`` (one for each byte of the storage) as ``(*tensor.shape, itemsize)``."""
    size = tensor.element_size()
    first = tensor.storage_offset() * size
    return np.lib.stride_tricks.as_strided(
        flags[first:], (*tensor.shape, size), (*(step * size for step in tensor.stride()), 1)
    )


def _has_memory(value: Any) -> bool:
    """Whether ``value`` is a plain tensor on a device whose memory has addresses."""
    return (
        type(value) in (torch.Tensor, torch.nn.Parameter)
        and value.layout == torch.strided
        and value.device.type in ("cpu", "cuda")
    )


def _written(func: Any) -> tuple[tuple[int, str], ...]:
    """The positions and names of the arguments that a torch operation writes to."""
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
