"""The values that chosen operations compute in a replay."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.shared_views import SharedView
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Descriptor, Value, elements
from triton_lab.ir import Op
from triton_lab.launch.recording.watcher import Watcher

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ObservedOp:
    """One execution of an operation by ``programs`` together: operands and results, which broadcast to
    ``(programs, *block)``; None for a descriptor or a part of shared memory."""

    programs: Array
    operands: tuple[Array | None, ...]
    results: tuple[Array | None, ...]


class ObservedValues(Watcher):
    """Keeps the values of the operations ``wanted`` (by index), up to ``most`` elements in all."""

    def __init__(self, wanted: Collection[int], most: int) -> None:
        self.executed: dict[int, list[ObservedOp]] = {index: [] for index in wanted}
        self._left = most

    @property
    def is_whole(self) -> bool:
        """Whether no value was left out."""
        return self._left >= 0

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if op.index not in self.executed or self._left < 0:
            return
        results = list(result) if len(op.results) > 1 else [result] * len(op.results)
        found = []
        for numbers, values in ((op.operands, operands), (op.results, results)):
            found.append(tuple(self._array(frame, n, v) for n, v in zip(numbers, values, strict=True)))
        self.executed[op.index].append(ObservedOp(frame.programs, *found))

    def _array(self, frame: Frame, number: int, value: Value) -> Array | None:
        if isinstance(value, (Descriptor, SharedView)):
            return None
        array = elements(value, frame.type(number))
        self._left -= array.size
        return array.copy() if self._left >= 0 else None


__all__ = ["ObservedOp", "ObservedValues"]
