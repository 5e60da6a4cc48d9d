"""``scf``, ``cf``, calls and returns: which programs run which operations.

Programs that agree run together. Where they part, each side runs for its own programs, and the results are merged.
Operations here never wait for other programs: those that may wait run in `resumable_regions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import runtime_values
from triton_lab.interpreter.bound_code import BoundBlock
from triton_lab.interpreter.frame import Environment, Frame
from triton_lab.interpreter.op_registry import control
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, Type
from triton_lab.ir.value_flow import BRANCHES

Array = NDArray[Any]
Pieces = list[tuple[Array, tuple[Value, ...]]]


def _joined(frame: Frame, pieces: Pieces, programs: int, types: Sequence[Type]) -> tuple[Value, ...]:
    """The results of all sides, merged. ``types`` gives their number and types."""
    found = tuple(
        runtime_values.merge([(rows, results[k]) for rows, results in pieces], programs, type)
        for k, type in enumerate(types)
    )
    observer = frame.machine.observer
    if observer is not None:
        for k, value in enumerate(found):
            observer.joined([(rows, results[k], None) for rows, results in pieces], programs, value)
    return found


def _taken(frame: Frame, handed: Sequence[Value], rows: Array) -> tuple[Value, ...]:
    """The values for only the programs in ``rows``."""
    found = tuple([runtime_values.take(value, rows) for value in handed])
    observer = frame.machine.observer
    if observer is not None:
        everyone = np.arange(len(rows))
        for old, new in zip(handed, found, strict=True):
            observer.joined([(everyone, old, rows)], len(rows), new)
    return found


def answer(results: tuple[Value, ...]) -> Any:
    """An operation's results as its function returns them: one value, or a tuple."""
    return results[0] if len(results) == 1 else results


def _truth(condition: Value) -> Array:
    assert isinstance(condition, np.ndarray)
    return condition


@control("scf.if")
def scf_if(frame: Frame, op: Op, condition: Value) -> Any:
    truth = _truth(condition)
    sides = frame.region(op)
    types = [frame.type(number) for number in op.results]
    if truth.size == 1 or truth.all() or not truth.any():
        side = 0 if truth[0] else 1
        if side == 1 and len(sides) == 1:
            return ()
        return answer(frame.run(sides[side]))
    pieces: Pieces = []
    for code, rows in zip(sides, (np.flatnonzero(truth), np.flatnonzero(~truth)), strict=False):
        pieces.append((rows, frame.part(rows).run(code)))
    return answer(_joined(frame, pieces, frame.count, types)) if types else ()


@control("scf.for")
def scf_for(frame: Frame, op: Op, lower: Value, upper: Value, step: Value, *initial: Value) -> Any:
    (code,) = frame.region(op)
    dtype = runtime_values.dtype_of(frame.type(code.arguments[0]))
    low, high, stride = counting(frame, op, (lower, upper, step))
    trips = trips_of(low, high, stride)
    carried: tuple[Value, ...] = initial
    if bool((trips == trips[0]).all()):
        for iteration in range(int(trips[0])):
            frame.machine.tick(op, frame)
            carried = frame.run(code, ((low + iteration * stride).astype(dtype), *carried))
        return answer(carried)
    types = [frame.type(number) for number in op.results]
    pieces: Pieces = []
    active, rows = frame, np.arange(frame.count)
    low, stride = np.broadcast_to(low, trips.shape), np.broadcast_to(stride, trips.shape)
    for iteration in range(int(trips.max()) + 1):
        ended = trips[rows] <= iteration
        if ended.any():
            pieces.append((rows[ended], _taken(frame, carried, np.flatnonzero(ended))))
            going = np.flatnonzero(~ended)
            rows = rows[going]
            carried = _taken(frame, carried, going)
            active = frame.part(rows)
        if len(rows):
            frame.machine.tick(op, frame)
            number = (low[rows] + iteration * stride[rows]).astype(dtype)
            carried = active.run(code, (number, *carried))
    return answer(_joined(frame, pieces, frame.count, types)) if types else ()


def counting(frame: Frame, op: Op, bounds: Sequence[Value]) -> tuple[Array, ...]:
    """The lower bound, the upper bound and the step of a loop, read in its counter's type: int64."""
    counter = frame.type(frame.region(op)[0].arguments[0])
    arrays = [runtime_values.elements(value, counter) for value in bounds]
    if op.attributes.get("unsignedCmp"):
        arrays = [array.view(runtime_values.unsigned(array.dtype)) for array in arrays]
    return tuple(array.astype(np.int64) for array in arrays)


