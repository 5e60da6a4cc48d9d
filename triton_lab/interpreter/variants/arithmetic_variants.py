"""Other arithmetics that the interpreter can try: a GPU's ways, other orders, more bits.

Each is a table of functions that are bound instead of the ordinary ones (`Executable.of`). A run without one costs
nothing extra, and nothing is set for the process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.number_conversion import float_to_float, float_to_integer, flushed, widen
from triton_lab.interpreter.op_registry import REGISTRY, Implementation
from triton_lab.interpreter.ops.atomics import modify
from triton_lab.interpreter.ops.combine_functions import Folding, folded
from triton_lab.interpreter.ops.dot import product
from triton_lab.interpreter.ops.memory import as_pointer, masking
from triton_lab.interpreter.ops.serialized_lanes import Update
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, traits
from triton_lab.ir.effects import Rmw, operands_of
from triton_lab.ir.traits import Kind

Array = NDArray[Any]
Table = Mapping[str, Implementation]

_TF32 = 0
_F32 = np.dtype(np.float32)


def to_tf32(x: Array, nearest: bool = True) -> Array:
    """float32 with only the ten bits of fraction that tf32 has: rounded to nearest, ties away from zero (``cvt.rna``),
    or cut.
    """
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    if nearest:
        bits = bits + np.where(np.isfinite(x), np.uint32(1 << 12), np.uint32(0))
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


def tf32(nearest: bool) -> Table:
    """Dots of float32 with input precision tf32 round their inputs to tf32."""

    def dot(frame: Frame, op: Op, a: Value, b: Value, accumulator: Value) -> Value:
        kind = frame.type(op.operands[0]).element
        if kind == "f32" and op.attributes.get("inputPrecision", _TF32) == _TF32:
            a = to_tf32(frame.spread(op, 0, a), nearest)
            b = to_tf32(frame.spread(op, 1, b), nearest)
        return ordinary("tt.dot")(frame, op, a, b, accumulator)  # type: ignore[no-any-return]

    return {"tt.dot": dot}


def ordinary(name: str) -> Implementation:
    """The function that runs the operation otherwise."""
    return REGISTRY[name].run


# --- Lanes that a mask turns off --------------------------------------------------------------------


def unsaid(ops: Collection[int]) -> Table:
    """In the loads ``ops`` (by index), lanes that the mask turns off get NaN and numbers of either sign, in turn.

    Only in loads without an ``other``: a GPU may give any value there; the ordinary interpreter gives zero.
    """

    def anything(found: Array, shape: tuple[int, ...]) -> Array:
        most = np.iinfo(found.dtype).max // 3 if found.dtype.kind in "iu" else 99
        some = np.array((most, -most, most if found.dtype.kind in "iu" else np.nan)).astype(found.dtype)
        return np.resize(some, shape)

    return _given(ops, anything)


def far(ops: Collection[int], sign: int) -> Table:
    """The same with one number of this ``sign``, as far from zero as four of them can be added; for bool, True if
    positive.
    """

    def number(found: Array, shape: tuple[int, ...]) -> Array:
        if found.dtype.kind == "b":
            return np.array(sign > 0)
        whole = found.dtype.kind == "i"
        most = np.iinfo(found.dtype).max if whole else float(ml_dtypes.finfo(found.dtype).max)  # type: ignore[no-untyped-call]
        return np.array(sign * (most // 4 if whole else most / 4)).astype(found.dtype)

    return _given(ops, number)


def _given(ops: Collection[int], instead: Callable[[Array, tuple[int, ...]], Array]) -> Table:
    """The loads ``ops``, with ``instead`` making the values of masked lanes, in a shape that covers the mask's."""

    def load(frame: Frame, op: Op, *operands: Value) -> Value:
        found = ordinary("tt.load")(frame, op, *operands)
        at = operands_of(op)
        if op.index not in ops or at.mask is None or at.other is not None:
            return found  # type: ignore[no-any-return]
        mask = frame.elements(op, at.mask, operands[at.mask])
        return np.where(mask, found, instead(found, (mask | np.zeros(found.shape, np.bool_)).shape))

    return {"tt.load": load}


