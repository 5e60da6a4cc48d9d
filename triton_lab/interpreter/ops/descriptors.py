"""Tensor descriptors: blocks of a tensor by their corner, rows of it by their numbers.

What lies outside the tensor reads as zero (or NaN) and is not written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import access
from triton_lab.interpreter.affine import Affine
from triton_lab.interpreter.box import Box
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.ops.atomics import modify
from triton_lab.interpreter.registry import impl
from triton_lab.interpreter.values import Descriptor, Value
from triton_lab.ir import Op, Type

Array = NDArray[Any]

# Triton's padding option by number.
_PAD_WITH_NAN = 2
# The kinds of `tt.descriptor_reduce` -> those of `tt.atomic_rmw`, for signed, unsigned and float elements.
_ADD, _MIN, _MAX, _AND, _OR, _XOR = 1, 2, 3, 6, 7, 8
_KINDS = {
    "i": {_ADD: 4, _MIN: 7, _MAX: 6, _AND: 1, _OR: 2, _XOR: 3},
    "u": {_ADD: 4, _MIN: 9, _MAX: 8, _AND: 1, _OR: 2, _XOR: 3},
    "f": {_ADD: 5, _MIN: 7, _MAX: 6},
}


@impl("tt.make_tensor_descriptor")
def make_tensor_descriptor(frame: Frame, op: Op, base: Value, *rest: Value) -> Value:
    rank = len(rest) // 2
    assert isinstance(base, np.ndarray)
    extents = [frame.elements(op, 1 + k, value).astype(np.int64) for k, value in enumerate(rest)]
    padding_nan = op.attributes.get("padding") == _PAD_WITH_NAN
    return Descriptor(base, tuple(extents[:rank]), tuple(extents[rank:]), padding_nan)


def _described(frame: Frame, op: Op) -> Type:
    """The block that the operation's descriptor describes."""
    pointee = frame.type(op.operands[0]).pointee
    assert pointee is not None
    return pointee


def _corner(frame: Frame, op: Op, first: int, indices: Sequence[Value]) -> list[Array]:
    return [frame.elements(op, first + k, index).astype(np.int64) for k, index in enumerate(indices)]


def _place(
    descriptor: Descriptor, block: tuple[int, ...], itemsize: int, corner: list[Array]
) -> tuple[access.Pointer, Box]:
    """Addresses and mask of the block whose first element is ``corner``."""
    base = descriptor.base
    for index, stride in zip(corner, descriptor.strides, strict=True):
        base = base + index * stride * itemsize
    zero = np.zeros(1, np.int64)
    lower, upper = [], []
    for index, extent, size in zip(corner, descriptor.shape, block, strict=True):
        lower.append(np.clip(-index, 0, size) + zero)
        upper.append(np.clip(extent - index, 0, size) + zero)
    mask = Box(tuple(lower), tuple(upper), block)
    strides = descriptor.strides
    if all(stride.size == 1 or (stride == stride[0]).all() for stride in strides):
        return Affine(base, tuple(int(stride[0]) * itemsize for stride in strides), block), mask
    rank = len(block)
    addresses = base.reshape(-1, *(1,) * rank)
    for axis, (stride, size) in enumerate(zip(strides, block, strict=True)):
        line = np.arange(size).reshape(-1, *(1,) * (rank - 1 - axis))
        addresses = addresses + stride.reshape(-1, *(1,) * rank) * line * itemsize
    return addresses, mask


@impl("tt.descriptor_load")
def descriptor_load(frame: Frame, op: Op, descriptor: Value, *corner: Value) -> Value:
    assert isinstance(descriptor, Descriptor)
    result = frame.result_type(op)
    dtype = dtype_of(result)
    block = _described(frame, op).shape
    pointer, mask = _place(descriptor, block, dtype.itemsize, _corner(frame, op, 1, corner))
    array = _read(frame, op, descriptor, pointer, mask, dtype, block)
    return array.reshape(array.shape[0], *result.shape)