def trips_of(low: Array, high: Array, step: Array) -> Array:
    """How often each program runs a loop's body."""
    trips: Array = np.maximum(0, -((low - high) // step))
    return trips


@control("scf.while")
def scf_while(frame: Frame, op: Op, *initial: Value) -> Any:
    before, after = frame.region(op)
    machine = frame.machine
    types = [frame.type(number) for number in op.results]
    pieces: Pieces = []
    active, rows = frame, np.arange(frame.count)
    carried: tuple[Value, ...] = initial
    turns = 0  # read by `backend.plugin.loop_report` when the loop is stopped
    while True:
        machine.tick(op, active)
        turns += 1
        condition, *passed = active.run(before, carried)
        truth = np.broadcast_to(_truth(condition), (active.count,))
        if not truth.all():
            ended = np.flatnonzero(~truth)
            pieces.append((rows[ended], _taken(frame, passed, ended)))
            going = np.flatnonzero(truth)
            rows = rows[going]
            if not len(rows):
                break
            passed = [*_taken(frame, passed, going)]
            active = frame.part(rows)
        carried = active.run(after, passed)
    return answer(_joined(frame, pieces, frame.count, types)) if types else ()


@control("tt.call")
def tt_call(frame: Frame, op: Op, *arguments: Value) -> Any:
    routine = frame.machine.executable.routines[op.attributes["callee"]]
    inner = Frame(frame.machine, routine, frame.programs, Environment())
    return answer(run_body(inner, arguments))


@dataclass(frozen=True, slots=True, eq=False)
class _Arrival:
    """Programs that arrive at a block: those in ``rows`` of ``frame``, with the arguments that they bring."""

    frame: Frame
    rows: Array
    brought: tuple[Value, ...]

    def part(self) -> Frame:
        """A frame of only these programs."""
        return self.frame if len(self.rows) == self.frame.count else self.frame.part(self.rows)


def run_body(frame: Frame, arguments: Sequence[Value]) -> tuple[Value, ...]:
    """Run the frame's function, and return its results."""
    return run_blocks(frame, frame.routine.blocks, arguments)


def run_blocks(frame: Frame, blocks: Sequence[BoundBlock], arguments: Sequence[Value]) -> tuple[Value, ...]:
    """Run blocks joined by forward branches, starting with the first, and return the values of the last ones."""
    if len(blocks) == 1:
        return frame.run(blocks[0], arguments)
    # The programs that have arrived at each block.
    arriving: dict[int, list[_Arrival]] = {0: [_Arrival(frame, np.arange(frame.count), tuple(arguments))]}
    finished: Pieces = []
    for number, code in enumerate(blocks):
        if number not in arriving:
            continue
        active, brought = _assemble(frame, arriving.pop(number), code)
        for argument, value in zip(code.arguments, brought, strict=True):
            active.environment[argument] = value
        active.run_steps(code.steps)
        end = code.terminator
        operands = active.handed(end.operands)
        if end.name not in BRANCHES:
            finished.append((_root_rows(active, frame), operands))
            continue
        for rows, successor in _branches(active, end, operands):
            if successor.block <= number:
                raise NotImplementedError("a branch backwards")
            handed = _taken(active, active.handed(successor.operands), rows)
            arriving.setdefault(successor.block, []).append(_Arrival(active, rows, handed))
    if not finished or not finished[0][1]:
        return ()
    types = [frame.type(number) for number in returned(blocks)]
    return _joined(frame, finished, frame.count, types)


def returned(blocks: Sequence[BoundBlock]) -> tuple[int, ...]:
    """The values that the last blocks return. All of these have the same types, so the first of them stands for all."""
    return next(code.terminator.operands for code in blocks if code.terminator.name not in BRANCHES)


def _branches(frame: Frame, end: Op, operands: tuple[Value, ...]) -> list[tuple[Array, Any]]:
    everyone = np.arange(frame.count)
    if end.name == "cf.br":
        return [(everyone, end.successors[0])]
    truth = np.broadcast_to(_truth(operands[0]), (frame.count,))
    sides = [(everyone[truth], end.successors[0]), (everyone[~truth], end.successors[1])]
    return [(rows, successor) for rows, successor in sides if len(rows)]


def _assemble(root: Frame, arrivals: list[_Arrival], code: BoundBlock) -> tuple[Frame, tuple[Value, ...]]:
    """One frame for all programs that arrive at a block, made from the innermost frame that they share."""
    if len(arrivals) == 1:
        return arrivals[0].part(), arrivals[0].brought
    base = _common([arrival.frame for arrival in arrivals])
    where = [_root_rows(arrival.frame, base)[arrival.rows] for arrival in arrivals]
    together = np.sort(np.concatenate(where))  # no program arrives twice
    pieces = [(np.searchsorted(together, rows), arrival.brought) for rows, arrival in zip(where, arrivals, strict=True)]
    active = base if len(together) == base.count else base.part(together)
    types = [root.type(number) for number in code.arguments]
    return active, _joined(root, pieces, len(together), types)


def _common(frames: Sequence[Frame]) -> Frame:
    """The innermost frame that all of ``frames`` are parts of."""

    def line(frame: Frame | None) -> list[Frame]:
        result = []
        while frame is not None:
            result.append(frame)
            frame = frame.parent
        return result

    lines = [line(frame) for frame in frames]
    return next(frame for frame in lines[0] if all(any(frame is other for other in rest) for rest in lines[1:]))


def _root_rows(frame: Frame, root: Frame) -> Array:
    """The rows of ``root`` that the programs of ``frame`` have."""
    rows = np.arange(frame.count)
    while frame is not root:
        assert frame.rows is not None and frame.parent is not None
        rows = frame.rows[rows]
        frame = frame.parent
    return rows
