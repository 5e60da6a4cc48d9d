"""Arguments that have only `data_ptr()`: which memory is meant, and where it ends.

Triton asks an argument for ``data_ptr()`` and ``dtype`` alone. Neither says how long the memory is, so it is found, in
this order: in a live torch tensor; in an array or buffer that the object keeps alive; in another live NumPy array; by
the ``shape``, ``numel()`` or ``nbytes`` that the object tells. The kernel then gets a tensor over that memory, without
a copy. Of other memory nothing is known but what the system allows: see `unknown_memory`.
"""

from __future__ import annotations

import gc
import itertools
import math
import sys
import types
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from triton_lab.backend.plugin.kernel_arguments import TORCH_NAMES, address_of, is_bare
from triton_lab.backend.plugin.live_objects import instances
from triton_lab.backend.plugin.memory_tensor import tensor_of_bytes
from triton_lab.backend.plugin.page_permissions import standing
from triton_lab.backend.plugin.unknown_memory import AddressRuns, live_runs, near_runs
from triton_lab.interpreter.memory_regions import span

# How far an object's references are followed, and through how many objects, to find what owns its memory.
_STEPS = 5
_MOST_OBJECTS = 2000
# What leads out of an object to everything else.
_ELSEWHERE = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, types.FrameType)
# Arrays in which earlier launches found their arguments.
_met: deque[weakref.ref[Any]] = deque(maxlen=128)


def placed(signature: Mapping[str, Any], arguments: Sequence[Any]) -> Sequence[Any]:
    """The arguments, where a tensor over the same memory stands for each that has only ``data_ptr()``, if it is known.

    Raises ArgumentError for an argument without an address.
    """
    if not any(map(_may_be_bare, arguments)):
        return arguments
    return [_placed(name, type, value) for (name, type), value in zip(signature.items(), arguments, strict=True)]


def _may_be_bare(value: Any) -> bool:
    return isinstance(value, tuple) or is_bare(value)


def _placed(name: str, type: Any, value: Any) -> Any:
    if isinstance(type, tuple) and isinstance(value, tuple):
        pairs = enumerate(zip(type, value, strict=False))
        items = [_placed(f"{name}[{position}]", inner, item) for position, (inner, item) in pairs]
        return value.__class__(*items) if hasattr(value, "_fields") else tuple(items)
    if not isinstance(type, str) or not type.startswith("*") or not is_bare(value):
        return value
    address, dtype = address_of(name, value), _torch_type(type)
    if not address or dtype is None:
        return value
    held = _holding(value, address)
    described = _described(value, dtype.itemsize)
    if held is None and described is not None:
        held = _by_its_word(value, address, described, dtype.itemsize)
    return value if held is None else _viewed(held, address, dtype, described)


def _torch_type(type: str) -> Any:
    import torch

    name = TORCH_NAMES.get(type.removeprefix("*k").removeprefix("*"))
    return None if name is None else getattr(torch, name, None)


def _holding(value: Any, address: int) -> Any:
    """A tensor of the bytes that belong together at ``address``; None if no live object is known to own them."""
    for runs in (near_runs, live_runs):
        run = AddressRuns(runs()).holding(address)
        if run is not None:
            return _bytes_of(run.tensors, address)
        if runs is near_runs:
            met = (one for known in list(_met) if (one := known()) is not None)
            kept = _buffer_at(address, itertools.chain(_kept_alive(value), met))
            if kept is not None:
                return kept
    return _buffer_at(address, _arrays())


def _bytes_of(tensors: Iterable[Any], address: int) -> Any:
    """The whole storage of the longest of the tensors at an address, as bytes."""
    import torch

    storages = [tensor.untyped_storage() for tensor in tensors]
    around = [one for one in storages if one.data_ptr() <= address < one.data_ptr() + one.nbytes()]
    storage = max(around, key=lambda one: int(one.nbytes()))
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _kept_alive(value: Any) -> Iterator[Any]:
    """The objects that ``value`` refers to, directly or through a few others."""
    seen, level = {id(value)}, [value]
    for _ in range(_STEPS):
        following = []
        for one in gc.get_referents(*level):
            if id(one) not in seen and not isinstance(one, _ELSEWHERE) and len(seen) < _MOST_OBJECTS:
                seen.add(id(one))
                following.append(one)
        yield from following
        level = following


