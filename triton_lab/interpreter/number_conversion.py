"""Conversions of arrays between number formats, by the rules that the GPU follows.

The rules are those of PTX's ``cvt``, which Triton's casts become on an NVIDIA GPU.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_BF16 = np.dtype(ml_dtypes.bfloat16)
_F16 = np.dtype(np.float16)
_F32 = np.dtype(np.float32)
_F64 = np.dtype(np.float64)
_E5M2 = np.dtype(ml_dtypes.float8_e5m2)


def widen(x: Array) -> Array:
    """Floats of fewer than 32 bits as float32, exactly; others unchanged."""
    if x.dtype.itemsize >= 4:
        return x
    return _half_to_single(x) if x.dtype == _F16 else x.astype(_F32)


def _half_to_single(x: Array) -> Array:
    """Shift exponent and fraction into place and scale: several times faster than NumPy's own cast."""
    bits = np.ascontiguousarray(x).view(np.int16).astype(np.int32)
    # The conversion above extended the sign; bits 0 to 14 move up by 13.
    shifted = ((bits & 0x7FFF) << 13) | (bits & np.int32(-0x80000000))
    result = shifted.view(_F32)
    special = (bits & 0x7C00) == 0x7C00
    result *= np.float32(2.0**112)
    if special.any():
        # An exponent of all ones stays so: infinity, or NaN with the same fraction.
        np.copyto(result, (shifted | 0x7F800000).view(_F32), where=special)
    return result.reshape(x.shape)


def flushed(x: Array) -> Array:
    """float32 with subnormals made zeros of their sign: Triton compiles CUDA's library so."""
    small = np.abs(x) < np.finfo(np.float32).tiny
    return np.where(small, np.copysign(np.float32(0), x), x) if small.any() else x


def float_to_integer(x: Array, target: np.dtype[Any]) -> Array:
    """Truncate towards zero and saturate.

    8-bit targets go through 16 bits, of which the lower half stays. NaN gives zero; from float64, or to 64 bits, it
    gives the integer whose only set bit is the highest.
    """
    if target.itemsize == 1:
        middle = np.dtype(np.int16) if target.kind == "i" else np.dtype(np.uint16)
        return float_to_integer(x, middle).astype(target)
    limits = np.iinfo(target)
    nan = np.isnan(x)
    exact = x.astype(_F64)
    if nan.any():
        exact[nan] = 0.0
    # Values at the limits are put in below: float64 cannot represent the greatest 64-bit integers.
    inside = (exact > float(limits.min)) & (exact < float(limits.max))
    result = np.where(inside, exact, 0.0).astype(target)
    if not inside.all():
        result[exact >= float(limits.max)] = limits.max
        result[exact <= float(limits.min)] = limits.min
    if nan.any() and (x.dtype == _F64 or target.itemsize == 8):
        result[nan] = limits.min if target.kind == "i" else limits.max // 2 + 1
    return result


def integer_to_float(x: Array, target: np.dtype[Any]) -> Array:
    """Round to nearest even, once."""
    if target.itemsize >= 4:
        return x.astype(target)
    if x.dtype.itemsize <= 2:
        return float_to_float(x.astype(_F32), target)
    if x.dtype.itemsize <= 4:
        return float_to_float(x.astype(_F64), target)
    return float_to_float(_rounded_to_odd(x), target)


def _rounded_to_odd(x: Array) -> Array:
    """64-bit integers as float64, rounded to odd: rounding again to fewer bits then gives the same as rounding once."""
    inexact = (x.astype(np.uint64) if x.dtype.kind == "u" else np.abs(x).view(np.uint64)) >> np.uint64(53) != 0
    # Beyond 53 bits, of the low 11 bits it only matters whether they are zero.
    sticky = (x | ((x & 0x7FF) != 0).astype(x.dtype) << x.dtype.type(11)) & ~x.dtype.type(0x7FF)
    return np.where(inexact, sticky, x).astype(_F64)


