"""``arith.constant`` and ``ub.poison``: values that the kernel itself contains."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import affine_block, mask_box
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Bits, Dense, Op, Type

Array = NDArray[Any]


@impl("arith.constant")
def constant(frame: Frame, op: Op) -> Value:
    type = frame.result_type(op)
    attribute = op.attributes["value"]
    dtype = dtype_of(type)
    if not isinstance(attribute, Dense):
        return np.array([_scalar(attribute, dtype)], dtype)
    if isinstance(attribute.values, bytes):
        return _block(_from_blob(attribute.values, type), type)
    return _block(np.array([_scalar(value, dtype) for value in attribute.values], dtype), type)


def _from_blob(blob: bytes, type: Type) -> Array:
    """The elements of a block that MLIR prints as bytes. Booleans are packed eight to a byte."""
    if type.element != "i1":
        return np.frombuffer(blob, dtype_of(type))
    bits = np.unpackbits(np.frombuffer(blob, np.uint8), bitorder="little").astype(np.bool_)
    return bits[:1] if len(blob) == 1 and blob in (b"\x00", b"\xff") else bits[: type.size]


def _block(array: Array, type: Type) -> Value:
    if array.size != 1:
        return array.reshape(1, *type.shape)
    if type.element == "i1":
        return mask_box.where_scalar(array, type.shape)
    if type.is_integer:
        return affine_block.splat(array, type.shape)
    return array.reshape(1, *(1,) * len(type.shape))


def _scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, Bits):
        return np.array(value.pattern, f"u{dtype.itemsize}").view(dtype)[()]
    if dtype.kind == "i":
        # MLIR writes integers as signed; a bit pattern beyond that range is wrapped.
        return np.array(value % (1 << (8 * dtype.itemsize)), f"u{dtype.itemsize}").view(dtype)[()]
    return np.array(value).astype(dtype)[()]


@impl("ub.poison")
def poison(frame: Frame, op: Op) -> Value:
    """A value that no correct program uses."""
    type = frame.result_type(op)
    return np.zeros((1, *(1,) * len(type.shape)), dtype_of(type))
