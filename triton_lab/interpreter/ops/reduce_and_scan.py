"""``tt.reduce`` and ``tt.scan``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.bound_code import BoundBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.ops.combine_functions import Folding, combine, folded, same_programs
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op

Array = NDArray[Any]


@impl("tt.reduce")
def reduce(frame: Frame, op: Op, *operands: Value) -> Any:
    axis = op.attributes["axis"] + 1
    arrays = [frame.spread(op, k, value) for k, value in enumerate(operands)]
    (code,) = frame.region(op)
    if len(arrays) == 1:
        result = folded(code, arrays[0], lambda f, a: _reduced(f, a, axis))
        if result is not None:
            return result
    moved = [np.moveaxis(array, axis, 1) for array in same_programs(arrays)]
    while (length := moved[0].shape[1]) > 1:
        even = length - length % 2
        combined = combine(frame, code, [m[:, 0:even:2] for m in moved], [m[:, 1:even:2] for m in moved])
        # An element left over goes to the end of the next level: the order stays the same.
        moved = [np.concatenate([c, m[:, even:]], axis=1) for c, m in zip(combined, moved, strict=True)]
    results = tuple(m[:, 0] for m in moved)
    return results[0] if len(results) == 1 else results


def _reduced(ufunc: Folding, array: Array, axis: int) -> Array:
    """One ufunc over an axis. The order of a sum does not depend on the batch, and is not one by one.

    NumPy adds in pairs along the last axis of contiguous memory. Along other axes it adds one by one, whose error grows
    with the length; there the array is folded in halves, as a GPU's threads do.
    """
    array = np.ascontiguousarray(array)
    if array.dtype.kind != "i" and axis != array.ndim - 1:
        while (half := array.shape[axis] // 2) and array.shape[axis] % 2 == 0:
            front, back = np.split(array, [half], axis=axis)
            array = ufunc(front, back)
    if ufunc is np.add and array.dtype.kind == "f":
        # NumPy starts with +0, so a sum of only -0 would be +0.
        total: Array = np.add.reduce(array, axis=axis, dtype=array.dtype, initial=-0.0)
        return total
    return ufunc.reduce(array, axis=axis, dtype=array.dtype)


@impl("tt.scan")
def scan(frame: Frame, op: Op, *operands: Value) -> Any:
    axis = op.attributes["axis"] + 1
    arrays = same_programs([frame.spread(op, k, value) for k, value in enumerate(operands)])
    (code,) = frame.region(op)
    moved = [np.moveaxis(array, axis, 1) for array in arrays]
    if op.attributes["reverse"]:
        moved = [m[:, ::-1] for m in moved]
    result = None
    if len(moved) == 1:
        result = folded(code, moved[0], lambda f, a: f.accumulate(a, axis=1, dtype=a.dtype))
    results = [result] if result is not None else _scanned(frame, code, moved)
    if op.attributes["reverse"]:
        results = [r[:, ::-1] for r in results]
    outputs = tuple(np.moveaxis(r, 1, axis) for r in results)
    return outputs[0] if len(outputs) == 1 else outputs


def _scanned(frame: Frame, code: BoundBlock, arrays: list[Array]) -> list[Array]:
    """Inclusive scan by doubling: after the step with distance ``d``, each element covers ``2 d`` elements."""
    arrays = [np.array(a) for a in arrays]
    distance, length = 1, arrays[0].shape[1]
    while distance < length:
        combined = combine(frame, code, [a[:, :-distance] for a in arrays], [a[:, distance:] for a in arrays])
        for array, new in zip(arrays, combined, strict=True):
            array[:, distance:] = new
        distance *= 2
    return arrays
