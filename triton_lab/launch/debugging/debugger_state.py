"""What a `Debugger` tells: where it stands and why, the variables there, and those of two programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from triton_lab.launch.debugging.marked_copy import MarkedFunction
from triton_lab.launch.debugging.program_tape import ProgramTape
from triton_lab.localization import _

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class LocalVariable:
    """A variable of a frame, assigned on ``line``: its block, or with ``fixed`` its value at compile time."""

    name: str
    line: int
    value: Array | None
    fixed: Any = None


@dataclass(frozen=True)
class StackPlace:
    """A frame of the stack: ``line`` is where it stands; ``frame`` numbers the call on the tape."""

    function: MarkedFunction
    line: int
    frame: int


@dataclass(frozen=True)
class Arrival:
    """Why the debugger stands where it does: ``start``, ``step``, ``breakpoint``, ``store``, ``end``, ``error``.

    ``breakpoint`` is its number; 0 is a ``breakpoint()`` in the kernel. ``remark`` says what a reader should know.
    """

    reason: str
    breakpoint: int | None = None
    remark: str = ""


@dataclass(frozen=True, eq=False)
class SideBySide:
    """A variable in two programs: its blocks here and there, None where it has none, and whether they are equal."""

    name: str
    here: Array | None
    there: Array | None

    @property
    def equal(self) -> bool:
        """Whether both have the same bytes."""
        if self.here is None or self.there is None:
            return self.here is self.there
        return self.here.shape == self.there.shape and self.here.tobytes() == self.there.tobytes()


def aligned(here: ProgramTape, position: int, there: ProgramTape) -> tuple[int, str]:
    """The position on another tape with the same statement at the same visit, and a remark if there is none."""
    number = here.stops[position].statement.number
    visit = sum(one.statement.number == number for one in here.stops[:position])
    found = [at for at, one in enumerate(there.stops) if one.statement.number == number]
    if visit < len(found):
        return found[visit], ""
    line = here.stops[position].statement.line
    return len(there.stops) - 1, _("it comes to line {line} only {times} times: this is its end").format(
        line=line, times=len(found)
    )
