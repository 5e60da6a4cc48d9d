"""Properties of dtypes: units in the last place, rounding, and how many numbers of a dtype lie between two values.

For floats of every width (bfloat16 and fp8 too), integers and booleans, computed from their bits or from ``finfo``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether ``dtype`` is a float type: those of ``ml_dtypes`` have NumPy's kind "V" or "f"."""
    return dtype.kind not in "biu"


def _info(dtype: np.dtype[Any]) -> Any:
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


@cache
def unit_roundoff(dtype: np.dtype[Any]) -> float:
    """Half the distance from 1 to the next number, the relative error of rounding to nearest; 0 for integers."""
    return 0.5 * float(_info(dtype).eps) if is_float(dtype) else 0.0


@cache
def smallest(dtype: np.dtype[Any]) -> float:
    """The smallest positive number, subnormal if the dtype has such; 1 for integers."""
    return float(_info(dtype).smallest_subnormal) if is_float(dtype) else 1.0


def largest(dtype: np.dtype[Any]) -> float:
    """The largest finite number."""
    if is_float(dtype):
        return float(_info(dtype).max)
    return 1.0 if dtype.kind == "b" else float(np.iinfo(dtype).max)


def wide(array: Array) -> Array:
    """The numbers in float64, without a warning for signalling NaNs."""
    with np.errstate(invalid="ignore"):
        return np.asarray(array).astype(np.float64)


def ulp(values: Array, dtype: np.dtype[Any]) -> Array:
    """The distance between neighbours of ``dtype`` at each of ``values``, in float64; 1 for integers.

    At a power of two it is that of the numbers above it (Goldberg); NaN for values that are not finite.
    """
    size = np.abs(wide(values))
    if not is_float(dtype):
        return np.ones(size.shape)
    info = _info(dtype)
    _, exponent = np.frexp(size)  # size = m * 2**exponent with 0.5 <= m < 1
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        exponent = np.where(size > 0, np.maximum(exponent - 1, int(info.minexp)), int(info.minexp))
        step = np.ldexp(1.0, exponent - int(info.nmant))
        return np.asarray(np.where(np.isfinite(size), np.maximum(step, smallest(dtype)), np.nan))


def steps(a: Array, b: Array) -> Array:
    """How many numbers of their dtype lie from ``a`` to ``b``, as uint64; 0 between zeros of both signs.

    Floats of one dtype are ordered as their bits, apart from the sign. The result for NaN has no meaning.
    """
    if not is_float(a.dtype):
        return magnitude(a, b)
    left, right = (bits(array) for array in (a, b))
    sign = left.dtype.type(1 << (8 * left.dtype.itemsize - 1))
    sizes = [(array & ~sign).astype(np.uint64) for array in (left, right)]
    apart = (left & sign) != (right & sign)
    greater, less = np.maximum(*sizes), np.minimum(*sizes)
    return np.asarray(np.where(apart, greater + less, greater - less))


def magnitude(a: Array, b: Array) -> Array:
    """``|a - b|`` of integers or booleans of one dtype, exactly, as uint64."""
    if a.dtype.kind == "b":
        return np.asarray(a != b).astype(np.uint64)
    wide = np.uint64 if a.dtype.kind == "u" else np.int64
    left, right = a.astype(wide), b.astype(wide)
    with np.errstate(over="ignore"):  # what wraps is exact in 64 bits
        return np.asarray(np.where(left > right, left - right, right - left).astype(np.uint64))


def bits(array: Array) -> Array:
    """The bit patterns, as unsigned integers."""
    return np.asarray(np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}"))


def is_nan(array: Array) -> Array:
    """Which elements are NaN; none for integers."""
    return np.isnan(array) if is_float(array.dtype) else np.zeros(array.shape, np.bool_)


def is_infinite(array: Array) -> Array:
    """Which elements are infinite; none for integers."""
    return np.isinf(array) if is_float(array.dtype) else np.zeros(array.shape, np.bool_)


def coarser(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in whose units a difference is counted: a float before an integer, else the coarser rounding."""
    return max((a, b), key=lambda dtype: (is_float(dtype), unit_roundoff(dtype), -dtype.itemsize))


def numpy_type(name: str) -> np.dtype[Any]:
    """The NumPy dtype for torch's ``name``; uint8 if there is none."""
    try:
        return np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        return np.dtype(np.uint8)


def as_array(tensor: Any) -> Array:
    """A copy of a torch tensor's elements in their own dtype; other values as NumPy converts them."""
    if not hasattr(tensor, "detach"):
        return np.array(tensor)
    import torch

    plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    name = str(plain.dtype).removeprefix("torch.")
    if not hasattr(ml_dtypes, name):
        return np.array(plain.numpy())
    # A flat view with stride 1, since torch refuses to view another element size along an axis of stride 0.
    raw = plain.as_strided((plain.numel(),), (1,)).view(torch.uint8).numpy()
    found: Array = np.array(raw).view(getattr(ml_dtypes, name)).reshape(plain.shape)
    return found
