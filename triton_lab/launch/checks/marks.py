"""Marks on values during a replay: which lanes of a value have something to do with something."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import values
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.registry import REGISTRY
from triton_lab.interpreter.values import Value
from triton_lab.ir import Op, Plan, dataflow

Array = NDArray[Any]
Key = TypeVar("Key", bound=Hashable)

# A value that a loop carries is used until it has been computed anew so often, or is at most once behind.
_GENERATIONS = 3

# These only move elements: run on marks they move those.
MOVES = frozenset({"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.join", "tt.cat"})


class Marks(Generic[Key]):
    """By value and key, arrays of flags that broadcast to ``(programs, *block)``.

    Marks go by object: a value that is carried round a loop is the same object there. What control flow
    has put together out of parts is a new one: where ``flow`` is given, its marks are those of the parts.
    """

    def __init__(self, flow: dataflow.Flow | None = None) -> None:
        self._flow = flow
        # The value is kept, so that no other takes its place in memory.
        self._known: dict[int, tuple[Value, dict[Key, Array]]] = {}
        # What was last known of a value by its number, and of which programs.
        self._last: dict[dataflow.Value, tuple[Array, dict[Key, Array]]] = {}
        self._parts = _parts(flow) if flow is not None else set()
        self._batch: Array | None = None
        # By value number and first program: the objects that were last computed there.
        self._lines: dict[tuple[dataflow.Value, int], deque[int]] = {}
        self._held: Counter[int] = Counter()

    def __bool__(self) -> bool:
        return bool(self._known)

    def put(self, frame: Frame, number: int, value: Value, marks: dict[Key, Array]) -> None:
        """Value ``number`` has been computed, and has these marks."""
        name = dataflow.Value(frame.routine.function.name, number)
        if marks:
            self._forget(frame, name)
            self._known[id(value)] = (value, marks)
            self._held[id(value)] += 1
            self._lines.setdefault((name, int(frame.programs[0])), deque()).append(id(value))
        if name in self._parts and (marks or name in self._last):
            self._last[name] = (frame.programs, marks)

    def _forget(self, frame: Frame, name: dataflow.Value) -> None:
        """Let go of what nobody will ask for: earlier batches, and what a loop has computed long ago."""
        machine = frame.machine
        is_kernel = frame.parent is None and frame.routine.function.name == machine.executable.plan.kernel.name
        if is_kernel and frame.programs is not self._batch and not machine.executable.waiting_loops:
            self._batch = frame.programs
            for table in (self._known, self._lines, self._held, self._last):
                table.clear()
        line = self._lines.get((name, int(frame.programs[0])))
        if line is not None and len(line) >= _GENERATIONS:
            oldest = line.popleft()
            self._held[oldest] -= 1
            if not self._held[oldest]:
                del self._held[oldest], self._known[oldest]

    def of(self, frame: Frame, number: int, value: Any) -> dict[Key, Array]:
        """The marks of a value, in this frame or in the one that this is a part of."""
        known = self._known.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        if frame.parent is not None and frame.rows is not None:
            outer = dict.get(frame.parent.environment, number)
            if outer is not None:
                rows = frame.rows
                return {
                    key: mark if mark.shape[0] == 1 else mark[rows]
                    for key, mark in self.of(frame.parent, number, outer).items()
                }
        return self._put_together(frame, number, value) if self._last else {}

    def _put_together(self, frame: Frame, number: int, value: Any) -> dict[Key, Array]:
        """The marks of what came from elsewhere: a side of a branch, the last iteration, a call."""
        assert self._flow is not None
        name = dataflow.Value(frame.routine.function.name, number)
        if name in self._flow.maker:
            return {}
        found: dict[Key, Array] = {}
        for part in self._flow.feeds.get(name, ()):
            programs, marks = self._last.get(part, (frame.programs, {}))
            for key, mark in marks.items():
                rows = np.minimum(np.searchsorted(programs, frame.programs), len(programs) - 1)
                here = programs[rows] == frame.programs
                spread = mark[rows] if mark.shape[0] > 1 else mark
                spread = spread & here.reshape(-1, *(1,) * (mark.ndim - 1))
                found[key] = found[key] | spread if key in found else spread
        found = {key: mark for key, mark in found.items() if mark.any()}
        if found:
            self.put(frame, number, value, found)
        return found


def _parts(flow: dataflow.Flow) -> set[dataflow.Value]:
    """The values that another one may simply be."""
    return {part for value, feeds in flow.feeds.items() if value not in flow.maker for part in feeds}


def inside_of_others(plan: Plan) -> set[int]:
    """The operations, by index, that reductions, scans and maps are made of: lanes are programs to them."""
    return {
        inner.index
        for op in plan.walk()
        if op.regions and not op.name.startswith("scf.")
        for inner in list(op.walk())[1:]
    }


def passed_on(frame: Frame, op: Op, operands: Sequence[Value], position: int, mark: Array) -> Array:
    """Which lanes of the (first) result an operand's marked lanes make: its own, or all that are made of it."""
    type, result = frame.type(op.operands[position]), frame.result_type(op)
    if mark.ndim == 1 and type.shape:
        mark = mark.reshape(-1, *(1,) * len(type.shape))
    if op.name == "arith.select":
        if position == 0:
            return np.zeros(1, np.bool_).reshape((1,) * (1 + len(result.shape)))
        chosen = frame.elements(op, 0, operands[0])
        chosen = chosen.reshape(-1, *(1,) * len(result.shape)) if chosen.ndim == 1 else chosen
        picked: Array = mark & (chosen if position == 1 else ~chosen)
        return picked
    if op.name in MOVES:
        return moved(frame, op, position, mark, len(operands))
    if op.name in ("tt.reduce", "tt.scan"):
        return _along(op, _whole(mark, type.shape))
    if op.name == "tt.dot" and position < 2:
        whole = np.asarray(_whole(mark, type.shape).any(axis=-1 if position == 0 else -2))
        return whole[..., :, None] if position == 0 else whole[..., None, :]
    if type.shape in (result.shape, ()):
        return mark.reshape(-1, *(1,) * len(result.shape)) if not type.shape else mark
    # Whatever it does with them: any lane may be made of any.
    rows = np.asarray(mark.reshape(mark.shape[0], -1).any(axis=1))
    return rows.reshape(-1, *(1,) * len(result.shape))


def _whole(mark: Array, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(mark, (mark.shape[0], *shape))


def _along(op: Op, mark: Array) -> Array:
    """Marks of a reduction's or a scan's result."""
    axis = op.attributes["axis"] + 1
    if op.name == "tt.reduce":
        reduced: Array = mark.any(axis=axis)
        return reduced
    if op.attributes["reverse"]:
        return np.flip(np.logical_or.accumulate(np.flip(mark, axis), axis=axis), axis)
    return np.logical_or.accumulate(mark, axis=axis)


def moved(frame: Frame, op: Op, position: int, mark: Array, operands: int) -> Array:
    """The marks of an operation's result that only moves elements."""
    shape = frame.type(op.operands[position]).shape
    whole = np.broadcast_to(mark, (mark.shape[0], *shape)) if shape else mark.reshape(-1)
    given = [np.zeros_like(whole)] * operands
    given[position] = whole
    found: Value = REGISTRY[op.name].run(frame, op, *given)
    return values.elements(found, frame.result_type(op)).astype(np.bool_)


def joined(parts: list[Array]) -> Array | None:
    """Where any of them is set; None of none."""
    if not parts:
        return None
    result = parts[0]
    for part in parts[1:]:
        result = result | part
    return result
