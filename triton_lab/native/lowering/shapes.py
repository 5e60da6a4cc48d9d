"""Operations that move elements: reshape, join, split, cat, and the lookup of ``tl.gather``.

A block in scratch can be viewed in another shape without moving anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from triton_lab.ir import Op
from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.block_loops import nest
from triton_lab.native.blocks.elements import Indices, at, lanes_of, read, write
from triton_lab.native.blocks.int_expr import Term
from triton_lab.native.blocks.materialize import materialise
from triton_lab.native.blocks.value_repr import ORIGIN, AffineValue, BoxMask, Index, ScratchBlock
from triton_lab.native.llvm.builder import Reg
from triton_lab.native.lowering.emitter import Emitter, emits


def is_in_rows(buffer: ScratchBlock) -> bool:
    """Whether the elements are contiguous in row-major order."""
    expected = 1
    for stride, extent in zip(reversed(buffer.strides), reversed(buffer.shape), strict=True):
        if extent > 1 and stride != expected:
            return False
        expected *= extent
    return True


def in_rows(emitter: Emitter, value: int) -> ScratchBlock:
    """The block in scratch in row-major order."""
    found = materialise(emitter, value)
    if is_in_rows(found):
        return found
    moved = emitter.setting.scratch.take(found.shape, found.kind, widened=found.widened)
    materialise(emitter, value, moved)
    return moved


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


@emits("tt.reshape")
def reshape(emitter: Emitter, op: Op) -> None:
    (source,), (result,) = op.operands, op.results
    shape = emitter.types[result].shape
    form = emitter.form(source)
    if isinstance(form, BoxMask) and not any(form.ranges):
        emitter.forms[result] = BoxMask((None,) * len(shape))
        return
    if isinstance(form, AffineValue):
        strides = _split_strides(emitter, form, shape)
        if strides is not None:
            emitter.forms[result], emitter.costs[result] = replace(form, strides=strides, shape=shape), 1
            return
    emitter.keep(result, replace(in_rows(emitter, source), shape=shape, strides=row_major(shape)))


def _split_strides(emitter: Emitter, form: AffineValue, shape: Sequence[int]) -> tuple[Term, ...] | None:
    """The strides of an affine block in another shape, which splits its axes, or adds and drops axes of length one."""
    strides: list[Term] = []
    left = [(extent, stride) for extent, stride in zip(form.shape, form.strides, strict=True) if extent > 1]
    extent, stride = left.pop() if left else (1, 0)
    for wanted in reversed(shape):
        if wanted == 1:
            strides.insert(0, 0)
            continue
        if extent == 1:
            if not left:
                return None
            extent, stride = left.pop()
        if extent % wanted:
            return None
        strides.insert(0, stride)
        stride = int_expr.multiply(emitter.code, stride, wanted)
        extent //= wanted
    return tuple(strides)


@emits("tt.unsplat")
def unsplat(emitter: Emitter, op: Op) -> None:
    (source,) = op.operands
    emitter.afresh()
    emitter.forms[op.results[0]] = at(emitter, source, [ORIGIN] * len(emitter.types[source].shape))


@emits("tt.join")
def join(emitter: Emitter, op: Op) -> None:
    """Make pairs: lanes of both operands are interleaved in registers."""
    a, b = op.operands
    result, code = op.results[0], emitter.code
    out = emitter.take(result)
    flat = replace(out, shape=out.shape[:-1], strides=out.strides[:-1])

    def body(index: Indices) -> None:
        lanes = lanes_of(index)
        pair = [code.splat(at(emitter, value, index), lanes) for value in (a, b)]
        if not lanes:
            for k, found in enumerate(pair):
                write(emitter, replace(flat, pointer=_moved(emitter, out, k)), index, found)
            return
        order = [lane + half * lanes for lane in range(lanes) for half in (0, 1)]
        together = code.shuffle(pair[0], pair[1], order)
        twice = tuple(Index(i.value, i.level) if i.lanes else i for i in index)
        write(
            emitter, replace(out, shape=(*out.shape[:-1], 2 * lanes)), (*twice, _zero_with(2 * lanes, index)), together
        )

    nest(emitter, flat.shape, [a, b], body)
    emitter.keep(result, out)


def _zero_with(lanes: int, index: Indices) -> Index:
    """Position 0 and those after it, at the level of the innermost index."""
    return Index(Reg("0", "i64"), max(i.level for i in index), lanes)


def _moved(emitter: Emitter, buffer: ScratchBlock, elements: int) -> Reg:
    return emitter.code.offset(buffer.pointer, emitter.code.constant("i64", elements), buffer.kind)


@emits("tt.split")
def split(emitter: Emitter, op: Op) -> None:
    """Every second element, as two views of one block."""
    found = materialise(emitter, op.operands[0])
    for k, result in enumerate(op.results):
        view = replace(
            found,
            pointer=_moved(emitter, found, k * found.strides[-1]),
            shape=found.shape[:-1],
            strides=found.strides[:-1],
        )
        if view.shape:
            emitter.keep(result, view)
        else:
            element = read(emitter, view, ())
            emitter.forms[result] = (
                emitter.code.cast("trunc", element, "i1") if emitter.element(result) == "i1" else element
            )


@emits("tt.cat")
def cat(emitter: Emitter, op: Op) -> None:
    """Concatenate: each operand is written to its place."""
    axis = op.attributes.get("axis", op.attributes.get("dim", 0))
    out, before = emitter.take(op.results[0]), 0
    for part in op.operands:
        shape = emitter.types[part].shape
        materialise(emitter, part, replace(out, pointer=_moved(emitter, out, before * out.strides[axis]), shape=shape))
        before += shape[axis]
    emitter.keep(op.results[0], out)


@emits("tt.gather")
def gather(emitter: Emitter, op: Op) -> None:
    """Elements by their position on one axis. A position that does not exist is an error, which NumPy's
    engine reports.
    """
    source, positions = op.operands
    (result,), axis, code = op.results, op.attributes["axis"], emitter.code
    shape = emitter.types[source].shape
    held: ScratchBlock | None = None
    out: ScratchBlock | None = None
    if not emitter.rehearsal or emitter.order.is_needed(result):
        held, out = materialise(emitter, source), emitter.take(result)
        if held.widened:
            held = emitter.setting.scratch.take(shape, emitter.kind(source))
            materialise(emitter, source, held)
    flag = emitter.setting.scratch.take((), "i8").pointer
    code.store(code.constant("i8", 0), flag)

    def body(index: Indices) -> None:
        lanes = max(1, lanes_of(index))
        place = code.splat(code.cast("sext", at(emitter, positions, index), "i64"), lanes)
        good = code.compare("ult", place, code.like(place, shape[axis]))
        bad = code.intrinsic("llvm.vector.reduce.or", code.op("xor", good, code.like(good, 1)), scalar=True)
        code.store(code.op("or", code.load("i8", flag), code.cast("zext", bad, "i8")), flag)
        if held is None or out is None:
            return
        place = code.op("mul", place, code.like(place, held.strides[axis]))
        for k, i in enumerate(index):
            if k != axis and i is not ORIGIN:
                here = code.op("mul", i.value, code.constant("i64", held.strides[k]))
                if i.lanes:
                    here = code.op("add", here, code.count_up("i64", i.lanes, held.strides[k]))
                place = code.op("add", place, here)
        pointers = code.let(f"getelementptr {held.kind}, {held.pointer}, {place}", "ptr", lanes)
        found = code.masked_load(held.kind, pointers, good, code.constant(held.kind, 0, lanes))
        write(emitter, out, index, found if lanes_of(index) else code.lane(found, 0))

    nest(emitter, emitter.types[result].shape, [positions], body)
    emitter.guards.require(code.compare("eq", code.load("i8", flag), code.constant("i8", 0)), op, "bounds")
    if out is not None:
        emitter.keep(result, out)
