"""Bounds of operations whose result is an integer, a truth value or a pointer.

Such a result is exact unless an operand's bound reaches a decision: a whole number, an equality, the end of the range.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import dtype_of, unsigned
from triton_lab.interpreter.number_conversion import float_to_integer
from triton_lab.ir import Op, Type, traits
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.bounds.bound import CHOICE, EXACT, LOST, Bound, alone, decided
from triton_lab.launch.comparison.number_formats import wide

Array = NDArray[Any]
Run = Callable[..., Any]

# How many values of an operand are tried, at most, and how many combinations of those of all operands.
_WIDEST, _MOST = 16, 25

_SUMS = traits.names(lambda trait: trait.numbers == "integer" and trait.symbol in ("+", "-"))
_EXTREMES = {"arith.maxsi": np.maximum, "arith.minsi": np.minimum}
_WIDENS = traits.names(lambda trait: trait.kind is Kind.CASTS and trait.numbers == "integer" and not trait.makes)
_ORDERS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
# The predicates of comparisons by number; "": only NaN decides.
_OF_INTEGERS = ("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")
_OF_FLOATS = (
    *("", "eq", "gt", "ge", "lt", "le", "ne", ""),
    *("eq", "gt", "ge", "lt", "le", "ne", "", ""),
)


def of_whole(
    op: Op, arrays: Sequence[Array], bounds: Sequence[Bound], raw: Array, types: Sequence[Type], run: Run
) -> Bound:
    """The bound of a result ``raw`` of the last of ``types``, computed from ``arrays`` of the others.

    ``run`` computes the operation on other arrays.
    """
    type = types[-1]
    if type.is_pointer or type.element == "index":
        found = _lost_where(bounds)
    elif traits.of(op.name).kind is Kind.COMPARES:
        found = _compared(op, arrays, bounds, types[0], raw)
    elif traits.of(op.name).makes == "integer":
        found = _cut(op, arrays[0], bounds[0], raw, type)
    elif not type.is_float and raw.dtype.kind in "iu" and op.name in _SUMS:
        found = _added(op, bounds, raw)
    elif op.name in _EXTREMES and raw.dtype.kind == "i":
        found = _chosen(op, arrays, bounds, raw)
    elif op.name in _WIDENS and raw.dtype.kind == "i" and arrays[0].dtype.kind == "i":
        found = _resized(op, arrays[0], bounds[0], raw)
    else:
        found = _tried(arrays, bounds, raw, run)
    return found


def _lost_where(bounds: Sequence[Bound]) -> Bound:
    """Nothing is known where an operand may differ."""
    where = np.logical_or.reduce(np.broadcast_arrays(*(one.uncertain for one in bounds)))
    return Bound.around(np.where(where, np.inf, 0.0))


def _compared(op: Op, arrays: Sequence[Array], bounds: Sequence[Bound], type: Type, raw: Array) -> Bound:
    """The answer may be another one if the sign of the difference may be, and the predicate holds for one only."""
    if op.operands[0] == op.operands[1]:
        return Bound.around(np.zeros(1))
    integers = op.name == "arith.cmpi"
    number = op.attributes["predicate"]
    predicate = (_OF_INTEGERS if integers else _OF_FLOATS)[number]
    a, b = (wide(array) for array in arrays)
    uncertain = bounds[0].uncertain | bounds[1].uncertain
    if integers and (arrays[0].dtype == np.bool_ or not predicate):
        return Bound.around(np.where(uncertain, 1.0, 0.0), np.where(uncertain, CHOICE, 0))
    with np.errstate(invalid="ignore"):
        apart = np.where(a == b, 0.0, a - b)
        low = apart - (bounds[0].below + bounds[1].above)
        high = apart + (bounds[0].above + bounds[1].below)
    if predicate in ("eq", "ne"):
        turns = (low <= 0) & (high >= 0) & (low < high)
    elif predicate:
        order = getattr(np, _ORDERS[predicate])
        turns = order(low, 0) != order(high, 0)
    else:
        turns = np.zeros(1, np.bool_)  # only NaN decides
    turns = turns | np.isnan(low) | np.isnan(high)
    if integers and number >= 6:  # unsigned: negative numbers are large
        negative = (a - bounds[0].below < 0) | (b - bounds[1].below < 0)
        turns = turns | negative
    turns = turns & uncertain
    if integers:
        for array, value, one in zip(arrays, (a, b), bounds, strict=True):
            turns = turns | (uncertain & _outside(one, value, array.dtype))
    return _truth(raw, turns, bounds)


def _truth(raw: Array, turns: Array, bounds: Sequence[Bound]) -> Bound:
    """A truth value that may be the other one where it ``turns``."""
    kind = np.where(turns, alone([Bound(one.below, one.above, decided(one.kind)) for one in bounds]), 0)
    return Bound(np.where(turns & raw, 1.0, 0.0), np.where(turns & ~raw, 1.0, 0.0), kind)


def _cut(op: Op, array: Array, bound: Bound, raw: Array, type: Type) -> Bound:
    """A float that is cut to a whole number: exact unless its bound reaches another whole number."""
    target = dtype_of(type) if op.name == "arith.fptosi" else unsigned(dtype_of(type))
    x = wide(array)
    low, high = x - bound.below, x + bound.above
    known = np.isfinite(low) & np.isfinite(high)
    ends = [wide(float_to_integer(np.where(known, end, 0.0), target)) for end in (low, high)]
    value = wide(raw.view(target) if target.kind == "u" else raw)
    # 8-bit targets keep the lower half of 16 bits: in order only where nothing is lost.
    if target.itemsize == 1:
        limits = np.iinfo(target)
        inside = (np.trunc(low) >= limits.min) & (np.trunc(high) <= limits.max)
        known = known & (inside | (np.trunc(low) == np.trunc(high)))
    found = Bound.between(ends[0], value, ends[1], decided(bound.kind))
    certain = ~bound.uncertain
    return Bound.around(np.zeros(1)).where(certain, found.where(known, LOST))


def _outside(bound: Bound, value: Array, dtype: np.dtype[Any]) -> Array:
    """Where the bound leaves the range of the dtype, or that of whole numbers that are exact in float64."""
    limits = np.iinfo(dtype)
    least, most = max(float(limits.min), -EXACT), min(float(limits.max), EXACT)
    return np.asarray((value - bound.below < least) | (value + bound.above > most))


def _wrapped(bound: Bound, value: Array, dtype: np.dtype[Any]) -> Bound:
    """The bound, infinite where the value may leave the range of its type."""
    outside = _outside(bound, value, dtype) & bound.uncertain
    return LOST.where(outside, bound) if outside.any() else bound


def _added(op: Op, bounds: Sequence[Bound], raw: Array) -> Bound:
    if op.name == "arith.subi" and op.operands[0] == op.operands[1]:
        return Bound.around(np.zeros(1))
    one, two = bounds
    if op.name == "arith.subi":
        two = Bound(two.above, two.below, two.kind)
    return _wrapped(Bound(one.below + two.below, one.above + two.above, alone(bounds)), wide(raw), raw.dtype)


def _chosen(op: Op, arrays: Sequence[Array], bounds: Sequence[Bound], raw: Array) -> Bound:
    function = _EXTREMES[op.name]
    values = [wide(array) for array in arrays]
    bounds = [_wrapped(one, value, raw.dtype) for one, value in zip(bounds, values, strict=True)]
    low = function(*(value - one.below for value, one in zip(values, bounds, strict=True)))
    high = function(*(value + one.above for value, one in zip(values, bounds, strict=True)))
    return Bound.between(low, wide(raw), high, alone(bounds))


def _resized(op: Op, array: Array, bound: Bound, raw: Array) -> Bound:
    """Integers of another width: their distances stay unless one of them wraps."""
    value = wide(array)
    low, high = value - bound.below, value + bound.above
    if op.name == "arith.extui":
        apart = (low < 0) & (high >= 0)
    elif raw.dtype.itemsize < array.dtype.itemsize:
        limits = np.iinfo(raw.dtype)
        width = float(limits.max) - float(limits.min) + 1
        apart = np.floor((low - limits.min) / width) != np.floor((high - limits.min) / width)
    else:
        apart = _outside(bound, value, array.dtype)
    apart = apart | (np.abs(value) > EXACT)
    return LOST.where(apart & bound.uncertain, bound)


def _tried(arrays: Sequence[Array], bounds: Sequence[Bound], raw: Array, run: Run) -> Bound:
    """The least and the greatest result for all values that the operands may have, if these are few."""
    shape = np.broadcast_shapes(raw.shape, *(array.shape for array in arrays))
    where = np.flatnonzero(np.broadcast_to(np.logical_or.reduce([
        np.broadcast_to(one.uncertain, shape) for one in bounds
    ]), shape))  # fmt: skip
    flat = [np.broadcast_to(array, shape).reshape(-1)[where] for array in arrays]
    near = [
        Bound(*(np.broadcast_to(part, shape).reshape(-1)[where] for part in (one.below, one.above, one.kind)))
        for one in bounds
    ]
    here = wide(np.broadcast_to(raw, shape).reshape(-1)[where])
    low, high = here.copy(), here.copy()
    widths = [one.below + one.above for one in near]
    few = np.logical_and.reduce([width <= _WIDEST for width in widths])
    few &= np.logical_and.reduce([np.abs(wide(array)) < EXACT for array in flat])
    most = [int(width[few].max(initial=0.0)) for width in widths]
    if np.prod([each + 1 for each in most]) > _MOST or any(array.dtype.kind not in "iub" for array in flat):
        few[:] = False
    else:
        for offsets in itertools.product(*(range(each + 1) for each in most)):
            moved = [_moved(array, one, k) for array, one, k in zip(flat, near, offsets, strict=True)]
            found = wide(np.asarray(run(*moved)))
            low, high = np.fmin(low, found), np.fmax(high, found)
    found_kind = np.where(high - low <= 1, alone(near), CHOICE)
    result = Bound.between(low, here, high, found_kind)
    result = result.where(few, LOST)
    whole = [np.zeros(int(np.prod(shape))) for _ in range(3)]
    for target, part in zip(whole, (result.below, result.above, result.kind), strict=True):
        target[where] = part
    below, above, kind = (array.reshape(shape) for array in whole)
    return Bound(below, above, kind)


def _moved(array: Array, bound: Bound, k: int) -> Array:
    """The operands, moved to the ``k``-th value of their bound from below, or to the last one."""
    by = np.minimum(k, bound.below + bound.above) - bound.below
    if array.dtype == np.bool_:
        return np.where(by != 0, ~array, array)
    moved: Array = (array.astype(np.int64) + by.astype(np.int64)).astype(array.dtype)
    return moved
