"""Runs programs that may wait for one another: together while they agree, apart where they disagree.

A `Strand` is a set of programs at one place of the kernel. It runs until its programs wait for another one's write,
until they part, or until they end. Of the programs at a lock, those that get it go on as their own strand, and the rest
tries again later. So all run together up to the lock, and inside it as many run together as there are locks.

Python's own stack cannot be split, so a strand has its own: one `Level` for each region that the programs are inside of
and in which they may wait (`resumable_regions`). All other regions run as in kernels without waiting.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import runtime_values
from triton_lab.interpreter.frame import Frame, Host
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op

if TYPE_CHECKING:
    from typing_extensions import Self

Array = NDArray[Any]
Results = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """An iteration changed nothing for other programs, so the strand's programs have to wait for those.

    ``counts``: they made progress themselves (a loop that also counts, a wait with a timeout). ``busy``: they changed
    memory in many iterations, and it is unknown whether that helps others.
    """

    op: Op
    counts: bool
    busy: bool = False


@dataclass
class Level:
    """A region that a strand's programs are inside of. They are those in ``rows`` (None: all) of ``frame``."""

    frame: Frame
    rows: Array | None = None

    waits = False

    def part(self, rows: Array) -> Self:
        """The same level for some of the strand's programs; values are copied only when it runs again."""
        return replace(self, rows=chosen(self.rows, rows))

    def go(self, strand: Strand, handed: Results | None) -> Wait | list[Strand] | None:
        """Go on from the level's place. ``handed`` is what the level above it yielded, if there was one."""
        raise NotImplementedError


def chosen(before: Array | None, rows: Array) -> Array:
    """Positions in a frame: the ones at ``rows`` among ``before`` (None: among all)."""
    return rows if before is None else before[rows]


@dataclass(slots=True)
class Strand:
    """Programs at the same place, with a stack of ``levels``; ``handed`` is what the last level to end yielded."""

    machine: Host
    programs: Array
    levels: list[Level] = field(default_factory=list)
    handed: Results | None = None
    # The programs' last wait, and memory's version at that time.
    wait: Wait | None = None
    version: int = -1

    def run(self) -> Wait | list[Strand]:
        """Go on until the programs wait, or part. Returns the wait, or the strands they part into: none if all have
        ended.
        """
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
        """Whether the programs wait and memory has not changed since."""
        return self.wait is not None and not self.wait.counts and self.version == self.machine.memory.version

    def watch(self) -> None:
        """Have memory count only writes that change something, if the programs are in a loop in which they may wait."""
        self.machine.memory.watching = any(level.waits for level in self.levels)

    def leave(self, handed: Results) -> None:
        """End the innermost level, which yields ``handed``."""
        if self.levels.pop().waits:
            self.wait = None
        self.handed = handed

    def part(self, rows: Array) -> Strand:
        """A strand of only the programs in ``rows``."""
        return Strand(self.machine, self.programs[rows], [level.part(rows) for level in self.levels])

    def parted(self, truth: Array) -> tuple[Strand, Strand]:
        """Two strands: the programs for which ``truth`` holds, and the others."""
        return self.part(np.flatnonzero(truth)), self.part(np.flatnonzero(~truth))


def ascending(*strands: Strand) -> list[Strand]:
    """The strands in the order of their first programs."""
    return sorted(strands, key=lambda strand: int(strand.programs[0]))


def taken(carried: Results, rows: Array | None) -> Results:
    """The values of the programs in ``rows``; None: of all."""
    return carried if rows is None else tuple(runtime_values.take(value, rows) for value in carried)


@dataclass
class RunningLoop(Level):
    """A loop with its carried values. These hold more programs than are left; ``kept`` are the positions of
    those left.
    """

    op: Op = field(kw_only=True)
    carried: Results = field(kw_only=True)
    kept: Array | None = None
    # The frame of the body, for the programs that are left.
    active: Frame | None = None
    # The number of iterations begun.
    turns: int = 0

    def part(self, rows: Array) -> Self:
        return replace(self, rows=chosen(self.rows, rows), kept=chosen(self.kept, rows), active=None)

    def settle(self) -> Frame:
        """Reduce the carried values and the frame to the programs that are left."""
        self.carried, self.kept = taken(self.carried, self.kept), None
        if self.active is None:
            self.active = self.frame if self.rows is None else self.frame.part(self.rows)
        return self.active
