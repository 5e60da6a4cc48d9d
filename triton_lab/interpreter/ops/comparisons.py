"""``arith.cmpi``, ``arith.cmpf`` and ``arith.select``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import mask_box
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.dtypes import unsigned
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.number_conversion import widen
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.runtime_values import Descriptor, Value, merge, take
from triton_lab.ir import Op, predicates

Array = NDArray[Any]

_UFUNCS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@impl("arith.cmpi")
def cmpi(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    predicate = predicates.INTEGER[op.attributes["predicate"]]
    if isinstance(a, AffineBlock) and isinstance(b, AffineBlock):
        same_sign = a.range()[0] >= 0 and b.range()[0] >= 0
        if predicate[0] != "u" or same_sign:
            mask = mask_box.compare(predicate[-2:], a, b)
            if mask is not None:
                return mask
    x, y = frame.elements(op, 0, a), frame.elements(op, 1, b)
    if x.dtype == np.bool_:
        # NumPy's order is false < true, the unsigned one. As a signed bit, true is -1.
        if predicate[0] == "s":
            x, y = y, x
    elif predicate[0] == "u":
        kind = unsigned(x.dtype)
        x, y = x.view(kind), y.view(kind)
    result: Array = _UFUNCS[predicate[-2:]](x, y)
    return result


@impl("arith.cmpf")
def cmpf(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    x, y = widen(frame.elements(op, 0, a)), widen(frame.elements(op, 1, b))
    predicate = predicates.FLOAT[op.attributes["predicate"]]
    if predicate in ("true", "false"):
        return np.full(np.broadcast_shapes(x.shape, y.shape), predicate == "true")
    if predicate in ("ord", "uno"):
        unordered = np.isnan(x) | np.isnan(y)
        return ~unordered if predicate == "ord" else unordered
    result: Array = _UFUNCS[predicate[1:]](x, y)
    if predicate == "one":
        return result & ~(np.isnan(x) | np.isnan(y))
    # NumPy's comparisons are the ordered ones, except `!=`, which is unordered.
    if predicate[0] == "u" and predicate != "une":
        return result | np.isnan(x) | np.isnan(y)
    return result


@impl("arith.select")
def select(frame: Frame, op: Op, condition: Value, a: Value, b: Value) -> Value:
    if isinstance(condition, np.ndarray) and condition.size == 1:
        return a if condition.reshape(-1)[0] else b
    if isinstance(condition, MaskBox) and condition.is_full():
        return a
    if isinstance(a, Descriptor):
        truth = np.broadcast_to(frame.elements(op, 0, condition), (frame.count,))
        sides = [(rows, take(value, rows)) for rows, value in ((truth.nonzero()[0], a), ((~truth).nonzero()[0], b))]
        return merge([(rows, value) for rows, value in sides if len(rows)], frame.count, frame.result_type(op))
    x, y, chosen = frame.elements(op, 1, a), frame.elements(op, 2, b), frame.elements(op, 0, condition)
    rank = len(frame.result_type(op).shape)
    if chosen.ndim == 1 and rank:
        chosen = chosen.reshape(-1, *(1,) * rank)
    if x.dtype.itemsize == 2 and x.dtype.kind != "i":
        # NumPy is slow at selecting 16-bit floats, and fast at selecting integers.
        return np.where(chosen, x.view(np.int16), y.view(np.int16)).view(x.dtype)
    return np.where(chosen, x, y)
