"""Where on a tape a breakpoint stops: all places at once, so that going forwards and backwards agree."""

from __future__ import annotations

from typing import Any

from triton_lab.launch.debugging.block_expression import ConditionError
from triton_lab.launch.debugging.breakpoints import PROGRAM_NAMES, Breakpoint
from triton_lab.launch.debugging.program_tape import ProgramTape, TapeAssignment
from triton_lab.messages import coordinates


def program_names(tape: ProgramTape) -> dict[str, int]:
    """The values of the names for the program."""
    place = coordinates(tape.program, tape.launch.grid)
    return dict(zip(PROGRAM_NAMES, (tape.program, *place), strict=True))


def visits(tape: ProgramTape, breakpoint: Breakpoint) -> list[tuple[int, str]]:
    """The stops of ``tape`` where ``breakpoint`` stops, ascending, each with what is wrong with its condition, or "".

    Without a line, and with ``becomes`` or ``changes``, it stops where the condition becomes true.
    """
    condition = breakpoint.condition
    found: list[tuple[int, str]] = []
    count = 0
    scanned = _Scan(tape)
    rising = condition is not None and (breakpoint.statements is None or bool(condition.edge))
    before: dict[int, Any] = {}  # by function: what held at the last look
    for position, stop in enumerate(tape.stops[:-1] if breakpoint.statements is not None else tape.stops):
        if breakpoint.statements is not None and stop.statement.number not in breakpoint.statements:
            continue
        problem = ""
        if condition is not None:
            scanned.advance(stop.event)
            try:
                names = scanned.variables(stop.frame, stop.statement.function, condition.names)
                if names is None:
                    continue
                state = scanned.kept(stop.frame, condition.names, lambda names=names: condition.state(names))
            except ConditionError as error:
                problem, state = str(error), True
            last, before[stop.statement.function] = before.get(stop.statement.function), state
            if condition.edge == "changes":
                if last is None or last == state:
                    continue
            elif not state or (rising and last):
                continue
        count += 1
        if breakpoint.counts(count):
            found.append((position, problem))
        if problem:
            break  # it would be wrong at each further visit
    return found


class _Scan:
    """The variables of all frames while a tape is read forwards."""

    def __init__(self, tape: ProgramTape) -> None:
        self.tape = tape
        self.at = 0
        self.last: dict[tuple[int, str], TapeAssignment] = {}
        self.program = program_names(tape)
        self._kept: dict[int, tuple[tuple[int, ...], Any]] = {}

    def advance(self, event: int) -> None:
        """Go on to ``event``."""
        copy, assignments = self.tape.copy, self.tape.assignments
        while self.at < len(assignments) and assignments[self.at].event < event:
            one = assignments[self.at]
            self.last[one.frame, copy.variables[one.variable].name] = one
            self.at += 1

    def variables(self, frame: int, function: int, names: frozenset[str]) -> dict[str, Any] | None:
        """The values of ``names`` in a frame; None if one has none yet."""
        found: dict[str, Any] = {}
        for name in names:
            one = self.last.get((frame, name))
            if one is not None:
                found[name] = self.tape.value(one)
            elif name in self.program and name not in self.tape.copy.names(function):
                found[name] = self.program[name]
            else:
                return None
        return found

    def kept(self, frame: int, names: frozenset[str], compute: Any) -> Any:
        """``compute()``, or what it was if none of ``names`` has been assigned since."""
        key = tuple(one.event for name in sorted(names) if (one := self.last.get((frame, name))) is not None)
        if frame not in self._kept or self._kept[frame][0] != key:
            self._kept[frame] = key, compute()
        return self._kept[frame][1]
