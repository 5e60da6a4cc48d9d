"""The tape of one program: its statements in order, and the values of variables when they are asked for.

The first replay keeps the order of all statements, assignments and accesses, and values up to a limit in bytes. Values
beyond it are found by replaying the program again from its start, a window at a time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Location, Op
from triton_lab.launch.debugging.marked_copy import MarkedCopy, MarkedStatement, mark_number
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.launch.replay.variable_values import assigned, probe_number
from triton_lab.localization import _
from triton_lab.messages import no_program

Array = NDArray[Any]
MOST_EVENTS = 1 << 20
MOST_BYTES = 128 << 20
_INT64 = np.dtype(np.int64)


@dataclass(frozen=True)
class StackFrame:
    """One call of a function: ``caller`` is the number of the frame that calls it, on line ``call_line``."""

    number: int
    function: int
    caller: int | None = None
    call_line: int | None = None


@dataclass(frozen=True)
class TapeStop:
    """A place where the program can stand: before ``statement``. ``event`` counts what has happened until then."""

    event: int
    statement: MarkedStatement
    frame: int


@dataclass(frozen=True)
class TapeAssignment:
    """An assignment of ``variable`` (its number) in ``frame``."""

    event: int
    variable: int
    frame: int


@dataclass(frozen=True, eq=False)
class TapeAccess:
    """A load, store or atomic, with its ``addresses`` in bytes and its ``mask`` over the block."""

    event: int
    kind: str
    addresses: Array
    mask: Array


@dataclass(eq=False)
class ProgramTape:
    """What one program did; see the module.

    ``cut`` says why statements are missing at the end, and ``error`` what stopped the program in its last statement.
    """

    launch: Recorded
    copy: MarkedCopy
    program: int
    stops: list[TapeStop] = field(default_factory=list)
    assignments: list[TapeAssignment] = field(default_factory=list)
    accesses: list[TapeAccess] = field(default_factory=list)
    touches: list[int] = field(default_factory=list)  # the events of all accesses
    frames: list[StackFrame] = field(default_factory=list)
    values: dict[int, Array] = field(default_factory=dict)
    events: int = 0
    cut: str = ""
    error: str = ""

    def value(self, assignment: TapeAssignment) -> Array:
        """The block that was assigned. Raises CannotReplay."""
        if assignment.event not in self.values:
            self.values = _replayed(self, assignment.event).values
        return self.values[assignment.event]

    def assigned(self, position: int) -> dict[tuple[int, int, str], TapeAssignment]:
        """By frame, function and name: what each variable was last assigned before stop ``position``."""
        end = bisect_left(self.assignments, self.stops[position].event, key=lambda one: one.event)
        copy = self.copy
        return {
            (one.frame, copy.owners[one.variable], copy.variables[one.variable].name): one
            for one in self.assignments[:end]
        }

    def trace_step(self, position: int) -> int:
        """The last step of `Launch.trace` before stop ``position``: an access, or an assignment outside of helpers."""
        event, copy = self.stops[position].event, self.copy
        own = (one.event for one in self.assignments if copy.functions[copy.owners[one.variable]].is_traced)
        return max(0, sum(one < event for one in own) + bisect_left(self.touches, event) - 1)

    def after(self, event: int) -> int | None:
        """The stop whose statement does ``event``."""
        found = bisect_right(self.stops, event, key=lambda one: one.event) - 1
        return found if found >= 0 else None


def tape(launch: Recorded, copy: MarkedCopy, program: int) -> ProgramTape:
    """The tape of ``program`` of a launch. Raises LookupError if there is no such program, and CannotReplay."""
    if not 0 <= program < launch.programs:
        raise LookupError(f"{launch.kernel}: {no_program(program, launch.grid)}")
    made = _replayed(ProgramTape(launch, copy, program), 0, stored=True)
    if not made.stops:
        raise CannotReplay(_("the program did no statement that can be stepped through"))
    last = made.stops[-1]
    line = last.statement.line if last.statement.function == 0 or made.error else copy.statements[0].line
    made.stops.append(TapeStop(made.events, MarkedStatement(-1, 0, "end", line, line), 0))
    return made


def reached(launch: Recorded, copy: MarkedCopy) -> dict[int, Array]:
    """The numbers of the programs that reach each statement, found by one replay of the whole launch."""
    watcher = _Reached()
    replay(launch, executable=copy.executable, observer=watcher)
    return {number: np.unique(np.concatenate(parts)) for number, parts in watcher.found.items()}


def _replayed(old: ProgramTape, first: int, stored: bool = False) -> ProgramTape:
    """``old`` again, with the values from event ``first`` on; with ``stored`` it gets statements, too."""
    made = old if stored else ProgramTape(old.launch, old.copy, old.program)
    listener = _Listener(made, first)
    try:
        replay(
            old.launch,
            executable=old.copy.executable,
            observer=listener,
            access_observer=listener,
            programs=np.array([old.program]),
            strict=True,
        )
    except KernelError as error:
        # The launch's own error names the element, which a replay of one program does not look up.
        told = str(old.launch.error or error).split("\n", 1)[0]
        made.error = error.message or told
    except _Full:
        made.cut = _(
            "the program does more than {most} statements, assignments and accesses: what follows was not kept"
        ).format(most=f"{MOST_EVENTS:,}")
    made.events = listener.event
    return made


class _Full(Exception):
    pass


class _Reached(Watcher):
    def __init__(self) -> None:
        self.found: dict[int, list[Array]] = {}

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        number = mark_number(op)
        if number is not None:
            parts = self.found.setdefault(number, [])
            if not parts or parts[-1] is not frame.programs:
                parts.append(frame.programs)
            if len(parts) > 64:
                parts[:] = [np.unique(np.concatenate(parts))]


class _Listener(Watcher):
    """Writes the tape. The compiler notes at each operation which calls it inlined: they tell frames apart."""

    def __init__(self, made: ProgramTape, first: int) -> None:
        self.made, self.first = made, first
        self.event = 0
        self.bytes = 0
        self.open: dict[tuple[int, tuple[tuple[str, int, int], ...]], int] = {}
        self.last_frame = 0

    def _next(self) -> int:
        event, self.event = self.event, self.event + 1
        if event >= MOST_EVENTS:
            raise _Full
        return event

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        mark = mark_number(op)
        if mark is not None:
            statement = self.made.copy.statements[mark]
            place = self._frame(statement.function, op, statement.kind == "enter")
            self.last_frame = place
            event = self._next()
            if statement.kind != "enter":
                self.made.stops.append(TapeStop(event, statement, place))
            return
        number = probe_number(op)
        if number is None:
            return
        event = self._next()
        place = self._frame(self.made.copy.owners[number], op, False)
        self.made.assignments.append(TapeAssignment(event, number, place))
        if event >= self.first and self.bytes < MOST_BYTES:
            self.made.values[event] = value = assigned(frame, op, operands[0])[0].copy()
            self.bytes += value.nbytes

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        event = self._next()
        if self.first:
            return
        self.made.touches.append(event)
        addresses = pointer.elements(_INT64) if isinstance(pointer, AffineBlock) else pointer
        active = np.asarray(mask.elements() if isinstance(mask, MaskBox) else np.True_ if mask is None else mask)
        if self.bytes < MOST_BYTES:
            kept = (np.array(addresses[0]), np.array(active[0] if active.ndim else active))
            self.bytes += kept[0].nbytes + kept[1].nbytes
            self.made.accesses.append(TapeAccess(event, kind, *kept))

    def _frame(self, function: int, op: Op, enters: bool) -> int:
        """The number of the frame that ``op`` of a function is in; ``enters`` begins a new one."""
        chain = _chain(op.location)
        key = (function, chain)
        if enters or key not in self.open:
            number = len(self.made.frames)
            caller, line = self._caller(function, chain)
            self.made.frames.append(StackFrame(number, function, caller, line))
            self.open[key] = number
        return self.open[key]

    def _caller(self, function: int, chain: tuple[tuple[str, int, int], ...]) -> tuple[int | None, int | None]:
        if function == 0:
            return None, None
        functions = self.made.copy.functions
        if not chain:  # called at run time, or a partition: from where the program last stood
            separate = functions[function].is_separate
            line = self.made.stops[-1].statement.line if separate and self.made.stops else None
            return (self.last_frame if separate else 0), line
        line = chain[0][1]
        for depth in range(1, len(chain) + 1):
            for one in functions:
                if one.holds(*chain[depth - 1][:2]) and (one.number, chain[depth:]) in self.open:
                    return self.open[one.number, chain[depth:]], chain[depth - 1][1]
        return 0, line


def _chain(location: Location | None) -> tuple[tuple[str, int, int], ...]:
    """The calls around a place that the compiler inlined, the innermost first."""
    frames = list(location.frames())[1:] if location is not None else []
    return tuple((one.file, one.line, one.column) for one in frames)
