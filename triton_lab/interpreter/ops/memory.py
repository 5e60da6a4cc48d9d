"""``tt.load`` and ``tt.store``, pointers, and block pointers' tensors of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import access, affine
from triton_lab.interpreter.affine import Affine
from triton_lab.interpreter.box import Box
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.registry import impl
from triton_lab.interpreter.values import Value
from triton_lab.ir import Op, Type

Array = NDArray[Any]


def pointee_bytes(pointer: Type) -> int:
    """How far apart neighbouring elements of a pointer's type lie, in bytes."""
    assert pointer.pointee is not None
    return dtype_of(pointer.pointee).itemsize


def as_pointer(value: Value) -> access.Pointer:
    """Addresses in one of the two forms that memory takes."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return Affine(value, (), ())
    assert isinstance(value, (np.ndarray, Affine))
    return value


def as_mask(value: Value | None) -> access.Mask:
    if value is None or isinstance(value, Box):
        return value
    assert isinstance(value, np.ndarray)
    return None if value.size == 1 and bool(value.reshape(-1)[0]) else value


@impl("tt.addptr")
def addptr(frame: Frame, op: Op, pointer: Value, offset: Value) -> Value:
    size = pointee_bytes(frame.result_type(op))
    if isinstance(pointer, Affine) and isinstance(offset, Affine):
        scaled = affine.multiply(offset, Affine(np.array([size]), (0,) * len(offset.shape), offset.shape), 63)
        if scaled is not None:
            result = affine.add(pointer, scaled, 64)
            if result is not None:
                return result
    return frame.elements(op, 0, pointer) + frame.elements(op, 1, offset).astype(np.int64) * size


@impl("tt.load")
def load(frame: Frame, op: Op, pointer: Value, *rest: Value) -> Value:
    has_mask, has_other = op.attributes.get("operandSegmentSizes", (1, len(rest) > 0, len(rest) > 1))[1:]
    mask = as_mask(rest[0]) if has_mask else None
    other = frame.elements(op, 1 + has_mask, rest[has_mask]) if has_other else None
    type = frame.result_type(op)
    where = as_pointer(pointer)
    result = access.load(frame.machine.memory_for(op), where, mask, other, dtype_of(type), type.shape)
    observer = frame.machine.access_observer
    if observer is not None:
        observer.access(frame, op, "load", where, mask, result)
    return result


@impl("tt.store")
def store(frame: Frame, op: Op, pointer: Value, value: Value, *rest: Value) -> None:
    mask = as_mask(rest[0]) if rest else None
    type = frame.type(op.operands[1])
    where = as_pointer(pointer)
    array = frame.elements(op, 1, value)
    observer = frame.machine.access_observer
    if observer is not None:
        observer.access(frame, op, "store", where, mask, array)
    access.store(frame.machine.memory_for(op), where, mask, array, dtype_of(type), type.shape)


@impl("tt.ptr_to_int", "tt.int_to_ptr")
def reinterpret_pointer(frame: Frame, op: Op, value: Value) -> Value:
    return value
