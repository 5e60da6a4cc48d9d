"""Elements of a block at an index: one, or as many as the index has lanes. A scalar stands for equal lanes.

What does not depend on a loop is computed once, before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from triton_lab.localization import _
from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.value_repr import ORIGIN, AffineValue, BoxMask, Index, Lazy, Range, ScratchBlock
from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.llvm.element_types import is_narrow
from triton_lab.native.lowering.emitter import ELEMENTS, Emitter
from triton_lab.native.math.number_conversions import narrow, widen
from triton_lab.native.unsupported import Unsupported

Indices = tuple[Index, ...]


def at(emitter: Emitter, value: int, index: Sequence[Index]) -> Reg:
    """Elements of ``value`` as registers hold them; narrow floats as their bits."""
    return _found(emitter, value, index, widened=False)


def widened_at(emitter: Emitter, value: int, index: Sequence[Index]) -> Reg:
    """Elements of ``value``, with narrow floats as ``float``."""
    return _found(emitter, value, index, widened=is_narrow(emitter.element(value)))


def _found(emitter: Emitter, value: int, index: Sequence[Index], *, widened: bool) -> Reg:
    value = emitter.analysis.one(value)
    form, element = emitter.forms[value], emitter.element(value)
    if isinstance(form, Reg):
        return widen(emitter.code, form, element) if widened else form
    if isinstance(form, BoxMask):
        held = holds(emitter, form, tuple(index))
        return emitter.code.constant("i1", held) if isinstance(held, bool) else held
    index = clipped(index, emitter.types[value].shape)

    def make() -> Reg:
        code = emitter.code
        if isinstance(form, AffineValue):
            return position(emitter, form, index, emitter.kind(value))
        if isinstance(form, ScratchBlock) and form.widened:
            found = read(emitter, form, index)
            return found if widened else narrow(code, found, element)
        if widened:
            return widen(code, at(emitter, value, index), element)
        if isinstance(form, ScratchBlock):
            found = read(emitter, form, index)
            return code.cast("trunc", found, "i1") if element == "i1" else found
        assert isinstance(form, Lazy)
        return ELEMENTS[form.op.name](emitter, form.op, index)

    return emitter.remembered((value, index, widened), level_of(index), make)


def clipped(index: Sequence[Index], shape: Sequence[int]) -> Indices:
    """``index`` in a block that is broadcast along axes of length one."""
    return tuple(ORIGIN if extent == 1 else i for i, extent in zip(index, shape, strict=True))


def level_of(index: Sequence[Index]) -> int:
    return max((i.level for i in index), default=0)


def lanes_of(index: Sequence[Index]) -> int:
    return max((i.lanes for i in index), default=0)


def position(emitter: Emitter, form: AffineValue, index: Indices, kind: str = "i64") -> Reg:
    """The element of an affine block, computed in 64 bits and truncated to ``kind``."""
    code = emitter.code
    found = form.base
    lanes: tuple[int, int_expr.Term] | None = None
    for i, stride in sorted(zip(index, form.strides, strict=True), key=lambda pair: pair[0].level):
        if i is ORIGIN or stride == 0:
            continue
        with emitter.at_level(i.level):
            found = int_expr.add(code, found, int_expr.multiply(code, i.value, stride))
        if i.lanes:
            lanes = (i.lanes, stride)
    base = code.cast("trunc", int_expr.register(code, found), kind)
    if lanes is None:
        return base
    count, stride = lanes
    if isinstance(stride, int):
        return code.op("add", base, code.count_up(kind, count, stride))
    step = code.cast("trunc", stride, kind)
    return code.op("add", base, code.op("mul", step, code.count_up(kind, count)))


def holds(emitter: Emitter, box: BoxMask, index: Indices) -> bool | Reg:
    """Whether a mask holds: always, never, or as the register says."""
    found: list[tuple[int, Reg]] = []
    for bounds, i in zip(box.ranges, index, strict=True):
        if bounds is None:
            continue
        fact = i.facts.get(bounds)
        if fact is None:
            fact = emitter.remembered((bounds, i), i.level, lambda: within(emitter.code, bounds, i))  # noqa: B023
        if fact is False:
            return False
        if isinstance(fact, Reg):
            found.append((i.level, fact))
    if not found:
        return True
    found.sort(key=lambda pair: pair[0])
    level, result = found[0]
    for level, fact in found[1:]:
        with emitter.at_level(level) as code:
            result = code.op("and", result, fact)
    return result


def within(code: FunctionBuilder, bounds: Range, i: Index) -> Reg:
    """Whether the positions of ``i`` are in a range: a comparison of 64 bits, or of 32 for lanes."""
    if not i.lanes:
        inside = code.compare("slt", i.value, int_expr.register(code, bounds.high))
        if bounds.low == 0:
            return inside
        return code.op("and", inside, code.compare("sge", i.value, int_expr.register(code, bounds.low)))
    # Ranges lie within their axis, so the rest of a range fits in 32 bits.
    lanes = code.count_up("i32", i.lanes)
    left = code.cast("trunc", int_expr.register(code, int_expr.subtract(code, bounds.high, i.value)), "i32")
    inside = code.compare("slt", lanes, left)
    if bounds.low == 0:
        return inside
    first = code.cast("trunc", int_expr.register(code, int_expr.subtract(code, bounds.low, i.value)), "i32")
    return code.op("and", inside, code.compare("sge", lanes, first))


def mask_at(emitter: Emitter, value: int | None, index: Indices) -> bool | Reg:
    """The mask's value at ``index``; True if there is no mask."""
    if value is None:
        return True
    box = emitter.box(value)
    if box is not None:
        return holds(emitter, box, index)
    found = at(emitter, value, index)
    literal = {"splat (i1 true)": 1, "splat (i1 false)": 0}.get(found.name, found.literal)
    return found if literal is None else bool(literal)


