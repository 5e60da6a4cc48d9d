"""Where the programs of a launch that was stopped were then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from triton_lab import messages

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# What a program was at: it may have ended, or wait; was in the operation that stopped the launch; had done nothing.
ELSEWHERE, THERE, UNTOUCHED = range(3)


@dataclass(frozen=True)
class StoppingPoints:
    """``states`` (programs,): one of the three for each; ``line`` of the operation, where an access stopped it."""

    states: npt.NDArray[np.uint8]
    line: int | None

    @property
    def says(self) -> list[str]:
        """What is told of a program in each state; nothing of the first."""
        where = "in the access that stopped the launch" if self.line is None else f"in line {self.line}"
        return ["", f"was {where} when the launch was stopped", "had touched no memory when the launch was stopped"]

    def text(self) -> list[str]:
        """How many programs were where."""
        told = []
        for state in (THERE, UNTOUCHED):
            count = int((self.states == state).sum())
            if count:
                said = self.says[state] if count == 1 else self.says[state].replace("was ", "were ", 1)
                told.append(f"{messages.count(count, 'program')} {said}")
        return told


def stopped(launch: Launch) -> StoppingPoints | None:
    """Where the programs were; None of a launch that ended by itself."""
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
