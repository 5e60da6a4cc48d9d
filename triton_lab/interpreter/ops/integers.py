"""``arith`` on integers: they wrap, shift and divide like machine integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import affine_block, mask_box
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.dtypes import unsigned
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.libdevice.integer_functions import multiply_high_unsigned
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op

Array = NDArray[Any]
Binary = Callable[[Array, Array], Array]


def _elementwise(frame: Frame, op: Op, function: Binary, a: Value, b: Value) -> Array:
    return function(frame.elements(op, 0, a), frame.elements(op, 1, b))


def _modular(frame: Frame, op: Op, on_affine: Any, function: Binary, on_bits: Binary, a: Value, b: Value) -> Value:
    """An operation modulo the type's range, on affine blocks where possible; on single bits it is a logical one."""
    type = frame.result_type(op)
    if isinstance(a, AffineBlock) and isinstance(b, AffineBlock):
        result: AffineBlock | None = on_affine(a, b, type.bits)
        if result is not None:
            return result
    return _elementwise(frame, op, on_bits if type.element == "i1" else function, a, b)


@impl("arith.addi")
def addi(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _modular(frame, op, affine_block.add, np.add, np.logical_xor, a, b)


@impl("arith.subi")
def subi(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _modular(frame, op, affine_block.subtract, np.subtract, np.logical_xor, a, b)


@impl("arith.muli")
def muli(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _modular(frame, op, affine_block.multiply, np.multiply, np.logical_and, a, b)


@impl("arith.divsi")
def divsi(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, divide_signed, a, b)


@impl("arith.remsi")
def remsi(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    if _within(a, b):
        return a
    return _elementwise(frame, op, remainder_signed, a, b)


def _within(a: Value, b: Value) -> bool:
    """Whether ``a % b`` surely equals ``a``: the offsets do not reach the size."""
    if not (isinstance(a, AffineBlock) and isinstance(b, AffineBlock) and not any(b.strides)):
        return False
    low, high = a.range()
    return low >= 0 and high < b.range()[0]


def divide_signed(a: Array, b: Array) -> Array:
    """The quotient truncated towards zero. Division by zero, which is undefined, gives zero."""
    if a.dtype == np.bool_:
        return a & b
    if (b > 0).all():
        quotient = a // b
        return quotient + ((quotient * b != a) & (a < 0)) if (a < 0).any() else quotient
    safe = np.where(b == 0, np.array(1, b.dtype), b)
    quotient = np.floor_divide(a, safe)
    inexact = (quotient * safe != a) & ((a < 0) != (safe < 0))
    result = quotient + inexact.astype(a.dtype)
    return np.where(b == 0, np.array(0, a.dtype), result)


def remainder_signed(a: Array, b: Array) -> Array:
    """The remainder, with the dividend's sign; zero for a division by zero."""
    if a.dtype == np.bool_:
        return np.zeros_like(a & b)
    return np.where(b == 0, np.array(0, a.dtype), np.fmod(a, np.where(b == 0, np.array(1, b.dtype), b)))


def on_unsigned(function: Binary) -> Binary:
    """``function`` applied to the same bits, read as unsigned integers."""

    def apply(a: Array, b: Array) -> Array:
        if a.dtype == np.bool_:
            return function(a.astype(np.uint8), b.astype(np.uint8)).astype(np.bool_)
        kind = unsigned(a.dtype)
        return function(a.view(kind), b.view(kind)).view(a.dtype)

    return apply


def _divide_unsigned(a: Array, b: Array) -> Array:
    return np.where(b == 0, np.array(0, a.dtype), a // np.where(b == 0, np.array(1, b.dtype), b))


def _remainder_unsigned(a: Array, b: Array) -> Array:
    return np.where(b == 0, np.array(0, a.dtype), a % np.where(b == 0, np.array(1, b.dtype), b))


@impl("arith.divui")
def divui(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, on_unsigned(_divide_unsigned), a, b)


def _remains(a: Array, b: Array, quotient: Array) -> Array:
    """Where ``a`` is no multiple of ``b``; nowhere for a division by zero."""
    return np.asarray((quotient * b != a) & (b != 0))


def _divide_up(a: Array, b: Array) -> Array:
    """The quotient rounded up; zero for a division by zero."""
    quotient = divide_signed(a, b)
    return np.asarray(quotient + (_remains(a, b, quotient) & ((a < 0) == (b < 0))).astype(a.dtype))


def _divide_down(a: Array, b: Array) -> Array:
    """The quotient rounded down; zero for a division by zero."""
    quotient = divide_signed(a, b)
    return np.asarray(quotient - (_remains(a, b, quotient) & ((a < 0) != (b < 0))).astype(a.dtype))


def _divide_up_unsigned(a: Array, b: Array) -> Array:
    quotient = _divide_unsigned(a, b)
    return np.asarray(quotient + _remains(a, b, quotient).astype(a.dtype))


# The compiler's passes write these three; no front end does.
@impl("arith.ceildivsi")
def ceildivsi(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, _divide_up, a, b)


@impl("arith.floordivsi")
def floordivsi(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, _divide_down, a, b)


@impl("arith.ceildivui")
def ceildivui(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, on_unsigned(_divide_up_unsigned), a, b)


@impl("arith.remui")
def remui(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    if _within(a, b):
        return a
    return _elementwise(frame, op, on_unsigned(_remainder_unsigned), a, b)


def _shift(function: Binary, overshoot: Callable[[Array], Any]) -> Binary:
    """A shift whose amount is read as unsigned. For amounts beyond the width the result is ``overshoot(a)``."""

    def apply(a: Array, b: Array) -> Array:
        if a.dtype == np.bool_:
            return np.where(b, overshoot(a), a)
        inside = b.view(unsigned(b.dtype)) < 8 * a.dtype.itemsize
        if inside.all():
            return function(a, b)
        shifted = function(a, np.where(inside, b, np.array(0, b.dtype)))
        return np.where(inside, shifted, overshoot(a))

    return apply


def _zero(a: Array) -> Any:
    return np.array(0, a.dtype)


def _sign(a: Array) -> Any:
    return a if a.dtype == np.bool_ else np.where(a < 0, np.array(-1, a.dtype), np.array(0, a.dtype))


@impl("arith.shli")
def shli(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    if isinstance(a, AffineBlock) and isinstance(b, AffineBlock):
        amount = b.range()
        if amount[0] == amount[1] and 0 <= amount[0] < frame.result_type(op).bits - 1:
            factor = AffineBlock(np.array([1 << amount[0]]), b.strides, b.shape)
            result = affine_block.multiply(a, factor, frame.result_type(op).bits)
            if result is not None:
                return result
    return _elementwise(frame, op, _shift(np.left_shift, _zero), a, b)


@impl("arith.shrsi")
def shrsi(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, _shift(np.right_shift, _sign), a, b)


@impl("arith.shrui")
def shrui(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, _shift(on_unsigned(np.right_shift), _zero), a, b)


@impl("arith.andi")
def andi(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    if isinstance(a, MaskBox) and isinstance(b, MaskBox):
        return mask_box.intersect(a, b)
    return _elementwise(frame, op, np.bitwise_and, a, b)


@impl("arith.ori")
def ori(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, np.bitwise_or, a, b)


@impl("arith.xori")
def xori(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, np.bitwise_xor, a, b)


@impl("arith.minsi")
def minsi(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    # As a signed integer, a set bit is -1.
    one_bit = frame.result_type(op).element == "i1"
    return _elementwise(frame, op, np.logical_or if one_bit else np.minimum, a, b)


@impl("arith.maxsi")
def maxsi(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    one_bit = frame.result_type(op).element == "i1"
    return _elementwise(frame, op, np.logical_and if one_bit else np.maximum, a, b)


@impl("arith.minui")
def minui(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, on_unsigned(np.minimum), a, b)


@impl("arith.maxui")
def maxui(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, on_unsigned(np.maximum), a, b)


@impl("tt.mulhiui")
def mulhiui(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, on_unsigned(multiply_high_unsigned), a, b)


@impl("math.absi")
def absi(frame: Frame, op: Op, a: Value) -> Value:
    return np.abs(frame.elements(op, 0, a))
