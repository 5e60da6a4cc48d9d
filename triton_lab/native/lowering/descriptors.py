"""Tensor descriptors, made in the kernel or passed to it, and the memory that their accesses touch.

Elements outside the tensor are masked out. Corners are assumed to have coordinates of 0 or more, so that the mask's
ranges begin at 0; a program with another corner takes the path without that assumption.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from triton_lab.ir import Op
from triton_lab.ir.effects import operands_of
from triton_lab.localization import _
from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.elements import Indices, at, holds, position
from triton_lab.native.blocks.int_expr import Term
from triton_lab.native.blocks.value_repr import AffineValue, BlockAccess, BoxMask, DescriptorValue, Range
from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.llvm.element_types import width_of
from triton_lab.native.lowering.elementwise import literal
from triton_lab.native.lowering.emitter import Emitter, emits
from triton_lab.native.unsupported import Unsupported

# Triton's padding option by number.
_PAD_WITH_NAN = 2
# Smaller strides cannot overflow 64 bits.
_STRIDE_BITS = 40


def handed(code: FunctionBuilder, arguments: Reg, slot: int, rank: int) -> DescriptorValue:
    """A descriptor argument: its slot says how many bytes behind the first slot the descriptor's numbers are."""
    start = code.load("i64", code.offset(arguments, code.constant("i64", slot), "i64"), constant=True)
    record = code.offset(arguments, start, "i8")
    base, padding, *numbers = (
        code.load("i64", code.offset(record, code.constant("i64", k), "i64"), constant=True)
        for k in range(2 + 2 * rank)
    )
    return DescriptorValue.of([base, code.compare("ne", padding, code.constant("i64", 0)), *numbers])


def _wide(code: FunctionBuilder, x: Reg) -> Reg:
    return code.cast("sext", x, "i64") if x.literal is None else code.constant("i64", x.literal)


@emits("tt.make_tensor_descriptor")
def make_tensor_descriptor(emitter: Emitter, op: Op) -> None:
    base, *numbers = (emitter.scalar(value) for value in op.operands)
    padding = emitter.code.constant("i1", op.attributes.get("padding") == _PAD_WITH_NAN)
    emitter.forms[op.results[0]] = DescriptorValue.of([base, padding, *(_wide(emitter.code, x) for x in numbers)])


def descriptor_of(joined: Callable[..., Reg], parts: Sequence[DescriptorValue]) -> DescriptorValue:
    """A descriptor merged from several: ``joined`` merges each number, unless it is equal in all of them."""
    numbers = zip(*(part.registers for part in parts), strict=True)
    return DescriptorValue.of([found[0] if all(x == found[0] for x in found) else joined(*found) for found in numbers])


def chosen(emitter: Emitter, op: Op) -> DescriptorValue:
    """``arith.select`` between two descriptors."""
    condition = emitter.scalar(op.operands[0])
    parts = [form for form in map(emitter.form, op.operands[1:]) if isinstance(form, DescriptorValue)]
    return descriptor_of(lambda a, b: emitter.code.select(condition, a, b), parts)


def by_its_descriptor(emitter: Emitter, op: Op) -> BlockAccess:
    """What an access by a descriptor touches."""
    where = operands_of(op)
    descriptor = op.operands[where.address]
    form, pointee = emitter.form(descriptor), emitter.types[descriptor].pointee
    if not isinstance(form, DescriptorValue):
        raise Unsupported(_("a descriptor that is selected at run time"))
    assert pointee is not None
    value = op.results[0] if where.value is None else op.operands[where.value]
    element = emitter.element(value)
    size, last = width_of(element), len(form.strides) - 1
    strides = [_scaled(emitter, op, int_expr.known(x), size, last=k == last) for k, x in enumerate(form.strides)]
    if emitter.types[op.operands[where.coordinates[0]]].shape:
        return _rows(emitter, op, form, strides, element, emitter.types[value].shape[1])
    return _block(emitter, op, form, strides, element, pointee.shape)


