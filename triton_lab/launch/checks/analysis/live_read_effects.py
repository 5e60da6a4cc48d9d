"""Whether a program's reads have an effect, found while it runs: for launches that cannot be replayed.

Lanes that were loaded from uninitialised memory are marked, and so are values computed from them. A marked value has an
effect if it is stored or printed, is part of an address, or decides control flow. `where` drops the marks of what it
does not choose, and so does an ``and`` with zero. A maximum keeps marks even if the marked value does not win:
`read_effects`, which replays the launch with other bytes there, is more precise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, dataflow, effects, traits
from triton_lab.ir.access_masks import mask_operand
from triton_lab.ir.value_flow import HANDS_ON, conditions, decisive
from triton_lab.launch.byte_ranges import Flags, Ranges
from triton_lab.launch.checks.analysis.value_marks import Marks, inside_of_others, joined
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.tape import block_shape
from triton_lab.launch.recording.watcher import Watcher

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

Array = NDArray[Any]


class LiveUses(Watcher):
    """Follows values loaded from ``where``, the bytes that were not written before the launch.

    ``floats_absorb``: a float product with zero does not depend on the other factor.
    """

    floats_absorb = False

    def __init__(self, launch: Recorded, where: Ranges) -> None:
        plan = launch.executable.plan
        self._programs = launch.programs
        self._where = where
        self._marks: Marks[int] = Marks()
        self._inside = inside_of_others(plan)
        # Conditions in terminators, which `after` does not report.
        self._conditions = conditions(plan)
        # The lanes that the present access has loaded from such memory.
        self._loaded: Array | None = None
        # The active lanes of the present access.
        self._active: Array | None = None
        self._used: dict[int, Flags] = {}

    def of(self, index: int) -> Flags:
        """Which programs use what load ``index`` has read from such memory."""
        return self._used.get(index, np.zeros(self._programs, np.bool_))

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        self._loaded = self._active = None
        if self._marks:
            event = AccessEvent(0, frame.programs, pointer, mask, block_shape(frame, op, pointer))
            self._active = event.active()
        if effects.writes(op):
            return
        event = AccessEvent(0, frame.programs, pointer, mask, block_shape(frame, op, pointer))
        address = event.addresses()
        itemsize = _itemsize(frame, op)
        if address.size and self._where.meets(int(address.min()), int(address.max()) + itemsize):
            flat = address.reshape(-1)
            hit = self._where.covers(flat) | self._where.covers(flat + itemsize - 1)
            self._loaded = hit.reshape(address.shape) & event.active()

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        self._marks.handed(frame, numbers, values)
        for number, value in zip(numbers, values, strict=True) if self._marks else ():
            if dataflow.Value(frame.routine.function.name, number) in self._conditions:
                self._use(frame, self._marks.of(frame, number, value))

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        self._marks.joined(pieces, programs, result)

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        loaded, self._loaded = self._loaded if effects.is_access(op) else None, None
        if op.index in self._inside or (loaded is None and not self._marks):
            return
        marks = [self._marks.of(frame, number, value) for number, value in zip(op.operands, operands, strict=True)]
        if effects.is_access(op):
            self._accessed(frame, op, operands, marks)
        elif op.name in HANDS_ON:
            for each in marks[: len(decisive(op))]:
                self._use(frame, each)
            return
        elif not op.results:
            for each in marks:
                self._use(frame, each)
        for number, value in enumerate(result if len(op.results) > 1 else [result] * len(op.results)):
            found = self._passed(frame, op, operands, marks, number)
            if loaded is not None and loaded.any():
                mine = loaded.reshape(loaded.shape[0], *frame.result_type(op).shape)
                found[op.index] = found[op.index] | mine if op.index in found else mine
            self._marks.put(value, found)

    def _accessed(self, frame: Frame, op: Op, operands: Sequence[Value], marks: list[dict[int, Array]]) -> None:
        """Note the effects of an access's operands: all have one, except ``other`` and masked-off lanes."""
        for position, each in enumerate(marks):
            if self._is_other(op, position):
                continue
            on, shape = self._active, frame.type(op.operands[position]).shape
            if on is not None and on.shape[1:] == shape and op.operands[position] != mask_operand(op):
                each = {origin: mark & on for origin, mark in each.items()}
            self._use(frame, each)

    def _is_other(self, op: Op, position: int) -> bool:
        return effects.is_access(op) and effects.operands_of(op).other == position

    def _passed(
        self, frame: Frame, op: Op, operands: Sequence[Value], marks: list[dict[int, Array]], result: int
    ) -> dict[int, Array]:
        """A result's marks, from those of the operands."""
        trait = traits.of(op.name)
        absorbs = trait.absorbing is not None and (trait.numbers == "integer" or self.floats_absorb)
        parts: dict[int, list[Array]] = {}
        for position, each in enumerate(marks):
            if effects.is_access(op) and not self._is_other(op, position):
                continue
            for origin, mark in each.items():
                lanes = self._mark(frame, op, operands, position, mark, result)
                if absorbs:
                    lanes = lanes & ~self._decided(frame, op, operands, 1 - position, marks[1 - position])
                parts.setdefault(origin, []).append(lanes)
        whole = {origin: joined(some) for origin, some in parts.items()}
        return {origin: mark for origin, mark in whole.items() if mark is not None and mark.any()}

    def _mark(self, frame: Frame, op: Op, operands: Sequence[Value], position: int, mark: Array, result: int) -> Array:
        return self._marks.passed_on(frame, op, operands, position, mark, result)

    def _decided(
        self, frame: Frame, op: Op, operands: Sequence[Value], position: int, marks: dict[int, Array]
    ) -> Array:
        """The lanes where the operand at ``position`` alone decides the result, and is not marked."""
        side = frame.elements(op, position, operands[position])
        rank = len(frame.result_type(op).shape)
        side = side.reshape(-1, *(1,) * rank) if side.ndim == 1 else side
        decided: Array = side == np.array(traits.of(op.name).absorbing).astype(side.dtype)
        for mark in marks.values():
            decided = decided & ~mark.reshape(-1, *mark.shape[1:] or (1,) * rank)
        return decided

    def _use(self, frame: Frame, marks: dict[int, Array]) -> None:
        for origin, mark in marks.items():
            rows = np.broadcast_to(mark.reshape(mark.shape[0], -1).any(axis=1), (frame.count,))
            used = self._used.setdefault(origin, np.zeros(self._programs, np.bool_))
            used[frame.programs[rows]] = True


def _itemsize(frame: Frame, op: Op) -> int:
    pointee = frame.type(op.operands[effects.operands_of(op).address]).pointee
    assert pointee is not None
    return max(1, pointee.bits // 8)
