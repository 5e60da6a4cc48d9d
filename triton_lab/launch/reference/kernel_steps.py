"""The float values that a few programs of a launch compute, operation by operation, with the variables' names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.backend.source.kernel_source import KernelSource
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import AffineBlock, Descriptor, MaskBox, Value, elements
from triton_lab.ir import Op, effects, traits
from triton_lab.ir.dataflow import Value as PlanValue
from triton_lab.ir.traits import Kind
from triton_lab.launch.explanation.stored_values import PlanValues
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.launch.replay.variable_values import probe_number

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

MOST_BYTES = 128 << 20  # of all values that are kept
# Moves are left out: they show the values of what they move.
_LEFT_OUT = (Kind.MOVES, Kind.CREATES, Kind.CONTROL, Kind.COMPARES)


@dataclass(eq=False)
class KernelStep:
    """One operation of the kernel: ``line``, ``text`` of that line, and ``name``, the variable that is its value, if
    one is. ``blocks`` has the value of each program that ran it, by the program's number, in its last iteration;
    ``times`` says how often the programs ran it. ``inputs`` are the operations that it computes with, by index.
    """

    op: Op
    line: int | None
    text: str
    name: str
    inputs: tuple[int, ...] = ()
    blocks: dict[int, Array] = field(default_factory=dict)
    times: int = 0

    @property
    def is_load(self) -> bool:
        """Whether it brings in what memory held."""
        return effects.brings_in(self.op)

    @property
    def is_constant(self) -> bool:
        """Whether its lanes are alike in each program: nothing can be said of where they come from."""
        return all(block.size > 1 and bool((block == block.flat[0]).all()) for block in self.blocks.values())


class KernelSteps:
    """The steps of ``programs`` by the operation's index in the probed kernel, in the order of the plan."""

    def __init__(self, launch: Launch, programs: Sequence[int]) -> None:
        self.launch, self.programs = launch, list(programs)
        twin = launch.twin
        self.values = PlanValues(twin.executable.plan)
        self._written = KernelSource(launch.compiled[0].fn, twin.executable.plan)
        names: dict[PlanValue, str] = {}
        for op in self.values.plan.walk():
            number = probe_number(op)
            if number is not None:
                names.setdefault(self.values.value(op, 0), twin.variables[number].name)
        self.names = names
        self.steps: dict[int, KernelStep] = {}
        lines = launch.source.splitlines()
        for op in self.values.plan.walk():
            if self._is_float(op):
                place = self._written.place(op.location)
                line = None if place is None else place.line
                at = -1 if line is None else line - launch.first_line
                text = lines[at].strip() if 0 <= at < len(lines) else ""
                name = names.get(PlanValue(self.values.flow.function_of[op.index], op.results[0]), "")
                self.steps[op.index] = KernelStep(op, line, text, name, self._inputs(op))
        watcher = _Blocks(self.steps)
        replay(launch, executable=twin.executable, observer=watcher, programs=np.array(sorted(self.programs)))
        self.is_whole = watcher.left >= 0

    def _is_float(self, op: Op) -> bool:
        if op.index in self.values.inside or len(op.results) != 1:
            return False
        type = self.values.type(PlanValue(self.values.flow.function_of[op.index], op.results[0]))
        return type.is_float and traits.of(op.name).kind not in _LEFT_OUT

    def _inputs(self, op: Op) -> tuple[int, ...]:
        """The operations with float results nearest behind one, through moves and control flow."""
        if effects.is_access(op):
            return ()
        return self.behind([self.values.value(op, k) for k in self.values.data(op)])

    def behind(self, start: Sequence[PlanValue]) -> tuple[int, ...]:
        """The float operations nearest behind these values."""
        found, seen, todo = set(), set(), list(start)
        while todo:
            value = todo.pop()
            if value in seen:
                continue
            seen.add(value)
            op = self.values.flow.maker.get(value)
            if op is None:
                todo += self.values.flow.feeds.get(value, ())
            elif self._is_float(op):
                found.add(op.index)
            elif not effects.is_access(op):
                todo += [self.values.value(op, k) for k in self.values.data(op)]
        return tuple(sorted(found))

    def stored(self, argument: str) -> list[tuple[Op, PlanValue]]:
        """The stores and atomics to an argument, with the value that each takes."""
        found = []
        for op in self.values.plan.walk():
            position = effects.operands_of(op).value if effects.writes(op) else None
            roots = self.launch.twin.executable.roots.get(op.index)
            if position is None or roots is None or len(roots) != 1:
                continue
            if self.launch.plan_arguments[next(iter(roots))].name == argument:
                found.append((op, self.values.value(op, position)))
        return found


class _Blocks(Watcher):
    """Keeps each step's last value in each program."""

    def __init__(self, steps: dict[int, KernelStep]) -> None:
        self.steps = steps
        self.left = MOST_BYTES

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        step = self.steps.get(op.index)
        if step is None or isinstance(result, (AffineBlock, Descriptor, MaskBox)) or self.left < 0:
            return
        array = np.asarray(elements(result, frame.result_type(op)))
        step.times += 1
        for row, program in enumerate(frame.programs.tolist()):
            block = array[row if len(array) > 1 else 0]
            if program not in step.blocks:
                self.left -= block.nbytes
            if self.left >= 0:
                step.blocks[program] = block.copy()