def _place(emitter: Emitter, buffer: ScratchBlock, index: Indices) -> tuple[Reg, int, int]:
    """The address of an element in scratch, the number of lanes that follow, and the distance between them."""
    code = emitter.code
    offset: int_expr.Term = 0
    lanes = stride = 0
    for i, step in sorted(zip(index, buffer.strides, strict=True), key=lambda pair: pair[0].level):
        if i is ORIGIN:
            continue
        with emitter.at_level(i.level):
            offset = int_expr.add(code, offset, int_expr.multiply(code, i.value, step))
        if i.lanes:
            lanes, stride = i.lanes, step
    return code.offset(buffer.pointer, int_expr.register(code, offset), buffer.kind), lanes, stride


def read(emitter: Emitter, buffer: ScratchBlock, index: Indices) -> Reg:
    """Elements in scratch, in scratch's own kind."""
    code = emitter.code
    place, lanes, stride = _place(emitter, buffer, clipped(index, buffer.shape))
    if stride <= 1 or not lanes:
        return code.load(buffer.kind, place, lanes)
    found = code.undefined(buffer.kind, lanes)
    for lane in range(lanes):
        here = code.offset(place, code.constant("i64", lane * stride), buffer.kind)
        found = code.insert(found, code.load(buffer.kind, here), lane)
    return found


def write(emitter: Emitter, buffer: ScratchBlock, index: Indices, value: Reg) -> None:
    """Write elements to scratch; ``value`` is of its kind, or i1."""
    code = emitter.code
    place, lanes, stride = _place(emitter, buffer, clipped(index, buffer.shape))
    if value.kind == "i1":
        value = code.cast("zext", value, "i8")
    value = code.splat(value, lanes) if lanes or value.lanes != 1 else code.lane(value, 0)
    if stride <= 1 or not lanes:
        code.store(value, place)
        return
    for lane in range(lanes):
        code.store(code.lane(value, lane), code.offset(place, code.constant("i64", lane * stride), buffer.kind))


def element_for(emitter: Emitter, buffer: ScratchBlock, value: int, index: Indices) -> Reg:
    """Elements of ``value`` in the kind that ``buffer`` holds."""
    found = widened_at(emitter, value, index) if buffer.widened else at(emitter, value, index)
    if found.kind != buffer.kind and found.kind != "i1":
        raise Unsupported(_("a block with two representations"))
    return found
