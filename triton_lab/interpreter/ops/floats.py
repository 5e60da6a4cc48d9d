"""``arith`` on floats.

Floats narrower than 32 bits are computed in 32 bits and rounded once, which for one operation
equals rounding the exact result. It is also several times faster than NumPy's own 16-bit loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.convert import widen
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.registry import impl
from triton_lab.interpreter.values import Value
from triton_lab.ir import Op

Array = NDArray[Any]


def _elementwise(frame: Frame, op: Op, function: Callable[..., Array], *operands: Value) -> Array:
    arrays = [frame.elements(op, position, value) for position, value in enumerate(operands)]
    dtype = arrays[0].dtype
    if dtype.itemsize >= 4:
        return function(*arrays)
    return function(*(widen(array) for array in arrays)).astype(dtype)


@impl("arith.addf")
def addf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, np.add, a, b)


@impl("arith.subf")
def subf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, np.subtract, a, b)


@impl("arith.mulf")
def mulf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, np.multiply, a, b)


@impl("arith.divf", "tt.precise_divf", "tt.approx_divf")
def divf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    """The nearest quotient; a GPU's ``/`` and ``fdiv`` may be off by two units in the last place."""
    return _elementwise(frame, op, np.divide, a, b)


@impl("arith.remf")
def remf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    """The exact remainder, with the dividend's sign."""
    return _elementwise(frame, op, np.fmod, a, b)


@impl("arith.negf")
def negf(frame: Frame, op: Op, a: Value) -> Value:
    """The sign turned round, NaN's too."""
    array = frame.elements(op, 0, a)
    return with_sign(array, lambda bits, sign: bits ^ sign)


def with_sign(array: Array, change: Callable[[Array, Any], Array]) -> Array:
    """``change(bits, sign bit)``: floats whose sign bits are changed and nothing else."""
    kind = np.dtype(f"u{array.dtype.itemsize}")
    sign = kind.type(1 << (8 * kind.itemsize - 1))
    return change(array.view(kind), sign).view(array.dtype)


def _extreme(function: np.ufunc, of_zeros: np.ufunc) -> Callable[[Array, Array], Array]:
    """``function``, with -0.0 below 0.0 as on a GPU: NumPy takes either, depending on where in the array they are."""

    def apply(x: Array, y: Array) -> Array:
        result: Array = function(x, y)
        # Most blocks hold no zero at all, which one look at the larger of the two tells.
        larger, smaller = (x, y) if x.size >= y.size else (y, x)
        zeros = larger == 0
        if zeros.any() and (zeros := zeros & (smaller == 0)).any():
            bits = f"i{x.dtype.itemsize}"
            result = np.where(zeros, of_zeros(x.view(bits), y.view(bits)).view(x.dtype), result)
        return result

    return apply


# Only the sign bit can be set in a zero: `and` gives the greater of two, `or` the lesser.
_minimum = _extreme(np.minimum, np.bitwise_or)
_maximum = _extreme(np.maximum, np.bitwise_and)
_fmin = _extreme(np.fmin, np.bitwise_or)
_fmax = _extreme(np.fmax, np.bitwise_and)


@impl("arith.minimumf")
def minimumf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, _minimum, a, b)


@impl("arith.maximumf")
def maximumf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, _maximum, a, b)


@impl("arith.minnumf")
def minnumf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, _fmin, a, b)


@impl("arith.maxnumf")
def maxnumf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _elementwise(frame, op, _fmax, a, b)


@impl("tt.clampf")
def clampf(frame: Frame, op: Op, x: Value, low: Value, high: Value) -> Value:
    """``propagateNan`` 0xFFFF keeps a NaN; otherwise a NaN becomes the lower bound."""
    if op.attributes.get("propagateNan", 0):
        return _elementwise(frame, op, lambda x, a, b: _minimum(_maximum(x, a), b), x, low, high)
    return _elementwise(frame, op, lambda x, a, b: _fmin(_fmax(x, a), b), x, low, high)
