"""Whether a program's reads have an effect: the launch is replayed with other bytes there.

A program that stores the same values to the same places for all these bytes has not used them: it has discarded them by
a `where`, or never used them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.machine import Limits
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.runtime_values import Value, elements
from triton_lab.ir import Op, effects
from triton_lab.launch.byte_ranges import Flags, Ranges
from triton_lab.launch.checks.analysis.other_failures import ROUNDS
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.tape import block_shape, brought
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

Numbers = npt.NDArray[np.uint64]

# The bytes to put there: zeros, and numbers of either sign that are large as floats and as integers. A comparison or a
# maximum that hides one of them rarely hides all.
_INSTEAD = (0x00, 0x71, 0xF1)
# A loop whose end depends on such bytes may never end.
_STEPS = 10_000
_CONTROL = ("scf.", "cf.")
_MIX, _LANE, _TIME = (np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


class ReadEffects:
    """The effects of one launch's reads. Raises CannotReplay."""

    def __init__(self, launch: Recorded) -> None:
        self.launch = launch
        self._as_it_was = _Deeds(launch)
        replay(launch, **self._as_it_was.observers)

    def of(self, where: Ranges) -> Flags:
        """Which programs do something else if memory holds other bytes at these addresses."""
        differ = np.zeros(self.launch.programs, np.bool_)
        for byte in _INSTEAD:
            differ |= self._with(where, byte)
            if differ.all():
                break
        return differ

    def _with(self, where: Ranges, byte: int) -> Flags:
        """The programs that do something else with ``byte`` there. If some fail, the others run again without them."""
        launch = self.launch
        differ = np.zeros(launch.programs, np.bool_)
        left = np.asarray(launch.own)
        for _ in range(ROUNDS):
            deeds = _Deeds(launch)
            try:
                replay(launch, held=(where, byte), programs=left, limits=self._limits(), strict=True, **deeds.observers)
            except KernelError as error:
                if not self._same(error):
                    failed = left if error.programs is None else np.unique(error.programs)
                    differ[failed] = True
                    left = np.setdiff1d(left, failed)
                    if len(left) and not launch.executable.waiting_loops:
                        continue
            differ[left] |= deeds.number[left] != self._as_it_was.number[left]
            return differ
        differ[left] = True
        return differ

    def _same(self, error: KernelError) -> bool:
        """Whether the launch itself was stopped by the same error."""
        then = self.launch.error
        if not isinstance(then, KernelError) or then.op is None or error.op is None or then.op.index != error.op.index:
            return False
        return np.array_equal(then.numbers, error.numbers)

    def _limits(self) -> Limits:
        tape = self.launch.tape
        limits = tape.limits if tape is not None else Limits()
        steps = 4 * self._as_it_was.steps + _STEPS
        return Limits(batch=limits.batch, memory=limits.memory, steps=steps, schedule=limits.schedule)


class _Deeds(Watcher):
    """Hashes what each program does into ``number`` (programs,).

    The number differs if the program touches, stores or prints anything else, or takes another branch.
    """

    def __init__(self, launch: Recorded) -> None:
        self.number: Numbers = np.zeros(launch.programs, np.uint64)
        self.steps = 0
        others = any(op.name == "tt.print" or op.name.startswith(_CONTROL) for op in launch.executable.plan.walk())
        self.observers: dict[str, Any] = {"access_observer": self, "observer": self if others else None}

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        # The operations that a program runs show which branches it takes.
        self.number[frame.programs] = self.number[frame.programs] * _TIME + np.uint64(op.index)
        if op.name == "tt.print":
            for number, value in zip(op.operands, operands, strict=True):
                self._add(frame, op, elements(value, frame.type(number)), frame.type(number).shape)

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Any) -> None:
        self.steps = frame.machine.steps
        shape = block_shape(frame, op, pointer)
        on = mask.elements() if isinstance(mask, MaskBox) else mask
        addresses = pointer if isinstance(pointer, np.ndarray) else pointer.elements(np.dtype(np.int64))
        self._add(frame, op, addresses, shape, on)
        if on is not None:
            self._add(frame, op, on, shape)
        if effects.writes(op):
            values = brought(frame, op, values)
            if values is not None:
                self._add(frame, op, values, shape, on)
            expected = effects.operands_of(op).expected
            if expected is not None:
                self._add(frame, op, frame.elements(op, expected, frame.environment[op.operands[expected]]), shape)

    def _add(self, frame: Frame, op: Op, array: Any, shape: tuple[int, ...], on: Any = None) -> None:
        """Add an array to the programs' hashes, in the lanes that are ``on``."""
        rank = len(shape)
        block = lifted(array, rank)
        bits = np.ascontiguousarray(block).view(f"u{block.dtype.itemsize}").astype(np.uint64)
        lanes = (np.arange(max(1, int(np.prod(shape))), dtype=np.uint64) * _LANE).reshape(shape)
        mixed = (bits + lanes) * _MIX
        mixed = (mixed ^ (mixed >> np.uint64(32))) * _LANE
        if on is not None:
            mixed = np.where(lifted(on, rank), mixed, np.uint64(0))
        rows = mixed.reshape(mixed.shape[0], -1).sum(axis=1, dtype=np.uint64)
        self.number[frame.programs] = self.number[frame.programs] * _TIME + rows + np.uint64(op.index)
