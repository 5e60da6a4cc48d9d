"""``arith`` on floats.

Floats narrower than 32 bits are computed in 32 bits and rounded once. For one operation that equals rounding the exact
result. It is also several times faster than NumPy's own 16-bit loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.min_max import fmax, fmin, maximum, minimum
from triton_lab.interpreter.number_conversion import widen
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.special_functions import fmod
from triton_lab.ir import Op
from triton_lab.ir.symmetric_clamp import SIGNED, SYMMETRIC

Array = NDArray[Any]


def elementwise(frame: Frame, op: Op, function: Callable[..., Array], *operands: Value) -> Array:
    """``function`` of the operands' elements, in 32 bits at least, rounded to their type."""
    arrays = [frame.elements(op, position, value) for position, value in enumerate(operands)]
    dtype = arrays[0].dtype
    if dtype.itemsize >= 4:
        return function(*arrays)
    return function(*(widen(array) for array in arrays)).astype(dtype)


@impl("arith.addf")
def addf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return elementwise(frame, op, np.add, a, b)


@impl("arith.subf")
def subf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return elementwise(frame, op, np.subtract, a, b)


@impl("arith.mulf")
def mulf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return elementwise(frame, op, np.multiply, a, b)


@impl("arith.divf", "tt.precise_divf", "tt.approx_divf")
def divf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    """The nearest quotient. On a GPU, ``/`` and ``fdiv`` may be off by two units in the last place."""
    return elementwise(frame, op, np.divide, a, b)


@impl("arith.remf")
def remf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    """The exact remainder, with the dividend's sign."""
    return elementwise(frame, op, fmod, a, b)


@impl("arith.negf")
def negf(frame: Frame, op: Op, a: Value) -> Value:
    """``a`` with its sign bit flipped, also of a NaN."""
    array = frame.elements(op, 0, a)
    return with_sign(array, lambda bits, sign: bits ^ sign)


def with_sign(array: Array, change: Callable[[Array, Any], Array]) -> Array:
    """Floats with only their sign bits changed, by ``change(bits, sign bit)``."""
    kind = np.dtype(f"u{array.dtype.itemsize}")
    sign = kind.type(1 << (8 * kind.itemsize - 1))
    return change(array.view(kind), sign).view(array.dtype)


@impl("arith.minimumf")
def minimumf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return elementwise(frame, op, minimum, a, b)


@impl("arith.maximumf")
def maximumf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return elementwise(frame, op, maximum, a, b)


@impl("arith.minnumf")
def minnumf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return elementwise(frame, op, fmin, a, b)


@impl("arith.maxnumf")
def maxnumf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return elementwise(frame, op, fmax, a, b)


@impl("tt.clampf")
def clampf(frame: Frame, op: Op, x: Value, low: Value, high: Value) -> Value:
    """``x`` between the bounds. ``propagateNan`` 0xFFFF keeps a NaN; otherwise a NaN becomes the lower bound.

    With limits that Triton knows for negatives of each other (see `ir.symmetric_clamp`) the result is the lesser size
    of ``x`` and the upper bound, with the product of their signs; a NaN has the bound's size.
    """
    keeps = bool(op.attributes.get("propagateNan", 0))
    if op.attributes.get(SYMMETRIC):
        smaller = minimum if keeps else fmin
        whole = op.attributes[SYMMETRIC] == SIGNED

        def lesser(x: Array, _: Array, b: Array) -> Array:
            negative = np.signbit(x) if whole else np.signbit(x) & ~np.isnan(x)
            size = smaller(np.abs(x), np.abs(b))
            return np.where(negative ^ np.signbit(b), -size, size)

        return elementwise(frame, op, lesser, x, low, high)
    if keeps:
        return elementwise(frame, op, lambda x, a, b: minimum(maximum(x, a), b), x, low, high)
    return elementwise(frame, op, lambda x, a, b: fmin(fmax(x, a), b), x, low, high)
