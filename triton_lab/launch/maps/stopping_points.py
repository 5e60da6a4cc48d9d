"""`StoppingPoints`: where each program was when its launch was stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# A program's state: it had touched memory and may have ended; it was in the access that stopped the launch; it had
# touched nothing.
ELSEWHERE, THERE, UNTOUCHED = range(3)


@dataclass(frozen=True)
class StoppingPoints:
    """``states`` (programs,) is one of the three for each program; ``line`` is that of the access that stopped it."""

    states: npt.NDArray[np.uint8]
    line: int | None

    @property
    def says(self) -> list[str]:
        """The text for a program in each state; "" for the first."""
        where = (
            _("in the access that stopped the launch")
            if self.line is None
            else _("in line {line}").format(line=self.line)
        )
        return [
            "",
            _("was {where} when the launch was stopped").format(where=where),
            _("had touched no memory when the launch was stopped"),
        ]

    def text(self) -> list[str]:
        """How many programs were in each state, in words."""
        told = []
        for state in (THERE, UNTOUCHED):
            count = int((self.states == state).sum())
            if count:
                said = self.says[state] if count == 1 else self.says[state].replace("was ", "were ", 1)
                told.append(f"{messages.count(count, 'program')} {said}")
        return told


def stopped(launch: Launch) -> StoppingPoints | None:
    """The stopping points of a launch; None if it ended without an error."""
    if launch.error is None:
        return None
    states = np.full(launch.programs, UNTOUCHED, np.uint8)
    for access in launch.done:
        for event in access.events:
            states[event.programs] = ELSEWHERE
    if launch.stopped is None:
        return StoppingPoints(states, None)
    op, event = launch.stopped
    states[event.programs] = THERE
    place = launch.lines.get(op)
    return StoppingPoints(states, None if place is None else place.line)
