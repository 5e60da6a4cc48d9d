"""Writes blocks to scratch that are needed more than once, or by an operation on whole blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triton_lab.native.blocks.block_loops import nest, runs_along
from triton_lab.native.blocks.elements import Indices, element_for, write
from triton_lab.native.blocks.value_repr import Index, ScratchBlock
from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.lowering.emitter import Emitter
from triton_lab.native.lowering.pure_operations import MOVES

# From this cost on, a value is computed once and not at each use.
_DEAR = 8
# From this cost on, it is computed once in any case: elements on demand recurse from operation to operand.
_LONGEST = 128
_TURNED = 16


def materialise(
    emitter: Emitter, value: int, into: ScratchBlock | None = None, *, widened: bool = False
) -> ScratchBlock:
    """The block in scratch: in the buffer ``into`` if it is given, else in its own buffer from here on."""
    value = emitter.analysis.one(value)
    form = emitter.forms[value]
    if isinstance(form, ScratchBlock) and into is None and (form.widened or not widened):
        return form
    buffer = into or emitter.take(value, widened=widened)
    _write_down(emitter, value, buffer)
    if into is None:
        emitter.keep(value, buffer)
    return buffer


def _write_down(emitter: Emitter, value: int, buffer: ScratchBlock) -> None:
    shape = emitter.types[value].shape
    read, written = runs_along(emitter, [value], shape), _lies_along(buffer)

    def body(index: Indices) -> None:
        write(emitter, buffer, index, element_for(emitter, buffer, value, index))

    if read != written and can_be_turned(shape):
        _turned(emitter, value, buffer, read)
    else:
        nest(emitter, shape, [value], body, vector=written)


def _lies_along(buffer: ScratchBlock) -> int:
    """The axis along which the elements of a buffer are contiguous."""
    last = len(buffer.shape) - 1
    return next((axis for axis in range(last) if buffer.strides[axis] == 1 < buffer.shape[axis]), last)


def can_be_turned(shape: Sequence[int]) -> bool:
    """Whether a block can be cut into squares that are transposed."""
    return len(shape) == 2 and not any(extent % _TURNED for extent in shape)


def column_major(emitter: Emitter, value: int) -> ScratchBlock:
    """A new column-major buffer for a block of two axes: elements are contiguous along the first one."""
    found = emitter.setting.scratch.take(emitter.types[value].shape, emitter.kind(value))
    return replace(found, strides=(1, found.shape[0]))


def _turned(emitter: Emitter, value: int, buffer: ScratchBlock, read: int) -> None:
    """Read along one of two axes and write along the other: squares are transposed in registers."""
    code = emitter.code
    emitter.afresh()

    def index(along: Index, across: Index) -> Indices:
        return (along, across) if read == 0 else (across, along)

    def moved(start: Reg, k: int) -> Index:
        return Index(code.op("add", start, code.constant("i64", k)), emitter.depth)

    def square(i: Reg, j: Reg) -> None:
        vectors = []
        for k in range(_TURNED):
            found = element_for(emitter, buffer, value, index(Index(i, emitter.depth, _TURNED), moved(j, k)))
            if found.kind == "i1":
                found = code.cast("zext", found, "i8")
            vectors.append(code.splat(found, _TURNED))
        for k, vector in enumerate(_transposed(code, vectors)):
            write(emitter, buffer, index(moved(i, k), Index(j, emitter.depth, _TURNED)), vector)

    def across(j: Reg, _: list[Reg]) -> Sequence[Reg]:
        def along(i: Reg, _: list[Reg]) -> Sequence[Reg]:
            square(i, j)
            return ()

        emitter.counted(code.constant("i64", 0), code.constant("i64", buffer.shape[read]), _TURNED, along)
        return ()

    emitter.counted(code.constant("i64", 0), code.constant("i64", buffer.shape[1 - read]), _TURNED, across)
    emitter.afresh()


def _transposed(code: FunctionBuilder, vectors: list[Reg]) -> list[Reg]:
    """A square of registers, transposed by swapping halves."""
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
    """Write a lazy block to scratch now if it would be computed more than once, or costs too much on demand."""
    if emitter.rehearsal and not emitter.order.is_needed(value):
        return
    uses, maker = emitter.analysis.uses(value), emitter.analysis.maker[value]
    if maker.name in MOVES or maker.name == "arith.constant" or emitter.types[value].is_pointer:
        return
    cost = emitter.costs[value]
    often = cost >= _DEAR and (len(uses.sinks) > 1 or uses.wide)
    again = cost > 1 and any(emitter.analysis.is_deeper(sink, maker) for sink in uses.sinks)
    if often or again or cost >= _LONGEST:
        materialise(emitter, value)
