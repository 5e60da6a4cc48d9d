"""``tt.scan``: one operation goes along the axis, any other function doubles its reach, as NumPy's engine does."""

from __future__ import annotations

import math
from collections.abc import Sequence

from triton_lab.ir import Op
from triton_lab.native.code import Reg
from triton_lab.native.emitter import Emitter, emits
from triton_lab.native.forms import Buffer
from triton_lab.native.kinds import is_narrow
from triton_lab.native.materials import materialise
from triton_lab.native.math.conversions import narrow, widen
from triton_lab.native.nest import lanes_for
from triton_lab.native.reduce import Fold, combined, fold_of


@emits("tt.scan")
def scan(emitter: Emitter, op: Op) -> None:
    shape, axis = emitter.types[op.operands[0]].shape, op.attributes["axis"]
    outer, length, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    buffers = []
    for value in op.operands:
        buffer = emitter.setting.scratch.take(shape, emitter.kind(value))
        materialise(emitter, value, buffer)
        buffers.append(buffer)
    emitter.afresh()
    fold, code = fold_of(op), emitter.code
    lanes = lanes_for(emitter, inner) if inner > 1 else 0

    def row(o: Reg, _: list[Reg]) -> Sequence[Reg]:
        base = code.op("mul", o, code.constant("i64", length * inner))

        def column(j: Reg, _: list[Reg]) -> Sequence[Reg]:
            start = code.op("add", base, j)
            if fold is not None:
                _run(emitter, op, fold, buffers[0], start, length, inner, lanes)
            else:
                _double(emitter, op, buffers, start, length, inner, lanes)
            return ()

        emitter.counted(code.constant("i64", 0), code.constant("i64", inner), lanes or 1, column)
        return ()

    emitter.counted(code.constant("i64", 0), code.constant("i64", outer), 1, row)
    emitter.afresh()
    for value, buffer in zip(op.results, buffers, strict=True):
        emitter.keep(value, buffer)


def _place(emitter: Emitter, buffer: Buffer, start: Reg, k: Reg, inner: int) -> Reg:
    """The address of element ``k`` of the axis."""
    code = emitter.code
    return code.offset(
        buffer.pointer, code.op("add", start, code.op("mul", k, code.constant("i64", inner))), buffer.kind
    )


def _run(emitter: Emitter, op: Op, fold: Fold, buffer: Buffer, start: Reg, length: int, inner: int, lanes: int) -> None:
    """Each element is what came before it, and itself; sums of narrow floats are carried on in float32."""
    code, element, reverse = emitter.code, emitter.element(op.operands[0]), op.attributes["reverse"]

    def where(k: Reg) -> Reg:
        turned = code.op("sub", code.constant("i64", length - 1), k) if reverse else k
        return _place(emitter, buffer, start, turned, inner)

    def load(k: Reg) -> Reg:
        found = code.load(buffer.kind, where(k), lanes)
        if element == "i1":
            return code.cast("trunc", found, "i1")
        return widen(code, found, element) if is_narrow(element) else found

    def step(k: Reg, now: list[Reg]) -> Sequence[Reg]:
        total = fold.combine(code, now[0], load(k))
        kept = narrow(code, total, element) if is_narrow(element) else total
        code.store(code.cast("zext", kept, "i8") if element == "i1" else kept, where(k))
        return [total]

    first = load(code.constant("i64", 0))
    emitter.counted(code.constant("i64", 1), code.constant("i64", length), 1, step, [first])


def _double(
    emitter: Emitter, op: Op, buffers: Sequence[Buffer], start: Reg, length: int, inner: int, lanes: int
) -> None:
    """After step ``d`` each element covers ``2 d``; from the far end, so that what is read is of the step before."""
    code, reverse = emitter.code, op.attributes["reverse"]
    distance = 1
    while distance < length:
        count = code.constant("i64", length - distance)

        def step(number: Reg, _: list[Reg], distance: int = distance, count: Reg = count) -> Sequence[Reg]:
            # Of the elements from `distance` on, the last one first; in reverse, up to `count`, the first one first.
            last = code.op("sub", code.constant("i64", length - 1), number)
            here = number if reverse else last
            there = code.op("add" if reverse else "sub", here, code.constant("i64", distance))
            left, right = (
                [_element(emitter, op, buffers, position, start, k, inner, lanes) for position in range(len(buffers))]
                for k in (there, here)
            )
            for buffer, found in zip(buffers, combined(emitter, op, left, right), strict=True):
                kept = code.cast("zext", found, "i8") if found.kind == "i1" else found
                code.store(kept, _place(emitter, buffer, start, here, inner))
            return ()

        emitter.counted(code.constant("i64", 0), count, 1, step)
        distance *= 2


def _element(
    emitter: Emitter, op: Op, buffers: Sequence[Buffer], position: int, start: Reg, k: Reg, inner: int, lanes: int
) -> Reg:
    buffer = buffers[position]
    found = emitter.code.load(buffer.kind, _place(emitter, buffer, start, k, inner), lanes)
    return emitter.code.cast("trunc", found, "i1") if emitter.element(op.operands[position]) == "i1" else found
