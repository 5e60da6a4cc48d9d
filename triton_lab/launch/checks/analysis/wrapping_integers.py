"""Integer operations that may wrap: which pass a wrapped number on, and what their exact results are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, traits
from triton_lab.ir.traits import Kind

Array = NDArray[Any]

_EXACT = {"+": np.add, "-": np.subtract, "*": np.multiply, "<<": np.left_shift}
# Sums, differences, products and shifts of integers, with their operators.
SIGNS = {name: trait.symbol for name, trait in traits.TRAITS.items() if trait.wraps and trait.symbol}


def passes(op: Op) -> bool:
    """Whether a wrapped number may pass through ``op`` on its way to a pointer.

    Bit masks, right shifts and unsigned remainders are left out: they make hashes, which wrap on purpose.
    """
    trait = traits.of(op.name)
    if trait.kind is Kind.CASTS:
        return trait.keeps or (trait.numbers == "integer" and not trait.makes)
    if trait.kind is Kind.ELEMENTWISE:
        return trait.numbers != "float" and trait.signed is not False and (trait.wraps or not trait.bitwise)
    return trait.is_pure and trait.kind is not Kind.COMPARES and trait.kind is not Kind.CONTRACTS


def answers(op: Op) -> bool:
    """Whether ``op`` makes masks out of numbers or masks: a mask is wrong if the values that it compares are."""
    trait = traits.of(op.name)
    return trait.numbers == "integer" and (trait.kind is Kind.COMPARES or (trait.bitwise and trait.commutative))


def exactly(
    frame: Frame, op: Op, operands: Sequence[Value], result: Any, signed: bool
) -> tuple[Array, Array, list[Array]]:
    """The result of ``op``, its exact result, and the operands to show, all in 64 bits."""
    found = in_64_bits(result, signed)
    if op.regions:
        array = in_64_bits(frame.spread(op, 0, operands[0]), signed)
        axis = op.attributes["axis"] + 1
        if op.name == "tt.reduce":
            return found, array.sum(axis=axis), []
        if op.attributes["reverse"]:
            return found, np.flip(np.cumsum(np.flip(array, axis), axis=axis), axis), []
        return found, np.cumsum(array, axis=axis), []
    left = in_64_bits(frame.elements(op, 0, operands[0]), signed)
    if op.name == "arith.trunci":
        return found, left, []
    right = in_64_bits(frame.elements(op, 1, operands[1]), signed)
    if op.name == "arith.shli":
        right = np.clip(right, 0, 31)
    return found, _EXACT[SIGNS[op.name]](left, right), [left, right]


def words(op: Op, parts: Sequence[int]) -> str:
    """What a finding calls the exact result, from the operands."""
    if op.name == "arith.trunci":
        return "the number"
    if op.regions:
        return "the sum" if op.name == "tt.reduce" else "the running sum"
    return f"{parts[0]} {SIGNS[op.name]} {parts[1]} ="


def in_64_bits(array: Array, signed: bool) -> Array:
    """Integers of any width, read as signed or not, as int64."""
    if not signed and array.dtype.kind == "i":
        return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").astype(np.int64)
    return array.astype(np.int64)
