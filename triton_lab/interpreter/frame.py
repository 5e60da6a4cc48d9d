"""Frames: a set of active programs and the values they have computed so far."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from triton_lab.interpreter import runtime_values as values
from triton_lab.interpreter.asynchronous.asynchronous_work import Asynchronous
from triton_lab.interpreter.bound_code import BoundBlock, BoundStep, Routine
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError, from_signal
from triton_lab.interpreter.memory_regions import Memory, Reachable
from triton_lab.interpreter.printing import KernelPrinter
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, Type

Array = NDArray[Any]


class Environment(dict[int, Value]):
    """Values by number. A missing value is taken from the enclosing frame, for the active rows."""

    def __init__(self, parent: Environment | None = None, rows: Array | None = None) -> None:
        super().__init__()
        self.parent = parent
        self.rows = rows

    def __missing__(self, number: int) -> Value:
        if self.parent is None or self.rows is None:
            raise KeyError(number)
        value = values.take(self.parent[number], self.rows)
        self[number] = value
        return value


class Observer(Protocol):
    """Watches a run. A method that an observer does not need stays empty."""

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        """Called after ``op`` has run in ``frame``."""

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        """Called before a store touches memory, and after a load or an atomic has."""

    def barrier(self, frame: Frame, op: Op) -> None:
        """Called when all lanes of each program have reached a barrier."""

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        """Called when values of ``frame`` are passed into a region or a function, or out of a block that has ended."""

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        """Called when ``result``, of ``programs`` rows, is put together. Each piece gives rows of the result, a value,
        and the value's rows (None: all).
        """


# Called when programs of a frame reach a mark: a print that we put into the kernel.
Marks = Callable[["Frame", Op], None]


class Host(Protocol):
    """The launch that frames belong to, with what they share; see `Machine`."""

    executable: Executable
    arguments: Sequence[Value]
    grid: tuple[int, int, int]
    memory: Memory
    observer: Observer | None
    access_observer: Observer | None
    printer: KernelPrinter | None
    marks: Marks | None
    steps: int
    asynchronous: Asynchronous

    def memory_for(self, op: Op) -> Reachable:
        """The memory that ``op`` may touch."""

    def tick(self, loop: Op, frame: Frame) -> None:
        """Called once per iteration of every loop."""

    def narrow(self) -> None:
        """From now on count only those changes of memory that may end a wait, if these are known."""

    def deciding(self, loop: Op, carried: Sequence[Value]) -> Sequence[Value]:
        """Those loop-carried values of a waiting loop that may end the wait; all of them if that is unknown."""

    def explain(self, error: Exception, op: Op, frame: Frame) -> KernelError:
        """``error``, with the operation and the programs in which it happened."""


class Frame:
    """The values of ``programs`` (linear numbers, ascending) that run ``routine`` together.

    A frame for some of the programs reads missing values from its parent; ``rows`` are its programs' positions there.
    """

    __slots__ = ("count", "environment", "machine", "parent", "programs", "routine", "rows")

    def __init__(
        self,
        machine: Host,
        routine: Routine,
        programs: Array,
        environment: Environment,
        parent: Frame | None = None,
        rows: Array | None = None,
    ) -> None:
        self.machine = machine
        self.routine = routine
        self.programs = programs
        self.count = len(programs)
        self.environment = environment
        self.parent = parent
        self.rows = rows

    def part(self, rows: Array) -> Frame:
        """A frame for the programs in ``rows`` (positions, which may repeat)."""
        return Frame(self.machine, self.routine, self.programs[rows], Environment(self.environment, rows), self, rows)

    def type(self, number: int) -> Type:
        return self.routine.types[number]

    def result_type(self, op: Op, position: int = 0) -> Type:
        return self.routine.types[op.results[position]]

    def elements(self, op: Op, position: int, value: Value) -> Array:
        """Operand ``position`` of ``op`` as an array that broadcasts to ``(programs, *block)``."""
        return values.elements(value, self.routine.types[op.operands[position]])

    def spread(self, op: Op, position: int, value: Value) -> Array:
        """Operand ``position`` of ``op`` with the block axes at their full extent."""
        return values.spread(value, self.routine.types[op.operands[position]])

    def region(self, op: Op) -> tuple[BoundBlock, ...]:
        return self.routine.regions[op.index]

    def run(self, code: BoundBlock, arguments: Sequence[Value] = ()) -> tuple[Value, ...]:
        """Run a block and return the operands of its terminator."""
        environment = self.environment
        for number, value in zip(code.arguments, arguments, strict=True):
            environment[number] = value
        self.run_steps(code.steps)
        return self.handed(code.terminator.operands)

    def handed(self, numbers: Sequence[int]) -> tuple[Value, ...]:
        """The values that an ended block, or an operation with regions, passes on. Reports them to the observer."""
        found = tuple([self.environment[number] for number in numbers])
        if self.machine.observer is not None:
            self.machine.observer.handed(self, numbers, found)
        return found

    def run_steps(self, steps: Sequence[BoundStep]) -> None:
        """Run operations one after the other."""
        environment = self.environment
        for step in steps:
            operands = [environment[number] for number in step.operands]
            if step.control:
                if self.machine.observer is not None:
                    self.machine.observer.handed(self, step.operands, operands)
                result = step.run(self, step.op, *operands)
            else:
                try:
                    result = step.run(self, step.op, *operands)
                except Exception as error:
                    if from_signal(error):
                        raise
                    raise self.machine.explain(error, step.op, self) from error
            self.finish(step, operands, result)

    def finish(self, step: BoundStep, operands: Sequence[Value], result: Any) -> None:
        """Finish an operation that has run: store its result, report it to the observer, and drop values that are now
        dead.
        """
        environment = self.environment
        results = step.results
        if len(results) == 1:
            environment[results[0]] = result
        elif results:
            environment.update(zip(results, result, strict=True))
        if self.machine.observer is not None:
            self.machine.observer.after(self, step.op, operands, result)
        for number in step.dead:
            environment.pop(number, None)


def running(error: BaseException) -> Op | None:
    """The innermost operation, inside loops and calls, that ran when ``error`` was raised. None outside any
    operation.
    """
    found = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code is Frame.run_steps.__code__ and "step" in frame.f_locals:
            found = frame.f_locals["step"].op
    return found
