"""Regions in which programs may wait: where a strand's programs are in them, and how they go on from there.

A level never joins programs that have parted: each strand goes its own way to the end.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import runtime_values
from triton_lab.interpreter.bound_code import BoundBlock, BoundStep
from triton_lab.interpreter.frame import Environment, Frame, Host
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.ops.atomics import poll
from triton_lab.interpreter.ops.control import answer, counting, trips_of
from triton_lab.interpreter.program_strands import Level, Results, RunningLoop, Strand, Wait, ascending, taken
from triton_lab.interpreter.runtime_values import Value, same
from triton_lab.ir import Op, effects
from triton_lab.ir.value_flow import BRANCHES
from triton_lab.localization import _

if TYPE_CHECKING:
    from typing_extensions import Self

Array = NDArray[Any]
# The iterations of a loop with waits after which other programs get a turn.
_MOST_ROUNDS = 256


def started(machine: Host, programs: Array) -> Strand:
    """A strand of ``programs`` (ascending) at the start of the kernel."""
    routine = machine.executable.routines[machine.executable.plan.kernel.name]
    strand = Strand(machine, programs)
    enter(strand, Frame(machine, routine, programs, Environment()), routine.blocks[0], machine.arguments)
    return strand


def enter(strand: Strand, frame: Frame, code: BoundBlock, arguments: Sequence[Value] = ()) -> None:
    """Push a block as the innermost level; what it yields goes to the level below."""
    for number, value in zip(code.arguments, arguments, strict=True):
        frame.environment[number] = value
    strand.levels.append(RegionBody(frame, code=code))


@dataclass
class RegionBody(Level):
    """A block of operations; ``at`` is the next operation, or the one that runs."""

    code: BoundBlock = field(kw_only=True)
    at: int = 0

    def go(self, strand: Strand, handed: Results | None) -> list[Strand] | None:
        if self.rows is not None:
            self.frame, self.rows = self.frame.part(self.rows), None
        frame, steps = self.frame, self.code.steps
        if handed is not None:
            self._finish(steps[self.at], handed)
        strand.watch()
        may_wait = strand.machine.executable.waits
        stop = next((k for k in range(self.at, len(steps)) if steps[k].op.index in may_wait), len(steps))
        frame.run_steps(steps[self.at : stop])
        self.at = stop
        if stop < len(steps):
            return self._enter(strand, steps[stop])
        return self._end(strand)

    def _finish(self, step: BoundStep, handed: Results) -> None:
        operands = [self.frame.environment[number] for number in step.operands]
        self.frame.finish(step, operands, answer(handed))
        self.at += 1

    def _enter(self, strand: Strand, step: BoundStep) -> list[Strand] | None:
        frame, op = self.frame, step.op
        operands = frame.handed(step.operands)
        if op.name == "scf.if":
            return self._enter_side(strand, op, operands[0])
        if op.name == "scf.for":
            strand.levels.append(_for(frame, op, operands))
        elif op.name == "scf.while":
            strand.levels.append(While(frame, op=op, carried=operands))
        elif effects.waits(op):
            strand.levels.append(_poll(frame, op, operands))
        elif op.name == "tt.call":
            routine = strand.machine.executable.routines[op.attributes["callee"]]
            inner = Frame(strand.machine, routine, frame.programs, Environment())
            enter(strand, inner, routine.blocks[0], operands)
        else:
            raise KernelError(_("a function of elements cannot wait for another program"), op, frame.programs)
        return None

    def _enter_side(self, strand: Strand, op: Op, condition: Value) -> list[Strand] | None:
        assert isinstance(condition, np.ndarray)
        if condition.size > 1 and condition.any() and not condition.all():
            sides = strand.parted(condition)
            for side, truth in zip(sides, (True, False), strict=True):
                level = side.levels[-1]
                assert isinstance(level, RegionBody)
                level._choose(side, op, truth)
            return ascending(*sides)
        self._choose(strand, op, bool(condition[0]))
        return None

    def _choose(self, strand: Strand, op: Op, truth: bool) -> None:
        if self.rows is not None:
            self.frame, self.rows = self.frame.part(self.rows), None
        sides = self.frame.region(op)
        if truth or len(sides) > 1:
            enter(strand, self.frame, sides[0 if truth else 1])
        else:
            strand.handed = ()

    def _end(self, strand: Strand) -> list[Strand] | None:
        frame, end = self.frame, self.code.terminator
        operands = frame.handed(end.operands)
        if end.name not in BRANCHES:
            strand.leave(operands)
            return None
        if end.name == "cf.br":
            self._branch(strand, 0)
            return None
        condition = frame.environment[end.operands[0]]
        assert isinstance(condition, np.ndarray)
        if condition.size == 1 or condition.all() or not condition.any():
            self._branch(strand, 0 if condition[0] else 1)
            return None
        sides = strand.parted(condition)
        for position, side in enumerate(sides):
            level = side.levels[-1]
            assert isinstance(level, RegionBody) and level.rows is not None
            level.frame, level.rows = level.frame.part(level.rows), None
            level._branch(side, position)
        return ascending(*sides)

    def _branch(self, strand: Strand, position: int) -> None:
        successor = self.code.terminator.successors[position]
        handed = tuple(self.frame.environment[number] for number in successor.operands)
        strand.levels.pop()
        enter(strand, self.frame, self.frame.routine.blocks[successor.block], handed)


@dataclass
class ForLoop(RunningLoop):
    """A counted loop: iteration ``done`` of ``trips`` from ``low`` in ``steps``, each ``(programs,)`` or ``(1,)``."""

    low: Array = field(kw_only=True)
    steps: Array = field(kw_only=True)
    trips: Array = field(kw_only=True)
    done: int = 0

    def part(self, rows: Array) -> Self:
        """Part the loop. The bounds are small, so they are copied at once."""
        result = super().part(rows)
        for name in ("low", "steps", "trips"):
            setattr(result, name, runtime_values.take(getattr(self, name), rows))
        return result

    def go(self, strand: Strand, handed: Results | None) -> list[Strand] | None:
        if handed is not None:
            self.carried, self.kept = handed, None
            self.done += 1
        ended = self.trips <= self.done
        if ended.any() and not ended.all():
            return ascending(*strand.parted(ended))
        frame = self.settle()
        if ended.all():
            strand.leave(self.carried)
            return None
        strand.machine.tick(self.op, frame)
        self.turns += 1
        (code,) = frame.region(self.op)
        counter = (self.low + self.done * self.steps).astype(runtime_values.dtype_of(frame.type(code.arguments[0])))
        enter(strand, frame, code, (counter, *self.carried))
        return None


def _for(frame: Frame, op: Op, operands: Results) -> ForLoop:
    low, high, steps = counting(frame, op, operands[:3])
    return ForLoop(frame, op=op, carried=operands[3:], low=low, steps=steps, trips=trips_of(low, high, steps))


@dataclass
class While(RunningLoop):
    """A loop with a condition. The programs are in its condition, or in its body (``in_body``).

    ``version`` is memory's version when the iteration began. ``rounds`` counts the iterations of a loop that ``waits``.
    """

    in_body: bool = False
    version: int = -1
    waits: bool = False
    rounds: int = 0

    def __post_init__(self) -> None:
        self.waits = self.op.index in self.frame.machine.executable.waiting_loops

    def go(self, strand: Strand, handed: Results | None) -> Wait | list[Strand] | None:
        memory = strand.machine.memory
        if handed is None:
            self.in_body = False
            self.version = memory.version
            frame = self.settle()
            strand.machine.tick(self.op, frame)
            self.turns += 1
            enter(strand, frame, frame.region(self.op)[0], self.carried)
            return None
        if not self.in_body:
            return self._decide(strand, handed)
        self.settle()
        before, self.carried = self.carried, handed
        return self._waited(strand.machine, before) if self.waits else None

    def _waited(self, machine: Host, before: Results) -> Wait | None:
        """A `Wait` if an iteration that began with the values ``before`` achieved nothing, or if it is the turn of
        others.
        """
        self.rounds += 1
        has_turned = self.rounds % _MOST_ROUNDS == 0
        if has_turned:
            machine.narrow()
        if machine.memory.version == self.version:
            return Wait(self.op, not same(*(machine.deciding(self.op, each) for each in (before, self.carried))))
        return Wait(self.op, counts=True, busy=True) if has_turned else None

    def _decide(self, strand: Strand, handed: Results) -> list[Strand] | None:
        condition, *passed = handed
        assert isinstance(condition, np.ndarray)
        if condition.size == 1 or condition.all() or not condition.any():
            self._follow(strand, bool(condition[0]), tuple(passed))
            return None
        sides = strand.parted(condition)
        for side, goes_on in zip(sides, (True, False), strict=True):
            level = side.levels[-1]
            assert isinstance(level, While)
            rows = np.flatnonzero(condition if goes_on else ~condition)
            level._follow(side, goes_on, taken(tuple(passed), rows))
        return ascending(*sides)

    def _follow(self, strand: Strand, goes_on: bool, passed: Results) -> None:
        if not goes_on:
            strand.leave(passed)
            return
        self.in_body = True
        frame = self.settle()
        enter(strand, frame, frame.region(self.op)[1], passed)


@dataclass
class Poll(RunningLoop):
    """``tt.atomic_poll``: wait until memory holds the expected value or the time is up. Yields whether
    memory held it.
    """

    deadline: int | None = field(kw_only=True)

    waits = True

    def go(self, strand: Strand, handed: Results | None) -> Wait | list[Strand] | None:
        frame = self.settle()
        late = self.deadline is not None and time.perf_counter_ns() >= self.deadline
        ready = self._look(frame, told=False).reshape(-1)
        if late or ready.all():
            strand.leave((self._look(frame, told=True),))
            return None
        if ready.any():
            return ascending(*strand.parted(ready))
        # With a timeout, time ends the wait; without one, only another program can.
        return Wait(self.op, self.deadline is not None)

    def _look(self, frame: Frame, told: bool) -> Array:
        """Call `poll`. Its errors get the operation and programs, as those of all other operations do."""
        try:
            return poll(frame, self.op, *self.carried, told=told)
        except KernelError as error:
            raise frame.machine.explain(error, self.op, frame) from error


def _poll(frame: Frame, op: Op, operands: Results) -> Poll:
    timeout = effects.operands_of(op).timeout
    deadline = None
    if timeout is not None:
        deadline = time.perf_counter_ns() + int(frame.elements(op, timeout, operands[timeout]).max())
    return Poll(frame, op=op, carried=operands, deadline=deadline)
