"""Loads and stores, plain and atomic, and pointer arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import affine_block, memory_access
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, Type
from triton_lab.ir.effects import ACCESSES, Operands, operands_of

Array = NDArray[Any]


def pointee_bytes(pointer: Type) -> int:
    """The distance in bytes between neighbouring elements of a pointer's type."""
    assert pointer.pointee is not None
    return dtype_of(pointer.pointee).itemsize


def as_pointer(value: Value) -> memory_access.Pointer:
    """The addresses in one of the two forms that `memory_access` takes."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return AffineBlock(value, (), ())
    assert isinstance(value, (np.ndarray, AffineBlock))
    return value


def as_mask(value: Value | None) -> memory_access.Mask:
    if value is None or isinstance(value, MaskBox):
        return value
    assert isinstance(value, np.ndarray)
    return None if value.size == 1 and bool(value.reshape(-1)[0]) else value


@impl("tt.addptr")
def addptr(frame: Frame, op: Op, pointer: Value, offset: Value) -> Value:
    size = pointee_bytes(frame.result_type(op))
    if isinstance(pointer, AffineBlock) and isinstance(offset, AffineBlock):
        scaled = affine_block.multiply(
            offset, AffineBlock(np.array([size]), (0,) * len(offset.shape), offset.shape), 63
        )
        if scaled is not None:
            result = affine_block.add(pointer, scaled, 64)
            if result is not None:
                return result
    return frame.elements(op, 0, pointer) + frame.elements(op, 1, offset).astype(np.int64) * size


@impl("tt.load", "tt.atomic_load")
def load(frame: Frame, op: Op, *operands: Value) -> Value:
    at = operands_of(op)
    return load_at(frame, op, operands, as_pointer(operands[at.address]), masking(operands, at))


def load_at(
    frame: Frame, op: Op, operands: Sequence[Value], where: memory_access.Pointer, mask: memory_access.Mask
) -> Array:
    """A load from ``where`` under ``mask``, instead of the pointer and mask among its operands."""
    at, type = operands_of(op), frame.result_type(op)
    other = frame.elements(op, at.other, operands[at.other]) if at.other is not None else None
    result = memory_access.load(frame.machine.memory_for(op), where, mask, other, dtype_of(type), type.shape)
    tell(frame, op, where, mask, result)
    return result


@impl("tt.store", "tt.atomic_store")
def store(frame: Frame, op: Op, *operands: Value) -> None:
    at = operands_of(op)
    store_at(frame, op, operands, as_pointer(operands[at.address]), masking(operands, at))


def store_at(
    frame: Frame, op: Op, operands: Sequence[Value], where: memory_access.Pointer, mask: memory_access.Mask
) -> None:
    """A store to ``where`` under ``mask``, instead of the pointer and mask among its operands."""
    at = operands_of(op)
    assert at.value is not None
    type = frame.type(op.operands[at.value])
    array = frame.elements(op, at.value, operands[at.value])
    tell(frame, op, where, mask, array)
    memory_access.store(frame.machine.memory_for(op), where, mask, array, dtype_of(type), type.shape)


def masking(operands: Sequence[Value], at: Operands) -> memory_access.Mask:
    """The mask among an access's operands."""
    return None if at.mask is None else as_mask(operands[at.mask])


def tell(frame: Frame, op: Op, pointer: memory_access.Pointer, mask: memory_access.Mask, values: Array) -> None:
    """Report an access to the observer: before a store, after a load or an atomic."""
    observer = frame.machine.access_observer
    if observer is not None:
        observer.access(frame, op, ACCESSES[op.name].kind, pointer, mask, values)


@impl("tt.ptr_to_int", "tt.int_to_ptr")
def reinterpret_pointer(frame: Frame, op: Op, value: Value) -> Value:
    return value