# --- What a GPU does to subnormal numbers, and to bytes in one register -------------------------------


def _flushed_sum(x: Array, y: Array) -> Array:
    found: Array = flushed(flushed(x) + flushed(y))
    return found


def _atomic(frame: Frame, op: Op, *operands: Value) -> Value:
    at = operands_of(op)
    assert at.value is not None
    value = frame.elements(op, at.value, operands[at.value])
    if op.attributes["atomic_rmw_op"] != Rmw.FADD or value.dtype != _F32:
        return ordinary("tt.atomic_rmw")(frame, op, *operands)  # type: ignore[no-any-return]
    pointer, mask = as_pointer(operands[at.address]), masking(operands, at)
    return modify(frame, op, pointer, mask, value, Rmw.FADD, Update(_flushed_sum))


# Atomic additions of float32 read and leave subnormal numbers as zeros.
FLUSHED_ATOMICS: Table = {"tt.atomic_rmw": _atomic}


def cast_in_pairs(frame: Frame, op: Op, x: Value) -> tuple[Array, Array]:
    """The bytes of an ``arith.fptoui``, each by itself, and as a GPU makes them of two floats in one register.

    Without pairs along the last axis, or with another type, both are the same.
    """
    given = frame.spread(op, 0, x)
    found: Array = ordinary("arith.fptoui")(frame, op, given)
    if found.dtype.itemsize != 1 or found.ndim < 2 or found.shape[-1] % 2:
        return found, found
    wide = float_to_integer(given, np.dtype(np.uint16))
    paired = found.copy()
    paired[..., 1::2] |= (wide[..., ::2] >> np.uint16(8)).astype(np.uint8).view(found.dtype)
    return found, paired


def _paired(frame: Frame, op: Op, x: Value) -> Value:
    return cast_in_pairs(frame, op, x)[1]


# Of two floats that a thread converts to bytes of one register, the upper bits of the first are added to the second.
PAIRED_BYTES: Table = {"arith.fptoui": _paired}


# --- Orders of summation --------------------------------------------------------------------------


def in_order(arrange: Callable[[Array], Array]) -> Table:
    """Sums whose terms are added one by one, in the order that ``arrange`` gives the first axis. Dots likewise, product
    by product.
    """

    def total(ufunc: Folding, array: Array, axis: int) -> Array:
        terms = arrange(np.moveaxis(array, axis, 0))
        result = terms[0]
        for term in terms[1:]:
            result = ufunc(result, term)
        return np.asarray(result)

    def reduce(frame: Frame, op: Op, *operands: Value) -> Any:
        if len(operands) == 1:
            (code,) = frame.region(op)
            array = frame.spread(op, 0, operands[0])
            result = folded(code, array, lambda ufunc, a: total(ufunc, a, op.attributes["axis"] + 1))
            if result is not None:
                return result
        return ordinary("tt.reduce")(frame, op, *operands)

    def dot(frame: Frame, op: Op, a: Value, b: Value, accumulator: Value) -> Value:
        kind = dtype_of(frame.result_type(op))
        if kind.kind == "i":
            return ordinary("tt.dot")(frame, op, a, b, accumulator)  # type: ignore[no-any-return]
        x, y = widen(frame.spread(op, 0, a)), widen(frame.spread(op, 1, b))
        result = widen(frame.elements(op, 2, accumulator))
        for k in arrange(np.arange(x.shape[-1])):
            result = result + x[..., :, k, None] * y[..., k, None, :]
        return result.astype(kind)

    return {"tt.reduce": reduce, "tt.dot": dot}


def halves(array: Array) -> Array:
    """Terms in the order of a tree of halves: 0, n/2, n/4, 3n/4, ..."""
    places = np.arange(len(array))
    bits = max(1, (len(array) - 1).bit_length())
    turned = sum(((places >> k) & 1) << (bits - 1 - k) for k in range(bits))
    return np.asarray(array[np.argsort(turned, kind="stable")])


ORDERS: Mapping[str, Table] = {
    "one after the other": in_order(lambda terms: terms),
    "last to first": in_order(lambda terms: terms[::-1]),
    "in halves": in_order(halves),
}


