"""`Debugger`: a position in what a program of a recorded launch did, and the verbs that move it, also backwards."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from triton_lab.launch.debugging.block_expression import ConditionError, read_expression
from triton_lab.launch.debugging.breakpoint_visits import program_names, visits
from triton_lab.launch.debugging.breakpoints import Breakpoint, BreakpointError, breakpoint_at
from triton_lab.launch.debugging.debugger_state import Arrival, LocalVariable, SideBySide, StackPlace, aligned
from triton_lab.launch.debugging.element_stores import programs_that_store, stores
from triton_lab.launch.debugging.marked_copy import MarkedCopy, marked_copy
from triton_lab.launch.debugging.program_search import later_programs
from triton_lab.launch.debugging.program_tape import ProgramTape, TapeStop, reached, tape
from triton_lab.launch.launch import Launch
from triton_lab.localization import _

Array = NDArray[Any]
MOST_TAPES = 4


class Debugger:
    """Steps through the programs of ``launch``, from the first statement of ``program``.

    ``position`` counts the stops of the program's tape; the last one is its end. Each verb returns an `Arrival`, and
    with ``back`` goes backwards. Raises LookupError for a program that does not exist, CannotReplay for a launch that
    cannot be stepped through.

    >>> from triton_lab.launch.debugging.debugger import Debugger
    >>> debugger = Debugger(launch, program=2)
    >>> debugger.line, debugger.next().reason, debugger.line
    (19, 'step', 20)
    >>> debugger.break_at(22, "x.max() > 5").number
    1
    >>> debugger.continue_().breakpoint, debugger.line, debugger.evaluate("x.max()")
    (1, 22, array(383., dtype=float32))
    """

    def __init__(self, launch: Launch, program: int = 0) -> None:
        self.launch = launch
        self.copy: MarkedCopy = marked_copy(launch)
        self.breakpoints: dict[int, Breakpoint] = {}
        self.watched: list[str] = []
        self._tapes: OrderedDict[int, ProgramTape] = OrderedDict()
        self._made = 0
        kinds = [one.number for one in self.copy.statements if one.kind == "breakpoint"]
        self._written = Breakpoint(0, None, frozenset(kinds)) if kinds else None
        self.tape = self._tape(program)
        self.position = 0

    # --- Where it stands -----------------------------------------------------------------------------

    @property
    def program(self) -> int:
        """The number of the program."""
        return self.tape.program

    @property
    def stop(self) -> TapeStop:
        """The stop at the position."""
        return self.tape.stops[self.position]

    @property
    def line(self) -> int:
        """The line of the statement that comes next."""
        return self.stop.statement.line

    @property
    def at_end(self) -> bool:
        """Whether the program has ended."""
        return self.position == len(self.tape.stops) - 1

    def stack(self) -> list[StackPlace]:
        """The calls at the position, the innermost first."""
        found = []
        frame, line = self.stop.frame, self.line
        while True:
            here = self.tape.frames[frame]
            found.append(StackPlace(self.copy.functions[here.function], line, frame))
            if here.caller is None:
                return found
            frame, line = here.caller, here.call_line or self.copy.functions[here.function].first_line

    def locals(self, depth: int = 0) -> list[LocalVariable]:
        """The variables of a frame of the stack, in the order in which they first got a value."""
        place = self.stack()[depth]
        copy = self.copy
        found: dict[str, LocalVariable] = {}
        for (frame, _unused, name), one in self.tape.assigned(self.position).items():
            if frame == place.frame:
                found[name] = LocalVariable(name, copy.variables[one.variable].line, self.tape.value(one))
        done = {one.statement.line for one in self.tape.stops[: self.position] if one.frame == place.frame}
        for number, fixed in copy.fixed.items():
            variable = copy.variables[number]
            own = copy.owners[number] == place.function.number and variable.name not in found
            is_known = variable.name in place.function.parameters or variable.line in done
            if own and is_known and fixed is not None:
                found[variable.name] = LocalVariable(variable.name, variable.line, None, fixed)
        return list(found.values())

    def evaluate(self, text: str, depth: int = 0) -> Array:
        """The value of an expression in a frame of the stack (see `condition`). Raises ConditionError."""
        known: dict[str, Any] = dict(program_names(self.tape))
        known.update((one.name, one.value if one.value is not None else one.fixed) for one in self.locals(depth))
        return read_expression(text).value(known)

    def watch(self, text: str) -> None:
        """Add an expression to those that `watches` computes. Raises ConditionError if it cannot be read."""
        if read_expression(text).text not in self.watched:
            self.watched.append(text.strip())

    def watches(self) -> list[tuple[str, Array | ConditionError]]:
        """The watched expressions with their values here, or why there is none."""
        found: list[tuple[str, Array | ConditionError]] = []
        for text in self.watched:
            try:
                found.append((text, self.evaluate(text)))
            except ConditionError as error:
                found.append((text, error))
        return found

    # --- Breakpoints ---------------------------------------------------------------------------------

    def break_at(self, line: int | None, condition: str = "", hits: str = "", file: str | None = None) -> Breakpoint:
        """Set a breakpoint; see `breakpoint_at`."""
        made = breakpoint_at(self.copy, self._made + 1, line, condition, hits, file)
        self._made += 1
        self.breakpoints[made.number] = made
        return made

    def clear(self, number: int) -> None:
        """Remove a breakpoint. Raises BreakpointError if there is none of this number."""
        if self.breakpoints.pop(number, None) is None:
            listed = ", ".join(map(str, self.breakpoints)) or "-"
            raise BreakpointError(
                _("there is no breakpoint {number}; there are {listed}").format(number=number, listed=listed)
            )

    def breaks(self) -> list[int]:
        """The positions of this program at which breakpoints stop, ascending."""
        return sorted({position for position, _number, _problem in self._all_breaks(self.tape)})

    # --- Verbs ---------------------------------------------------------------------------------------

    def step(self, back: bool = False) -> Arrival:
        """To the next statement, also into a helper."""
        return self._to(lambda stop: True, back)

    def next(self, back: bool = False) -> Arrival:
        """To the next statement of this function, or of its caller."""
        around = {one.frame for one in self.stack()}
        return self._to(lambda stop: stop.frame in around, back)

    def out(self, back: bool = False) -> Arrival:
        """To the caller of this function; from the kernel, to the end of the program."""
        around = {one.frame for one in self.stack()[1:]}
        return self._to(lambda stop: stop.frame in around, back)

    def until(self, line: int | None = None) -> Arrival:
        """Over a loop: to a line below this one, at least ``line``, in this function or its caller."""
        around = {one.frame for one in self.stack()}
        here, wanted = self.stop.frame, self.line + 1 if line is None else line
        return self._to(
            lambda stop: stop.frame in around and (stop.frame != here or stop.statement.line >= wanted), False
        )

    def iteration(self, back: bool = False) -> Arrival:
        """To the first statement of the next iteration of the loop around this statement, or below the loop."""
        statement, here = self.stop.statement, self.stop.frame
        loop = statement.number if statement.kind == "loop" else statement.loop
        if loop is None:
            return Arrival("step", remark=_("there is no loop around line {line}").format(line=self.line))
        heads = [
            position
            for position, stop in enumerate(self.tape.stops)
            if stop.frame == here and stop.statement.number == loop
        ]
        if back:
            begun = [head + 1 for head in heads if head + 1 < self.position]
            return self._at(begun[-1] if begun else heads[0], "step")
        later = [head for head in heads if head >= self.position]
        return self._at(later[0] + 1 if later else len(self.tape.stops) - 1, "step")

    def continue_(self, back: bool = False, programs: bool = True) -> Arrival:
        """To the next breakpoint, in this program and, forwards and with ``programs``, in those that follow it."""
        found = self._breaks(self.tape, back)
        if found is not None:
            return self._at_break(found)
        if not back and programs:
            for number in later_programs(self._active(), self.program, self.launch, self.copy, lambda: self._reached):
                other = self._tape(number)
                first = min(self._all_breaks(other), default=None)
                if first is not None:
                    self.tape = other
                    return self._at_break(first)
        return self._at(0 if back else len(self.tape.stops) - 1, "step")

    def run(self) -> Arrival | None:
        """From the start to the first breakpoint, in this program or a later one; None if there is none."""
        at, self.position = self.position, -1
        arrival = self.continue_()
        if arrival.breakpoint is None:
            self.position = at
            return None
        return arrival

    def stored(self, name: str, index: int | Sequence[int], back: bool = False) -> Arrival:
        """To the statement that stores to element ``index`` (row-major, or a place) of argument ``name``.

        First in this program, then in the others. Raises LookupError for an unknown argument or element.
        """
        at = self.position
        found = [one for one in stores(self.tape, name, index) if (one < at if back else one > at)]
        if found:
            return self._at(max(found) if back else min(found), "store")
        for number in () if back else programs_that_store(self.launch, name, index):
            if number != self.program:
                other = self._tape(number)
                first = min(stores(other, name, index), default=None)
                if first is not None:
                    self.tape = other
                    return self._at(first, "store")
        return Arrival(
            "step", remark=_("no store to this element {side} here").format(side=_("before") if back else _("after"))
        )

    def select(self, program: int) -> Arrival:
        """To the same visit of the same statement in another program, or to its end if it never comes there."""
        other = self._tape(program)
        self.position, remark = aligned(self.tape, self.position, other)
        self.tape = other
        return Arrival("step", remark=remark)

    @contextlib.contextmanager
    def standing_in(self, program: int) -> Iterator[Arrival]:
        """Inside, this debugger stands at the same place in another program (see `select`)."""
        tape, position = self.tape, self.position
        try:
            yield self.select(program) if program != self.program else Arrival("step")
        finally:
            self.tape, self.position = tape, position

    def beside(self, program: int) -> list[SideBySide]:
        """The variables here and in another program, at the same visit of the same statement."""
        here = {one.name: one.value for one in self.locals() if one.fixed is None}
        with self.standing_in(program):
            there = {one.name: one.value for one in self.locals() if one.fixed is None}
        return [SideBySide(name, here.get(name), there.get(name)) for name in {**here, **there}]

    def _tape(self, program: int) -> ProgramTape:
        if program not in self._tapes:
            self._tapes[program] = tape(self.launch, self.copy, program)
            while len(self._tapes) > MOST_TAPES:
                self._tapes.popitem(last=False)
        self._tapes.move_to_end(program)
        return self._tapes[program]

    def _to(self, wanted: Callable[[TapeStop], bool], back: bool) -> Arrival:
        end = len(self.tape.stops) - 1
        positions = range(self.position - 1, -1, -1) if back else range(self.position + 1, end)
        found = next((position for position in positions if wanted(self.tape.stops[position])), 0 if back else end)
        return self._at(found, "step")

    def _at(self, position: int, reason: str) -> Arrival:
        self.position = position
        if self.at_end:
            error = self.tape.error
            return Arrival("error" if error else "end", remark=error or self.tape.cut)
        return Arrival("start" if position == 0 else reason)

    def _at_break(self, found: tuple[int, int, str]) -> Arrival:
        self.position = found[0]
        return Arrival("breakpoint", found[1], found[2])

    def _active(self) -> list[Breakpoint]:
        """All breakpoints, those in the source first."""
        return [*([] if self._written is None else [self._written]), *self.breakpoints.values()]

    def _all_breaks(self, tape: ProgramTape) -> Iterator[tuple[int, int, str]]:
        """Where the breakpoints stop on a tape: position, number and what is wrong with the condition."""
        for one in self._active():
            for position, problem in visits(tape, one):
                yield position, one.number, problem

    def _breaks(self, tape: ProgramTape, back: bool) -> tuple[int, int, str] | None:
        found = self._all_breaks(tape)
        if back:
            return max((one for one in found if one[0] < self.position), default=None, key=lambda one: one[0])
        return min((one for one in found if one[0] > self.position), default=None, key=lambda one: one[0])

    @cached_property
    def _reached(self) -> dict[int, Array]:
        return reached(self.launch, self.copy)
