"""Compact forms: which operations make an affine block, or a mask that is a box.

An affine block is exact: for integers of fewer than 64 bits, a guard checks that none wraps. Blocks that no address and
no mask depends on get no compact form: there, wrapping is intended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from triton_lab.ir import Dense, Op
from triton_lab.native.analysis.affine_rules import bits_of, combined, extent_of, is_bounded, kept, scaled, splat_of
from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.value_repr import AffineValue, BoxMask, Form, Range
from triton_lab.native.llvm.element_types import width_of
from triton_lab.native.lowering.emitter import Emitter

_FORMS: dict[str, Callable[[Emitter, Op], Form | None]] = {}


def _forms(*names: str) -> Callable[[Callable[[Emitter, Op], Form | None]], Callable[[Emitter, Op], Form | None]]:
    def register(function: Callable[[Emitter, Op], Form | None]) -> Callable[[Emitter, Op], Form | None]:
        _FORMS.update(dict.fromkeys(names, function))
        return function

    return register


def compact(emitter: Emitter, op: Op) -> Form | None:
    """The compact form of the block that ``op`` computes, if it has one."""
    value = op.results[0]
    type = emitter.types[value]
    if op.name not in _FORMS or not (type.is_integer or type.is_pointer):
        return None
    if type.element != "i1" and value not in emitter.analysis.addressing:
        return None
    return _FORMS[op.name](emitter, op)


@_forms("arith.constant")
def _constant(emitter: Emitter, op: Op) -> Form | None:
    given, type = op.attributes["value"], emitter.types[op.results[0]]
    if not isinstance(given, Dense):
        return None
    if type.element == "i1":
        if given.values in (b"\xff", (True,), (1,), (-1,)):
            return BoxMask((None,) * len(type.shape))
        if given.values in (b"\x00", (False,), (0,)):
            return BoxMask((Range(0, 0), *(None,) * (len(type.shape) - 1)))
        return None
    if isinstance(given.values, bytes) or len(given.values) != 1:
        return None
    base = int_expr.wrapped(int(given.values[0]))
    return AffineValue(base, (0,) * len(type.shape), type.shape, bits_of(base), 0)


@_forms("tt.make_range")
def _make_range(emitter: Emitter, op: Op) -> Form:
    shape = emitter.types[op.results[0]].shape
    start = op.attributes["start"]
    return AffineValue(start, (1,), shape, bits_of(start), bits_of(shape[0]))


@_forms("tt.splat")
def _splat(emitter: Emitter, op: Op) -> Form:
    type = emitter.types[op.results[0]]
    if type.element != "i1":
        return splat_of(emitter, op.operands[0], type.shape)
    code, held = emitter.code, emitter.scalar(op.operands[0])
    extent = code.select(held, code.constant("i64", type.shape[0]), code.constant("i64", 0))
    return BoxMask((Range(0, int_expr.known(extent)), *(None,) * (len(type.shape) - 1)))


@_forms("tt.expand_dims")
def _expand_dims(emitter: Emitter, op: Op) -> Form | None:
    axis, shape = op.attributes["axis"], emitter.types[op.results[0]].shape
    if (box := emitter.box(op.operands[0])) is not None:
        return BoxMask((*box.ranges[:axis], None, *box.ranges[axis:]))
    if (form := emitter.affine(op.operands[0])) is not None:
        return replace(form, strides=(*form.strides[:axis], 0, *form.strides[axis:]), shape=shape)
    return None


@_forms("tt.broadcast")
def _broadcast(emitter: Emitter, op: Op) -> Form | None:
    (source,) = op.operands
    before, shape = emitter.types[source].shape, emitter.types[op.results[0]].shape
    if (box := emitter.box(source)) is not None:
        pairs = zip(box.ranges, before, shape, strict=True)
        return BoxMask(tuple(bounds if old == new else _stretched(emitter, bounds, new) for bounds, old, new in pairs))
    if (form := emitter.affine(source)) is not None:
        strides = tuple(0 if old == 1 else stride for stride, old in zip(form.strides, before, strict=True))
        return replace(form, strides=strides, shape=shape)
    return None


@_forms("tt.trans")
def _trans(emitter: Emitter, op: Op) -> Form | None:
    order, shape = op.attributes["order"], emitter.types[op.results[0]].shape
    if (box := emitter.box(op.operands[0])) is not None:
        return BoxMask(tuple(box.ranges[axis] for axis in order))
    if (form := emitter.affine(op.operands[0])) is not None:
        return replace(form, strides=tuple(form.strides[axis] for axis in order), shape=shape)
    return None


@_forms("ttg.convert_layout", "tt.bitcast", "tt.ptr_to_int", "tt.int_to_ptr")
def _same(emitter: Emitter, op: Op) -> Form | None:
    if emitter.types[op.operands[0]].bits != emitter.types[op.results[0]].bits:
        return None
    return emitter.box(op.operands[0]) or emitter.affine(op.operands[0])


@_forms("arith.addi", "arith.subi")
def _sum(emitter: Emitter, op: Op) -> Form | None:
    a, b = (emitter.affine(value) for value in op.operands)
    if a is None or b is None:
        return None
    function = int_expr.add if op.name == "arith.addi" else int_expr.subtract
    return kept(emitter, op, combined(emitter, function, a, b))


@_forms("arith.muli", "arith.shli")
def _product(emitter: Emitter, op: Op) -> Form | None:
    a, b = (emitter.affine(value) for value in op.operands)
    type = emitter.types[op.results[0]]
    if a is None or b is None or type.element == "i1":
        return None
    if op.name == "arith.shli":
        if not (b.is_constant and isinstance(b.base, int) and 0 <= b.base < type.bits - 1):
            return None
        b = replace(b, base=1 << b.base, base_bits=b.base + 1)
    elif not b.is_constant:
        a, b = b, a
    return kept(emitter, op, scaled(emitter, a, b)) if b.is_constant else None


@_forms("tt.addptr")
def _addptr(emitter: Emitter, op: Op) -> Form | None:
    pointer, offset = (emitter.affine(value) for value in op.operands)
    pointee = emitter.types[op.results[0]].pointee
    if pointer is None or offset is None or pointee is None:
        return None
    size = width_of(pointee.element)
    count = AffineValue(size, (0,) * len(offset.shape), offset.shape, size.bit_length(), 0)
    moved = replace(scaled(emitter, offset, count), grain=size if not offset.is_constant else 1 << 12)
    if pointer.is_constant:
        pointer = replace(pointer, grain=1 << 12)
    return combined(emitter, int_expr.add, pointer, moved)


@_forms("arith.extsi", "arith.trunci")
def _resized(emitter: Emitter, op: Op) -> Form | None:
    form = emitter.affine(op.operands[0])
    if form is None or emitter.element(op.results[0]) == "i1":
        return None
    return form if op.name == "arith.extsi" else kept(emitter, op, form)


@_forms("arith.extui")
def _without_sign(emitter: Emitter, op: Op) -> Form | None:
    """The block itself, if no element is negative."""
    form = emitter.affine(op.operands[0])
    if form is None:
        return None
    low, _ = extent_of(emitter, form)
    emitter.guards.require(
        emitter.code.compare("sge", int_expr.register(emitter.code, low), emitter.code.constant("i64", 0)), op, "wraps"
    )
    return form


@_forms("arith.remsi", "arith.remui")
def _remainder(emitter: Emitter, op: Op) -> Form | None:
    """The block itself, for offsets modulo a size that they do not reach."""
    a, b = (emitter.affine(value) for value in op.operands)
    if a is None or b is None or not b.is_constant or not emitter.within:
        return None
    if not (is_bounded(emitter, op, a) and is_bounded(emitter, op, b)):
        return None
    code = emitter.code
    low, high = (int_expr.register(code, x) for x in extent_of(emitter, a))
    below = code.compare("slt", high, int_expr.register(code, b.base))
    inside = code.op("and", code.compare("sge", low, code.constant("i64", 0)), below)
    emitter.guards.require(inside, op, "within")
    return a


@_forms("arith.andi")
def _both(emitter: Emitter, op: Op) -> Form | None:
    a, b = (emitter.box(value) for value in op.operands)
    if a is None or b is None:
        return None
    return BoxMask(tuple(_narrower(emitter, p, q) for p, q in zip(a.ranges, b.ranges, strict=True)))


_SIGNED = ("eq", "ne", "lt", "le", "gt", "ge")


@_forms("arith.cmpi")
def _compared(emitter: Emitter, op: Op) -> Form | None:
    """A range, for a comparison that changes along one axis, by one from element to element."""
    a, b = (emitter.affine(value) for value in op.operands)
    predicate = op.attributes["predicate"]
    if a is None or b is None or not 2 <= predicate < 6:
        return None
    if not (is_bounded(emitter, op, a) and is_bounded(emitter, op, b)):
        return None
    return _below_zero(emitter, combined(emitter, int_expr.subtract, a, b), _SIGNED[predicate])


# Masks that are a range per axis: how they come about, and what becomes of them.


def _stretched(emitter: Emitter, bounds: Range | None, extent: int) -> Range | None:
    """All of an axis of ``extent`` where the one element of ``bounds`` is in, else nothing."""
    if bounds is None:
        return None
    code = emitter.code
    low, high = int_expr.register(code, bounds.low), int_expr.register(code, bounds.high)
    held = code.op("and", code.compare("slt", low, code.constant("i64", 1)), code.compare("sgt", high, low))
    return Range(0, code.select(held, code.constant("i64", extent), code.constant("i64", 0)))


def _narrower(emitter: Emitter, a: Range | None, b: Range | None) -> Range | None:
    """What lies in both; None is a whole axis."""
    if a is None or b is None or a is b:
        return b if a is None else a
    code = emitter.code
    return Range(int_expr.greatest(code, a.low, b.low), int_expr.least(code, a.high, b.high))


_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _below_zero(emitter: Emitter, difference: AffineValue, name: str) -> BoxMask | None:
    """Where a ``difference`` is below zero ("lt"), and so on, if that is a box: it changes along one axis at most, by
    one from element to element."""
    code = emitter.code
    axes = [k for k, stride in enumerate(difference.strides) if stride != 0 and difference.shape[k] > 1]
    if len(axes) > 1 or (axes and difference.strides[axes[0]] not in (1, -1)):
        return None
    base = difference.base
    whole: list[Range | None] = [None] * len(difference.shape)
    if not axes:
        held = code.compare(f"s{name}", int_expr.register(code, base), code.constant("i64", 0))
        extent = code.select(held, code.constant("i64", difference.shape[0]), code.constant("i64", 0))
        whole[0] = Range(0, int_expr.known(extent))
        return BoxMask(tuple(whole))
    axis = axes[0]
    if difference.strides[axis] == -1:
        base, name = int_expr.subtract(code, 0, base), _TURNED[name]
    # base + i < 0, and so on.
    edge = int_expr.subtract(code, 0, base)
    if name in ("le", "gt"):
        edge = int_expr.add(code, edge, 1)
    length = difference.shape[axis]
    edge = int_expr.greatest(code, int_expr.least(code, edge, length), 0)
    whole[axis] = Range(0, edge) if name in ("lt", "le") else Range(edge, length)
    return BoxMask(tuple(whole))
