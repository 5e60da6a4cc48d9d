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
from triton_lab.ir import Op, effects, traits
from triton_lab.ir.access_masks import mask_operand
from triton_lab.launch.byte_ranges import Flags, Ranges
from triton_lab.launch.propagation.forward_analysis import ForwardAnalysis
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.tape import block_shape

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

Array = NDArray[Any]


class LiveUses(ForwardAnalysis[int]):
    """Follows values loaded from ``where``, the bytes that were not written before the launch; by load.

    ``floats_absorb``: a float product with zero does not depend on the other factor.
    """

    floats_absorb = False

    def __init__(self, launch: Recorded, where: Ranges) -> None:
        super().__init__(launch.executable.plan)
        self._programs = launch.programs
        self._where = where
        # The present access, and its lanes that have loaded from such memory.
        self._event: AccessEvent | None = None
        self._loaded: Array | None = None
        self._used: dict[int, Flags] = {}

    def of(self, index: int) -> Flags:
        """Which programs use what load ``index`` has read from such memory."""
        return self._used.get(index, np.zeros(self._programs, np.bool_))

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        event = AccessEvent(0, frame.programs, pointer, mask, block_shape(frame, op, pointer))
        self._event, self._loaded = event, None
        if not effects.writes(op) and self._where:
            address, itemsize = event.addresses(), itemsize_of(frame, op)
            if address.size and self._where.meets(int(address.min()), int(address.max()) + itemsize):
                flat = address.reshape(-1)
                hit = self._where.covers(flat) | self._where.covers(flat + itemsize - 1)
                self._loaded = hit.reshape(address.shape) & event.active()

    def transferred(self, frame: Frame, op: Op, operands: Sequence[Value], value: Any, result: int) -> dict[int, Array]:
        found = self.inherited(frame, op, operands, result)
        if effects.is_access(op) and self._loaded is not None and self._loaded.any():
            mine = self._loaded.reshape(self._loaded.shape[0], *frame.result_type(op).shape)
            found[op.index] = found[op.index] | mine if op.index in found else mine
        return found

    def absorbs(self, op: Op) -> bool:
        trait = traits.of(op.name)
        return trait.absorbing is not None and (trait.numbers == "integer" or self.floats_absorb)

    def accessed(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        """Note the effects of an access's operands: all have one, except ``other`` and masked-off lanes."""
        for position, number in enumerate(op.operands if self.marks else ()):
            if effects.operands_of(op).other == position:
                continue
            marks = self.marks_of(frame, op, operands, position)
            on, shape = self._event, frame.type(number).shape
            if marks and on is not None and on.shape == shape and number != mask_operand(op):
                marks = {origin: mark & on.active() for origin, mark in marks.items()}
            self._use(frame, marks)

    def reported(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        for position in range(len(operands) if self.marks else 0):
            self._use(frame, self.marks_of(frame, op, operands, position))

    def decided(self, frame: Frame, op: Op, number: int, value: Value) -> None:
        self._use(frame, self.marks.of(frame, number, value))

    def _use(self, frame: Frame, marks: dict[int, Array]) -> None:
        for origin, mark in marks.items():
            rows = np.broadcast_to(mark.reshape(mark.shape[0], -1).any(axis=1), (frame.count,))
            used = self._used.setdefault(origin, np.zeros(self._programs, np.bool_))
            used[frame.programs[rows]] = True


def itemsize_of(frame: Frame, op: Op) -> int:
    """The bytes of an element that an access touches."""
    pointee = frame.type(op.operands[effects.operands_of(op).address]).pointee
    return 1 if pointee is None else max(1, pointee.bits // 8)
