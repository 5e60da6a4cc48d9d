"""Loads whose masked-off lanes have no value, since they have no ``other=``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Function, Op, Plan, dataflow, effects, traits
from triton_lab.ir.value_numbering import implies
from triton_lab.launch.byte_ranges import NOTHING
from triton_lab.launch.checks.analysis.evidence import EvidenceLanes, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import FoundLanes
from triton_lab.launch.checks.analysis.live_read_effects import LiveUses, itemsize_of
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.tape import block_shape

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

Array = NDArray[Any]


def suspects(plan: Plan) -> Iterator[Op]:
    """The loads with a mask and no ``other``, except those that only feed stores under the same mask, lane by lane."""
    flow = dataflow.Flow.of(plan)
    for function in plan.functions.values():
        users: dict[int, list[Op]] = {}
        for op in function.walk():
            for number in dict.fromkeys(op.operands):
                users.setdefault(number, []).append(op)
        for op in function.walk():
            at = effects.operands_of(op) if op.name == "tt.load" else None
            if at is not None and at.mask is not None and at.other is None and not _stays(flow, function, users, op):
                yield op


def _stays(flow: dataflow.Flow, function: Function, users: Mapping[int, list[Op]], load: Op) -> bool:
    """Whether the lanes of a load are only used lane by lane, and end in stores of lanes that the mask loads."""
    position = effects.operands_of(load).mask
    assert position is not None
    mask, shape = dataflow.Value(function.name, load.operands[position]), function.types[load.results[0]].shape
    seen, todo = set(load.results), list(load.results)
    while todo:
        number = todo.pop()
        for op in users.get(number, ()):
            if effects.is_access(op):
                at = effects.operands_of(op)
                if (
                    op.results
                    or at.mask is None
                    or [k for k, one in enumerate(op.operands) if one == number] != [at.value]
                ):
                    return False
                if not implies(flow, dataflow.Value(function.name, op.operands[at.mask]), mask):
                    return False
            elif not traits.is_in_place(op, function.types) or any(
                function.types[one].shape != shape for one in op.results
            ):
                return False
            else:
                todo += [one for one in op.results if one not in seen]
                seen.update(op.results)
    return True


class Off:
    """The first masked-off lane of a load in each program."""

    def __init__(self) -> None:
        self.lanes: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self.lanes)

    def add(self, event: AccessEvent) -> None:
        """Add an execution of the load."""
        if event.mask is None or (isinstance(event.mask, MaskBox) and event.mask.is_full()):
            return
        off = ~event.active().reshape(len(event.programs), -1)
        rows = np.flatnonzero(off.any(axis=1))
        for program, lane in zip(event.programs[rows].tolist(), off[rows].argmax(axis=1).tolist(), strict=True):
            self.lanes.setdefault(program, lane)


class TurnedOff(LiveUses):
    """Follows the masked-off lanes of ``loads`` (by index) while a launch runs, up to stores.

    ``off`` and ``reached`` are keyed by load; ``reached`` has the lanes of stores.
    """

    floats_absorb = True

    def __init__(self, launch: Recorded, loads: Sequence[int]) -> None:
        super().__init__(launch, NOTHING)
        self.off = {index: Off() for index in loads}
        self.reached: dict[int, FoundLanes] = {}
        self._kind = ""
        # The number of events, counted as the tape does.
        self._count = 0

    def barrier(self, frame: Frame, op: Op) -> None:
        self._count += 1

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        event = AccessEvent(self._count, frame.programs, pointer, mask, block_shape(frame, op, pointer))
        self._count += 1
        self._kind, self._event, self._loaded = kind, event, None
        if op.index in self.off and event.mask is not None:
            self.off[op.index].add(event)
            self._loaded = ~event.active()

    def accessed(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        super().accessed(frame, op, operands)
        position, event = effects.operands_of(op).value, self._event
        if position is None or event is None or not self.marks:
            return
        for origin, mark in self.marks_of(frame, op, operands, position).items():
            sight = SeenAccess(op, self._kind, itemsize_of(frame, op), event)
            lanes = EvidenceLanes.of(event, lifted(mark, len(event.shape)) & event.active())
            self.reached.setdefault(origin, FoundLanes(whole=True)).add(sight, lanes)

    def moved(
        self, frame: Frame, op: Op, operands: Sequence[Value], position: int, mark: Array, result: int, key: int
    ) -> Array:
        """For a product of matrices: only where the marked lanes add more than zeros."""
        if op.name != "tt.dot" or position == 2:
            return super().moved(frame, op, operands, position, mark, result, key)
        other = frame.spread(op, 1 - position, operands[1 - position]) != 0
        for marks in self.marks_of(frame, op, operands, 1 - position).values():
            other = other | marks
        whole = np.broadcast_to(mark, (mark.shape[0], *frame.type(op.operands[position]).shape)).astype(np.float32)
        there = other.astype(np.float32)
        product: Array = (whole @ there if position == 0 else there @ whole) > 0
        return product
