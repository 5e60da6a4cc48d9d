"""Blocks that are written down into scratch: they are needed more than once, or by an operation on whole blocks."""

from __future__ import annotations

from collections.abc import Sequence

from triton_lab.native.code import Code, Reg
from triton_lab.native.elements import Indices, element_for, write
from triton_lab.native.emitter import Emitter
from triton_lab.native.forms import Buffer, Index
from triton_lab.native.nest import nest, runs_along
from triton_lab.native.pure import SHAPES

# From this cost on a value is computed once rather than wherever it is used.
_DEAR = 8
_TURNED = 16


def materialise(emitter: Emitter, value: int, into: Buffer | None = None, *, widened: bool = False) -> Buffer:
    """The block in scratch, where ``into`` says or where it stays from here on."""
    value = emitter.analysis.one(value)
    form = emitter.forms[value]
    if isinstance(form, Buffer) and into is None and (form.widened or not widened):
        return form
    buffer = into or emitter.take(value, widened=widened)
    _write_down(emitter, value, buffer)
    if into is None:
        emitter.keep(value, buffer)
    return buffer


def _write_down(emitter: Emitter, value: int, buffer: Buffer) -> None:
    shape = emitter.types[value].shape
    axis = runs_along(emitter, [value], shape)

    def body(index: Indices) -> None:
        write(emitter, buffer, index, element_for(emitter, buffer, value, index))

    if axis != len(shape) - 1 and len(shape) == 2 and not shape[0] % _TURNED and not shape[1] % _TURNED:
        _turned(emitter, value, buffer)
    else:
        nest(emitter, shape, [value], body)


def _turned(emitter: Emitter, value: int, buffer: Buffer) -> None:
    """Read along the first axis, written along the second: squares are turned round in registers."""
    code, (rows, columns) = emitter.code, buffer.shape
    emitter.afresh()

    def square(row: Index, column_start: Reg) -> None:
        vectors = []
        for k in range(_TURNED):
            column = Index(code.op("add", column_start, code.constant("i64", k)), emitter.depth)
            found = element_for(emitter, buffer, value, (row, column))
            if found.kind == "i1":
                found = code.cast("zext", found, "i8")
            vectors.append(code.splat(found, _TURNED))
        for k, vector in enumerate(_transposed(code, vectors)):
            row_index = Index(code.op("add", row.value, code.constant("i64", k)), emitter.depth)
            write(emitter, buffer, (row_index, Index(column_start, emitter.depth, _TURNED)), vector)

    def along_columns(j: Reg, _: list[Reg]) -> Sequence[Reg]:
        def along_rows(i: Reg, _: list[Reg]) -> Sequence[Reg]:
            square(Index(i, emitter.depth, _TURNED), j)
            return ()

        emitter.counted(code.constant("i64", 0), code.constant("i64", rows), _TURNED, along_rows)
        return ()

    emitter.counted(code.constant("i64", 0), code.constant("i64", columns), _TURNED, along_columns)
    emitter.afresh()


def _transposed(code: Code, vectors: list[Reg]) -> list[Reg]:
    """A square of registers turned round, by halves that change places."""
    count, step = len(vectors), 1
    while step < count:
        swapped = list(vectors)
        for p in range(count):
            if p & step:
                continue
            q = p | step
            low = [k if not k & step else count + (k & ~step) for k in range(count)]
            high = [k | step if not k & step else count + k for k in range(count)]
            swapped[p] = code.shuffle(vectors[p], vectors[q], low)
            swapped[q] = code.shuffle(vectors[p], vectors[q], high)
        vectors, step = swapped, 2 * step
    return vectors


def settle(emitter: Emitter, value: int) -> None:
    """Write a lazy block down now if it would be computed more often than once."""
    if emitter.rehearsal and not emitter.order.is_needed(value):
        return
    uses, maker = emitter.analysis.uses(value), emitter.analysis.maker[value]
    if maker.name in SHAPES or maker.name == "arith.constant" or emitter.types[value].is_pointer:
        return
    cost = emitter.costs[value]
    often = cost >= _DEAR and (len(uses.sinks) > 1 or uses.wide)
    again = cost > 1 and any(emitter.analysis.is_deeper(sink, maker) for sink in uses.sinks)
    if often or again:
        materialise(emitter, value)
