"""``tt.scan``: combines each element with all before it, along an axis.

Single operations go from element to element, as in the NumPy engine, so that sums of floats have the same bits. If the
order does not show in the result, they go by whole registers. Other functions double the distance in each step, as in
the NumPy engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from triton_lab.ir import Op, traits
from triton_lab.ir.traits.trait import CORRECT
from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.block_loops import lanes_for
from triton_lab.native.blocks.materialize import materialise
from triton_lab.native.blocks.value_repr import ScratchBlock
from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.llvm.element_types import is_narrow
from triton_lab.native.lowering.emitter import Emitter, emits
from triton_lab.native.lowering.reduce import Fold, combined, fold_of
from triton_lab.native.math.number_conversions import narrow, widen

# Operations whose results are rounded, so that the order matters.
_ROUNDED = traits.names(lambda trait: trait.rounding is CORRECT and trait.commutative)


@dataclass(frozen=True, slots=True)
class _Line:
    """Elements of a buffer along the scanned axis: the distance between neighbours, and which end comes first.

    ``element`` is MLIR's name if registers hold another form than memory, else empty.
    """

    buffer: ScratchBlock
    element: str
    length: int
    inner: int
    reverse: bool

    def place(self, code: FunctionBuilder, base: int_expr.Term, k: int_expr.Term, count: int = 1) -> Reg:
        """The lowest address of ``count`` elements from number ``k`` on, in the scan's order."""
        if self.reverse:
            k = int_expr.subtract(code, self.length - count, k)
        where = int_expr.add(code, base, int_expr.multiply(code, k, self.inner))
        return code.offset(self.buffer.pointer, int_expr.register(code, where), self.buffer.kind)

    def load(self, code: FunctionBuilder, place: Reg, lanes: int) -> Reg:
        found = code.load(self.buffer.kind, place, lanes)
        if self.reverse and self.inner == 1 and lanes:
            found = code.shuffle(found, found, range(lanes - 1, -1, -1))
        return code.cast("trunc", found, "i1") if self.element == "i1" else found

    def store(self, code: FunctionBuilder, value: Reg, place: Reg) -> None:
        if self.reverse and self.inner == 1 and value.lanes:
            value = code.shuffle(value, value, range(value.lanes - 1, -1, -1))
        code.store(code.cast("zext", value, "i8") if value.kind == "i1" else value, place)


@emits("tt.scan")
def scan(emitter: Emitter, op: Op) -> None:
    fold = fold_of(op)
    shape, axis = emitter.types[op.operands[0]].shape, op.attributes["axis"]
    outer, length, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    lines = []
    for value in op.operands:
        buffer = emitter.setting.scratch.take(shape, emitter.kind(value))
        materialise(emitter, value, buffer)
        lines.append(_Line(buffer, emitter.element(value), length, inner, bool(op.attributes["reverse"])))
    code = emitter.code
    emitter.afresh()

    def row(o: Reg, _: list[Reg]) -> Sequence[Reg]:
        base = int_expr.multiply(code, o, length * inner)
        if fold is None:
            _doubled(emitter, op, lines, base)
        elif inner == 1 and _body(op) not in _ROUNDED:
            _by_registers(emitter, fold, lines[0], base)
        else:
            _one_by_one(emitter, fold, lines[0], base)
        return ()

    emitter.counted(code.constant("i64", 0), code.constant("i64", outer), 1, row)
    emitter.afresh()
    for value, line in zip(op.results, lines, strict=True):
        emitter.keep(value, line.buffer)


def _body(op: Op) -> str:
    return op.regions[0].blocks[0].ops[0].name


def _widened(code: FunctionBuilder, line: _Line, x: Reg) -> Reg:
    return widen(code, x, line.element) if is_narrow(line.element) else x


def _rounded(code: FunctionBuilder, line: _Line, x: Reg) -> Reg:
    return narrow(code, x, line.element) if is_narrow(line.element) else x


def _along_inner(emitter: Emitter, inner: int, body: Callable[[int_expr.Term, int], None]) -> None:
    """``body(j, lanes)`` for all columns beside the scanned axis; a single column has no lanes."""
    if inner == 1:
        body(0, 0)
        return
    code, lanes = emitter.code, lanes_for(emitter, inner)

    def chunk(j: Reg, _: list[Reg]) -> Sequence[Reg]:
        body(j, lanes)
        return ()

    emitter.counted(code.constant("i64", 0), code.constant("i64", inner), lanes, chunk)


def _one_by_one(emitter: Emitter, fold: Fold, line: _Line, base: int_expr.Term) -> None:
    """Scan from the first element on; narrow floats are accumulated in float32, and each result is rounded."""
    code = emitter.code

    def column(j: int_expr.Term, lanes: int) -> None:
        here = int_expr.add(code, base, j)

        def step(k: Reg, now: list[Reg]) -> Sequence[Reg]:
            place = line.place(code, here, int_expr.known(k))
            total = fold.combine(code, now[0], _widened(code, line, line.load(code, place, lanes)))
            line.store(code, _rounded(code, line, total), place)
            return [total]

        first = _widened(code, line, line.load(code, line.place(code, here, 0), lanes))
        emitter.counted(code.constant("i64", 1), code.constant("i64", line.length), 1, step, [first])

    if line.length > 1:
        _along_inner(emitter, line.inner, column)


