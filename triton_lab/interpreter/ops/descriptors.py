"""Tensor descriptors: access blocks of a tensor by their corner, or rows of it by their numbers.

Elements outside the tensor read as zero (or NaN) and are not written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import memory_access
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.ops.atomics import modify
from triton_lab.interpreter.ops.memory import tell
from triton_lab.interpreter.runtime_values import Descriptor, Value
from triton_lab.ir import Op, Type
from triton_lab.ir.effects import Operands, Rmw, operands_of

Array = NDArray[Any]

# Triton's padding option by number.
_PAD_WITH_NAN = 2
# Maps the kinds of `tt.descriptor_reduce` to those of `tt.atomic_rmw`, for signed, unsigned and float elements.
_ADD, _MIN, _MAX, _AND, _OR, _XOR = 1, 2, 3, 6, 7, 8
_BITWISE = {_AND: Rmw.AND, _OR: Rmw.OR, _XOR: Rmw.XOR}
_KINDS = {
    "i": {_ADD: Rmw.ADD, _MIN: Rmw.MIN, _MAX: Rmw.MAX, **_BITWISE},
    "u": {_ADD: Rmw.ADD, _MIN: Rmw.UMIN, _MAX: Rmw.UMAX, **_BITWISE},
    "f": {_ADD: Rmw.FADD, _MIN: Rmw.MIN, _MAX: Rmw.MAX},
}


@impl("tt.make_tensor_descriptor")
def make_tensor_descriptor(frame: Frame, op: Op, base: Value, *rest: Value) -> Value:
    rank = len(rest) // 2
    assert isinstance(base, np.ndarray)
    extents = [frame.elements(op, 1 + k, value).astype(np.int64) for k, value in enumerate(rest)]
    padding_nan = op.attributes.get("padding") == _PAD_WITH_NAN
    return Descriptor(base, tuple(extents[:rank]), tuple(extents[rank:]), padding_nan)


def described(frame: Frame, op: Op) -> Type:
    """The block that the operation's descriptor describes."""
    pointee = frame.type(op.operands[operands_of(op).address]).pointee
    assert pointee is not None
    return pointee


def reduction_of(frame: Frame, op: Op) -> Rmw:
    """How a reduction into the described tensor changes an element."""
    block = described(frame, op)
    return _KINDS["f" if block.is_float else block.element[0]][op.attributes["kind"]]


def descriptor_of(operands: Sequence[Value], at: Operands) -> Descriptor:
    found = operands[at.address]
    assert isinstance(found, Descriptor)
    return found


def corner_of(frame: Frame, op: Op, operands: Sequence[Value], at: Operands) -> list[Array]:
    return [frame.elements(op, position, operands[position]).astype(np.int64) for position in at.coordinates]


def placed(
    descriptor: Descriptor, block: tuple[int, ...], itemsize: int, corner: list[Array]
) -> tuple[memory_access.Pointer, MaskBox]:
    """Addresses and mask of the block whose first element is ``corner``."""
    base = descriptor.base
    for index, stride in zip(corner, descriptor.strides, strict=True):
        base = base + index * stride * itemsize
    zero = np.zeros(1, np.int64)
    lower, upper = [], []
    for index, extent, size in zip(corner, descriptor.shape, block, strict=True):
        lower.append(np.clip(-index, 0, size) + zero)
        upper.append(np.clip(extent - index, 0, size) + zero)
    mask = MaskBox(tuple(lower), tuple(upper), block)
    strides = descriptor.strides
    if all(stride.size == 1 or (stride == stride[0]).all() for stride in strides):
        return AffineBlock(base, tuple(int(stride[0]) * itemsize for stride in strides), block), mask
    rank = len(block)
    addresses = base.reshape(-1, *(1,) * rank)
    for axis, (stride, size) in enumerate(zip(strides, block, strict=True)):
        line = np.arange(size).reshape(-1, *(1,) * (rank - 1 - axis))
        addresses = addresses + stride.reshape(-1, *(1,) * rank) * line * itemsize
    return addresses, mask


@impl("tt.descriptor_load")
def descriptor_load(frame: Frame, op: Op, *operands: Value) -> Value:
    at = operands_of(op)
    descriptor = descriptor_of(operands, at)
    result = frame.result_type(op)
    dtype = dtype_of(result)
    block = described(frame, op).shape
    pointer, mask = placed(descriptor, block, dtype.itemsize, corner_of(frame, op, operands, at))
    array = read_box(frame, op, descriptor, pointer, mask, dtype, block)
    return array.reshape(array.shape[0], *result.shape)


