"""``tt.reduce``: single operations use the registers' lanes; other functions combine in pairs, as NumPy's engine does.

Sums of floats are added within lanes, and then the lanes in pairs. The order differs from NumPy's, but the error bound
is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from triton_lab.ir import Op
from triton_lab.ir.plan import Block
from triton_lab.localization import _
from triton_lab.native.analysis.plan_walk import walk
from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.block_loops import lanes_for, ranges, sections
from triton_lab.native.blocks.elements import widened_at, write
from triton_lab.native.blocks.materialize import materialise
from triton_lab.native.blocks.value_repr import ORIGIN, Index, ScratchBlock
from triton_lab.native.llvm.builder import FunctionBuilder, Reg, bits_of
from triton_lab.native.llvm.element_types import is_narrow
from triton_lab.native.lowering.elementwise import extreme
from triton_lab.native.lowering.emitter import Emitter, emits
from triton_lab.native.lowering.pure_operations import PURE
from triton_lab.native.math.number_conversions import narrow
from triton_lab.native.unsupported import Unsupported


@dataclass(frozen=True, slots=True)
class Fold:
    """An operation over many numbers: how two are combined, and the neutral element."""

    combine: Callable[[FunctionBuilder, Reg, Reg], Reg]
    neutral: Callable[[str], float]


def _by(name: str, neutral: float) -> Fold:
    return Fold(lambda code, a, b: code.op(name, a, b), lambda kind: neutral)


def _extreme(name: str, neutral: float) -> Fold:
    return Fold(lambda code, a, b: extreme(code, name, a, b), lambda kind: neutral)


def _integer(name: str, neutral: Callable[[int], int]) -> Fold:
    return Fold(lambda code, a, b: code.intrinsic(f"llvm.{name}", a, b), lambda kind: neutral(bits_of(kind)))


FOLDS = {
    "arith.addf": _by("fadd", -0.0),
    "arith.mulf": _by("fmul", 1.0),
    "arith.addi": _by("add", 0),
    "arith.muli": _by("mul", 1),
    "arith.andi": _by("and", -1),
    "arith.ori": _by("or", 0),
    "arith.xori": _by("xor", 0),
    "arith.maxnumf": _extreme("arith.maxnumf", math.nan),
    "arith.minnumf": _extreme("arith.minnumf", math.nan),
    "arith.maximumf": _extreme("arith.maximumf", -math.inf),
    "arith.minimumf": _extreme("arith.minimumf", math.inf),
    "arith.maxsi": _integer("smax", lambda bits: -(1 << bits - 1)),
    "arith.minsi": _integer("smin", lambda bits: (1 << bits - 1) - 1),
    "arith.maxui": _integer("umax", lambda bits: 0),
    "arith.minui": _integer("umin", lambda bits: -1),
}


def fold_of(op: Op) -> Fold | None:
    """The fold of a region that is a single operation on its two arguments; else None."""
    (body,) = op.regions[0].blocks
    if len(op.operands) != 1 or len(body.ops) != 2 or set(body.ops[0].operands) != set(body.arguments):
        return None
    return FOLDS.get(body.ops[0].name) if body.ops[1].operands == body.ops[0].results else None


def combined(emitter: Emitter, op: Op, left: Sequence[Reg], right: Sequence[Reg]) -> list[Reg]:
    """The function in the region of ``op``, applied to registers lane by lane."""
    if len(op.regions[0].blocks) != 1:
        raise Unsupported(_("a function with branches in {name}").format(name=op.name))
    (body,) = op.regions[0].blocks
    if any(inner.name not in PURE for inner in body.ops[:-1]):
        raise Unsupported(f"{next(i.name for i in body.ops if i.name not in PURE)} in {op.name}")
    return [emitter.code.splat(x, left[0].lanes) for x in applied(emitter, body, (*left, *right))]


def applied(emitter: Emitter, body: Block, given: Sequence[Reg]) -> list[Reg]:
    """The results of a function without effects, with the text ``body``, for given registers."""
    forms, rehearsal = dict(emitter.forms), emitter.rehearsal
    emitter.forms.update(zip(body.arguments, given, strict=True))
    emitter.rehearsal = False  # all of its results are needed
    end = walk(emitter, body)
    found = [emitter.scalar(value) for value in end.operands]
    emitter.forms, emitter.rehearsal = forms, rehearsal
    return found


@emits("tt.reduce")
def reduce(emitter: Emitter, op: Op) -> None:
    fold = fold_of(op)
    if fold is None:
        _in_pairs(emitter, op)
    elif op.attributes["axis"] == len(emitter.types[op.operands[0]].shape) - 1:
        _along_lanes(emitter, op, fold)
    else:
        _across_lanes(emitter, op, fold)
    emitter.afresh()


def _start(emitter: Emitter, op: Op, fold: Fold, lanes: int) -> Reg:
    """The start value of an accumulation; sums of narrow floats are accumulated in float32."""
    element = emitter.element(op.operands[0])
    kind = "float" if is_narrow(element) else emitter.kind(op.operands[0])
    return emitter.code.constant(kind, fold.neutral(kind), lanes)


def _rounded(emitter: Emitter, op: Op, found: Reg) -> Reg:
    element = emitter.element(op.operands[0])
    return narrow(emitter.code, found, element) if is_narrow(element) else found


def _outer_loops(
    emitter: Emitter, op: Op, axes: Sequence[int], vector: int | None, body: Callable[[list[Index]], None]
) -> None:
    """Loops over ``axes`` of a reduction's operand; ``body`` gets an index of all axes and fills in the rest."""
    shape = emitter.types[op.operands[0]].shape
    cuts = ranges(emitter, op.operands, shape)
    index = [ORIGIN] * len(shape)

    def along(position: int) -> None:
        if position == len(axes):
            body(index)
            return
        axis = axes[position]
        lanes = lanes_for(emitter, shape[axis]) if axis == vector else 0

        def inside(i: Index, _: list[Reg]) -> Sequence[Reg]:
            index[axis] = i
            along(position + 1)
            return ()

        sections(emitter, shape[axis], lanes, cuts[axis], inside)

    along(0)


