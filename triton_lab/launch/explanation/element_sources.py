"""Which element of an argument each stored element comes from: a replay is followed by the lane maps of `ir.traits`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, effects
from triton_lab.launch.access import elements_at
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.propagation.masked_lane_marks import ByAccess, of_value

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

_LAST = 1 << 62  # more than any element's number


@dataclass(eq=False)
class ElementPairs:
    """The lanes of a store and the elements behind them: ``stored`` are elements of the argument that is written, and
    each depends on elements of the other argument from ``first`` to ``last``. ``without`` counts the lanes that depend
    on none."""

    stored: list[Array] = field(default_factory=list)
    first: list[Array] = field(default_factory=list)
    last: list[Array] = field(default_factory=list)
    without: int = 0

    def arrays(self) -> tuple[Array, Array, Array]:
        """All lanes: stored, first, last."""
        if not self.stored:
            return (np.empty(0, np.int64),) * 3
        return np.concatenate(self.stored), np.concatenate(self.first), np.concatenate(self.last)


class ElementSources(ByAccess):
    """For each store and load, by index: the `ElementPairs` of elements. At most ``most`` lanes are looked at."""

    def __init__(self, launch: Launch, most: int) -> None:
        super().__init__(launch, np.int64)
        self.pairs: dict[tuple[int, int], ElementPairs] = {}
        self.stored: dict[int, int] = {}
        self._left = most

    @property
    def is_whole(self) -> bool:
        """Whether all lanes were looked at."""
        return self._left >= 0

    def merged(self, one: Array, other: Array) -> Array:
        return np.maximum(one, other)

    def transferred(self, frame: Frame, op: Op, operands: Sequence[Value], value: Any, result: int) -> dict[int, Array]:
        if not effects.is_access(op):
            return self.inherited(frame, op, operands, result)
        return {key: of_value(mark, value) for key, mark in self._loaded(op).items()}

    def _elements(self, op: Op) -> Array | None:
        """The element of its argument that each lane of the access that has just happened touches, -1 for none."""
        argument, event = self.launch.owner_of(op.index), self.event
        if argument is None or event is None:
            return None
        found = elements_at(event.addresses() - argument.address, argument)
        return np.where(event.active(), found, -1)

    def _loaded(self, op: Op) -> dict[int, Array]:
        if not effects.brings_in(op) or self._left < 0 or self.event is None:
            return {}
        self._left -= len(self.event.programs) * int(np.prod(self.event.shape))
        found = self._elements(op) if self._left >= 0 else None
        if found is None or not (found >= 0).any():
            return {}
        # Both grow where lanes meet: the last element, and the first from the other end; 0 is no element.
        return {2 * op.index: found + 1, 2 * op.index + 1: np.where(found >= 0, _LAST - found, 0)}

    def accessed(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        position = effects.operands_of(op).value
        if position is None or not effects.writes(op) or self._left < 0:
            return
        found = self._elements(op)
        if found is None:
            return
        there = found >= 0
        self.stored[op.index] = self.stored.get(op.index, 0) + int(there.sum())
        marks = {
            key: np.broadcast_to(lifted(mark, found.ndim - 1), found.shape)[there]
            for key, mark in self.marks_of(frame, op, operands, position).items()
        }
        for key in [key for key in marks if key % 2 == 0]:
            last, first = marks[key], marks[key + 1]
            pairs = self.pairs.setdefault((op.index, key // 2), ElementPairs())
            pairs.without += int((last == 0).sum())
            pairs.stored.append(found[there][last > 0])
            pairs.first.append((_LAST - first)[last > 0])
            pairs.last.append(last[last > 0] - 1)
