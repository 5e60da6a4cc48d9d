"""Blocks of addresses that are not affine, but contiguous along their last axis: for example rows, chosen by their
numbers.

The distance from one element to the next follows from the operations. A row's two ends show that it does not wrap at
the end of its integer type: only an element that wraps is smaller than the one before it.
"""

from __future__ import annotations

from triton_lab.ir import Op, traits
from triton_lab.ir.effects import is_access
from triton_lab.ir.traits import At, Kind
from triton_lab.native.blocks.value_repr import AffineValue, Lazy
from triton_lab.native.llvm.element_types import width_of
from triton_lab.native.lowering.emitter import Emitter
from triton_lab.native.lowering.pure_operations import MOVES, PURE


def step_along(emitter: Emitter, value: int, axis: int) -> int | None:
    """The difference between neighbours along ``axis``, except where integers wrap; None if unknown."""
    value = emitter.analysis.one(value)
    type, form = emitter.types[value], emitter.forms.get(value)
    if not type.shape or type.shape[axis] == 1:
        return 0
    if isinstance(form, AffineValue):
        stride = form.strides[axis]
        return stride if isinstance(stride, int) else None
    if not isinstance(form, Lazy):
        return None
    found = _step_of(emitter, form.op, axis)
    return None if found is None or found < 0 else found


def _step_of(emitter: Emitter, op: Op, axis: int) -> int | None:
    if op.name == "tt.make_range":
        return 1
    if op.name in MOVES:
        ((moved,),) = traits.lanes(op, emitter.types)
        along = [k for k, each in enumerate(moved.axes) if each == At(axis)]
        return step_along(emitter, op.operands[0], along[0]) if along else 0
    if op.name not in PURE and not is_access(op):
        return None
    if any(emitter.types[operand].is_descriptor for operand in op.operands):
        return None
    steps = [step_along(emitter, operand, axis) for operand in op.operands]
    if all(step == 0 for step in steps):
        return 0
    if None in steps:
        return None
    trait = traits.of(op.name)
    if trait.kind is Kind.CASTS and trait.numbers == "integer" and not trait.makes:
        return steps[0]
    if trait.sums and trait.numbers == "integer" and trait.symbol != "-":
        pointee = emitter.types[op.results[0]].pointee
        size = 1 if pointee is None else width_of(pointee.element)
        return (steps[0] or 0) + size * (steps[1] or 0)
    return steps[0] if trait.symbol == "-" and steps[1] == 0 else None
