"""Combine functions of reductions and scans: a NumPy ufunc if one does the same, else the region itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.bound_code import BoundBlock
from triton_lab.interpreter.dtypes import unsigned
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.min_max import Extreme, fmax, fmin, maximum, minimum
from triton_lab.interpreter.number_conversion import widen
from triton_lab.interpreter.runtime_values import elements
from triton_lab.ir import traits

Array = NDArray[Any]
Folding = np.ufunc | Extreme
Fold = Callable[[Folding, Array], Array]

_UFUNCS: dict[str, Folding] = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.mulf": np.multiply,
    "arith.muli": np.multiply,
    "arith.maxnumf": fmax,
    "arith.minnumf": fmin,
    "arith.maximumf": maximum,
    "arith.minimumf": minimum,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.maxui": np.maximum,
    "arith.minui": np.minimum,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
}
# A set bit is 1 unsigned and -1 signed; sums are taken modulo 2.
_ON_BITS: dict[str, np.ufunc] = {
    "arith.addi": np.logical_xor,
    "arith.muli": np.logical_and,
    "arith.maxsi": np.logical_and,
    "arith.minsi": np.logical_or,
}


def folding(code: BoundBlock) -> Folding | None:
    """The function that does the same as the region of ``code``, if the region is one operation; else None."""
    if len(code.steps) != 1:
        return None
    step = code.steps[0]
    if set(step.operands) != set(code.arguments) or code.terminator.operands != step.results:
        return None
    return _UFUNCS.get(step.op.name)


def folded(code: BoundBlock, array: Array, fold: Fold) -> Array | None:
    """``fold(ufunc, array)`` if the region of ``code`` is one operation that a ufunc computes; else None.

    Sums of narrow floats are accumulated in float32 and rounded once.
    """
    ufunc = folding(code)
    if ufunc is None:
        return None
    name = code.steps[0].op.name
    if array.dtype == np.bool_:
        return fold(_ON_BITS.get(name, ufunc), array)
    if traits.of(name).extreme and traits.of(name).signed is False:
        return fold(ufunc, array.view(unsigned(array.dtype))).view(array.dtype)
    if array.dtype.kind == "i":
        return fold(ufunc, array)
    return fold(ufunc, widen(array)).astype(array.dtype, copy=False)


def combine(frame: Frame, code: BoundBlock, left: Sequence[Array], right: Sequence[Array]) -> list[Array]:
    """Apply the combine function to blocks of pairs: inside the region every lane counts as a program."""
    shape = left[0].shape
    inner = lanes(frame, shape)
    arguments = [np.ascontiguousarray(a).reshape(-1) for a in (*left, *right)]
    results = inner.run(code, arguments)
    types = [inner.type(number) for number in code.terminator.operands]
    return [
        np.broadcast_to(elements(value, type), (inner.count,)).reshape(shape)
        for value, type in zip(results, types, strict=True)
    ]


def lanes(frame: Frame, shape: tuple[int, ...]) -> Frame:
    """A frame in which each lane of a ``(programs, ...)`` array counts as a program."""
    count = int(np.prod(shape[1:]))
    rows = np.zeros(count, np.int64) if shape[0] == 1 else np.repeat(np.arange(shape[0]), count)
    return frame.part(rows)


def same_programs(arrays: Sequence[Array]) -> list[Array]:
    """The arrays with their first axis (programs) at the same length: full in all of them, or 1 in all."""
    programs = max(array.shape[0] for array in arrays)
    return [np.broadcast_to(array, (programs, *array.shape[1:])) for array in arrays]
