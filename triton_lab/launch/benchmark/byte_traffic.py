"""Counts the bytes that a function's kernels move: those that all their accesses touch, on the CPU target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from triton_lab.backend.plugin.recorders import LaunchCall, Recorder, Watch, recorders
from triton_lab.backend.targets.active_target import target
from triton_lab.interpreter.frame import Frame
from triton_lab.ir import Op, effects
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.tape import block_shape
from triton_lab.launch.recording.watcher import Watcher

PATIENCE = 2.0  # seconds for one size: larger ones are not counted


class Moved(Watcher):
    """Adds the bytes of all accesses; an atomic counts twice, since it reads and writes."""

    def __init__(self) -> None:
        self.bytes = 0

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: NDArray[Any] | None) -> None:
        pointee = frame.type(op.operands[effects.operands_of(op).address]).pointee
        assert pointee is not None
        event = AccessEvent(0, frame.programs, pointer, mask, block_shape(frame, op, pointer))
        times = 2 if kind == "atomic" else 1
        self.bytes += event.lanes * max(1, pointee.bits // 8) * times


class ByteCounter(Recorder):
    """Counts the bytes of launches (``moved``), their number, and the interpreter's ``seconds`` for them."""

    def __init__(self) -> None:
        self.moved = Moved()
        self.launches = 0
        self.seconds = 0.0

    def before(self, call: LaunchCall) -> Watch:
        if call.trial:
            return Watch()
        self.launches += 1
        return Watch(accesses=self.moved)

    def after(self, call: LaunchCall) -> None:
        self.seconds += call.interpreted


def bytes_of(run: Callable[[], object]) -> tuple[int | None, float]:
    """The bytes that the kernels launched by ``run`` load and store, and the interpreter's seconds for them.

    The bytes are None if it launches no kernel.
    """
    counter = ByteCounter()
    with target("cpu"), recorders.alone(counter):
        run()
    return (counter.moved.bytes if counter.launches else None), counter.seconds
