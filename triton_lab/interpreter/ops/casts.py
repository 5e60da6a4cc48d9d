"""Conversions between types, by the rules of `number_conversion`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import affine_block
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.dtypes import dtype_of, unsigned
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.number_conversion import float_to_float, float_to_integer, integer_to_float
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op

Array = NDArray[Any]

# Triton's rounding modes by number.
_TOWARDS_ZERO = 0


@impl("arith.extsi")
def extsi(frame: Frame, op: Op, x: Value) -> Value:
    if isinstance(x, AffineBlock):
        return x
    array = frame.elements(op, 0, x)
    target = dtype_of(frame.result_type(op))
    # As a signed integer, a set bit is -1.
    return -array.astype(target) if array.dtype == np.bool_ else array.astype(target)


@impl("arith.extui")
def extui(frame: Frame, op: Op, x: Value) -> Value:
    if isinstance(x, AffineBlock) and x.range()[0] >= 0:
        return x
    return _bits(frame.elements(op, 0, x)).astype(dtype_of(frame.result_type(op)))


@impl("arith.trunci")
def trunci(frame: Frame, op: Op, x: Value) -> Value:
    type = frame.result_type(op)
    if isinstance(x, AffineBlock) and type.bits > 1 and affine_block.fits(x, type.bits):
        return x
    array = frame.elements(op, 0, x)
    if type.element == "i1":
        lowest: Array = array & np.array(1, array.dtype)
        return lowest.astype(np.bool_)
    return array.astype(dtype_of(type))


def _bits(array: Array) -> Array:
    """The same bits, read as unsigned integers."""
    return array.view(unsigned(array.dtype))


@impl("arith.sitofp")
def sitofp(frame: Frame, op: Op, x: Value) -> Value:
    array = frame.elements(op, 0, x)
    if array.dtype == np.bool_:
        array = -array.astype(np.int8)
    return integer_to_float(array, dtype_of(frame.result_type(op)))


@impl("arith.uitofp")
def uitofp(frame: Frame, op: Op, x: Value) -> Value:
    return integer_to_float(_bits(frame.elements(op, 0, x)), dtype_of(frame.result_type(op)))


@impl("arith.fptosi")
def fptosi(frame: Frame, op: Op, x: Value) -> Value:
    return float_to_integer(frame.elements(op, 0, x), dtype_of(frame.result_type(op)))


@impl("arith.fptoui")
def fptoui(frame: Frame, op: Op, x: Value) -> Value:
    target = dtype_of(frame.result_type(op))
    return float_to_integer(frame.elements(op, 0, x), unsigned(target)).view(target)


@impl("arith.extf", "arith.truncf", "tt.fp_to_fp")
def float_cast(frame: Frame, op: Op, x: Value) -> Value:
    towards_zero = op.attributes.get("rounding") == _TOWARDS_ZERO
    return float_to_float(frame.elements(op, 0, x), dtype_of(frame.result_type(op)), towards_zero)


@impl("arith.bitcast", "tt.bitcast")
def bitcast(frame: Frame, op: Op, x: Value) -> Value:
    source, target = frame.type(op.operands[0]), frame.result_type(op)
    if source.is_pointer or source.element == target.element:
        return x
    return np.ascontiguousarray(frame.elements(op, 0, x)).view(dtype_of(target))