def _scaled(emitter: Emitter, op: Op, stride: Term, size: int, *, last: bool) -> Term:
    """A stride in bytes. The last axis must be contiguous, as descriptors require."""
    code = emitter.code
    if not isinstance(stride, int):
        if last:
            emitter.guards.require(code.compare("eq", stride, code.constant("i64", 1)), op, "strides")
            return size
        shifted = code.op("add", stride, code.constant("i64", 1 << _STRIDE_BITS - 1))
        near = code.compare("ult", shifted, code.constant("i64", 1 << _STRIDE_BITS))
        emitter.guards.require(near, op, "strides")
    return int_expr.multiply(code, stride, size)


def _block(
    emitter: Emitter, op: Op, form: DescriptorValue, strides: Sequence[Term], element: str, shape: tuple[int, ...]
) -> BlockAccess:
    """The access to a block at a corner."""
    code = emitter.code
    base: Term = form.base
    ranges: list[Range | None] = []
    reach = 0
    for k, (value, stride, size) in enumerate(zip(operands_of(op).coordinates, strides, shape, strict=True)):
        first, inside = _along(emitter, op, op.operands[value], form.extents[k], size)
        base = int_expr.add(code, base, int_expr.multiply(code, first, stride))
        ranges.append(inside)
        bits = stride.bit_length() if isinstance(stride, int) else _STRIDE_BITS + 4
        reach = max(reach, bits + size.bit_length()) + 1
    affine = AffineValue(base, tuple(strides), shape, 64, reach, width_of(element))
    box = BoxMask(tuple(ranges))
    return BlockAccess(
        op,
        shape,
        element,
        lambda index: position(emitter, affine, index),
        lambda index: holds(emitter, box, index),
        (),
        affine,
        box,
        True,
        padding=_padding(emitter, form, element),
    )


def _rows(
    emitter: Emitter, op: Op, form: DescriptorValue, strides: Sequence[Term], element: str, width: int
) -> BlockAccess:
    """The access to ``width`` elements of some rows, from one column on."""
    rows, column = (op.operands[k] for k in operands_of(op).coordinates)
    height, shape = form.extents[0], (emitter.types[rows].shape[0], width)
    first, inside = _along(emitter, op, column, form.extents[1], width)
    base = int_expr.add(emitter.code, form.base, int_expr.multiply(emitter.code, first, strides[1]))
    along, box = AffineValue(base, (0, strides[1]), shape, 64, 64), BoxMask((None, inside))

    def row(index: Indices) -> Reg:
        return emitter.code.cast("sext", at(emitter, rows, index[:1]), "i64")

    def places(index: Indices) -> Reg:
        code = emitter.code
        return code.op("add", position(emitter, along, index), _times(code, row(index), strides[0]))

    def counts(index: Indices) -> bool | Reg:
        held = holds(emitter, box, index)
        if held is False:
            return False
        code, number = emitter.code, row(index)
        # A negative row number is no row.
        there = code.compare("slt", number, height)
        there = code.op("and", there, code.compare("sge", number, code.like(number, 0)))
        return there if held is True else code.op("and", there, held)

    padding = _padding(emitter, form, element)
    return BlockAccess(op, shape, element, places, counts, (rows,), None, box, True, in_rows=True, padding=padding)


def _along(emitter: Emitter, op: Op, coordinate: int, extent: Reg, size: int) -> tuple[Term, Range]:
    """Where a block of ``size`` begins along an axis, and which part of it is inside the tensor."""
    code = emitter.code
    first = int_expr.known(_wide(code, emitter.scalar(coordinate)))
    if emitter.within and not isinstance(first, int):
        emitter.guards.require(code.compare("sge", first, code.constant("i64", 0)), op, "within")
        low: Term = 0
    else:
        low = _clipped(code, int_expr.subtract(code, 0, first), size)
    return first, Range(low, _clipped(code, int_expr.subtract(code, int_expr.known(extent), first), size))


def _padding(emitter: Emitter, form: DescriptorValue, element: str) -> Reg | None:
    if form.padding.literal == 0 or element[0] not in "fb":
        return None
    code, nan = emitter.code, literal(emitter.code, math.nan, element)
    return code.select(form.padding, nan, code.constant(nan.kind, 0))


def _clipped(code: FunctionBuilder, x: Term, most: int) -> Term:
    return int_expr.least(code, int_expr.greatest(code, x, 0), most)


def _times(code: FunctionBuilder, x: Reg, factor: Term) -> Reg:
    return x if factor == 1 else code.op("mul", x, int_expr.register(code, factor))
