"""Barriers in shared memory (mbarrier): counts of arrivals, bytes that are expected, and phases.

The phase with parity p of a barrier ends when all arrivals that it was initialised for have come and all expected bytes
have landed. Then the barrier counts anew, for the phase with the other parity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.buffer_accesses import in_bounds
from triton_lab.interpreter.asynchronous.shared_views import Buffer, SharedView
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.localization import _

Array = NDArray[Any]
_BYTES = 8  # of one barrier

# The kinds of what is refused; each is a `KernelError.rule`.
MISUSE = "barrier-misuse"
PHASE_NEVER_ENDS = "phase-never-ends"


class BarrierStates:
    """The barriers in one buffer, for each program and each 8 bytes. A count of 0 is a barrier not initialised.

    ``phase`` counts the phases that have ended, ``seen`` those that had ended when a wait last was over; ``missed``:
    two ended without a wait between them.
    ``arrived`` is what those know that have arrived in this phase, ``released`` those of the phases that have ended:
    the clocks of the partitions, ``(programs, barriers, partitions)``.
    """

    def __init__(self, buffer: Buffer) -> None:
        shape = len(buffer.programs), buffer.size // _BYTES
        self.count = np.zeros(shape, np.int64)
        self.left = np.zeros(shape, np.int64)
        self.bytes = np.zeros(shape, np.int64)
        self.phase = np.zeros(shape, np.int64)
        self.seen = np.zeros(shape, np.int64)
        self.missed = np.zeros(shape, bool)
        self.arrived = np.zeros((*shape, 0), np.int64)
        self.released = np.zeros((*shape, 0), np.int64)

    def know(self, partitions: int) -> None:
        """Have room for the clocks of so many partitions."""
        if self.arrived.shape[-1] != partitions:
            self.arrived = np.zeros((*self.count.shape, partitions), np.int64)
            self.released = np.zeros_like(self.arrived)


class MBarrier:
    """One barrier of each of some programs: where it is among `BarrierStates`."""

    def __init__(self, view: SharedView, programs: Array) -> None:
        buffer = view.buffer
        if buffer.barriers is None:
            buffer.barriers = BarrierStates(buffer)
        self.all: BarrierStates = buffer.barriers
        self.name = buffer.name or _("the barrier")
        self.programs = programs
        in_bounds(view, programs)
        first = int(view.placement.offsets.reshape(-1)[0])
        self.at = buffer.rows(programs), (view.based(programs) + first) // _BYTES

    def init(self, count: int) -> None:
        """Initialise it for ``count`` arrivals a phase. Raises KernelError for one that is initialised."""
        again = self.all.count[self.at] != 0
        if again.any():
            told = _("{name} is already initialised").format(name=self.name)
            hint = _("Initialise it once, or call mbarrier.invalidate before it is initialised again.")
            raise KernelError(told, None, self.programs[again], rule=MISUSE, hint=hint)
        for array in (self.all.count, self.all.left):
            array[self.at] = count
        for array in (self.all.bytes, self.all.phase, self.all.seen, self.all.missed):
            array[self.at] = 0

    def invalidate(self) -> None:
        """Make plain memory of it."""
        self._need()
        self.all.count[self.at] = 0

    def expect_more(self, arrivals: int) -> None:
        """Expect more arrivals in this phase than it was initialised for."""
        self._need()
        self.all.left[self.at] += arrivals

    def arrive(self, count: int, expected: int = 0, clock: Array | None = None) -> bool:
        """Count arrivals, and expect bytes; whether that ends a phase. ``clock``: what those that arrive know.

        Raises KernelError for more arrivals than the phase has left.
        """
        self._need()
        left = self.all.left[self.at] - count
        if (left < 0).any():
            told = _("{name} gets more arrivals in a phase than the {count} that it was initialised for")
            count = int(self.all.count[self.at].max())
            message = told.format(name=self.name, count=count)
            hint = _("Let mbarrier.init count all arrivals of a phase: each arrive, and each expect.")
            raise KernelError(message, None, self.programs[left < 0], rule=MISUSE, hint=hint)
        self.all.left[self.at] = left
        self.all.bytes[self.at] += expected
        return self._advance(clock)

    def land(self, size: int, clock: Array | None = None) -> bool:
        """Count bytes that have landed; whether that ends a phase."""
        self._need()
        self.all.bytes[self.at] -= size
        return self._advance(clock)

    def pending(self, parity: Array) -> Array:
        """Whether the phase with that parity has not ended, for each program."""
        self._need()
        found: Array = self.all.phase[self.at] % 2 == parity % 2
        return found

    def see(self) -> None:
        """A wait is over."""
        self.all.missed[self.at] |= self._unseen() > 1
        self.all.seen[self.at] = self.all.phase[self.at]

    @property
    def is_missed(self) -> bool:
        """Whether two phases of the first program ended without a wait between them. A wait cannot know them apart."""
        return bool(self.all.missed[self.at][0] or self._unseen()[0] > 1)

    def _unseen(self) -> Array:
        found: Array = self.all.phase[self.at] - self.all.seen[self.at]
        return found

    def released(self, partitions: int) -> Array:
        """What those knew that arrived in the phases that have ended: ``(programs, partitions)``."""
        self.all.know(partitions)
        found: Array = self.all.released[self.at]
        return found

    def told(self) -> str:
        """How far the phase of the first program is."""
        if self.is_missed:
            return _("two of its phases have ended without a wait between them")
        count, left, size = (int(array[self.at][0]) for array in (self.all.count, self.all.left, self.all.bytes))
        if size < 0:
            told = _("{arrived} of {count} arrivals have come, and {size} more bytes have landed than were expected")
        else:
            told = _("{arrived} of {count} arrivals have come, and {size} expected bytes have not landed")
        return told.format(arrived=count - left, count=count, size=f"{abs(size):,}")

    def _need(self) -> None:
        missing = self.all.count[self.at] == 0
        if missing.any():
            told = _("{name} is not an initialised barrier here").format(name=self.name)
            hint = _("Call mbarrier.init before all other uses, and mbarrier.invalidate after them.")
            raise KernelError(told, None, self.programs[missing], rule=MISUSE, hint=hint)

    def _advance(self, clock: Array | None) -> bool:
        rows, numbers = self.at
        if clock is not None:
            self.all.know(clock.shape[-1])
            self.all.arrived[self.at] = np.maximum(self.all.arrived[self.at], clock)
        ended = (self.all.left[self.at] == 0) & (self.all.bytes[self.at] == 0)
        if not ended.any():
            return False
        at = rows[ended], numbers[ended]
        self.all.phase[at] += 1
        self.all.left[at] = self.all.count[at]
        self.all.released[at] = np.maximum(self.all.released[at], self.all.arrived[at])
        return True