def read_box(
    frame: Frame,
    op: Op,
    descriptor: Descriptor,
    pointer: memory_access.Pointer,
    mask: memory_access.Mask,
    dtype: np.dtype[Any],
    block: tuple[int, ...],
) -> Array:
    other = np.full((1, *(1,) * len(block)), np.nan).astype(dtype) if descriptor.padding_nan else None
    array = memory_access.load(frame.machine.memory_for(op), pointer, mask, other, dtype, block)
    tell(frame, op, pointer, mask, array)
    return np.broadcast_to(array, (array.shape[0], *block))


def write_box(
    frame: Frame, op: Op, pointer: memory_access.Pointer, mask: memory_access.Mask, array: Array, block: tuple[int, ...]
) -> None:
    tell(frame, op, pointer, mask, array)
    memory_access.store(frame.machine.memory_for(op), pointer, mask, array, array.dtype, block)


@impl("tt.descriptor_store")
def descriptor_store(frame: Frame, op: Op, *operands: Value) -> None:
    block = described(frame, op).shape
    pointer, mask, array = _to_write(frame, op, operands, block)
    write_box(frame, op, pointer, mask, array, block)


@impl("tt.descriptor_reduce")
def descriptor_reduce(frame: Frame, op: Op, *operands: Value) -> None:
    """Combine each element of the block with the one in memory, atomically: add, take the least, ..."""
    block = described(frame, op)
    pointer, mask, array = _to_write(frame, op, operands, block.shape)
    modify(frame, op, pointer, mask, array, reduction_of(frame, op))


def _to_write(
    frame: Frame, op: Op, operands: Sequence[Value], block: tuple[int, ...]
) -> tuple[memory_access.Pointer, MaskBox, Array]:
    """Addresses and mask of the ``block`` that the operation writes to, and its elements."""
    at = operands_of(op)
    assert at.value is not None
    array = frame.spread(op, at.value, operands[at.value])
    corner = corner_of(frame, op, operands, at)
    pointer, mask = placed(descriptor_of(operands, at), block, array.dtype.itemsize, corner)
    return pointer, mask, array.reshape(array.shape[0], *block)


def _rows(descriptor: Descriptor, rows: Array, column: Array, width: int, itemsize: int) -> tuple[Array, Array]:
    """Addresses and mask of ``width`` elements from ``column`` on in each of ``rows``."""
    down, along = (stride.reshape(-1, 1, 1) for stride in descriptor.strides)
    height, breadth = (extent.reshape(-1, 1, 1) for extent in descriptor.shape)
    row = rows.astype(np.int64)[:, :, None]
    position = column.reshape(-1, 1, 1) + np.arange(width)
    addresses = descriptor.base.reshape(-1, 1, 1) + (row * down + position * along) * itemsize
    return addresses, (row >= 0) & (row < height) & (position >= 0) & (position < breadth)


@impl("tt.descriptor_gather")
def descriptor_gather(frame: Frame, op: Op, *operands: Value) -> Value:
    descriptor = descriptor_of(operands, operands_of(op))
    block = frame.result_type(op).shape
    dtype = dtype_of(frame.result_type(op))
    addresses, mask = some_rows(frame, op, operands, block[1], dtype.itemsize)
    return read_box(frame, op, descriptor, addresses, mask, dtype, block)


@impl("tt.descriptor_scatter")
def descriptor_scatter(frame: Frame, op: Op, *operands: Value) -> None:
    position = operands_of(op).value
    assert position is not None
    array = frame.spread(op, position, operands[position])
    addresses, mask = some_rows(frame, op, operands, array.shape[2], array.dtype.itemsize)
    write_box(frame, op, addresses, mask, array, array.shape[1:])


def some_rows(frame: Frame, op: Op, operands: Sequence[Value], width: int, itemsize: int) -> tuple[Array, Array]:
    """Addresses and mask of ``width`` elements in each of the rows that the operation names."""
    at = operands_of(op)
    rows, column = at.coordinates
    numbers, start = frame.spread(op, rows, operands[rows]), frame.elements(op, column, operands[column])
    return _rows(descriptor_of(operands, at), numbers, start.astype(np.int64), width, itemsize)
