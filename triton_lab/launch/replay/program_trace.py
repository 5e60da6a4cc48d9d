"""`Trace`: the assignments and accesses of one program, step by step in execution order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.backend.source.kernel_source import KernelSource
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.ir.effects import ACCESSES
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.launch.replay.variable_values import assigned, probe_number
from triton_lab.localization import _
from triton_lab.messages import no_program

Array = NDArray[Any]
_INT64 = np.dtype(np.int64)


@dataclass(frozen=True, eq=False)
class TraceStep:
    """One assignment or access of the program.

    ``kind`` is ``assign``, ``load``, ``store`` or ``atomic``. ``name`` is the variable, or the argument whose memory
    was touched (None if it belongs to no argument). ``values`` is the block assigned, loaded, stored, or found by an
    atomic; ``addresses`` and ``mask`` are those of an access.
    """

    number: int
    kind: str
    line: int | None
    name: str | None
    values: Array
    addresses: Array | None = None
    mask: Array | None = None


class Trace:
    """The steps of program ``program``.

    >>> trace = launch.trace(program=2)
    >>> len(trace), trace.steps[0].kind, trace.steps[0].name
    (12, 'assign', 'x_ptr')
    """

    def __init__(self, program: int, steps: Sequence[TraceStep]) -> None:
        self.program = program
        self.steps = tuple(steps)

    def __len__(self) -> int:
        return len(self.steps)

    def alive(self, number: int) -> dict[str, TraceStep]:
        """The variables after step ``number``: for each name, the step that last assigned it.

        >>> sorted(launch.trace().alive(3))
        ['n', 'out_ptr', 'x_ptr', 'y_ptr']
        """
        return {step.name: step for step in self.steps[: number + 1] if step.kind == "assign" and step.name}


class _Listener(Watcher):
    def __init__(self, launch: Recorded) -> None:
        self.launch = launch
        self.twin = launch.twin
        self.steps: list[TraceStep] = []
        self.lines = twin_lines(launch)
        self.arguments: dict[int, str | None] = {}

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        number = probe_number(op)
        if number is not None:
            variable = self.twin.variables[number]
            array = assigned(frame, op, operands[0])
            self.steps.append(TraceStep(len(self.steps), "assign", variable.line, variable.name, array[0].copy()))

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        if op.index not in self.arguments:
            self.arguments[op.index] = self._argument(op.index)
        addresses = pointer.elements(_INT64) if isinstance(pointer, AffineBlock) else pointer
        shape = pointer.shape if isinstance(pointer, AffineBlock) else pointer.shape[1:]
        active = mask.elements() if isinstance(mask, MaskBox) else np.True_ if mask is None else mask
        block = np.broadcast_shapes(shape, () if values is None else values.shape[1:])
        self.steps.append(
            TraceStep(
                len(self.steps),
                kind,
                self.lines.get(op.index),
                self.arguments[op.index],
                np.broadcast_to(values if values is not None else np.zeros(1), (1, *block))[0].copy(),
                np.broadcast_to(addresses, (1, *block))[0].copy(),
                np.broadcast_to(active, (1, *block))[0].copy(),
            )
        )

    def _argument(self, op: int) -> str | None:
        roots = self.twin.executable.roots.get(op)
        if roots is None or len(roots) != 1:
            return None
        return self.launch.plan_arguments[next(iter(roots))].name


def twin_lines(launch: Recorded) -> Mapping[int, int | None]:
    """The line of each access of the probed twin, by the operation's index. Raises CannotReplay."""
    source, twin = launch.compiled[0], launch.twin
    if source is None and twin.lines is None:
        raise CannotReplay(_("the file of this launch was written by a version that did not keep its steps"))
    if source is None:
        return twin.lines or {}
    written = KernelSource(source.fn, twin.executable.plan)
    places = {op.index: written.place(op.location) for op in twin.executable.plan.walk() if op.name in ACCESSES}
    return {index: None if place is None else place.line for index, place in places.items()}


def trace(launch: Recorded, program: int) -> Trace:
    """See `Launch.trace`."""
    if not 0 <= program < launch.programs:
        raise LookupError(f"{launch.kernel}: {no_program(program, launch.grid)}")
    listener = _Listener(launch)
    replay(
        launch,
        executable=launch.twin.executable,
        observer=listener,
        access_observer=listener,
        programs=np.array([program]),
    )
    return Trace(program, listener.steps)
