"""The NumPy dtypes that stand for Triton's scalar types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from triton_lab.ir import Type

# Integers are signless in the IR (except in a descriptor's block); here they are signed. Triton stores an i1 as a byte.
# e4m3b15 has no MLIR type of its own: the front end converts it through integers.
_NUMPY: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.int8,
    "ui16": np.int16,
    "ui32": np.int32,
    "ui64": np.int64,
    "index": np.int64,
    "ptr": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
}
_UNSIGNED: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.int8): np.dtype(np.uint8),
    np.dtype(np.int16): np.dtype(np.uint16),
    np.dtype(np.int32): np.dtype(np.uint32),
    np.dtype(np.int64): np.dtype(np.uint64),
    np.dtype(np.bool_): np.dtype(np.bool_),
}


def numpy_dtype(element: str) -> np.dtype[Any]:
    """The NumPy dtype of an MLIR scalar type. Raises KeyError, with the name, for an unknown type."""
    dtype: np.dtype[Any] = np.dtype(_NUMPY[element])
    return dtype


def unsigned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The unsigned integer dtype of the same width."""
    return _UNSIGNED[dtype]


def dtype_of(type: Type) -> np.dtype[Any]:
    """The NumPy dtype of the elements of ``type``."""
    return numpy_dtype(type.element)


# The users' names of the types.
_TORCH_NAMES = {
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "ptr": "pointer",
}


def user_name(element: str) -> str:
    """Torch's name of the type: ``float16`` for ``f16``."""
    return _TORCH_NAMES.get(element, element)
