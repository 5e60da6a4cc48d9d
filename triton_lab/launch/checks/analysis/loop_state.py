"""What programs carry round a loop, program by program: for when they part and meet again.

Programs that part are run in frames of their own, and what they carry is put together anew: no object leads
from one iteration to the next. What a program has carried is known again by its value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Exact:
    """Of a value: the sum in float64, and that of its terms' squares, which says how large it may be by chance."""

    sum: Array
    squares: Array


@dataclass(frozen=True, eq=False)
class LoopState:
    """What ``programs`` (ascending) last had: ``value``, and what it should be. Arrays broadcast to the block."""

    programs: Array
    value: Array
    exact: Exact

    def recalled(self, programs: Array, value: Array) -> tuple[Array, Exact] | None:
        """Where ``value`` is what these programs had, and what it should be there; None if nowhere."""
        rows = np.minimum(np.searchsorted(self.programs, programs), len(self.programs) - 1)
        ours = self.programs[rows] == programs
        if not ours.any():
            return None
        ours = ours.reshape(-1, *(1,) * (value.ndim - 1))
        same = ours & (_rows(self.value, rows) == value)
        return same, Exact(_rows(self.exact.sum, rows), _rows(self.exact.squares, rows))

    def updated(self, later: LoopState) -> LoopState:
        """With what some of the programs, or others, have had since."""
        if np.array_equal(self.programs, later.programs):
            return later
        programs = np.union1d(self.programs, later.programs)
        shape = np.broadcast_shapes(*(part.shape[1:] for one in (self, later) for part in one._parts()))
        parts = []
        for before, after in zip(self._parts(), later._parts(), strict=True):
            whole = np.empty((len(programs), *shape), before.dtype)
            whole[np.searchsorted(programs, self.programs)] = before
            whole[np.searchsorted(programs, later.programs)] = after
            parts.append(whole)
        value, total, squares = parts
        return LoopState(programs, value, Exact(total, squares))

    def _parts(self) -> tuple[Array, Array, Array]:
        return self.value, self.exact.sum, self.exact.squares


def _rows(array: Array, rows: Array) -> Array:
    return array if array.shape[0] == 1 else array[rows]
