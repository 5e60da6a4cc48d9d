"""The tape: what a launch touches, written down while it runs, in as few bytes as will do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.backend.plugin.recorders import LaunchCall
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.dtypes import user_name
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import AccessFault, KernelError, StepLimit
from triton_lab.interpreter.machine import Limits
from triton_lab.ir import Op, Plan, Type, effects
from triton_lab.launch.byte_ranges import NOTHING, Ranges
from triton_lab.launch.nonfinite import finite
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.messages import count

Array = NDArray[Any]

# What an event takes in memory besides its arrays, about: the bound must hold for many small ones, too.
_EVENT_BYTES = 400


class Tape(Watcher):
    """Writes down each access of one launch.

    ``events`` and ``kinds`` go by operation. ``barriers`` are those within programs: ``(order,
    programs)``. ``strange`` are the operations that had NaN or infinity among the values to store,
    perhaps in lanes that the mask turns off. ``unwritten`` are the bytes that nobody was seen writing
    before the launch, if they hold the poison; ``blank`` those of which that is known to be so, and
    ``unknown`` those of which nobody can tell. ``unverified`` is the memory that was found by its address alone.
    ``stopped`` is the operation that stopped the launch, with its event: it did nothing, and is not among ``events``.

    Once ``room`` bytes are full nothing more is kept: what is there is the launch up to some moment,
    without gaps, and ``dropped`` counts the accesses after it.
    """

    def __init__(
        self,
        room: int,
        limits: Limits,
        unwritten: Ranges = NOTHING,
        blank: Ranges = NOTHING,
        unknown: Ranges = NOTHING,
    ) -> None:
        self.events: dict[int, list[AccessEvent]] = {}
        self.kinds: dict[int, tuple[str, str, int]] = {}
        self.barriers: list[tuple[int, Array]] = []
        self.strange: set[int] = set()
        self.unwritten = unwritten
        self.blank = blank
        self.unknown = unknown
        self.unverified: Ranges = NOTHING
        self.stopped: tuple[int, AccessEvent] | None = None
        # A replay cuts the grid into the same batches, so that its events are these.
        self.limits = Limits(batch=limits.batch, memory=limits.memory, steps=limits.steps)
        # How many iterations of loops the launch ran; None where that is not known.
        self.steps: int | None = None
        self.dropped = 0
        self._count = 0
        self.room = self._room = room
        self._programs: Array | None = None

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        order = self._count
        self._count += 1
        if op.index not in self.kinds:
            self.kinds[op.index] = _kind(frame.routine.types, op, kind)
            self.events[op.index] = []
        shape = block_shape(frame, op, pointer)
        event = AccessEvent(order, frame.programs, _bare(pointer), mask, shape, _took(frame, op, values))
        # Programs that go on together share one list of their numbers.
        shared = frame.programs is self._programs
        self._programs = frame.programs
        if self._fits(_EVENT_BYTES + event.nbytes - shared * frame.programs.nbytes):
            self.events[op.index].append(event)
        if op.index not in self.strange and not _stored_finite(frame, op, values):
            self.strange.add(op.index)

    def barrier(self, frame: Frame, op: Op) -> None:
        if self._fits(_EVENT_BYTES):
            self.barriers.append((self._count, frame.programs))
        self._count += 1

    @property
    def fresh(self) -> Ranges:
        """All that nobody was seen writing."""
        return Ranges.joined([self.unwritten, self.blank, self.unknown])

    @property
    def cut(self) -> str:
        """What was not kept, in words; empty if all was."""
        told = count(self.dropped, "access was", "accesses were")
        return f"{told} not kept: use record(max_bytes=...)" if self.dropped else ""

    @property
    def nbytes(self) -> int:
        """What is kept, about."""
        return self.room - self._room

    def _fits(self, size: int) -> bool:
        if self.dropped or size > self._room:
            self.dropped += 1
            return False
        self._room -= size
        return True

    def ended(self, call: LaunchCall) -> None:
        """The launch is over. A store that failed wrote nothing: it is taken back, and kept as what `stopped` it."""
        strangers = [region for region in call.memory.regions if not region.verified]
        self.unverified = Ranges.of([r.start for r in strangers], [r.stop for r in strangers])
        self.steps = call.steps
        if isinstance(call.error, StepLimit) or (call.error is not None and not isinstance(call.error, KernelError)):
            self.cut_short(call.steps)
        if isinstance(call.error, KernelError):
            self.failed(call.error, call.executable.plan)

    def cut_short(self, steps: int | None) -> None:
        """The launch was stopped in its iteration ``steps``, not by anything that it did: a replay stops there, too."""
        if steps is not None:
            self.limits.steps = max(0, steps - 1)

    def failed(self, error: KernelError, plan: Plan) -> None:
        """The launch was stopped."""
        if error.op is not None and error.fault is not None:
            events = self.events.get(error.op.index)
            if error.fault.access == "store" and events and not self.dropped:
                events.pop()
            self._keep_stopped(plan, error, error.op, error.fault)

    def _keep_stopped(self, plan: Plan, error: KernelError, op: Op, fault: AccessFault) -> None:
        """Whatever room there is: without it nobody could see what went wrong."""
        if error.together is None:
            return
        types = next(one.types for one in plan.functions.values() if op in one.walk())
        self.kinds.setdefault(op.index, _kind(types, op, fault.access))
        strayed = np.zeros((fault.rows, *fault.block), np.bool_)
        strayed.reshape(fault.rows, -1)[fault.programs, fault.lanes] = True
        pointer = _bare(fault.pointer)
        self.stopped = (
            op.index,
            AccessEvent(self._count, error.together, pointer, fault.mask, fault.block, strayed=strayed),
        )


def _bare(pointer: AffineBlock | Array) -> AffineBlock | Array:
    """Without the elements that the interpreter may have worked out on the way."""
    return AffineBlock(pointer.base, pointer.strides, pointer.shape) if isinstance(pointer, AffineBlock) else pointer


def _kind(types: Sequence[Type], op: Op, kind: str) -> tuple[str, str, int]:
    """Kind, dtype and bytes of the elements that the pointer or the descriptor points at."""
    pointee = types[op.operands[effects.operands_of(op).address]].pointee
    assert pointee is not None
    return kind, user_name(pointee.element), max(1, pointee.bits // 8)


def block_shape(frame: Frame, op: Op, pointer: Any) -> tuple[int, ...]:
    """The shape of the block that one program touches: through a descriptor, it has an address for each element."""
    if isinstance(pointer, AffineBlock):
        return pointer.shape
    type = frame.type(op.operands[effects.operands_of(op).address])
    return type.shape if type.is_pointer else pointer.shape[1:]


def _took(frame: Frame, op: Op, found: Array | None) -> Array | None:
    """Which lanes of a compare-and-swap found what they expected, and so wrote."""
    position = effects.operands_of(op).expected
    if position is None or found is None or not effects.writes(op):
        return None
    expected = frame.elements(op, position, frame.environment[op.operands[position]])
    bits = f"u{found.dtype.itemsize}"
    same: Array = np.ascontiguousarray(found).view(bits) == np.ascontiguousarray(
        np.broadcast_to(expected, found.shape)
    ).view(bits)
    return same


def brought(frame: Frame, op: Op, values: Array | None) -> Array | None:
    """What a load loaded, a store stores, and an atomic brings along (if it does; else what it found)."""
    position = effects.operands_of(op).value
    if position is None or not effects.updates(op):
        return values
    return frame.elements(op, position, frame.environment[op.operands[position]])


def _stored_finite(frame: Frame, op: Op, values: Array | None) -> bool:
    """Whether all that ``op`` is about to store, or that an atomic brought along, is finite."""
    if not effects.writes(op):
        return True
    values = brought(frame, op, values)
    return values is None or values.dtype.kind in "iub" or bool(finite(values).all())
