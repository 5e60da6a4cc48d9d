"""``tt.dot``: products of tiles, for all programs in one call."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.number_conversion import widen
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op

Array = NDArray[Any]

_BFLOAT = np.dtype(ml_dtypes.bfloat16)
_BEYOND_FLOAT32 = 2.0**128


@impl("tt.dot")
def dot(frame: Frame, op: Op, a: Value, b: Value, accumulator: Value) -> Value:
    """``a @ b + accumulator`` over the last two axes, accumulated in float32 (float64, int32).

    The requested input precision (tf32, tf32x3, bf16x3, ...) does not lower this one.
    """
    dtype = dtype_of(frame.result_type(op))
    x, y, start = frame.spread(op, 0, a), frame.spread(op, 1, b), frame.elements(op, 2, accumulator)
    if dtype.kind == "i":
        return integer_product(x, y, dtype) + start
    total = product_sum(widen(x), widen(y), widen(start), x.dtype)
    return total.astype(dtype, copy=False)


# The number of bfloat16 products that a tensor core of sm_90 adds before it checks whether the sum is too great for
# float32.
_AT_ONCE = 16


def product_sum(x: Array, y: Array, start: Array, given: np.dtype[Any]) -> Array:
    """``x @ y + start`` of numbers whose type in the kernel is ``given``.

    Products of bfloat16 may be too great for float32; those of other narrow types never are. A tensor core adds them
    exactly, so products that cancel do not become infinities that make a NaN.
    """
    if given != _BFLOAT:
        return product(x, y) + start
    with np.errstate(over="ignore", invalid="ignore"):
        total = product(x, y) + start
        if not np.isfinite(total).all():
            total = np.where(np.isfinite(total), total, _in_steps(x, y, start))
    return total


def _in_steps(x: Array, y: Array, start: Array) -> Array:
    """The sum in float64, made infinite where it exceeds float32 after a step of `_AT_ONCE` products."""
    total = start.astype(np.float64)
    for k in range(0, x.shape[-1], _AT_ONCE):
        total = total + product(x[..., k : k + _AT_ONCE].astype(np.float64), y[..., k : k + _AT_ONCE, :])
        total = np.where(np.abs(total) < _BEYOND_FLOAT32, total, total * np.inf)
    return total.astype(np.float32)


# The most multiplications of a product that OpenBLAS computes in the calling thread. For larger ones it wakes other
# threads and waits for them. On a busy machine that costs up to a thousand times the work itself.
_IN_ONE_THREAD = 64 * 64 * 64


def product(x: Array, y: Array) -> Array:
    """``x @ y`` over the last two axes; large tiles are cut into slabs of rows."""
    rows, depth = x.shape[-2:]
    slabs = 1
    while rows // slabs * depth * y.shape[-1] > _IN_ONE_THREAD and rows % (2 * slabs) == 0:
        slabs *= 2
    if slabs == 1:
        whole: Array = np.matmul(x, y)
        return whole
    cut = x.reshape(*x.shape[:-2], slabs, rows // slabs, depth)
    result: Array = np.matmul(cut, y[..., None, :, :])
    return result.reshape(*result.shape[:-3], rows, y.shape[-1])


def integer_product(x: Array, y: Array, dtype: np.dtype[Any]) -> Array:
    """``x @ y`` of integers. BLAS multiplies only floats; products of bytes are exact in a float that is
    wide enough.
    """
    wide = np.float32 if x.shape[-1] <= 1024 else np.float64
    return product(x.astype(wide), y.astype(wide)).astype(dtype)
