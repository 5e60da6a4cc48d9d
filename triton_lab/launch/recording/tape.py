"""`Tape`: the events of a launch, recorded while it runs, in compact form."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.backend.plugin.recorders import LaunchCall
from triton_lab.interpreter.affine_block import AffineBlock, are_lanes_apart
from triton_lab.interpreter.dtypes import user_name
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import AccessFault, KernelError, StepLimit
from triton_lab.interpreter.machine import Limits
from triton_lab.interpreter.memory_regions import Reachable
from triton_lab.ir import Op, Plan, Type, effects
from triton_lab.launch.byte_ranges import NOTHING, Ranges
from triton_lab.launch.nonfinite import finite
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.recording.written_bytes import Shared, left_finite
from triton_lab.localization import _
from triton_lab.messages import count

Array = NDArray[Any]

# About the bytes that an event takes besides its arrays: the bound must also hold for many small events.
_EVENT_BYTES = 400


class Tape(Watcher):
    """Records each access of one launch.

    ``events`` and ``kinds`` are keyed by operation. ``barriers`` are those within programs: ``(order, programs)``.
    ``strange`` are the operations that stored NaN or infinity, or may have: in masked-off lanes, or earlier values.
    Bytes for which no write was seen before the launch are in one of three sets: ``unwritten`` are uninitialised if
    they still hold the poison, ``blank`` are known to be uninitialised, and for ``unknown`` it cannot be decided.
    ``unverified`` is the memory that was found by its address alone. ``stopped`` is the operation that stopped the
    launch, with its event: it changed nothing, and is not in ``events``. ``shared`` is common to the launches that
    touch the same places, wherever their memory lies: what depends on the places alone is found out once. None: that is
    not known.

    Once ``room`` bytes are full, nothing more is recorded: the tape then holds the launch up to some moment, without
    gaps, and ``dropped`` counts the later accesses; all of them if it ``is_lost`` which ones were made.
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
        # A replay cuts the grid into the same batches, so that it has the same events.
        self.limits = Limits(batch=limits.batch, memory=limits.memory, steps=limits.steps, schedule=limits.schedule)
        # How many loop iterations the launch ran; None if that is not known.
        self.steps: int | None = None
        self.dropped = 0
        self.is_lost = False
        self.shared: Shared = None
        self._count = 0
        self.room = self._room = room
        self._programs: Array | None = None

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        shape = block_shape(frame, op, pointer)
        self._note(frame.routine.types, op, frame.programs, pointer, mask, shape, _took(frame, op, values))
        if op.index not in self.strange and not _stored_finite(frame, op, values):
            self.strange.add(op.index)

    # --- As a `PlacesObserver`: the values are looked at where they have been stored ---

    def touched(
        self, types: Sequence[Type], op: Op, programs: Array, pointer: Any, mask: Any, shape: tuple[int, ...]
    ) -> None:
        self._note(types, op, programs, pointer, mask, shape, None)

    def alike(self, kept: dict[Hashable, Any]) -> None:
        self.shared = kept

    def stored(self, op: Op, reachable: Reachable, dtype: np.dtype[Any], is_last: bool) -> None:
        events = self.events.get(op.index, [])
        if dtype.kind in "iub" or not (events or self.dropped):
            return
        # Of several values in one place only the last is left, but a sum that has met infinity or NaN keeps it. Those
        # that were dropped are not found.
        is_known = not self.dropped and (effects.updates(op) or (is_last and self._are_apart(op, dtype)))
        if not is_known or not left_finite(op.index, events, self.shared, reachable, dtype):
            self.strange.add(op.index)

    def _are_apart(self, op: Op, dtype: np.dtype[Any]) -> bool:
        """Whether no two lanes of a program store to one element; False if that would have to be looked for."""
        known = {} if self.shared is None else self.shared
        key = "apart", op.index
        if key not in known:
            events = self.events[op.index]
            programs = np.concatenate([event.programs for event in events])
            once = len(np.unique(programs)) == len(programs)
            known[key] = once and all(_are_lanes_apart(event, dtype) for event in events)
        return bool(known[key])

    def forget(self, is_lost: bool = False) -> None:
        self.is_lost = is_lost
        self.dropped = self._count if is_lost else 0
        self.events.clear()
        self.kinds.clear()
        self.strange.clear()
        self.shared = None
        self._count = 0
        self._room, self._programs = self.room, None

    def _note(
        self,
        types: Sequence[Type],
        op: Op,
        programs: Array,
        pointer: Any,
        mask: Any,
        shape: tuple[int, ...],
        took: Array | None,
    ) -> None:
        order = self._count
        self._count += 1
        if op.index not in self.kinds:
            self.kinds[op.index] = _kind(types, op, effects.ACCESSES[op.name].kind)
            self.events[op.index] = []
        event = AccessEvent(order, programs, _bare(pointer), mask, shape, took)
        # Programs that run on together share one array of their numbers.
        shared = programs is self._programs
        self._programs = programs
        if self._fits(_EVENT_BYTES + event.nbytes - shared * programs.nbytes):
            self.events[op.index].append(event)

    def barrier(self, frame: Frame, op: Op) -> None:
        if self._fits(_EVENT_BYTES):
            self.barriers.append((self._count, frame.programs))
        self._count += 1

    @property
    def fresh(self) -> Ranges:
        """All bytes for which no write was seen."""
        return Ranges.joined([self.unwritten, self.blank, self.unknown])

    @property
    def cut(self) -> str:
        """What was not recorded, in words; empty if everything was."""
        if self.is_lost:
            return _("the launch was stopped in machine code, and which accesses it had made is not known")
        told = count(self.dropped, "access was", "accesses were")
        return _("{told} not kept: use record(max_bytes=...)").format(told=told) if self.dropped else ""

    @property
    def nbytes(self) -> int:
        """About the bytes that the tape takes."""
        return self.room - self._room

    def _fits(self, size: int) -> bool:
        if self.dropped or size > self._room:
            self.dropped += 1
            return False
        self._room -= size
        return True

    def ended(self, call: LaunchCall) -> None:
        """Finish the tape after the launch. A failed store wrote nothing: its event moves to `stopped`."""
        strangers = [region for region in call.memory.regions if not region.verified]
        self.unverified = Ranges.of([r.start for r in strangers], [r.stop for r in strangers])
        self.steps = call.steps
        if isinstance(call.error, StepLimit) or (call.error is not None and not isinstance(call.error, KernelError)):
            self.cut_short(call.steps)
        if isinstance(call.error, KernelError):
            self.failed(call.error, call.executable.plan)

    def cut_short(self, steps: int | None) -> None:
        """Note that the launch was stopped from outside in iteration ``steps``, so that a replay stops there too."""
        if steps is not None:
            self.limits.steps = max(0, steps - 1)

    def failed(self, error: KernelError, plan: Plan) -> None:
        """Note the access that stopped the launch, if an access did."""
        if error.op is not None and error.fault is not None:
            events = self.events.get(error.op.index)
            if error.fault.access == "store" and events and not self.dropped:
                events.pop()
            self._keep_stopped(plan, error, error.op, error.fault)

    def _keep_stopped(self, plan: Plan, error: KernelError, op: Op, fault: AccessFault) -> None:
        """Set `stopped` even if there is no room, as it shows what went wrong."""
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
    """The pointer without the elements that the interpreter may have cached in it."""
    return AffineBlock(pointer.base, pointer.strides, pointer.shape) if isinstance(pointer, AffineBlock) else pointer