def _read(
    frame: Frame,
    op: Op,
    descriptor: Descriptor,
    pointer: access.Pointer,
    mask: access.Mask,
    dtype: np.dtype[Any],
    block: tuple[int, ...],
) -> Array:
    other = np.full((1, *(1,) * len(block)), np.nan).astype(dtype) if descriptor.padding_nan else None
    array = access.load(frame.machine.memory_for(op), pointer, mask, other, dtype, block)
    _tell(frame, op, "load", pointer, mask, array)
    return np.broadcast_to(array, (array.shape[0], *block))


def _write(
    frame: Frame, op: Op, pointer: access.Pointer, mask: access.Mask, array: Array, block: tuple[int, ...]
) -> None:
    _tell(frame, op, "store", pointer, mask, array)
    access.store(frame.machine.memory_for(op), pointer, mask, array, array.dtype, block)


def _tell(frame: Frame, op: Op, kind: str, pointer: access.Pointer, mask: access.Mask, values: Array) -> None:
    observer = frame.machine.access_observer
    if observer is not None:
        observer.access(frame, op, kind, pointer, mask, values)


@impl("tt.descriptor_store")
def descriptor_store(frame: Frame, op: Op, descriptor: Value, value: Value, *corner: Value) -> None:
    assert isinstance(descriptor, Descriptor)
    block = _described(frame, op).shape
    array = frame.spread(op, 1, value)
    pointer, mask = _place(descriptor, block, array.dtype.itemsize, _corner(frame, op, 2, corner))
    _write(frame, op, pointer, mask, array.reshape(array.shape[0], *block), block)


@impl("tt.descriptor_reduce")
def descriptor_reduce(frame: Frame, op: Op, descriptor: Value, value: Value, *corner: Value) -> None:
    """Every element of the block is added to what is there (or the least taken, ...), atomically."""
    assert isinstance(descriptor, Descriptor)
    described = _described(frame, op)
    array = frame.spread(op, 1, value)
    pointer, mask = _place(descriptor, described.shape, array.dtype.itemsize, _corner(frame, op, 2, corner))
    kind = _KINDS["f" if described.is_float else described.element[0]][op.attributes["kind"]]
    modify(frame, op, pointer, mask, array.reshape(array.shape[0], *described.shape), kind)


def _rows(descriptor: Descriptor, rows: Array, column: Array, width: int, itemsize: int) -> tuple[Array, Array]:
    """Addresses and mask of ``width`` elements from ``column`` on in each of ``rows``."""
    down, along = (stride.reshape(-1, 1, 1) for stride in descriptor.strides)
    height, breadth = (extent.reshape(-1, 1, 1) for extent in descriptor.shape)
    row = rows.astype(np.int64)[:, :, None]
    position = column.reshape(-1, 1, 1) + np.arange(width)
    addresses = descriptor.base.reshape(-1, 1, 1) + (row * down + position * along) * itemsize
    return addresses, (row >= 0) & (row < height) & (position >= 0) & (position < breadth)


@impl("tt.descriptor_gather")
def descriptor_gather(frame: Frame, op: Op, descriptor: Value, rows: Value, column: Value) -> Value:
    assert isinstance(descriptor, Descriptor)
    block = frame.result_type(op).shape
    dtype = dtype_of(frame.result_type(op))
    numbers, (start,) = frame.spread(op, 1, rows), _corner(frame, op, 2, [column])
    addresses, mask = _rows(descriptor, numbers, start, block[1], dtype.itemsize)
    return _read(frame, op, descriptor, addresses, mask, dtype, block)


@impl("tt.descriptor_scatter")
def descriptor_scatter(frame: Frame, op: Op, descriptor: Value, rows: Value, column: Value, value: Value) -> None:
    assert isinstance(descriptor, Descriptor)
    array = frame.spread(op, 3, value)
    numbers, (start,) = frame.spread(op, 1, rows), _corner(frame, op, 2, [column])
    addresses, mask = _rows(descriptor, numbers, start, array.shape[2], array.dtype.itemsize)
    _write(frame, op, addresses, mask, array, array.shape[1:])
