"""`Values`: the values of a kernel's variable in each program and iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import unsigned
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value, spread
from triton_lab.ir import Op
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.instrumented_copy import PREFIX, Twin, Variable
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _
from triton_lab.messages import count, no_program
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.views.launch.comparison.comparison_view import Beside
    from triton_lab.views.launch.values.variable_view import VariableView

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Assignment:
    """One execution of an assignment by ``programs`` together: ``values`` is ``(programs, *block)``."""

    order: int
    variable: Variable
    programs: Array
    values: Array


class Values(RichDisplay):
    """The values of a variable at one place of the source, for the chosen programs and all iterations.

    ``programs`` are linear numbers; an iteration is a program's first, second, ... execution of the assignment.

    >>> launch.values("mask")
    mask on line 20: bool of shape (128,), 8 programs, 1 iteration
    """

    def __init__(
        self,
        name: str,
        line: int,
        programs: Array,
        assignments: Sequence[Assignment],
        fixed: Any,
        arguments: Sequence[Argument] = (),
        grid: tuple[int, int, int] | None = None,
    ) -> None:
        self.name = name
        # The arguments whose memory a pointer may point into.
        self.arguments = tuple(arguments)
        self.line = line
        self.programs = programs
        self.grid = grid or (int(programs.max(initial=0)) + 1, 1, 1)
        self.assignments = assignments
        # The value if it is known at compile time (a string, a type, a function); then there are no arrays.
        self.fixed = fixed
        self._rows = np.full(int(programs.max(initial=-1)) + 1, -1)
        self._rows[programs] = np.arange(len(programs))
        # By iteration: the assignments that any program executes in it, with the iteration of each of their programs.
        # An index, since there may be thousands of iterations and each is queried by itself.
        self._by_iteration: dict[int, list[tuple[Assignment, Array]]] = {}
        done = np.zeros(len(programs), np.int64)
        for assignment in assignments:
            rows = self._rows[assignment.programs]
            counts = done[rows]
            for iteration in np.unique(counts).tolist():
                self._by_iteration.setdefault(iteration, []).append((assignment, counts))
            done[rows] += 1
        self.iterations = int(done.max(initial=0))

    @property
    def block(self) -> tuple[int, ...]:
        """The shape of the value in one program; ``()`` for a scalar."""
        return self.assignments[0].values.shape[1:] if self.assignments else ()

    @property
    def dtype(self) -> str:
        """Torch's name of the value's type."""
        return str(self.assignments[0].values.dtype) if self.assignments else type(self.fixed).__name__

    def at(self, iteration: int = 0) -> Array:
        """The values, ``(programs, *block)``; zero in programs that do not reach this iteration (see `reached`).

        >>> launch.values("x").at()[7, 100:106]
        array([996., 997., 998., 999.,   0.,   0.], dtype=float32)
        """
        if not 0 <= iteration < max(1, self.iterations):
            has = count(self.iterations, "iteration")
            raise IndexError(
                _("{name} on line {line} has {has}, not {iteration}").format(
                    name=self.name, line=self.line, has=has, iteration=iteration + 1
                )
            )
        dtype = self.assignments[0].values.dtype if self.assignments else np.float32
        result = np.zeros((len(self.programs), *self.block), dtype)
        for assignment, counts in self._by_iteration.get(iteration, ()):
            chosen = counts == iteration
            result[self._rows[assignment.programs[chosen]]] = assignment.values[chosen]
        return result

    def reached(self, iteration: int = 0) -> Array:
        """Bool ``(programs,)``: which programs reached this iteration of the assignment.

        >>> launch.values("x").reached()
        array([ True,  True,  True,  True,  True,  True,  True,  True])
        """
        result = np.zeros(len(self.programs), np.bool_)
        for assignment, counts in self._by_iteration.get(iteration, ()):
            result[self._rows[assignment.programs[counts == iteration]]] = True
        return result

    def view(self, program: int | None = None, iteration: int = 0) -> VariableView:
        """The values as a picture, which a notebook also shows for the `Values` itself.

        >>> print(launch.values("x").view(program=7).text())
        x on line 21: float32 of shape (128,), 8 programs, 1 iteration
        program (7, 0, 0): 128 float32, 0 to 999
        """
        view: VariableView = provided("Values.view")(self, program, iteration)
        return view

    def compare(
        self, other: Values | None = None, programs: tuple[int, int] = (0, 1), iterations: tuple[int, int] = (0, 0)
    ) -> Beside:
        """Two programs, two iterations, or with ``other`` two launches, side by side with the error between them.

        >>> launch.values("x").compare(programs=(0, 1)).title()
        'x: different: 128 of 128 elements; by 128 at most, at x[0]'
        """
        beside: Beside = provided("Values.compare")(self, other or self, programs, iterations)
        return beside

    def _picture(self) -> VariableView:
        return self.view()

    def __repr__(self) -> str:
        if self.fixed is not None:
            return _("{name} on line {line} is {fixed}, fixed when compiling").format(
                name=self.name, line=self.line, fixed=repr(self.fixed)
            )
        shape = _(" of shape {shape}").format(shape=self.block) if self.block else ""
        return _("{name} on line {line}: {dtype}{shape}, {programs}, {iterations}").format(
            name=self.name,
            line=self.line,
            dtype=self.dtype,
            shape=shape,
            programs=count(len(self.programs), "program"),
            iterations=count(self.iterations, "iteration"),
        )


class _Listener(Watcher):
    """Collects the values from the probes."""

    def __init__(self, wanted: frozenset[int] | None, variables: Sequence[Variable]) -> None:
        self.wanted = wanted
        self.variables = variables
        self.heard: list[Assignment] = []

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        number = probe_number(op)
        if number is None or (self.wanted is not None and number not in self.wanted):
            return
        array = assigned(frame, op, operands[0])
        values = np.broadcast_to(array, (frame.count, *array.shape[1:])).copy()
        self.heard.append(Assignment(len(self.heard), self.variables[number], frame.programs, values))


def assigned(frame: Frame, op: Op, value: Value) -> Array:
    """The block that probe ``op`` prints; integers that are unsigned in the kernel become unsigned here."""
    type = frame.type(op.operands[0])
    array = spread(value, type)
    if type.is_integer and type.bits > 1 and not op.attributes["isSigned"][0]:
        return array.astype(unsigned(array.dtype))
    return array


def probe_number(op: Op) -> int | None:
    """The number of the probe ``op``; None if it is no probe."""
    if op.name != "tt.print":
        return None
    prefix = str(op.attributes["prefix"]).strip()
    return int(prefix.removeprefix(PREFIX.strip())) if prefix.startswith(PREFIX.strip()) else None


def listen(
    launch: Recorded, twin: Twin, wanted: frozenset[int] | None = None, programs: Array | None = None
) -> list[Assignment]:
    """Replay ``launch`` with its twin, only in ``programs`` if given, and return the assignments."""
    listener = _Listener(wanted, twin.variables)
    replay(launch, executable=twin.executable, observer=listener, programs=programs)
    return listener.heard


def values(launch: Recorded, name: str, line: int | None = None, programs: Sequence[int] | None = None) -> Values:
    """See `Launch.values`."""
    twin = launch.twin
    named = [variable for variable in twin.variables if variable.name == name]
    if not named:
        raise LookupError(
            _("{kernel} has no variable {name}; it has {listing}").format(
                kernel=launch.kernel, name=repr(name), listing=_listing(twin)
            )
        )
    if line is None and len({v.line for v in named}) > 1:
        # A name without a line refers to its last assignment.
        line = named[-1].line
    chosen = [variable for variable in named if line is None or variable.line == line]
    if not chosen:
        lines = ", ".join(str(variable.line) for variable in named)
        raise LookupError(
            _("{name} gets no value on line {line} of {kernel}, but on line {lines}").format(
                name=repr(name), line=line, kernel=launch.kernel, lines=lines
            )
        )
    rows = np.arange(launch.programs) if programs is None else np.unique(np.asarray(programs, np.int64))
    if len(rows) and (rows[0] < 0 or rows[-1] >= launch.programs):
        beyond = int(rows[0] if rows[0] < 0 else rows[-1])
        raise LookupError(f"{launch.kernel}: {no_program(beyond, launch.grid)}")
    wanted = frozenset(variable.number for variable in chosen)
    heard = listen(launch, twin, wanted, rows)
    fixed = next((twin.fixed[v.number] for v in chosen if v.number in twin.fixed), None)
    return Values(name, chosen[0].line, rows, heard, None if heard else fixed, launch.arguments, launch.grid)


def _listing(twin: Twin) -> str:
    lines: dict[str, list[int]] = {}
    for variable in twin.variables:
        lines.setdefault(variable.name, []).append(variable.line)
    return ", ".join(f"{name} (line {', '.join(map(str, sorted(set(at))))})" for name, at in lines.items())


__all__ = ["Assignment", "Values", "assigned", "listen", "probe_number", "values"]
