"""`Replicas`: runs a few programs many times in one replay, each time with another number in place of one value.

The copies of the programs have numbers of their own, a grid apart from those of others, so that program ids are the
same. What each copy stores is compared with what was expected; of kernels that load what they have stored each copy
has memory of its own. A copy that leaves memory is not stopped: its lanes there are masked off. All that is said of a
copy is confirmed by a run of the edited kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.machine import Limits
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.runtime_values import Value, spread
from triton_lab.ir import Op, Type, effects
from triton_lab.ir.plan_edits import Edit, Editor, edited, with_operand
from triton_lab.launch.comparison.interpreter_changes import REDIRECTED, ChangedAccess, Layers, on, table_of
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.number_formats import is_float, unit_roundoff, wide
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.comparison.replicas.expression import OWN, Expression, Source
from triton_lab.launch.comparison.replicas.private_memory import PrivateMemory
from triton_lab.launch.comparison.replicas.store_judge import Expected, StoreJudge
from triton_lab.launch.replay.replay_run import replay

Array = NDArray[Any]

_STAND_IN = "arith.negf"
_LONGER, _SPARE = 8, 500  # iterations: so many times those of the launch, and so many more
_COPIES, _LANES = 512, 1 << 20  # of the programs, and lanes of a block in all of them together
_PROGRAMS = 16  # that are copied, at most
_ENOUGH = 16  # wrong elements that one program stores, if it is copied alone
# Of what the best of a place store others store so much at least; less by far, where a mask may let more through.
_STORED, _LOOSE = 0.95, 0.5
_NEAR, _NARROW, _ROUNDINGS, _MOST = 2e-4, 2.0**-6, 64, 2.0**-6


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
class _Copies:
    """The copies, from number ``first`` on, in which ``expressions`` stand at the place of this ``number``."""

    number: int
    first: int
    expressions: Sequence[Expression]

    @property
    def end(self) -> int:
        return self.first + len(self.expressions)


def _batches(tried: Sequence[tuple[ReplacedPlace, Sequence[Expression]]], most: int) -> Iterator[list[_Copies]]:
    """The expressions of all places, ``most`` at once; copy 0 is the kernel as it is."""
    batch: list[_Copies] = []
    for number, (_place, expressions) in enumerate(tried):
        start = 0
        while start < len(expressions):
            first = batch[-1].end if batch else 1
            room = most + 1 - first
            if not room:
                yield batch
                batch = []
                continue
            batch.append(_Copies(number, first, expressions[start : start + room]))
            start += room
    if batch:
        yield batch


def _from_one(batch: Sequence[_Copies]) -> list[_Copies]:
    """The same with copies that are counted from 1."""
    return [replace(one, first=one.first - batch[0].first + 1) for one in batch]


def _ranked(found: Sequence[tuple[Expression, int]], share: float) -> list[Expression]:
    enough = share * max((stored for _one, stored in found), default=0)
    return [one for one, _stored in sorted(found, key=lambda each: (each[1] < enough, each[0].cost))]


@dataclass(frozen=True)
class _StandIn:
    """An operation in place of a value: its numbers in the copies that have an expression there."""

    place: ReplacedPlace
    copies: _Copies
    visible: Sequence[int]  # the values that it takes beside its own

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
                expression, part = self.copies.expressions[int(which[start]) - self.copies.first], slice(start, end)
                result[part] = expression.numbers(lambda source, part=part: whole(source)[part])  # type: ignore[misc]
        return result


def _standing_in(
    scope: KernelScope, place: ReplacedPlace, copies: _Copies, stand_ins: dict[int, _StandIn]
) -> Callable[[Editor, Op, int], list[Op]]:
    visible = [*scope.scope.get(place.op.index, ()), *scope.compared.get(place.op.index, ())]
    visible = [one for one in visible if not _is_opaque(scope.type(one)) and one not in place.op.results]

    def made(editor: Editor, op: Op, own: int) -> list[Op]:
        stand_in = editor.op(op, _STAND_IN, (own, *visible), editor.type(own))
        stand_ins[stand_in.index] = _StandIn(place, copies, visible)
        return [stand_in]

    return made


@dataclass
class Replicas:
    """The programs of ``probe``, copied."""

    scope: KernelScope
    probe: Probe
    programs: Array
    expected: dict[str, Expected]
    private: PrivateMemory | None = None

    @classmethod
    def of(cls, scope: KernelScope, probe: Probe) -> Replicas | None:
        """None for a kernel whose programs wait for each other, or are many and make results together."""
        launch = scope.launch
        programs = np.arange(launch.programs) if probe.programs is None else probe.programs
        if launch.executable.waiting_loops or len(programs) > _PROGRAMS:
            return None
        private = None
        if _meet(scope):
            private = PrivateMemory.of(scope)
            usual = all(launch.argument(name).is_contiguous for name in probe.plain)
            if private is None or private.most < 8 or not usual:
                return None
        narrow = any(type.is_float and type.bits < 32 for type in scope.function.types)
        expected = {}
        for name, plain in probe.plain.items():
            b, a = (wide(np.asarray(each).reshape(-1)) for each in (probe.side.against[name], plain.a))
            allowed = np.zeros(len(b))
            if is_float(plain.dtype):
                finite = np.isfinite(b)
                greatest = float(np.max(np.abs(b), initial=0.0, where=finite))
                near, least = (
                    (_NARROW if narrow else _NEAR) * greatest,
                    _ROUNDINGS * unit_roundoff(plain.dtype) * greatest,
                )
                wrong = ~np.asarray(plain.explained).reshape(-1)
                with np.errstate(all="ignore"):
                    had = np.nan_to_num(np.abs(a - b), nan=np.inf)
                allowed = np.where(wrong, np.maximum(np.minimum(had / 4, near), least), near)
                if plain.bound is not None:  # cancellation, which a root makes larger
                    known = np.broadcast_to(plain.bound.size, plain.a.shape).reshape(-1)
                    allowed = np.maximum(allowed, np.where(known <= _MOST * greatest, known, 0.0))
                allowed = np.where(finite, allowed, 0.0)
            expected[name] = Expected(launch.argument(name).address, plain.a.dtype, b, allowed)
        return cls(scope, probe, programs if private else _fewest(probe, programs), expected, private)

    @cached_property
    def limits(self) -> Limits | None:
        """Copies may part in loops, and some would run much longer than the launch: these are stopped, with all."""
        tape = self.scope.launch.tape
        if tape is None or tape.steps is None:
            return None
        return replace(tape.limits, steps=_LONGER * tape.steps + _SPARE)

    @cached_property
    def at_most(self) -> int:
        """How many expressions may be tried at once."""
        most = max((int(np.prod(one.shape)) for one in self.scope.function.types), default=1)
        return max(8, min(_COPIES, _LANES // (most * len(self.programs)), self.private.most - 1 if self.private else _COPIES))

    def fitting(self, tried: Sequence[tuple[ReplacedPlace, Sequence[Expression]]]) -> list[list[Expression]]:
        """For each place the expressions with which all that the programs store is as expected.

        The simplest ones first; last those with which most lanes leave the tensor, so that little is stored.
        """
        found: list[list[tuple[Expression, int]]] = [[] for _place in tried]
        for batch in _batches(tried, self.at_most):
            for number, expression, stored in self._fitting(tried, batch):
                found[number].append((expression, stored))
        return [
            _ranked(each, _LOOSE if self.scope.type(place.number).bits == 1 else _STORED)
            for (place, _expressions), each in zip(tried, found, strict=True)
        ]

    def _fitting(
        self, tried: Sequence[tuple[ReplacedPlace, Sequence[Expression]]], batch: Sequence[_Copies]
    ) -> list[tuple[int, Expression, int]]:
        """The expressions of a batch that fit: the number of the place, and how much is stored with each.

        If a run fails, the places are tried apart: one that decides how long a loop runs may stop all copies.
        """
        launch, scope = self.scope.launch, self.scope
        plan, total = launch.executable.plan, launch.programs
        stand_ins: dict[int, _StandIn] = {}
        edits = [
            edit
            for one in batch
            for edit in tried[one.number][0].edits(_standing_in(scope, tried[one.number][0], one, stand_ins))
        ]

        def numbers(inner: Implementation, frame: Frame, op: Op, *operands: Value) -> Value:
            which = frame.programs // total
            return stand_ins[op.index].result(scope, frame, which, operands)

        changed = edited(plan, edits)
        layers: list[Layers] = [{_STAND_IN: on(stand_ins, numbers)}, dict.fromkeys(REDIRECTED, _tolerant)]
        count = batch[-1].end
        copies = (np.arange(count)[:, None] * total + self.programs[None, :]).reshape(-1)
        judge = None if self.private else StoreJudge(scope, self.expected, count)
        if self.private is not None:
            launch = self.private.copied(count)
            layers.append(self.private.layers())
        try:
            executable = Executable.of(changed, table_of({}, layers))
            memory = replay(
                launch, executable=executable, access_observer=judge, programs=copies, limits=self.limits, strict=True
            )
        except Exception:  # numbers that the kernel cannot take
            halves = (batch[: len(batch) // 2], batch[len(batch) // 2 :]) if len(batch) > 1 else ()
            return [one for half in halves for one in self._fitting(tried, _from_one(half))]
        stored = judge.fitting() if judge is not None else self._left(memory, count)
        return [
            (one.number, one.expressions[copy - one.first], int(stored[copy]))
            for one in batch
            for copy in range(one.first, one.end)
            if stored[copy]
        ]

    def _left(self, memory: Memory, copies: int) -> Array:
        """Which copies leave what was expected in memory, where the kernel as it is does not."""
        bad = np.zeros(copies, np.int64)
        for name, expected in self.expected.items():
            plain = self.probe.plain[name]
            assert self.private is not None
            left = wide(self.private.results(memory, name, plain.a.dtype, plain.a.size, copies))
            where = np.ones(plain.a.size, np.bool_)
            if self.probe.programs is not None:
                where[:] = False
                where[self.probe.elements[name][self.probe.own[name]]] = True
            bad += (where & ~expected.met(left, slice(None))).sum(axis=1)
        return np.asarray((bad == 0) & (bad[0] > 0))


def _meet(scope: KernelScope) -> bool:
    """Whether what a kernel stores may be loaded again or added to."""
    ops = [op for op in scope.function.walk() if effects.is_access(op)]
    written = {name for op in ops if effects.writes(op) for name in scope.owners(op)}
    return any(op.name != "tt.store" and not written.isdisjoint(scope.owners(op)) for op in ops)


def _fewest(probe: Probe, programs: Array) -> Array:
    """The last one, if it stores enough wrong elements: of the first one, program ids are zero, and fit anywhere."""
    if probe.programs is None:
        return programs
    wrong = sum(int(probe.wrong(name).sum()) for name in probe.plain)
    return programs[-1:] if wrong >= _ENOUGH * len(programs) else programs


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


def _tolerant(inner: Implementation) -> Implementation:
    """An access whose lanes outside of memory are masked off."""

    def access(frame: Frame, op: Op, *operands: Value, touch: ChangedAccess | None = None) -> Any:
        touch = touch or ChangedAccess.of(op, operands)
        try:
            return inner(frame, op, *operands, touch=touch)
        except KernelError as error:
            if error.fault is None:
                raise
            where = touch.where
            places = where.elements(np.dtype(np.int64)) if isinstance(where, AffineBlock) else where
            inside = np.zeros(places.shape, np.bool_)
            for region in frame.machine.memory_for(op).regions:
                inside |= (places >= region.start) & (places + error.fault.itemsize <= region.stop)
            return inner(frame, op, *operands, touch=ChangedAccess(places, inside & touch.active()))

    return access


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
