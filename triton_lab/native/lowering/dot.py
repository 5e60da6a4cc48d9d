"""``tt.dot``: a product of tiles, added to an accumulator.

Operands are written to scratch in the type of the sum: float32 for floats of up to 32 bits, int32 for integers. A sum
begins with the accumulator, which the NumPy engine adds last: the error bound is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from triton_lab.ir import Dense, Op, traits
from triton_lab.localization import _
from triton_lab.native.blocks.block_loops import lanes_for, nest
from triton_lab.native.blocks.elements import Indices, read, widened_at, write
from triton_lab.native.blocks.materialize import materialise
from triton_lab.native.blocks.value_repr import AffineValue, Index, Lazy, ScratchBlock
from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.llvm.element_types import is_narrow
from triton_lab.native.lowering.dot_tiles import multiply
from triton_lab.native.lowering.emitter import Emitter, emits
from triton_lab.native.math.number_conversions import narrow, widen
from triton_lab.native.unsupported import Unsupported

_SUMS = {"f32": "float", "f16": "float", "bf16": "float", "f64": "double", "i32": "i32"}


@emits("tt.dot")
def dot(emitter: Emitter, op: Op) -> None:
    a, b, accumulator = op.operands
    type = emitter.types[op.results[0]]
    if type.element not in _SUMS:
        raise Unsupported(_("a dot into {element}").format(element=type.element))
    kind = _SUMS[type.element]
    result, start = op.results[0], accumulator
    added = _added(emitter, op)
    if added is not None:
        result, start = added.results[0], next(v for v in added.operands if v != op.results[0])
        emitter.done.add(added)
    left, right = (_operand(emitter, value, kind) for value in (a, b))
    multiplied(emitter, left, right, start, result, emitter.element(a))


def multiplied(emitter: Emitter, left: ScratchBlock, right: ScratchBlock, start: int, result: int, given: str) -> None:
    """Give ``result`` the product of two buffers, whose numbers have the type ``given`` in the kernel, plus
    ``start``.
    """
    out, element = emitter.take(result), emitter.element(result)
    emitter.afresh()

    def plane(at: Indices) -> None:
        x, y, total = (plane_of(emitter, buffer, at) for buffer in (left, right, out))
        multiply(emitter, x, y, start, total, element, at)
        if given == "bf16":
            _put_right(emitter, x, y, start, total, element, at)

    each_plane(emitter, emitter.types[result].shape, plane)
    emitter.afresh()
    emitter.keep(result, out)


def each_plane(emitter: Emitter, shape: Sequence[int], body: Callable[[Indices], None]) -> None:
    """``body`` at each position of the axes before the last two; there is one such axis or none."""
    if len(shape) == 2:
        body(())
        return

    def along(k: Reg, _: list[Reg]) -> Sequence[Reg]:
        body((Index(k, emitter.depth),))
        return ()

    emitter.counted(emitter.code.constant("i64", 0), emitter.code.constant("i64", shape[0]), 1, along)


def plane_of(emitter: Emitter, buffer: ScratchBlock, at: Indices) -> ScratchBlock:
    """The last two axes of a buffer, at one position of the axes before."""
    if not at:
        return buffer
    code = emitter.code
    offset = code.op("mul", at[0].value, code.constant("i64", buffer.strides[0]))
    pointer = code.offset(buffer.pointer, offset, buffer.kind)
    return ScratchBlock(pointer, buffer.shape[1:], buffer.strides[1:], buffer.kind, buffer.widened)


def _added(emitter: Emitter, op: Op) -> Op | None:
    """The addition that takes a product without an accumulator: the product can begin with the other summand."""
    (result,), zero = op.results, emitter.forms.get(emitter.analysis.one(op.operands[2]))
    users = emitter.analysis.users.get(result, [])
    if len(users) != 1 or traits.of(users[0].name).symbol != "+" or not _is_zero(zero):
        return None
    others = [value for value in users[0].operands if value != result]
    if len(others) != 1 or emitter.analysis.one(others[0]) not in emitter.forms:
        return None
    here, there = emitter.analysis.places[op], emitter.analysis.places[users[0]]
    together = here.loops == there.loops and emitter.element(result) in ("f32", "f64", "i32")
    writes_between = any(
        here.position < emitter.analysis.places[write].position < there.position for write in emitter.analysis.writes
    )
    return users[0] if together and not writes_between else None


def _is_zero(form: object) -> bool:
    if isinstance(form, AffineValue):
        return form.base == 0 and form.is_constant
    given = form.op.attributes.get("value") if isinstance(form, Lazy) else None
    return isinstance(given, Dense) and given.values in ((0.0,), (0,))


def _operand(emitter: Emitter, value: int, kind: str) -> ScratchBlock:
    """An operand in row-major order, as numbers of ``kind``."""
    element = emitter.element(value)
    if is_narrow(element) or emitter.kind(value) == kind:
        found = materialise(emitter, value, widened=is_narrow(element))
        if found.kind == kind and found.strides[-1] == 1:
            return found
    if not (is_narrow(element) or emitter.types[value].is_integer or emitter.kind(value) == kind):
        raise Unsupported(_("a dot of {element}").format(element=element))
    buffer = emitter.setting.scratch.take(emitter.types[value].shape, kind, widened=is_narrow(element))

    def body(index: Indices) -> None:
        found = widened_at(emitter, value, index)
        write(emitter, buffer, index, emitter.code.cast("sext", found, kind) if found.kind[0] == "i" else found)

    nest(emitter, buffer.shape, [value], body)
    return buffer


# The number of bfloat16 products added before the check whether the sum is too great for float32, as in the
# interpreter.
_AT_ONCE = 16


def _put_right(
    emitter: Emitter, a: ScratchBlock, b: ScratchBlock, start: int, out: ScratchBlock, element: str, plane: Indices
) -> None:
    """Compute sums that left float32 again in float64: products of bfloat16 may cancel without becoming infinite."""
    code = emitter.code
    again, after = code.new_block("again"), code.new_block("finite")
    code.branch(_all_finite(emitter, out, element), after, again, likely=True)
    code.block = again

    def along_rows(i: Reg, _: list[Reg]) -> Sequence[Reg]:
        row = Index(i, emitter.depth)

        def along_columns(j: Reg, _: list[Reg]) -> Sequence[Reg]:
            where = (row, Index(j, emitter.depth))
            old = read(emitter, out, where)
            wide = widen(code, old, element) if is_narrow(element) and not out.widened else old
            total = _in_steps(
                emitter, a, b, i, j, code.cast("fpext", widened_at(emitter, start, (*plane, *where)), "double")
            )
            kept = narrow(code, total, element) if old.kind != "float" else total
            write(emitter, out, where, code.select(_is_finite(code, wide), old, kept))
            return ()

        emitter.counted(code.constant("i64", 0), code.constant("i64", out.shape[1]), 1, along_columns)
        return ()

    emitter.counted(code.constant("i64", 0), code.constant("i64", out.shape[0]), 1, along_rows)
    code.jump(after)
    code.block = after


def _is_finite(code: FunctionBuilder, x: Reg) -> Reg:
    return code.compare("olt", code.intrinsic("llvm.fabs", x), code.like(x, math.inf))


def _all_finite(emitter: Emitter, out: ScratchBlock, element: str) -> Reg:
    code, count = emitter.code, math.prod(out.shape)
    lanes = lanes_for(emitter, count)

    def chunk(k: Reg, now: list[Reg]) -> Sequence[Reg]:
        found = code.load(out.kind, code.offset(out.pointer, k, out.kind), lanes)
        found = widen(code, found, element) if found.kind != "float" else found
        return [code.op("and", now[0], _is_finite(code, found))]

    whole = code.constant("i1", 1, lanes)
    (finite,) = emitter.counted(code.constant("i64", 0), code.constant("i64", count), lanes, chunk, [whole])
    return code.intrinsic("llvm.vector.reduce.and", finite, scalar=True)


def _in_steps(emitter: Emitter, a: ScratchBlock, b: ScratchBlock, i: Reg, j: Reg, start: Reg) -> Reg:
    """One sum in float64, made infinite where it exceeds float32 after a step."""
    code, depth = emitter.code, a.shape[1]
    few = min(_AT_ONCE, depth)

    def element(buffer: ScratchBlock, row: Reg, column: Reg) -> Reg:
        at = code.op("add", code.op("mul", row, code.constant("i64", buffer.strides[0])), column)
        return code.cast("fpext", code.load("float", code.offset(buffer.pointer, at, "float")), "double")

    def step(k: Reg, now: list[Reg]) -> Sequence[Reg]:
        part = code.constant("double", 0.0)
        for further in range(few):
            here = code.op("add", k, code.constant("i64", further))
            part = code.op("fadd", part, code.op("fmul", element(a, i, here), element(b, here, j)))
        total = code.op("fadd", now[0], part)
        inside = code.compare("olt", code.intrinsic("llvm.fabs", total), code.constant("double", 2.0**128))
        return [code.select(inside, total, code.op("fmul", total, code.constant("double", math.inf)))]

    (total,) = emitter.counted(code.constant("i64", 0), code.constant("i64", depth), few, step, [start])
    return code.cast("fptrunc", total, "float")
