"""Programs that may wait for one another: they run together while they agree, and part where they do not.

A `Strand` is a set of programs at one place of the kernel. It runs until its programs wait for what
another one writes, until they part, or until they end. Of programs at a lock, those that get it go on
as a strand of their own and the rest tries again later, so that all run together up to the lock, and
within it as many as there are locks.

Python's own stack cannot part, so a strand has one: a level (`levels`) for each region of the kernel that
the programs are inside of and in which they may wait. Everything else runs as it does where nobody waits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame, Host
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op

if TYPE_CHECKING:
    from typing_extensions import Self

Array = NDArray[Any]
Results = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """An iteration achieved nothing for other programs: those of the strand have to wait for them.

    ``counts`` says that they got somewhere themselves (a loop that also counts, a wait that times out), ``busy`` that
    they have changed memory in many iterations, of which nobody knows whether that helps others.
    """

    op: Op
    counts: bool
    busy: bool = False


@dataclass
class Level:
    """What a strand's programs are inside of: of ``frame``'s, those in ``rows`` (None: all)."""

    frame: Frame
    rows: Array | None = None

    waits = False

    def part(self, rows: Array) -> Self:
        """The same for some of the strand's programs; what that costs is paid when they get there."""
        return replace(self, rows=chosen(self.rows, rows))

    def go(self, strand: Strand, handed: Results | None) -> Wait | list[Strand] | None:
        """Go on from where the level is, with what the level above has yielded, if it was there."""
        raise NotImplementedError


def chosen(before: Array | None, rows: Array) -> Array:
    """Positions in a frame: of those in ``before`` (None: all), the ones at ``rows``."""
    return rows if before is None else before[rows]


@dataclass(slots=True)
class Strand:
    """Programs that are at the same place, ``levels`` deep; ``handed`` is what the last level to end yielded."""

    machine: Host
    programs: Array
    levels: list[Level] = field(default_factory=list)
    handed: Results | None = None
    # How the programs last had to wait, and what memory was then.
    wait: Wait | None = None
    version: int = -1

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

    def leave(self, handed: Results) -> None:
        """The innermost level has ended, and yields this."""
        if self.levels.pop().waits:
            self.wait = None
        self.handed = handed

    def part(self, rows: Array) -> Strand:
        """The programs in ``rows`` alone."""
        return Strand(self.machine, self.programs[rows], [level.part(rows) for level in self.levels])

    def parted(self, truth: Array) -> tuple[Strand, Strand]:
        """The programs for which ``truth`` holds, and the others."""
        return self.part(np.flatnonzero(truth)), self.part(np.flatnonzero(~truth))
