"""``tt.dot_scaled``: products of tiles in microscaling formats (mxfp8, mxfp4, nvfp4).

Computed as on GPUs without such an instruction (sm_90 is one): both sides are converted to float16 if one of them is
float16, else to bfloat16; then they are scaled and multiplied.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.number_conversion import float_to_float, widen
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.ops.dot import product_sum
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op

Array = NDArray[Any]

# Triton's element formats by number.
_E2M1, _FP16 = 4, 6
_HALF = np.dtype(np.float16)
_BFLOAT = np.dtype(ml_dtypes.bfloat16)
# Bits: a sign, two of exponent, one of fraction.
_FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
# A scale of all ones is NaN.
_NAN_SCALE = 0xFF


@impl("tt.dot_scaled")
def dot_scaled(frame: Frame, op: Op, a: Value, b: Value, accumulator: Value, *scales: Value) -> Value:
    x, y, compute = scaled_factors(frame, op, a, b, *scales)
    dtype = dtype_of(frame.result_type(op))
    total = product_sum(x, y, widen(frame.elements(op, 2, accumulator)), compute)
    return total.astype(dtype, copy=False)


def scaled_factors(frame: Frame, op: Op, a: Value, b: Value, *scales: Value) -> tuple[Array, Array, np.dtype[Any]]:
    """Both sides scaled, as float32, and the format that they are rounded to."""
    has_a, has_b = op.attributes["operandSegmentSizes"][3:]
    attributes = op.attributes
    formats = attributes["a_elem_type"], attributes["b_elem_type"]
    compute = _HALF if _FP16 in formats else _BFLOAT
    x = _unpacked(frame.spread(op, 0, a), formats[0], compute, -1 if attributes["lhs_k_pack"] else -2)
    y = _unpacked(frame.spread(op, 1, b), formats[1], compute, -2 if attributes["rhs_k_pack"] else -1)
    strict = not attributes["fastMath"]
    if has_a:
        x = _scaled(x, frame.spread(op, 3, scales[0]), compute, strict)
    if has_b:
        # The scales of b lie along its transpose.
        scale = frame.spread(op, 3 + has_a, scales[has_a])
        y = np.swapaxes(_scaled(np.swapaxes(y, -1, -2), scale, compute, strict), -1, -2)
    return _in(x, compute), _in(y, compute), compute


# Triton's element formats of 8 bits by number.
_FLOAT8 = {0: np.dtype(ml_dtypes.float8_e4m3fn), 1: np.dtype(ml_dtypes.float8_e5m2)}


def unscaled(x: Array, format: int, scale: Array) -> Array:
    """``x``, ``(..., K)``, in a microscaling format times its scales, ``(..., K / group)``, as exact float32.

    A byte of 4-bit numbers holds two neighbours, the lower half first. int8 scales are exponents of powers of two.
    """
    octets = x.view(np.uint8)
    if format == _E2M1:
        wide = np.stack([_FP4[octets & 15], _FP4[octets >> 4]], axis=-1).reshape(*x.shape[:-1], 2 * x.shape[-1])
    else:
        wide = np.ascontiguousarray(octets).view(_FLOAT8[format]).astype(np.float32)
    if scale.dtype.itemsize == 1 and scale.dtype.kind in "iu":
        bits = np.ascontiguousarray(scale).view(np.uint8)
        factor = np.where(bits == _NAN_SCALE, np.float32(np.nan), np.ldexp(np.float32(1), bits.astype(np.int32) - 127))
    else:
        factor = widen(scale)
    grouped: Array = wide * np.repeat(factor, wide.shape[-1] // factor.shape[-1], axis=-1)
    return grouped


@impl("ttg.fp4_to_fp")
def fp4_to_fp(frame: Frame, op: Op, packed: Value) -> Value:
    """Two numbers of each byte along an axis, the lower half first."""
    octets = frame.spread(op, 0, packed).view(np.uint8)
    axis = 1 + int(op.attributes["axis"])
    pairs = np.stack([_FP4[octets & 15], _FP4[octets >> 4]], axis=axis + 1)
    shape = list(octets.shape)
    shape[axis] *= 2
    return pairs.reshape(shape).astype(dtype_of(frame.result_type(op)))


def _in(x: Array, compute: np.dtype[Any]) -> Array:
    """``x`` rounded to the computation's format, as float32."""
    return widen(float_to_float(x, compute)) if x.dtype != compute else widen(x)


def _unpacked(x: Array, format: int, compute: np.dtype[Any], axis: int) -> Array:
    """``x`` in the format ``compute``. A byte of 4-bit numbers gives two along ``axis``, the lower half first."""
    if format != _E2M1:
        return _in(x, compute)
    octets = x.view(np.uint8)
    pairs = np.stack([_FP4[octets & 15], _FP4[octets >> 4]], axis=axis if axis == -1 else x.ndim - 1)
    shape = list(x.shape)
    shape[axis] *= 2
    return pairs.reshape(shape)


def _scaled(x: Array, scale: Array, compute: np.dtype[Any], strict: bool) -> Array:
    """Each group of the last axis of ``x`` times its scale. int8 scales are exponents of powers of two."""
    group = x.shape[-1] // scale.shape[-1]
    exponents = scale.dtype.itemsize == 1 and scale.dtype.kind == "i"
    factor = _from_exponents(scale, compute) if exponents else float_to_float(scale, compute)
    product = _in(x, compute) * np.repeat(widen(factor), group, axis=-1)
    result = _in(product, compute)
    if exponents and strict:
        nan = np.repeat(scale.view(np.uint8) == _NAN_SCALE, group, axis=-1)
        result = np.where(nan, np.float32(np.nan), result)
    return result


def _from_exponents(scale: Array, compute: np.dtype[Any]) -> Array:
    """2 ** (e - 127). An exponent of zero gives zero, as the same bits in bfloat16 do."""
    power = (scale.view(np.uint8).astype(np.uint16) << np.uint16(7)).view(_BFLOAT)
    return power if compute == _BFLOAT else float_to_float(power, compute)
