"""Functions of integers, and of the bits of floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_U32 = np.dtype(np.uint32)
_U64 = np.dtype(np.uint64)


def _unsigned(x: Array) -> Array:
    return x.view(f"u{x.dtype.itemsize}")


def _bit_count(x: Array) -> Array:
    return np.bitwise_count(_unsigned(x)).astype(np.int32)


def _leading_zeros(x: Array) -> Array:
    bits = _unsigned(x)
    width = 8 * bits.dtype.itemsize
    # Set all bits below the highest set bit, then count them.
    for step in (1, 2, 4, 8, 16, 32)[: width.bit_length() - 1]:
        bits = bits | (bits >> bits.dtype.type(step))
    return (width - np.bitwise_count(bits).astype(np.int32)).astype(np.int32)


def _first_set(x: Array) -> Array:
    """The position of the lowest set bit, from 1; 0 if there is none."""
    bits = _unsigned(x)
    lowest = bits & (~bits + bits.dtype.type(1))
    return np.where(bits == 0, 0, np.bitwise_count(lowest - bits.dtype.type(1)).astype(np.int32) + 1).astype(np.int32)


def _reversed(x: Array) -> Array:
    count = x.dtype.itemsize
    octets = np.ascontiguousarray(x).view(np.uint8).reshape(*x.shape, count)[..., ::-1]
    flipped = np.packbits(np.unpackbits(octets, axis=-1, bitorder="little"), axis=-1)
    return flipped.view(x.dtype).reshape(x.shape)


def _byte_permutation(x: Array, y: Array, selector: Array) -> Array:
    """Four bytes picked from the eight of ``y:x``, by the low three bits of each nibble of ``selector``.

    If a nibble's fourth bit is set, the byte's sign bit is repeated in all eight bits.
    """
    both = _unsigned(x).astype(np.uint64) | (_unsigned(y).astype(np.uint64) << np.uint64(32))
    result = np.zeros(np.broadcast_shapes(both.shape, selector.shape), np.uint32)
    for position in range(4):
        nibble = (_unsigned(selector) >> np.uint32(4 * position)) & np.uint32(15)
        shift = np.uint64(8) * (nibble & np.uint32(7)).astype(np.uint64)
        octet = ((both >> shift) & np.uint64(255)).astype(np.uint32)
        octet = np.where(nibble & np.uint32(8), (octet >> np.uint32(7)) * np.uint32(255), octet)
        result |= octet << np.uint32(8 * position)
    return result.view(np.int32)


def _average(is_unsigned: bool, rounded_up: int) -> Callable[[Array, Array], Array]:
    def apply(x: Array, y: Array) -> Array:
        a, b = (_unsigned(x), _unsigned(y)) if is_unsigned else (x, y)
        return ((a.astype(np.int64) + b.astype(np.int64) + rounded_up) >> 1).astype(np.int32)

    return apply


def _multiply_24(x: Array, y: Array) -> Array:
    """The low 32 bits of the product of the low 24 bits, which are signed."""
    a, b = ((v << np.int32(8)) >> np.int32(8) for v in (x, y))
    return a * b


def _multiply_24_unsigned(x: Array, y: Array) -> Array:
    a, b = (_unsigned(v) & np.uint32(0xFFFFFF) for v in (x, y))
    return (a * b).view(np.int32)


def _multiply_high(x: Array, y: Array) -> Array:
    """The upper half of the signed product."""
    if x.dtype.itemsize < 8:
        return ((x.astype(np.int64) * y.astype(np.int64)) >> np.int64(32)).astype(np.int32)
    high = multiply_high_unsigned(x.view(_U64), y.view(_U64)).view(np.int64)
    # Read as unsigned, a negative number is 2**64 greater; that times the other factor is subtracted.
    return high - np.where(x < 0, y, 0) - np.where(y < 0, x, 0)


def multiply_high_unsigned(a: Array, b: Array) -> Array:
    """The upper half of the full product of two arrays of unsigned integers."""
    bits = 8 * a.dtype.itemsize
    if bits < 64:
        return ((a.astype(_U64) * b.astype(_U64)) >> np.uint64(bits)).astype(a.dtype)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_high, a_low, b_high, b_low = a >> half, a & low, b >> half, b & low
    middle = a_high * b_low + ((a_low * b_low) >> half)
    other = a_low * b_high + (middle & low)
    result: Array = a_high * b_high + (middle >> half) + (other >> half)
    return result


def _on_unsigned(x: Array, y: Array) -> Array:
    return multiply_high_unsigned(_unsigned(x), _unsigned(y)).view(x.dtype)


def _difference(is_unsigned: bool) -> Callable[[Array, Array, Array], Array]:
    """``|x - y| + z``."""

    def apply(x: Array, y: Array, z: Array) -> Array:
        a, b = (_unsigned(x), _unsigned(y)) if is_unsigned else (x, y)
        return (np.abs(a.astype(np.int64) - b.astype(np.int64)) + z).astype(np.int32)

    return apply


def _as(dtype: str) -> Callable[[Array], Array]:
    return lambda x: x.view(dtype)


def _upper_reciprocal(x: Array) -> Array:
    """An approximate reciprocal; only the upper half of its bits is set."""
    return ((1.0 / x).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "__nv_abs": np.abs,
    "__nv_llabs": np.abs,
    "__nv_brev": _reversed,
    "__nv_brevll": _reversed,
    "__nv_byte_perm": _byte_permutation,
    "__nv_clz": _leading_zeros,
    "__nv_clzll": _leading_zeros,
    "__nv_ffs": _first_set,
    "__nv_ffsll": _first_set,
    "__nv_popc": _bit_count,
    "__nv_popcll": _bit_count,
    "__nv_hadd": _average(False, 0),
    "__nv_uhadd": _average(True, 0),
    "__nv_rhadd": _average(False, 1),
    "__nv_urhadd": _average(True, 1),
    "__nv_mul24": _multiply_24,
    "__nv_umul24": _multiply_24_unsigned,
    "__nv_mulhi": _multiply_high,
    "__nv_mul64hi": _multiply_high,
    "__nv_umulhi": _on_unsigned,
    "__nv_umul64hi": _on_unsigned,
    "__nv_sad": _difference(False),
    "__nv_usad": _difference(True),
    "__nv_float_as_int": _as("i4"),
    "__nv_float_as_uint": _as("i4"),
    "__nv_int_as_float": _as("f4"),
    "__nv_uint_as_float": _as("f4"),
    "__nv_double_as_longlong": _as("i8"),
    "__nv_longlong_as_double": _as("f8"),
    "__nv_double2hiint": lambda x: (x.view(np.int64) >> np.int64(32)).astype(np.int32),
    "__nv_double2loint": lambda x: x.view(np.int64).astype(np.int32),
    "__nv_hiloint2double": lambda high, low: (
        (high.astype(np.int64) << np.int64(32)) | low.view(_U32).astype(np.int64)
    ).view(np.float64),
    "__nv_rcp64h": _upper_reciprocal,
}
