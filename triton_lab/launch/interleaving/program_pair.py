"""`ProgramPair`: two programs of a launch on one copy of its memory, of which either takes the next step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir import effects
from triton_lab.launch.interleaving.stepped_program import MemoryAccess, SteppedProgram, held
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _

Array = NDArray[Any]
_MOST_SEEN = 2_000  # accesses of two programs that wait for each other


@dataclass(frozen=True, eq=False)
class SharedMemoryCells:
    """The elements that two programs share, and one of them writes: ``addresses`` and types, ascending.

    ``steps`` has the operations that touch them, by index.
    """

    addresses: Array
    dtypes: tuple[np.dtype[Any], ...]
    steps: frozenset[int]


class ProgramPair:
    """Two ``programs`` of ``launch``, before their first steps. ``before`` has what they did up to there."""

    def __init__(self, launch: Recorded, programs: tuple[int, int], cells: SharedMemoryCells | None) -> None:
        if launch.snapshot is None:
            raise CannotReplay(_("the launch was recorded without the data that a rerun needs"))
        self.memory = launch.snapshot.memory()
        self.cells = cells
        steps = None if cells is None else cells.steps
        self.programs = tuple(SteppedProgram(launch, number, self.memory, steps) for number in programs)
        self._waits = [False, False]  # until the shared memory changes

    def start(self) -> list[MemoryAccess]:
        """Run both up to their first steps. Returns their own accesses."""
        return [access for program in self.programs for access in program.advance()]

    def can_go(self, which: int) -> bool:
        """Whether program ``which`` (0 or 1) of the pair can take a step."""
        return self.programs[which].standing in ("ready", "waiting") and not self._waits[which]

    @property
    def has_ended(self) -> bool:
        """Whether no program can go on."""
        return not (self.can_go(0) or self.can_go(1))

    def step(self, which: int) -> list[MemoryAccess]:
        """Let program ``which`` (0 or 1) take its step. Returns what it accessed, up to its next step."""
        before = self.shared()
        done = self.programs[which].advance()
        if self.shared() != before:
            self._waits = [False, False]
        self._waits[which] = self.programs[which].standing == "waiting"
        return done

    def shared(self) -> tuple[bytes, ...]:
        """The bytes of the shared elements."""
        return tuple(value.tobytes() for value in self.values())

    def values(self) -> list[Array]:
        """The values of the shared elements, each an array of one."""
        if self.cells is None:
            return []
        return [
            held(self.memory, np.array([address]), dtype)
            for address, dtype in zip(self.cells.addresses.tolist(), self.cells.dtypes, strict=True)
        ]

    def state(self) -> tuple[Any, ...]:
        """A key that is equal where the same can follow: what each program found, where it stands, and memory."""
        return (
            *((tuple(one.history), one.standing, one.next) for one in self.programs),
            tuple(self._waits),
            self.shared(),
        )

    def abandon(self) -> None:
        """End both programs where they stand."""
        for program in self.programs:
            program.abandon()


@contextmanager
def pair_of(
    launch: Recorded, programs: tuple[int, int], cells: SharedMemoryCells | None = None
) -> Iterator[ProgramPair]:
    """A `ProgramPair` that is ended on the way out."""
    pair = ProgramPair(launch, programs, cells)
    try:
        yield pair
    finally:
        pair.abandon()


def shared_cells(launch: Recorded, programs: tuple[int, int]) -> SharedMemoryCells:
    """What two programs share, found by running them one after the other, in both orders."""
    seen: list[MemoryAccess] = []
    for first in (0, 1):
        with pair_of(launch, programs) as pair:
            seen += pair.programs[first].advance()
            seen += pair.programs[1 - first].advance()
            while any(one.standing == "waiting" for one in pair.programs):
                more = [access for one in pair.programs if one.standing == "waiting" for access in one.advance()]
                if not more or len(seen) > _MOST_SEEN:
                    break
                seen += more
    writing = {op.index for op in launch.executable.plan.walk() if effects.is_access(op) and effects.writes(op)}
    touched: dict[int, dict[int, bool]] = {}  # by address: the programs, and whether they write
    dtypes: dict[int, np.dtype[Any]] = {}
    for access in seen:
        for address in np.unique(access.addresses).tolist():
            by = touched.setdefault(address, {})
            by[access.program] = by.get(access.program, False) or access.op in writing
            dtypes[address] = access.values.dtype
    shared = sorted(address for address, by in touched.items() if len(by) > 1 and any(by.values()))
    among = np.array(shared, np.int64)
    own = {access.op for access in seen} - {
        access.op for access in seen if np.isin(access.addresses, among).any()
    }  # operations that never ran may touch anything
    every = {op.index for op in launch.executable.plan.walk() if effects.is_access(op)}
    return SharedMemoryCells(among, tuple(dtypes[one] for one in shared), frozenset(every - own))