def _wide_dot(frame: Frame, op: Op, a: Value, b: Value, accumulator: Value) -> Value:
    kind = dtype_of(frame.result_type(op))
    if kind.kind == "i":
        return ordinary("tt.dot")(frame, op, a, b, accumulator)  # type: ignore[no-any-return]
    x, y = (frame.spread(op, k, value).astype(np.float64) for k, value in enumerate((a, b)))
    return float_to_float(product(x, y) + frame.elements(op, 2, accumulator).astype(np.float64), kind)


def _wide_fold(name: str) -> Implementation:
    def run(frame: Frame, op: Op, *operands: Value) -> Any:
        kind = dtype_of(frame.type(op.operands[0]))
        if len(operands) != 1 or kind.kind in "ib":
            return ordinary(name)(frame, op, *operands)
        found = ordinary(name)(frame, op, frame.spread(op, 0, operands[0]).astype(np.float64))
        return float_to_float(np.asarray(found), kind)

    return run


# Sums and dots accumulated in float64, and rounded once.
WIDE_SUMS: Table = {"tt.dot": _wide_dot, "tt.reduce": _wide_fold("tt.reduce"), "tt.scan": _wide_fold("tt.scan")}


# --- All in float64 -------------------------------------------------------------------------------


def _widened(name: str) -> Implementation:
    """The ordinary result, as float64 if it is a float."""

    def run(frame: Frame, op: Op, *operands: Value) -> Any:
        found = ordinary(name)(frame, op, *operands)
        return found.astype(np.float64) if frame.result_type(op).is_float else found

    return run


def _kept(frame: Frame, op: Op, x: Value) -> Value:
    return frame.elements(op, 0, x).astype(np.float64)


def _narrowed(name: str) -> Implementation:
    """The ordinary operation, with the value that it writes converted back to that value's own type."""

    def run(frame: Frame, op: Op, *operands: Value) -> Any:
        at = operands_of(op).value
        if at is None or not frame.type(op.operands[at]).is_float:
            return ordinary(name)(frame, op, *operands)
        given = list(operands)
        given[at] = float_to_float(frame.elements(op, at, operands[at]), dtype_of(frame.type(op.operands[at])))
        found = ordinary(name)(frame, op, *given)
        return found.astype(np.float64) if op.results and frame.result_type(op).is_float else found

    return run


def _wide_product(frame: Frame, op: Op, a: Value, b: Value, accumulator: Value) -> Value:
    if frame.result_type(op).is_integer:
        return ordinary("tt.dot")(frame, op, a, b, accumulator)  # type: ignore[no-any-return]
    x, y = (frame.spread(op, k, value).astype(np.float64) for k, value in enumerate((a, b)))
    return product(x, y) + frame.elements(op, 2, accumulator).astype(np.float64)


# Where floats come from, casts between them, and where they go to memory.
_SOURCES = {"arith.constant"} | traits.names(
    lambda trait: trait.makes == "float" or (trait.effect is not None and trait.effect.brings_in)
)
_CASTS = traits.names(
    lambda trait: trait.kind is Kind.CASTS and trait.numbers == "float" and trait.inverse and not trait.makes
)
_WRITES = traits.names(lambda trait: trait.effect is not None and trait.effect.writes)
# Operations that read the bits of floats or have their own arithmetic: a kernel with one of these cannot run in
# float64.
NARROW_ONLY = (
    traits.names(lambda trait: trait.kind is Kind.CASTS and trait.bitwise)
    | traits.names(lambda trait: trait.effect is not None and "expected" in trait.effect.operands)
    | traits.names(lambda trait: not trait.numbers and trait.rounding.flushes is None)
    | (traits.names(lambda trait: trait.kind is Kind.CONTRACTS) - {"tt.dot"})
)

THROUGHOUT: Table = {
    **{name: _widened(name) for name in sorted(_SOURCES)},
    **dict.fromkeys(sorted(_CASTS), _kept),
    **{name: _narrowed(name) for name in sorted(_WRITES - NARROW_ONLY)},
    "tt.dot": _wide_product,
}
