"""`ModuleValues`: the values of one program beside the lines of a module of the compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from triton_lab import messages
from triton_lab.compiled.compilation_text import without_places
from triton_lab.compiled.explanations import operation
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.runtime_values import Value, spread, take
from triton_lab.ir import Op, Plan, Type
from triton_lab.launch.checks.analysis.finding_text import element
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.progress_callback import within
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

FIRST = 4  # elements of a value beside its line
SECONDS = 10.0  # for the values of one module
_RESULT = re.compile(r"^\s*%[\w$.-]+(?::\d+)?(?:, *%[\w$.-]+(?::\d+)?)* = ")


@dataclass(frozen=True, eq=False)
class ModuleValues:
    """What ``program`` (a linear number) computes in a module, line by line; it prints as the module.

    ``lines`` are the module's, without source locations. ``values`` has the text of the first elements of what a line
    computes, by the line's number from 0; of a line that ran several times, those of the last. ``stopped`` says why the
    module was not run to its end.
    """

    lines: tuple[str, ...] = field(repr=False)
    program: int
    values: Mapping[int, str] = field(repr=False)
    stopped: str = ""

    def __str__(self) -> str:
        told = [beside(line, self.values.get(number, "")) for number, line in enumerate(self.lines)]
        return "\n".join([*told, *([self.stopped] if self.stopped else [])])

    def __repr__(self) -> str:
        return str(self)


def beside(line: str, value: str) -> str:
    """A line of a module with its value, as a comment."""
    return f"{line}  // {value}" if value else line


def values_of(module: str, runs: Executable, plan: Plan, launch: Recorded, program: int) -> ModuleValues:
    """Run a module on a launch's inputs and note what ``program`` computes.

    ``plan`` is the module as it was read, ``runs`` what is run. Raises CannotReplay, and ValueError for a program that
    does not exist.
    """
    if not 0 <= program < launch.programs:
        raise ValueError(messages.no_program(program, launch.grid))
    lines = tuple(without_places(module))
    noted = _Notes(launch, program)
    stopped = ""
    with within(SECONDS):
        try:
            replay(
                launch,
                executable=runs,
                observer=noted,
                programs=np.array([program]),
                strict=True,
                fences=frozenset(),
            )
        except KernelError as error:
            stopped = str(error).split("\n", 1)[0]
    places = places_of(lines, plan)
    found = {places[index]: told for index, told in noted.told() if index in places}
    return ModuleValues(lines, program, found, stopped)


def places_of(lines: Sequence[str], plan: Plan) -> dict[int, int]:
    """The line of each operation that has results, by the operation's index; empty where they do not fit each other.

    A module's own form leaves out operations without results, and no others.
    """
    made = [op for op in plan.walk() if op.results]
    there = [number for number, line in enumerate(lines) if _RESULT.match(line)]
    fits = len(made) == len(there) and all(
        operation("ttgir", lines[number]) in ("", op.name) for op, number in zip(made, there, strict=True)
    )
    return {op.index: number for op, number in zip(made, there, strict=True)} if fits else {}


class _Notes(Watcher):
    """Keeps what each operation computed last, and how often it ran."""

    def __init__(self, launch: Recorded, program: int) -> None:
        self.launch = launch
        self.program = program
        self.times: dict[int, int] = {}
        self.results: dict[int, str] = {}

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        rows = np.flatnonzero(frame.programs == self.program)
        if not op.results or not len(rows):
            return
        self.times[op.index] = self.times.get(op.index, 0) + 1
        several = result if isinstance(result, tuple) else (result,)
        types = [frame.routine.function.types[number] for number in op.results]
        told = [
            self._first(take(value, rows), type)
            for value, type in zip(several, types, strict=False)
            if value is not None and not type.is_opaque
        ]
        self.results[op.index] = "; ".join(filter(None, told))

    def told(self) -> Iterator[tuple[int, str]]:
        """The text for each operation."""
        for index, text in self.results.items():
            times = self.times[index]
            if text and times > 1:
                text += _(" (the last of {times})").format(times=messages.count(times, "time"))
            if text:
                yield index, text

    def _first(self, value: Value, type: Type) -> str:
        """The first elements of a value of one program; pointers by what they point at."""
        first = spread(value, type)[0].reshape(-1)[:FIRST].tolist()
        told = ", ".join(map(self._pointed_at if type.is_pointer else _number, first))
        return told + (", …" if type.size > FIRST else "")

    def _pointed_at(self, address: int) -> str:
        for argument in self.launch.arguments:
            begin = argument.storage_address
            if argument.itemsize and begin <= address < begin + argument.storage_bytes:
                return element(argument, address)
        return hex(address)


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    return messages.significant(float(value))