def _accumulated(emitter: Emitter, op: Op, fold: Fold, index: list[Index], start: Reg, lanes: int) -> Reg:
    """The operation over the reduced axis, at ``index`` of the other axes."""
    (value,), axis = op.operands, op.attributes["axis"]
    shape = emitter.types[value].shape
    cut = ranges(emitter, [value], shape)[axis]

    def inside(i: Index, now: list[Reg]) -> Sequence[Reg]:
        here = [*index]
        here[axis] = i
        found = emitter.code.splat(widened_at(emitter, value, here), start.lanes)
        return [fold.combine(emitter.code, now[0], found)]

    def join(a: list[Reg], b: list[Reg]) -> list[Reg]:
        return [fold.combine(emitter.code, a[0], b[0])]

    (result,) = sections(emitter, shape[axis], lanes, cut, inside, [start], join=join if start.is_float else None)
    return result


def _along_lanes(emitter: Emitter, op: Op, fold: Fold) -> None:
    """Reduce the last axis: lanes are combined after the loop over the axis."""
    shape = emitter.types[op.operands[0]].shape
    lanes = lanes_for(emitter, shape[-1])
    result = op.results[0]
    buffer = emitter.take(result) if len(shape) > 1 else None
    emitter.afresh()

    def row(index: list[Index]) -> None:
        start = _start(emitter, op, fold, lanes)
        found = _accumulated(emitter, op, fold, index, start, lanes)
        found = _rounded(emitter, op, across(emitter.code, fold, found))
        if buffer is None:
            emitter.forms[result] = found
        else:
            write(emitter, buffer, tuple(index[:-1]), found)

    _outer_loops(emitter, op, range(len(shape) - 1), None, row)
    if buffer is not None:
        emitter.keep(result, buffer)


def across(code: FunctionBuilder, fold: Fold, x: Reg) -> Reg:
    """Combine all lanes of a register, halves first."""
    lanes = x.lanes
    while lanes > 1:
        lanes //= 2
        low, high = (code.shuffle(x, x, range(first, first + lanes)) for first in (0, lanes))
        x = fold.combine(code, low, high)
    return code.lane(x, 0)


def _across_lanes(emitter: Emitter, op: Op, fold: Fold) -> None:
    """Reduce another axis: lanes run along the last one, and each accumulates its own result."""
    shape, axis = emitter.types[op.operands[0]].shape, op.attributes["axis"]
    last = len(shape) - 1
    lanes = lanes_for(emitter, shape[last])
    buffer = emitter.take(op.results[0])
    emitter.afresh()

    def column(index: list[Index]) -> None:
        found = _accumulated(emitter, op, fold, index, _start(emitter, op, fold, lanes), 0)
        rest = tuple(i for k, i in enumerate(index) if k != axis)
        write(emitter, buffer, rest, _rounded(emitter, op, found))

    _outer_loops(emitter, op, [k for k in range(len(shape)) if k != axis], last, column)
    emitter.keep(op.results[0], buffer)


