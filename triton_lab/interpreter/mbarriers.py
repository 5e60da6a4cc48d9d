"""BarrierStates in shared memory (mbarrier): counts of arrivals, bytes that are expected, and phases.

The phase with parity p of a barrier ends when all arrivals that it was initialised for have come and all expected bytes
have landed. Then the barrier counts anew, for the phase with the other parity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.shared_buffers import SharedBuffer, SharedView
from triton_lab.localization import _

Array = NDArray[Any]
_BYTES = 8  # of one barrier


class BarrierStates:
    """The barriers in one buffer, for each program and each 8 bytes. A count of 0 is a barrier not initialised."""

    def __init__(self, buffer: SharedBuffer) -> None:
        shape = len(buffer.programs), buffer.bytes.shape[1] // _BYTES
        self.count = np.zeros(shape, np.int64)
        self.left = np.zeros(shape, np.int64)
        self.bytes = np.zeros(shape, np.int64)
        self.phase = np.zeros(shape, np.int64)


class MBarrier:
    """One barrier of each of some programs: where it is among `BarrierStates`."""

    def __init__(self, view: SharedView, programs: Array) -> None:
        buffer = view.buffer
        if buffer.barriers is None:
            buffer.barriers = BarrierStates(buffer)
        self.all: BarrierStates = buffer.barriers
        self.name = buffer.name or "the barrier"
        self.programs = programs
        first = int(view.offsets.reshape(-1)[0])
        self.at = buffer.rows(programs), np.broadcast_to((view.base + first) // _BYTES, (len(programs),))

    def init(self, count: int) -> None:
        """Initialise it for ``count`` arrivals a phase."""
        for array, value in ((self.all.count, count), (self.all.left, count), (self.all.bytes, 0), (self.all.phase, 0)):
            array[self.at] = value

    def invalidate(self) -> None:
        """Make plain memory of it."""
        self._need()
        self.all.count[self.at] = 0

    def arrive(self, count: int, expected: int = 0) -> None:
        """Count arrivals, and expect bytes. Raises KernelError for more arrivals than the phase has left."""
        self._need()
        left = self.all.left[self.at] - count
        if (left < 0).any():
            told = _("{name} gets more arrivals in a phase than the {count} that it was initialised for")
            count = int(self.all.count[self.at].max())
            raise KernelError(told.format(name=self.name, count=count), None, self.programs[left < 0])
        self.all.left[self.at] = left
        self.all.bytes[self.at] += expected
        self._advance()

    def land(self, size: int) -> None:
        """Count bytes that have landed."""
        self._need()
        self.all.bytes[self.at] -= size
        self._advance()

    def pending(self, parity: Array) -> Array:
        """Whether the phase with that parity has not ended, for each program."""
        self._need()
        found: Array = self.all.phase[self.at] % 2 == parity % 2
        return found

    def told(self) -> str:
        """How far the phase of the first program is."""
        count, left, size = (int(array[self.at][0]) for array in (self.all.count, self.all.left, self.all.bytes))
        told = _("{arrived} of {count} arrivals have come, and {size} expected bytes have not landed")
        return told.format(arrived=count - left, count=count, size=f"{size:,}")

    def _need(self) -> None:
        missing = self.all.count[self.at] == 0
        if missing.any():
            told = _("{name} is no barrier here: call mbarrier.init first, and mbarrier.invalidate last")
            raise KernelError(told.format(name=self.name), None, self.programs[missing])

    def _advance(self) -> None:
        rows, numbers = self.at
        ended = (self.all.left[self.at] == 0) & (self.all.bytes[self.at] == 0)
        if ended.any():
            at = rows[ended], numbers[ended]
            self.all.phase[at] += 1
            self.all.left[at] = self.all.count[at]
