"""Values that a loop carries, for each program: needed if programs diverge and join again.

Programs that diverge run in frames of their own, and their carried values are merged into new objects. So values cannot
be followed by identity from one iteration to the next; a carried value is recognised by being equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import REGISTRY
from triton_lab.ir import Op

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Exact:
    """A sum in float64, and the sum of its terms' squares, which bounds the size that it may have by chance."""

    sum: Array
    squares: Array


@dataclass(frozen=True, eq=False)
class LoopState:
    """The last ``value`` of ``programs`` (ascending), and its ``exact`` value. Arrays broadcast to the block."""

    programs: Array
    value: Array
    exact: Exact

    def recalled(self, programs: Array, value: Array) -> tuple[Array, Exact] | None:
        """The lanes where ``value`` equals these programs' last value, and its exact value; None if none is known."""
        rows = np.minimum(np.searchsorted(self.programs, programs), len(self.programs) - 1)
        ours = self.programs[rows] == programs
        if not ours.any():
            return None
        ours = ours.reshape(-1, *(1,) * (value.ndim - 1))
        same = ours & (_rows(self.value, rows) == value)
        return same, Exact(_rows(self.exact.sum, rows), _rows(self.exact.squares, rows))

    def updated(self, later: LoopState) -> LoopState:
        """This state with the later values of some of its programs, or of others."""
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


def block(array: Array, rank: int) -> Array:
    """``array`` with the axes of a block; scalars belong to all lanes."""
    return array.reshape(-1, *(1,) * rank) if array.ndim == 1 else array


def moved(frame: Frame, op: Op, parts: Sequence[Exact]) -> Exact:
    """The numbers of the operands, moved as ``op`` moves their elements."""
    found = []
    for arrays in ([part.sum for part in parts], [part.squares for part in parts]):
        shapes = [frame.type(number).shape for number in op.operands]
        whole = [
            np.broadcast_to(array, (array.shape[0], *shape)) if shape else array.reshape(-1)
            for array, shape in zip(arrays, shapes, strict=True)
        ]
        found.append(block(np.asarray(REGISTRY[op.name].run(frame, op, *whole)), len(frame.result_type(op).shape)))
    return Exact(*found)
