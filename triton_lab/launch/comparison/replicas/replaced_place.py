"""`ReplacedPlace`: a value where it is taken, and an operation in its place that copies of programs compute anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value, spread
from triton_lab.ir import Op, Type
from triton_lab.ir.plan_edits import Edit, Editor, with_operand
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.number_formats import wide
from triton_lab.launch.comparison.replicas.expression import OWN, Expression, Source

Array = NDArray[Any]

STAND_IN = "arith.negf"
"""The name of the operation that stands in for a value."""

_TIMES, _SPARE = 8, 64  # so many times as great, and so much greater, may what bounds a loop be


@dataclass(frozen=True)
class ReplacedPlace:
    """A value where it is taken: by operands of some operations, or (no ``uses``) everywhere after ``op`` made it.

    What may be written there is what ``op`` may use, the first of the operations. ``line`` is where a further name of
    the value is given, if the uses are those under that name.
    """

    number: int
    op: Op
    uses: tuple[tuple[Op, int], ...] = ()
    line: int | None = None

    def edits(self, made: Callable[[Editor, Op, int], list[Op]]) -> tuple[tuple[int, Edit], ...]:
        """The edits that put the last of the operations which ``made`` gives for the value in its place."""
        if not self.uses:
            return ((self.op.index, lambda editor, op: _with_result(editor, op, self.number, made)),)
        return tuple((op.index, _with_operand(k, made)) for op, k in self.uses)


@dataclass(frozen=True)
class PlaceCopies:
    """The copies, from number ``first`` on, in which ``expressions`` stand at the place of this ``number``."""

    number: int
    first: int
    expressions: Sequence[Expression]

    @property
    def end(self) -> int:
        return self.first + len(self.expressions)


def batches(tried: Sequence[tuple[ReplacedPlace, Sequence[Expression]]], most: int) -> Iterator[list[PlaceCopies]]:
    """The expressions of all places, ``most`` at once; copy 0 is the kernel as it is."""
    batch: list[PlaceCopies] = []
    for number, (_place, expressions) in enumerate(tried):
        start = 0
        while start < len(expressions):
            first = batch[-1].end if batch else 1
            room = most + 1 - first
            if not room:
                yield batch
                batch = []
                continue
            batch.append(PlaceCopies(number, first, expressions[start : start + room]))
            start += room
    if batch:
        yield batch


@dataclass(frozen=True)
class StandIn:
    """An operation in place of a value: its numbers in the copies that have an expression there.

    ``failed`` are the copies whose expression could not be computed.
    """

    place: ReplacedPlace
    copies: PlaceCopies
    visible: Sequence[int]  # the values that it takes beside its own
    failed: set[int] = field(default_factory=set)

    def result(self, scope: KernelScope, frame: Frame, which: Array, operands: Sequence[Value]) -> Value:
        """``which`` has the copy of each program of the frame; they are in order."""
        type = scope.type(self.place.number)
        rows = np.searchsorted(which, [self.copies.first, self.copies.end])
        if rows[0] == rows[1]:
            return operands[0]
        held = dict(zip((OWN[0], *self.visible), operands, strict=True))
        known: dict[Source, Array] = {}

        def whole(source: Source) -> Array:
            if source not in known:
                given = type if source == OWN else scope.type(source[0])
                known[source] = _laid_out(held[source[0]], given, source[1], type.shape, frame.count)
            return known[source]

        result = np.array(whole(OWN), dtype_of(type))
        starts = np.flatnonzero(np.diff(which[rows[0] : rows[1]], prepend=-1)) + rows[0]
        with np.errstate(all="ignore"):
            for start, end in zip(starts.tolist(), [*starts[1:].tolist(), int(rows[1])], strict=True):
                copy, part = int(which[start]), slice(start, end)
                expression = self.copies.expressions[copy - self.copies.first]
                try:
                    made = expression.numbers(lambda source, part=part: whole(source)[part])  # type: ignore[misc]
                    if self.place.number in scope.bounding and _is_far(made, result[part]):
                        raise ValueError(made)  # a loop would run too long
                    result[part] = made
                except Exception:  # numbers that the expression cannot take
                    self.failed.add(copy)
        return result


def _is_far(made: Array, own: Array) -> bool:
    """Whether numbers are far greater than those in whose place they are."""
    return bool(np.max(np.abs(made), initial=0) > _TIMES * np.max(np.abs(own), initial=0) + _SPARE)


def standing_in(
    scope: KernelScope, place: ReplacedPlace, copies: PlaceCopies, stand_ins: dict[int, StandIn]
) -> Callable[[Editor, Op, int], list[Op]]:
    visible = [
        one
        for one in _in_scope(scope, place.op)
        if not _is_opaque(scope.type(one))
        and one not in place.op.results
        and all(written_at(scope, place, op, one) in _in_scope(scope, op) for op, _k in place.uses)
    ]

    def made(editor: Editor, op: Op, own: int) -> list[Op]:
        there = [written_at(scope, place, op, one) for one in visible]
        stand_in = editor.op(op, STAND_IN, (own, *there), editor.type(own))
        stand_ins[stand_in.index] = StandIn(place, copies, visible)
        return [stand_in]

    return made


def _in_scope(scope: KernelScope, op: Op) -> list[int]:
    return [*scope.scope.get(op.index, ()), *scope.unnamed.get(op.index, ())]


def written_at(scope: KernelScope, place: ReplacedPlace, op: Op, number: int) -> int:
    """What the name of a value that ``place.op`` may use stands for at another of its uses, as in an unrolled loop."""
    if op is place.op or number not in scope.names:
        return number
    name, type = scope.names[number], scope.type(number)
    alike = (one for one in scope.scope.get(op.index, ()) if scope.names[one] == name and scope.type(one) == type)
    return next(alike, number)


def _laid_out(value: Value, type: Type, axis: int | None, shape: tuple[int, ...], count: int) -> Array:
    """A value's numbers in all lanes of a block of ``shape``."""
    given = wide(spread(value, type)) if type.is_float else spread(value, type)
    if type.is_integer and type.bits > 1:
        given = given.astype(np.int64)
    if axis is not None:
        given = np.expand_dims(given, axis + 1)
    if given.ndim == 1:
        given = given.reshape(-1, *(1,) * len(shape))
    return np.broadcast_to(given, (count, *shape))


def _is_opaque(type: Type) -> bool:
    return type.is_opaque or type.is_pointer


def _with_operand(position: int, made: Callable[[Editor, Op, int], list[Op]]) -> Edit:
    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        ops = made(editor, op, op.operands[position])
        return [*ops, *with_operand(position, ops[-1].results[0])(editor, op)]

    return edit


def _with_result(editor: Editor, op: Op, number: int, made: Callable[[Editor, Op, int], list[Op]]) -> Sequence[Op]:
    """The operation, and others that make of its result, which they get by another number, that of ``number``."""
    inner = editor.value(editor.type(number))
    ops = made(editor, op, inner)
    ops[-1] = replace(ops[-1], results=(number,))
    return [replace(op, results=tuple(inner if one == number else one for one in op.results)), *ops]
