"""Functions of integers and of the bits of floats, as in CUDA's library."""

from __future__ import annotations

from collections.abc import Callable

from triton_lab.native.llvm.builder import bits_of
from triton_lab.native.math.lane_arithmetic import LaneArithmetic


def bit_count(x: LaneArithmetic) -> LaneArithmetic:
    return x.intrinsic("ctpop").resize("i32", signed=False)


def leading_zeros(x: LaneArithmetic) -> LaneArithmetic:
    # Set all bits below the highest set bit; then count the rest.
    for step in (1, 2, 4, 8, 16, 32)[: bits_of(x.kind).bit_length() - 1]:
        x = x | x.unsigned_shift(step)
    return bit_count(~x)


def first_set(x: LaneArithmetic) -> LaneArithmetic:
    """The position of the lowest set bit, from 1; 0 if there is none."""
    return x.equals(0).where(0, bit_count((x & -x) - 1) + 1)


def reversed_bits(x: LaneArithmetic) -> LaneArithmetic:
    return x.intrinsic("bitreverse")


def byte_permutation(x: LaneArithmetic, y: LaneArithmetic, selector: LaneArithmetic) -> LaneArithmetic:
    """Four bytes picked from the eight of ``y:x``, by each nibble's low bits; its fourth bit repeats the byte's sign
    bit.
    """
    both = x.resize("i64", signed=False) | (y.resize("i64", signed=False) << 32)
    result = x.of(0)
    for position in range(4):
        nibble = selector.unsigned_shift(4 * position)
        shift = (nibble & 7).resize("i64", signed=False) << 3
        octet = both.unsigned_shift(shift).resize("i32", signed=False) & 255
        sign = (octet.unsigned_shift(7)) * 255
        result = result | ((nibble & 8).differs(0).where(sign, octet) << (8 * position))
    return result


def average(signed: bool, rounded_up: int) -> Callable[[LaneArithmetic, LaneArithmetic], LaneArithmetic]:
    def apply(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
        total = x.resize("i64", signed=signed) + y.resize("i64", signed=signed) + rounded_up
        return (total >> 1).resize("i32", signed=True)

    return apply


def product_24(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    """The low 32 bits of the product of the low 24 bits, which are signed."""
    return ((x << 8) >> 8) * ((y << 8) >> 8)


def product_24_unsigned(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    return (x & 0xFFFFFF) * (y & 0xFFFFFF)


def upper_product(signed: bool) -> Callable[[LaneArithmetic, LaneArithmetic], LaneArithmetic]:
    """The upper half of the product of two integers of 32 or 64 bits."""

    def apply(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
        bits = bits_of(x.kind)
        if bits < 64:
            product = x.resize("i64", signed=signed) * y.resize("i64", signed=signed)
            return product.unsigned_shift(bits).resize(x.kind, signed=False)
        return _upper_half(x, y, signed)

    return apply


def _upper_half(x: LaneArithmetic, y: LaneArithmetic, signed: bool) -> LaneArithmetic:
    """The upper half of the product of 64-bit integers, from the halves of each."""
    low = 0xFFFFFFFF
    x_high, x_low, y_high, y_low = x.unsigned_shift(32), x & low, y.unsigned_shift(32), y & low
    middle = x_high * y_low + (x_low * y_low).unsigned_shift(32)
    other = x_low * y_high + (middle & low)
    result = x_high * y_high + middle.unsigned_shift(32) + other.unsigned_shift(32)
    if not signed:
        return result
    # Read as unsigned, a negative number is 2**64 greater; that times the other factor is subtracted.
    return result - x.less(0).where(y, 0) - y.less(0).where(x, 0)


def difference(signed: bool) -> Callable[[LaneArithmetic, LaneArithmetic, LaneArithmetic], LaneArithmetic]:
    """``|x - y| + z``."""

    def apply(x: LaneArithmetic, y: LaneArithmetic, z: LaneArithmetic) -> LaneArithmetic:
        size = abs(x.resize("i64", signed=signed) - y.resize("i64", signed=signed))
        return size.resize("i32", signed=True) + z

    return apply


def lesser(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    return x.less(y).where(x, y)


def greater(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    return x.less(y).where(y, x)


def lesser_unsigned(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    return x.below(y).where(x, y)


def greater_unsigned(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    return x.below(y).where(y, x)


def as_bits(x: LaneArithmetic) -> LaneArithmetic:
    return x.bits()


def as_float(x: LaneArithmetic) -> LaneArithmetic:
    return x.as_float()


def upper_word(x: LaneArithmetic) -> LaneArithmetic:
    return (x.bits() >> 32).resize("i32", signed=True)


def lower_word(x: LaneArithmetic) -> LaneArithmetic:
    return x.bits().resize("i32", signed=True)


def from_words(high: LaneArithmetic, low: LaneArithmetic) -> LaneArithmetic:
    return ((high.resize("i64", signed=True) << 32) | low.resize("i64", signed=False)).as_float()
