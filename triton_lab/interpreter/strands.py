"""Programs that may wait for one another: they run together while they agree, and part where they do not.

A `Strand` is a set of programs at one place of the kernel. It runs until its programs wait for what
another one writes, until they part, or until they end. Of programs at a lock, those that get it go on
as a strand of their own and the rest tries again later, so that all run together up to the lock, and
within it as many as there are locks.

Python's own stack cannot part, so a strand has one: a level (`levels`) for each region of the kernel that
the programs are inside of and in which they may wait. Everything else runs as it does where nobody waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.code import Code
from triton_lab.interpreter.frame import Environment, Frame
from triton_lab.interpreter.levels import Body, Level, Results, Wait
from triton_lab.interpreter.values import Value

if TYPE_CHECKING:
    from triton_lab.interpreter.machine import Machine

Array = NDArray[Any]


@dataclass(slots=True)
class Strand:
    """Programs that are at the same place, ``levels`` deep; ``handed`` is what the last level to end yielded."""

    machine: Machine
    programs: Array
    levels: list[Level] = field(default_factory=list)
    handed: Results | None = None
    # How the programs last had to wait, and what memory was then.
    wait: Wait | None = None
    version: int = -1

    @classmethod
    def of(cls, machine: Machine, programs: Array) -> Strand:
        """``programs`` (ascending) at the start of the kernel."""
        routine = machine.executable.routines[machine.executable.plan.kernel.name]
        strand = cls(machine, programs)
        strand.enter(Frame(machine, routine, programs, Environment()), routine.blocks[0], machine.arguments)
        return strand

    def run(self) -> Wait | list[Strand]:
        """Go on until the programs wait, or part into the strands returned: none when all have ended."""
        while self.levels:
            handed, self.handed = self.handed, None
            outcome = self.levels[-1].go(self, handed)
            if isinstance(outcome, Wait):
                self.wait, self.version = outcome, self.machine.memory.version
                return outcome
            if outcome is not None:
                return outcome
        return []

    @property
    def is_stuck(self) -> bool:
        """Whether nothing has changed since the programs had to wait."""
        return self.wait is not None and not self.wait.counts and self.version == self.machine.memory.version

    def watch(self) -> None:
        """Have memory tell writes that change nothing from others, if that is how a wait is told."""
        self.machine.memory.watching = any(level.waits for level in self.levels)

    def enter(self, frame: Frame, code: Code, arguments: Sequence[Value] = ()) -> None:
        """Go on with a block, and come back with what it yields."""
        for number, value in zip(code.arguments, arguments, strict=True):
            frame.environment[number] = value
        self.levels.append(Body(frame, code=code))

    def leave(self, handed: Results) -> None:
        """The innermost level has ended, and yields this."""
        self.levels.pop()
        self.handed = handed

    def part(self, rows: Array) -> Strand:
        """The programs in ``rows`` alone."""
        return Strand(self.machine, self.programs[rows], [level.part(rows) for level in self.levels])

    def parted(self, truth: Array) -> tuple[Strand, Strand]:
        """The programs for which ``truth`` holds, and the others."""
        return self.part(np.flatnonzero(truth)), self.part(np.flatnonzero(~truth))
