"""Breakpoints: the line or the condition at which a program stops, and how often it must have come there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from triton_lab.launch.debugging.block_expression import unknown_name
from triton_lab.launch.debugging.marked_copy import MarkedCopy, MarkedStatement
from triton_lab.launch.debugging.stop_condition import StopCondition, read_condition
from triton_lab.localization import _

PROGRAM_NAMES = ("pid", "pid_x", "pid_y", "pid_z")
"""Names for the program in conditions, unless the kernel has variables of these names: its number, and its place."""

_HITS = re.compile(r"^\s*(>=|<=|==|=|>|<|%)?\s*(\d{1,9})\s*$")
_COUNTED: dict[str, Callable[[int, int], bool]] = {
    ">=": lambda hits, number: hits >= number,
    "<=": lambda hits, number: hits <= number,
    "==": lambda hits, number: hits == number,
    ">": lambda hits, number: hits > number,
    "<": lambda hits, number: hits < number,
    "%": lambda hits, number: hits % number == 0,
}


class BreakpointError(ValueError):
    """A breakpoint cannot be set; the message says why."""


@dataclass(eq=False)
class Breakpoint:
    """A place to stop: ``statements`` (by number; None: any), where ``condition`` holds.

    ``hits`` says which visits count, as ``"3"``, ``">= 3"`` or ``"% 2"``, of those where the condition holds.
    ``remark`` tells that the line was moved.
    """

    number: int
    line: int | None
    statements: frozenset[int] | None
    condition: StopCondition | None = None
    hits: str = ""
    remark: str = ""

    def counts(self, visits: int) -> bool:
        """Whether to stop at visit ``visits``, from 1."""
        found = _HITS.match(self.hits)
        return found is None or _COUNTED[found[1] if found[1] not in (None, "=") else "=="](visits, int(found[2]))


def breakpoint_at(
    copy: MarkedCopy, number: int, line: int | None, condition: str = "", hits: str = "", file: str | None = None
) -> Breakpoint:
    """A breakpoint in a line of ``file``, by default the kernel's; None: wherever the condition holds.

    A line without a statement moves to the next one, with a remark. Raises BreakpointError, ConditionError.
    """
    hits = hits.strip()
    found = _HITS.match(hits)
    if hits and (found is None or (found[1] == "%" and int(found[2]) == 0)):
        raise BreakpointError(_("{hits} is no number of visits: write 3, >= 3 or % 2").format(hits=repr(hits[:40])))
    wanted = read_condition(condition) if condition.strip() else None
    if line is None:
        if wanted is None:
            raise BreakpointError(_("name a line, a condition, or both"))
        _known(wanted, copy, range(len(copy.functions)))
        return Breakpoint(number, None, None, wanted, hits)
    at = _statements(copy, line, file or copy.functions[0].file)
    if wanted is not None:
        _known(wanted, copy, sorted({one.function for one in at}))
    moved = at[0].line if not at[0].line <= line <= at[0].end_line else line
    remark = _("line {line} has no statement: moved to line {moved}").format(line=line, moved=moved)
    return Breakpoint(
        number,
        at[0].line,
        frozenset(one.number for one in at),
        wanted,
        hits,
        remark if moved != line else "",
    )


def _statements(copy: MarkedCopy, line: int, file: str) -> list[MarkedStatement]:
    """The statements in a line, else in the next line that has any."""
    inside = [one.number for one in copy.functions if one.holds(file, line)]
    if not inside:
        listed = ", ".join(
            _("{name} (lines {first} to {last})").format(name=one.name, first=one.first_line, last=one.last_line)
            for one in copy.functions
        )
        raise BreakpointError(
            _("line {line} is in no function of this kernel; there are {listed}").format(line=line, listed=listed)
        )
    own = [one for one in copy.statements if one.function in inside and one.kind != "enter"]
    here = [one for one in own if one.line <= line <= one.end_line]
    if not here:
        later = [one for one in own if one.line > line]
        if not later:
            raise BreakpointError(
                _("no statement of {name} follows line {line}").format(name=copy.functions[inside[0]].name, line=line)
            )
        first = min(one.line for one in later)
        here = [one for one in later if one.line == first]
    return here[:1] if len({one.line for one in here}) > 1 else here


def _known(condition: StopCondition, copy: MarkedCopy, functions: Sequence[int]) -> None:
    """Check that the variables of a condition exist in one of these functions."""
    each = [copy.names(function) for function in functions]
    if not any(condition.names <= known | set(PROGRAM_NAMES) for known in each):
        known = set().union(*each) | {"pid"}
        raise unknown_name(
            min(condition.names - known - set(PROGRAM_NAMES), default=min(condition.names)), sorted(known)
        )