# Other functions: combine neighbours, then neighbours among the results, as the interpreter does.


def _in_pairs(emitter: Emitter, op: Op) -> None:
    shape, axis, code = emitter.types[op.operands[0]].shape, op.attributes["axis"], emitter.code
    outer, length, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    if length & (length - 1):
        raise Unsupported(_("a reduction over an axis that is no power of two"))
    buffers = []
    for value in op.operands:
        buffer = emitter.setting.scratch.take(shape, emitter.kind(value))
        materialise(emitter, value, buffer)
        buffers.append(buffer)
    emitter.afresh()

    def row(o: Reg, _: list[Reg]) -> Sequence[Reg]:
        base = int_expr.multiply(code, o, length * inner)
        left = length
        while left > 1:
            left //= 2
            _halved(emitter, op, buffers, base, left, inner)
        return ()

    emitter.counted(code.constant("i64", 0), code.constant("i64", outer), 1, row)
    emitter.afresh()
    for value, buffer in zip(op.results, buffers, strict=True):
        strides = tuple(stride for k, stride in enumerate(buffer.strides) if k != axis)
        rest = tuple(extent for k, extent in enumerate(shape) if k != axis)
        view = ScratchBlock(buffer.pointer, rest, strides, buffer.kind)
        if rest:
            emitter.keep(value, view)
        else:
            found = code.load(view.kind, view.pointer)
            emitter.forms[value] = code.cast("trunc", found, "i1") if emitter.element(value) == "i1" else found


def _halved(
    emitter: Emitter, op: Op, buffers: Sequence[ScratchBlock], base: int_expr.Term, half: int, inner: int
) -> None:
    """Combine elements ``2 k`` and ``2 k + 1`` of an axis into element ``k``; in ascending order, so that
    none is lost.
    """
    code = emitter.code
    lanes = max(1, lanes_for(emitter, inner if inner > 1 else half))

    def pair(k: int_expr.Term, j: int_expr.Term) -> None:
        left, right = [], []
        for value, buffer in zip(op.operands, buffers, strict=True):
            where = int_expr.add(code, base, int_expr.add(code, int_expr.multiply(code, k, 2 * inner), j))
            a, b = _neighbours(code, buffer, where, inner, lanes)
            if emitter.element(value) == "i1":
                a, b = code.cast("trunc", a, "i1"), code.cast("trunc", b, "i1")
            left.append(a)
            right.append(b)
        to = int_expr.add(code, base, int_expr.add(code, int_expr.multiply(code, k, inner), j))
        for buffer, found in zip(buffers, combined(emitter, op, left, right), strict=True):
            found = code.cast("zext", found, "i8") if found.kind == "i1" else found
            code.store(found, code.offset(buffer.pointer, int_expr.register(code, to), buffer.kind))

    def along(k: Reg, _: list[Reg]) -> Sequence[Reg]:
        if inner == 1:
            pair(k, 0)
            return ()

        def chunk(j: Reg, _: list[Reg]) -> Sequence[Reg]:
            pair(k, j)
            return ()

        emitter.counted(code.constant("i64", 0), code.constant("i64", inner), lanes, chunk)
        return ()

    emitter.counted(code.constant("i64", 0), code.constant("i64", half), lanes if inner == 1 else 1, along)


def _neighbours(
    code: FunctionBuilder, buffer: ScratchBlock, where: int_expr.Term, inner: int, lanes: int
) -> tuple[Reg, Reg]:
    """Elements of scratch, and the next ones on the reduced axis, which are ``inner`` apart."""
    first = code.offset(buffer.pointer, int_expr.register(code, where), buffer.kind)
    if inner > 1:
        second = code.offset(buffer.pointer, int_expr.register(code, int_expr.add(code, where, inner)), buffer.kind)
        return code.load(buffer.kind, first, lanes), code.load(buffer.kind, second, lanes)
    both = code.load(buffer.kind, first, 2 * lanes)
    return code.shuffle(both, both, range(0, 2 * lanes, 2)), code.shuffle(both, both, range(1, 2 * lanes, 2))