def _kind(types: Sequence[Type], op: Op, kind: str) -> tuple[str, str, int]:
    """The access's kind, and the dtype and bytes of the elements that its pointer or descriptor points at."""
    pointee = types[op.operands[effects.operands_of(op).address]].pointee
    assert pointee is not None
    return kind, user_name(pointee.element), max(1, pointee.bits // 8)


def block_shape(frame: Frame, op: Op, pointer: Any) -> tuple[int, ...]:
    """The shape of the block that one program touches; a descriptor's access has one address for each element."""
    if isinstance(pointer, AffineBlock):
        return pointer.shape
    type = frame.type(op.operands[effects.operands_of(op).address])
    return type.shape if type.is_pointer else pointer.shape[1:]


def _took(frame: Frame, op: Op, found: Array | None) -> Array | None:
    """Which lanes of a compare-and-swap found the expected value and so wrote; None for other operations."""
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
    """The values that a load loaded, a store stores, or an atomic combines (if it has any, else those it found)."""
    position = effects.operands_of(op).value
    if position is None or not effects.updates(op):
        return values
    return frame.elements(op, position, frame.environment[op.operands[position]])


def _are_lanes_apart(event: AccessEvent, dtype: np.dtype[Any]) -> bool:
    """Whether no two lanes of a program store to one element; False if that would have to be looked for."""
    pointer = event.pointer
    return isinstance(pointer, AffineBlock) and are_lanes_apart(pointer.strides, pointer.shape, dtype.itemsize)


def _stored_finite(frame: Frame, op: Op, values: Array | None) -> bool:
    """Whether all values that ``op`` is about to store, or that an atomic combines, are finite."""
    if not effects.writes(op):
        return True
    values = brought(frame, op, values)
    return values is None or values.dtype.kind in "iub" or bool(finite(values).all())
