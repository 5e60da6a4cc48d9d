"""`Replicas`: runs a few programs many times in one replay, each time with another number in place of one value.

The copies of the programs have numbers of their own, a grid apart from those of others, so that program ids are the
same. What each copy stores is compared with what was expected; of kernels that load what they have stored each copy
has memory of its own. A copy that leaves memory is not stopped: its lanes there are masked off. All that is said of a
copy is confirmed by a run of the edited kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.machine import Limits
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, effects
from triton_lab.ir.plan_edits import edited
from triton_lab.launch.comparison.interpreter_changes import REDIRECTED, ChangedAccess, Layers, on, table_of
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.number_formats import is_float, unit_roundoff, wide
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.comparison.replicas.expression import Expression
from triton_lab.launch.comparison.replicas.private_memory import PrivateMemory
from triton_lab.launch.comparison.replicas.replaced_place import (
    STAND_IN,
    PlaceCopies,
    ReplacedPlace,
    StandIn,
    batches,
    standing_in,
)
from triton_lab.launch.comparison.replicas.store_judge import Expected, StoreJudge
from triton_lab.launch.replay.replay_run import replay

Array = NDArray[Any]

_LONGER, _SPARE = 8, 500  # iterations: so many times those of the launch, and so many more
_COPIES, _LANES = 512, 1 << 20  # of the programs, and lanes of a block in all of them together
_PROGRAMS = 64  # that are copied, at most
_ENOUGH = 16  # wrong elements that one program stores, if it is copied alone
# Of what the best of a place store others store so much at least; less by far, where a mask may let more through.
_STORED, _LOOSE = 0.95, 0.5
_NEAR, _NARROW, _ROUNDINGS, _MOST = 2e-4, 2.0**-6, 64, 2.0**-6


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
        return max(
            8, min(_COPIES, _LANES // (most * len(self.programs)), self.private.most - 1 if self.private else _COPIES)
        )

    def fitting(self, tried: Sequence[tuple[ReplacedPlace, Sequence[Expression]]]) -> list[list[Expression]]:
        """For each place the expressions with which all that the programs store is as expected.

        The simplest ones first; last those with which most lanes leave the tensor, so that little is stored.
        """
        found: list[list[tuple[Expression, int]]] = [[] for _place in tried]
        for batch in batches(tried, self.at_most):
            for number, expression, stored in self._fitting(tried, batch):
                found[number].append((expression, stored))
        return [
            _ranked(each, _LOOSE if self.scope.type(place.number).bits == 1 else _STORED)
            for (place, _expressions), each in zip(tried, found, strict=True)
        ]

    def _fitting(
        self, tried: Sequence[tuple[ReplacedPlace, Sequence[Expression]]], batch: Sequence[PlaceCopies]
    ) -> list[tuple[int, Expression, int]]:
        """The expressions of a batch that fit: the number of the place, and how much is stored with each.

        If a run fails, the places are tried apart: one that decides how long a loop runs may stop all copies.
        """
        launch, scope = self.scope.launch, self.scope
        plan, total = launch.executable.plan, launch.programs
        stand_ins: dict[int, StandIn] = {}
        edits = [
            edit
            for one in batch
            for edit in tried[one.number][0].edits(standing_in(scope, tried[one.number][0], one, stand_ins))
        ]

        def numbers(inner: Implementation, frame: Frame, op: Op, *operands: Value) -> Value:
            which = frame.programs // total
            return stand_ins[op.index].result(scope, frame, which, operands)

        changed = edited(plan, edits)
        layers: list[Layers] = [{STAND_IN: on(stand_ins, numbers)}, dict.fromkeys(REDIRECTED, _tolerant)]
        count = batch[-1].end
        copies = (np.arange(count)[:, None] * total + self.programs[None, :]).reshape(-1)
        judge = None if self.private else StoreJudge(scope, self.expected, count)
        if self.private is not None:
            launch = self.private.copied(count)
            layers.append(self.private.layers())
        try:
            executable = Executable.of(changed, table_of({}, layers))
            # What stands in takes all values in scope: a loop that counts seems to wait for what is loaded in it.
            executable = replace(executable, waiting_loops=frozenset(), waits=frozenset())
            memory = replay(
                launch, executable=executable, access_observer=judge, programs=copies, limits=self.limits, strict=True
            )
        except Exception:  # numbers that the kernel cannot take
            halves = (batch[: len(batch) // 2], batch[len(batch) // 2 :]) if len(batch) > 1 else ()
            return [one for half in halves for one in self._fitting(tried, _from_one(half))]
        stored = judge.fitting() if judge is not None else self._left(memory, count)
        failed = {copy for each in stand_ins.values() for copy in each.failed}
        return [
            (one.number, one.expressions[copy - one.first], int(stored[copy]))
            for one in batch
            for copy in range(one.first, one.end)
            if stored[copy] and copy not in failed
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


def _from_one(batch: Sequence[PlaceCopies]) -> list[PlaceCopies]:
    """The same with copies that are counted from 1."""
    return [replace(one, first=one.first - batch[0].first + 1) for one in batch]


def _ranked(found: Sequence[tuple[Expression, int]], share: float) -> list[Expression]:
    enough = share * max((stored for _one, stored in found), default=0)
    return [one for one, _stored in sorted(found, key=lambda each: (each[1] < enough, each[0].cost))]
