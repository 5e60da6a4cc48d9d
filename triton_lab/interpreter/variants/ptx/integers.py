"""What PTX instructions on integers, bits and predicates do, as functions of arrays of raw bits.

Operands are unsigned arrays of the width that the instruction names, or bool; results likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Run = Callable[..., Array]


def _signed(x: Array) -> Array:
    return x.view(f"i{x.dtype.itemsize}")


def _unsigned(x: Array) -> Array:
    return x.view(f"u{x.dtype.itemsize}")


def _wide(x: Array, signed: bool) -> Array:
    """The numbers in twice as many bits."""
    own = _signed(x) if signed else x
    return _unsigned(own.astype(f"{'i' if signed else 'u'}{2 * x.dtype.itemsize}"))


def _of_signed(function: Callable[..., Array]) -> Run:
    return lambda *operands: _unsigned(np.asarray(function(*map(_signed, operands))))


def _shift_left(x: Array, by: Array) -> Array:
    bits = 8 * x.dtype.itemsize
    found: Array = np.where(by < bits, x << np.minimum(by, bits - 1).astype(x.dtype), x.dtype.type(0))
    return found


def _shift_right(x: Array, by: Array) -> Array:
    bits = 8 * x.dtype.itemsize
    found: Array = np.where(by < bits, x >> np.minimum(by, bits - 1).astype(x.dtype), x.dtype.type(0))
    return found


def _shift_signed(x: Array, by: Array) -> Array:
    bits = 8 * x.dtype.itemsize
    return _unsigned(_signed(x) >> np.minimum(by, bits - 1).astype(f"i{x.dtype.itemsize}"))


def _funnel_left(low: Array, high: Array, by: Array) -> Array:
    both = (high.astype(np.uint64) << np.uint64(32)) | low
    return ((both << (by & np.uint32(31)).astype(np.uint64)) >> np.uint64(32)).astype(np.uint32)


def _funnel_right(low: Array, high: Array, by: Array) -> Array:
    both = (high.astype(np.uint64) << np.uint64(32)) | low
    return (both >> (by & np.uint32(31)).astype(np.uint64)).astype(np.uint32)


def high_product(x: Array, y: Array) -> Array:
    """The upper half of the product of two unsigned numbers."""
    if x.dtype.itemsize < 8:
        shift = np.array(8 * x.dtype.itemsize, f"u{2 * x.dtype.itemsize}")
        product: Array = _wide(x, False) * _wide(y, False) >> shift
        return product.astype(x.dtype)
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b, c, d = x >> half, x & mask, y >> half, y & mask
    middle = (b * d >> half) + (a * d & mask) + (b * c & mask)
    found: Array = a * c + (a * d >> half) + (b * c >> half) + (middle >> half)
    return found


def _leading_zeros(x: Array) -> Array:
    bits, found = x.copy(), np.zeros(x.shape, np.uint32)
    for step in (32, 16, 8, 4, 2, 1) if x.dtype.itemsize == 8 else (16, 8, 4, 2, 1):
        empty = bits >> x.dtype.type(8 * x.dtype.itemsize - step) == 0
        found += np.where(empty, np.uint32(step), np.uint32(0))
        bits = np.where(empty, bits << x.dtype.type(step), bits)
    result: Array = found + (x == 0).astype(np.uint32)
    return result


def _low_bits(count: Array) -> Array:
    """Numbers whose lowest ``count`` bits are set, uint64."""
    found: Array = (np.uint64(1) << np.asarray(count).astype(np.uint64)) - np.uint64(1)
    return found


def _extract(x: Array, start: Array, length: Array) -> Array:
    start, length = (one.astype(np.uint64) & np.uint64(0xFF) for one in (start, length))
    field = x.astype(np.uint64) >> np.minimum(start, 63).astype(np.uint64)
    found: Array = (field & _low_bits(np.minimum(length, 32))).astype(np.uint32)
    return found


def _extract_signed(x: Array, start: Array, length: Array) -> Array:
    """``bfe.s32``: above the field stands its own sign bit, or that of ``x`` where the field ends beyond it."""
    start, length = (one.astype(np.int64) & 0xFF for one in (start, length))
    sign = (length > 0) & (x >> np.clip(start + length - 1, 0, 31).astype(np.uint32) & np.uint32(1) == 1)
    inside = _low_bits(np.clip(np.minimum(length, 32 - start), 0, 32))
    field = x.astype(np.uint64) >> np.minimum(start, 63).astype(np.uint64) & inside
    found: Array = np.where(sign, field | ~inside, field).astype(np.uint32)
    return found


def _insert(x: Array, y: Array, start: Array, length: Array) -> Array:
    """``bfi``: the lowest ``length`` bits of ``x`` at bit ``start`` of ``y``."""
    start, length = (one.astype(np.int64) & 0xFF for one in (start, length))
    at = np.minimum(start, 32).astype(np.uint64)
    field = _low_bits(np.minimum(length, 32)) << at
    found: Array = ((y & ~field) | (x.astype(np.uint64) << at & field)).astype(np.uint32)
    return found


def _reverse(x: Array) -> Array:
    octets = np.ascontiguousarray(x).view(np.uint8).reshape(-1, x.dtype.itemsize)
    bits = np.unpackbits(octets, axis=1, bitorder="little")[:, ::-1]
    found: Array = np.packbits(bits, axis=1, bitorder="little").view(x.dtype).reshape(x.shape)
    return found


def _looked_up(x: Array, y: Array, z: Array, table: Array) -> Array:
    """``lop3``: bit ``4 x + 2 y + z`` of the table, for each bit."""
    found = np.zeros(np.broadcast_shapes(x.shape, y.shape, z.shape), np.uint32)
    for number in range(8):
        chosen = (x if number & 4 else ~x) & (y if number & 2 else ~y) & (z if number & 1 else ~z)
        found |= np.where(table >> np.uint32(number) & np.uint32(1), chosen, np.uint32(0))
    return found


def _dot_of_octets(signed: tuple[bool, bool]) -> Run:
    """``dp4a``: the sum of a number and the products of four bytes."""
    kinds = [np.int8 if own else np.uint8 for own in signed]

    def run(x: Array, y: Array, z: Array) -> Array:
        a, b = (
            np.ascontiguousarray(one).view(kind).reshape(-1, 4).astype(np.int32)
            for one, kind in zip((x, y), kinds, strict=True)
        )
        found: Array = z + (a * b).sum(axis=1, dtype=np.int32).view(np.uint32)
        return found

    return run


def _permute(x: Array, y: Array, chosen: Array) -> Array:
    both = (y.astype(np.uint64) << np.uint64(32)) | x
    found = np.zeros(np.broadcast_shapes(x.shape, y.shape, chosen.shape), np.uint32)
    for number in range(4):
        which = (chosen >> np.uint32(4 * number)).astype(np.uint64)
        octet = (both >> (which & np.uint64(7)) * np.uint64(8)) & np.uint64(0xFF)
        sign = np.where(octet & np.uint64(0x80), np.uint64(0xFF), np.uint64(0))
        octet = np.where(which & np.uint64(8), sign, octet)
        found |= (octet << np.uint64(8 * number)).astype(np.uint32)
    return found


def _selected(x: Array, y: Array, chosen: Array) -> Array:
    return np.where(chosen, x, y)


COMPARISONS: dict[str, Callable[..., Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _made() -> dict[str, Run]:
    found: dict[str, Run] = {}
    for kind in ("u32", "s32", "u64", "s64", "u16", "s16"):
        signed = kind[0] == "s"
        found[f"add.{kind}"] = np.add
        found[f"sub.{kind}"] = np.subtract
        found[f"mul.lo.{kind}"] = np.multiply
        found[f"mad.lo.{kind}"] = lambda x, y, z: x * y + z
        found[f"mul.wide.{kind}"] = lambda x, y, s=signed: _wide(x, s) * _wide(y, s)
        found[f"mad.wide.{kind}"] = lambda x, y, z, s=signed: _wide(x, s) * _wide(y, s) + z
        found[f"min.{kind}"] = _of_signed(np.minimum) if signed else np.minimum
        found[f"max.{kind}"] = _of_signed(np.maximum) if signed else np.maximum
        found[f"shr.{kind}"] = _shift_signed if signed else _shift_right
        if signed:
            found[f"neg.{kind}"] = lambda x: _unsigned(-_signed(x))
            found[f"abs.{kind}"] = _of_signed(np.abs)
        else:
            found[f"mul.hi.{kind}"] = high_product
        for name, compare in COMPARISONS.items():
            found[f"setp.{name}.{kind}"] = (lambda x, y, f=compare: f(_signed(x), _signed(y))) if signed else compare
    for bits in ("b16", "b32", "b64", "pred"):
        found |= {f"and.{bits}": np.bitwise_and, f"or.{bits}": np.bitwise_or, f"xor.{bits}": np.bitwise_xor}
        found[f"not.{bits}"] = np.bitwise_not
        found[f"shl.{bits}"] = _shift_left
        found[f"setp.eq.{bits}"], found[f"setp.ne.{bits}"] = np.equal, np.not_equal
    for kind in ("b16", "b32", "b64", "f32", "f64", "u32", "s32", "u64", "s64", "u16", "s16"):
        found[f"selp.{kind}"] = _selected
    found |= {"shf.l.wrap.b32": _funnel_left, "shf.r.wrap.b32": _funnel_right, "bfe.u32": _extract}
    found |= {"clz.b32": _leading_zeros, "clz.b64": _leading_zeros, "prmt.b32": _permute}
    found |= {"bfe.s32": _extract_signed, "bfi.b32": _insert, "brev.b32": _reverse, "brev.b64": _reverse}
    found |= {"lop3.b32": _looked_up}
    for a in ("u32", "s32"):
        for b in ("u32", "s32"):
            found[f"dp4a.{a}.{b}"] = _dot_of_octets((a == "s32", b == "s32"))
    found |= {"mul.hi.s32": lambda x, y: (_wide(x, True) * _wide(y, True) >> np.uint64(32)).astype(np.uint32)}
    found["popc.b32"] = found["popc.b64"] = lambda x: np.bitwise_count(x).astype(np.uint32)
    return found


FUNCTIONS: dict[str, Run] = _made()