def _by_registers(emitter: Emitter, fold: Fold, line: _Line, base: int_expr.Term) -> None:
    """Scan one register at a time: the distance doubles within it, and the earlier total is combined with all of it."""
    code, lanes = emitter.code, lanes_for(emitter, line.length)

    def step(k: Reg, now: list[Reg]) -> Sequence[Reg]:
        place = line.place(code, base, int_expr.known(k), lanes)
        total = _widened(code, line, line.load(code, place, lanes))
        neutral = code.constant(total.kind, fold.neutral(total.kind), lanes)
        distance = 1
        while distance < lanes:
            moved = code.shuffle(neutral, total, [max(lanes + lane - distance, lanes - 1) for lane in range(lanes)])
            total = fold.combine(code, moved, total)
            distance *= 2
        total = fold.combine(code, code.splat(now[0], lanes), total)
        line.store(code, _rounded(code, line, total), place)
        return [code.lane(total, lanes - 1)]

    kind = "float" if is_narrow(line.element) else ("i1" if line.element == "i1" else line.buffer.kind)
    start = code.constant(kind, fold.neutral(kind))
    emitter.counted(code.constant("i64", 0), code.constant("i64", line.length), lanes, step, [start])


def _doubled(emitter: Emitter, op: Op, lines: Sequence[_Line], base: int_expr.Term) -> None:
    """Scan by doubling: after the step with distance ``d``, each element covers ``2 d``.

    It goes from the end to the start, since the earlier elements are still needed.
    """
    length, inner = lines[0].length, lines[0].inner
    distance = 1
    while distance < length:
        if inner == 1:
            _step_of_registers(emitter, op, lines, base, distance)
        else:
            _step_of_columns(emitter, op, lines, base, distance)
        distance *= 2


def _step_of_columns(emitter: Emitter, op: Op, lines: Sequence[_Line], base: int_expr.Term, distance: int) -> None:
    code, length = emitter.code, lines[0].length

    def column(j: int_expr.Term, lanes: int) -> None:
        here = int_expr.add(code, base, j)

        def step(i: Reg, _: list[Reg]) -> Sequence[Reg]:
            k = int_expr.subtract(code, length - 1, int_expr.known(i))
            _combine(emitter, op, lines, here, k, distance, lanes)
            return ()

        emitter.counted(code.constant("i64", 0), code.constant("i64", length - distance), 1, step)

    _along_inner(emitter, lines[0].inner, column)


def _step_of_registers(emitter: Emitter, op: Op, lines: Sequence[_Line], base: int_expr.Term, distance: int) -> None:
    code, length = emitter.code, lines[0].length
    lanes = lanes_for(emitter, length)

    def step(i: Reg, _: list[Reg]) -> Sequence[Reg]:
        _combine(emitter, op, lines, base, int_expr.subtract(code, length - lanes, int_expr.known(i)), distance, lanes)
        return ()

    # Whole registers with another one at that distance before them.
    first = max(distance, lanes)
    if first < length:
        emitter.counted(code.constant("i64", 0), code.constant("i64", length - first), lanes, step)
    if distance < lanes:
        _first_register(emitter, op, lines, base, distance, lanes)


def _combine(
    emitter: Emitter, op: Op, lines: Sequence[_Line], base: int_expr.Term, k: int_expr.Term, distance: int, lanes: int
) -> None:
    """Combine elements from ``k`` on with those ``distance`` before them."""
    code = emitter.code
    count = max(1, lanes) if lines[0].inner == 1 else 1
    places = [line.place(code, base, k, count) for line in lines]
    before = [line.place(code, base, int_expr.subtract(code, k, distance), count) for line in lines]
    left = [line.load(code, place, lanes) for line, place in zip(lines, before, strict=True)]
    right = [line.load(code, place, lanes) for line, place in zip(lines, places, strict=True)]
    for line, place, found in zip(lines, places, combined(emitter, op, left, right), strict=True):
        line.store(code, found, place)


def _first_register(
    emitter: Emitter, op: Op, lines: Sequence[_Line], base: int_expr.Term, distance: int, lanes: int
) -> None:
    """Combine elements whose partner is in the same register; the first ones have none."""
    code = emitter.code
    places = [line.place(code, base, 0, lanes) for line in lines]
    right = [line.load(code, place, lanes) for line, place in zip(lines, places, strict=True)]
    left = [code.shuffle(x, x, [max(lane - distance, 0) for lane in range(lanes)]) for x in right]
    has_partner = code.literals("i1", [lane >= distance for lane in range(lanes)])
    for line, place, old, new in zip(lines, places, right, combined(emitter, op, left, right), strict=True):
        line.store(code, code.select(has_partner, new, old), place)