def _arrays() -> Iterator[Any]:
    """All NumPy arrays that a container, an object, a global or a running function refers to."""
    for frame in sys._current_frames().values():
        caller: types.FrameType | None = frame
        while caller is not None:
            yield from (one for one in caller.f_locals.values() if isinstance(one, np.ndarray))
            caller = caller.f_back
    yield from instances(np.ndarray, reached=True)


def _buffer_at(address: int, owners: Iterable[Any]) -> Any:
    """A tensor of the bytes of the first of ``owners`` that has memory at ``address``."""
    for owner in owners:
        while isinstance(owner, np.ndarray) and isinstance(owner.base, np.ndarray):
            owner = owner.base
        extent = _extent_of(owner)
        if extent is None or not extent[0] <= address < extent[1]:
            continue
        if isinstance(owner, np.ndarray):
            _met.append(weakref.ref(owner))
        return tensor_of_bytes(*extent[:2], owner, writable=extent[2])
    return None


def _extent_of(owner: Any) -> tuple[int, int, bool] | None:
    """The first address of an object's buffer, the address behind its last byte, and whether it may be written."""
    if isinstance(owner, np.ndarray):
        if not owner.size:
            return None
        low, high = span(owner.shape, owner.strides)
        start = owner.ctypes.data
        return start + low, start + high + owner.itemsize, bool(owner.flags.writeable)
    try:
        with memoryview(owner) as view:
            if not view.contiguous or not view.nbytes:
                return None
            start = np.frombuffer(view, np.uint8).ctypes.data
            return start, start + view.nbytes, not view.readonly
    except (TypeError, ValueError, BufferError):  # it has no buffer, or a closed one
        return None


Described = tuple[tuple[int, ...], tuple[int, ...]]


def _described(value: Any, itemsize: int) -> Described | None:
    """The shape and the strides, in elements, that an object tells; None if it tells no size."""
    try:
        shape = _numbers(getattr(value, "shape", None))
        if shape is None:
            size, count = getattr(value, "nbytes", None), getattr(value, "numel", None)
            size = count() * itemsize if callable(count) else size
            return None if not isinstance(size, int) else ((size // itemsize,), (1,))
        dense = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
        asked = getattr(value, "stride", None)
        if callable(asked):
            return shape, _numbers(asked()) or dense
        told = _numbers(getattr(value, "strides", None))
        if told is None or told == dense or told == tuple(itemsize * stride for stride in dense):
            return shape, dense
    except Exception:  # an object's own code, which may fail in any way
        return None
    return None  # strides of elements or of bytes: it does not tell


def _numbers(value: Any) -> tuple[int, ...] | None:
    return None if value is None or callable(value) else tuple(int(one) for one in value)


def _length(described: Described) -> int:
    """The elements from the first to the last; 0 if there are none, or some lie before the pointer."""
    shape, strides = described
    if not all(shape) or any(stride < 0 for stride in strides):
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))


def _by_its_word(value: Any, address: int, described: Described, itemsize: int) -> Any:
    """A tensor of the bytes that the object says it has; None if the system has not mapped them all."""
    stop = address + _length(described) * itemsize
    found = standing(address, stop)
    if stop == address or found.trouble:
        return None
    return tensor_of_bytes(address, stop, value, writable=found.writable)


def _viewed(held: Any, address: int, dtype: Any, described: Described | None) -> Any:
    """The elements from ``address`` on, in the object's shape if it tells one that fits, else in a row to the end."""
    import torch

    start, size = address - held.data_ptr(), held.numel()
    first, odd = divmod(start, dtype.itemsize)
    if odd:
        return held[start:]  # the access says that it is not aligned
    elements = torch.empty(0, dtype=dtype, device=held.device).set_(held.untyped_storage())
    left = size // dtype.itemsize - first
    if described is None or not 0 < _length(described) <= left:
        described = (left,), (1,)
    return elements.as_strided(*described, first)