def float_to_float(x: Array, target: np.dtype[Any], towards_zero: bool = False) -> Array:
    """Round to nearest even, or towards zero.

    To fp8, too great values and infinities become the greatest finite value (towards zero, only finite ones do), and
    NaN becomes 0x7f. To bf16 and fp16, NaN becomes 0x7fff. From e5m2 to bf16, infinities and NaNs become the numbers
    that their bits would mean if the greatest exponent were an ordinary one.
    """
    if x.dtype == target:
        return x
    if x.dtype == _E5M2 and target == _BF16:
        return _by_shift(x)
    narrowing = target.itemsize < x.dtype.itemsize
    if not narrowing:
        # bf16 <-> fp16 have the same width.
        return widen(x) if target == _F32 else widen(x).astype(target)
    if towards_zero:
        result = _cut(x, target)
    else:
        # NumPy converts float64 to float16 and float32 directly, but to the others through float32.
        source = _once(x) if x.dtype == _F64 and target not in (_F16, _F32) else widen(x)
        if target.itemsize == 1:
            limit = float(ml_dtypes.finfo(target).max)  # type: ignore[no-untyped-call]
            source = np.clip(source, -limit, limit)
        result = source.astype(target)
    if target in _NAN:
        nan = np.isnan(x)
        if nan.any():
            result.view(f"u{target.itemsize}")[nan] = _NAN[target]
    return result


# The only NaN that a conversion gives.
_NAN = {
    _F16: 0x7FFF,
    _BF16: 0x7FFF,
    np.dtype(ml_dtypes.float8_e4m3fn): 0x7F,
    np.dtype(ml_dtypes.float8_e5m2): 0x7F,
}


def _by_shift(x: Array) -> Array:
    """e5m2 as bf16, as Triton converts on sm_90, which has no instruction for it: the bits moved, times 2 ** 112.

    The greatest exponent is an ordinary one there: infinity becomes 65536, and NaN up to 114688.
    """
    octets = x.view(np.uint8).astype(np.uint16)
    moved = (((octets & np.uint16(0x7F)) << np.uint16(5)) | ((octets & np.uint16(0x80)) << np.uint16(8))).view(_BF16)
    found: Array = (moved.astype(_F32) * np.float32(2.0**112)).astype(_BF16)
    return found


def _once(x: Array) -> Array:
    """float64 as float32 rounded to odd, so that the next step rounds as if it were the only one."""
    near = x.astype(_F32)
    back = near.astype(_F64)
    bits = near.view(np.uint32)
    beyond = np.isfinite(near) & (np.abs(back) > np.abs(x))
    down = np.where(beyond, bits - np.uint32(1), bits)
    inexact = (back != x) & np.isfinite(x)
    # float32's greatest value is odd, so an overflow comes out right as well.
    down = np.where(inexact & np.isinf(near), np.copysign(np.finfo(_F32).max, near).view(np.uint32), down)
    return np.where(inexact, down | np.uint32(1), down).view(_F32)


def _cut(x: Array, target: np.dtype[Any]) -> Array:
    """Round towards zero: where the nearest value is further from zero, take its neighbour nearer to zero."""
    nearest = x.astype(target)
    with np.errstate(invalid="ignore"):
        beyond = np.abs(nearest.astype(_F64)) > np.abs(x.astype(_F64))
    if target == np.dtype(ml_dtypes.float8_e4m3fn):
        # In a type without infinities, too great values have become NaN.
        beyond |= np.isnan(nearest) & ~np.isnan(x)
    bits = nearest.view(f"u{target.itemsize}")
    return np.where(beyond, bits - np.array(1, bits.dtype), bits).view(target)


def half_to_e4m3b15(x: Array) -> Array:
    """float16 -> fp8 with four exponent bits of bias 15, in an int8: ties away from zero.

    The greatest value is 1.75; NaN becomes it. This is Triton's own conversion for NVIDIA GPUs.
    """
    bits = np.ascontiguousarray(x).view(np.uint16)
    magnitude = bits & np.uint16(0x7FFF)
    magnitude = np.minimum(magnitude, np.uint16(0x3F00))
    rounded = magnitude * np.uint16(2) + np.uint16(0x80)
    octets: Array = ((rounded | (bits & np.uint16(0x8000))) >> np.uint16(8)).astype(np.uint8)
    return octets.view(np.int8).reshape(x.shape)


def e4m3b15_to_half(x: Array) -> Array:
    """fp8 with four exponent bits of bias 15, in an int8 -> float16, exactly; it has no NaN."""
    bits = np.ascontiguousarray(x).view(np.uint8).astype(np.uint16)
    shifted = ((bits & np.uint16(0x80)) << np.uint16(8)) | ((bits & np.uint16(0x7F)) << np.uint16(7))
    return shifted.view(_F16).reshape(x.shape)
