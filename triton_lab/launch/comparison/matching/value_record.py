"""`ValueRecord`: what each operation of a kernel computed in the programs of a probe, from one replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.interpreter.runtime_values import Value, spread
from triton_lab.ir import Op
from triton_lab.ir.plan import Function
from triton_lab.launch.access import elements_at
from triton_lab.launch.comparison.number_formats import wide
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

# Elements of one value that are held at most; larger kernels are compared by runs alone.
_MOST = 1 << 16


@dataclass(frozen=True)
class StoredBlock:
    """One execution of a store: by program the elements of the argument (-1: none), and the values, both by lane."""

    argument: str
    elements: Array
    values: Array


@dataclass
class ValueRecord(Watcher):
    """The values of ``function`` by number, each ``(programs, *block)``; those that are computed once in a program.

    ``stored`` is by the index of the store.
    """

    launch: Launch
    function: Function
    programs: Array
    values: dict[int, Array] = field(default_factory=dict)
    stored: dict[int, StoredBlock] = field(default_factory=dict)
    _counts: dict[int, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, probe: Probe) -> ValueRecord:
        """The record of the kernel as it is. Raises what the replay raises."""
        launch = probe.side.launch
        return cls.replayed(launch, np.arange(launch.programs) if probe.programs is None else probe.programs)

    @classmethod
    def replayed(cls, launch: Launch, programs: Array, memory: Memory | None = None) -> ValueRecord:
        """The record of some programs, run in ``memory``, by default that of the launch. Raises what that raises."""
        record = cls(launch, launch.executable.plan.kernel, programs)
        some = None if len(programs) == launch.programs else programs
        replay(launch, programs=some, observer=record, access_observer=record, strict=True, memory=memory)
        for number in [one for one, count in record._counts.items() if (count != 1).any()]:
            record.values.pop(number, None)
        return record

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        """``op`` has run: what it took is held too, as arguments of the kernel have no operation."""
        for number, value in zip(op.operands, operands, strict=False):
            if number in self.function.arguments and number not in self.values:
                self._hold(frame, number, value)
        if op.results:
            found = (result,) if len(op.results) == 1 else tuple(result or ())
            for number, value in zip(op.results, found, strict=False):
                self._hold(frame, number, value)

    def _hold(self, frame: Frame, number: int, value: Value) -> None:
        type = self.function.types[number]
        if type.is_opaque or not isinstance(value, (np.ndarray, AffineBlock, MaskBox)):
            return
        if int(np.prod(type.shape)) * len(self.programs) > _MOST:
            return
        given = spread(value, type)
        held = self.values.get(number)
        if held is None:
            held = self.values[number] = np.zeros((len(self.programs), *type.shape), given.dtype)
            self._counts[number] = np.zeros(len(self.programs), np.int64)
        rows = self.rows(frame)
        held[rows] = given
        self._counts[number][rows] += 1

    def rows(self, frame: Frame) -> Array:
        """The rows of the frame's programs."""
        return np.searchsorted(self.programs, frame.programs)

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        """``op`` stores ``values``."""
        if kind != "store" or values is None or len(frame.programs) != len(self.programs):
            return
        self.stored[op.index] = stored_by(self.launch, op, pointer, mask, values, len(self.programs))


def stored_by(launch: Launch, op: Op, pointer: Any, mask: Any, values: Array, programs: int) -> StoredBlock:
    """What a store stores, and where."""
    where = pointer.elements(np.dtype(np.int64)) if isinstance(pointer, AffineBlock) else np.asarray(pointer)
    active = True if mask is None else mask.elements() if isinstance(mask, MaskBox) else np.asarray(mask)
    shape = np.broadcast_shapes(where.shape, values.shape, np.shape(active), (programs, *(1,) * (values.ndim - 1)))
    for argument in launch.arguments:
        if argument.kind == "tensor":
            found = elements_at(where - argument.address, argument)
            if (found >= 0).any():
                elements = np.where(np.broadcast_to(active, shape), np.broadcast_to(found, shape), -1)
                return StoredBlock(argument.name, elements, wide(np.broadcast_to(values, shape)))
    return StoredBlock("", np.full(shape, -1), wide(np.broadcast_to(values, shape)))
