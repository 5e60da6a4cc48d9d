"""`Marks`: flags on the lanes of values during a replay, which follow where values come from."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import runtime_values as values
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import REGISTRY
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, Plan
from triton_lab.ir.value_flow import HANDS_ON

Array = NDArray[Any]
Key = TypeVar("Key", bound=Hashable)

# These only move elements: run on marks, they move the marks.
MOVES = frozenset({"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.join", "tt.cat"})


class Marks(Generic[Key]):
    """Arrays of flags (or numbers of another ``kind``) by value and key, which broadcast to ``(programs, *block)``.

    Marks belong to an object while it lives: a value that a loop carries stays the same object. If control flow splits
    or merges values, new objects arise; `handed` and `joined` give them their marks.
    """

    def __init__(self, kind: Any = np.bool_) -> None:
        self._kind = kind
        self._known: dict[int, tuple[Callable[[], Value | None], dict[Key, Array]]] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    def put(self, value: Value, marks: dict[Key, Array]) -> None:
        """Set the marks of a computed ``value``."""
        if not marks:
            return
        number = id(value)
        try:
            # After its end, another object may get the same id.
            alive: Callable[[], Value | None] = weakref.ref(value, lambda _: self._known.pop(number, None))
        except TypeError:

            def alive() -> Value:
                return value

        self._known[number] = (alive, marks)

    def of(self, frame: Frame, number: int, value: Any) -> dict[Key, Array]:
        """The marks of a value, from this frame or from the frame that this is a part of."""
        known = self._of_object(value)
        if known:
            return known
        if frame.parent is None or frame.rows is None:
            return {}
        outer = dict.get(frame.parent.environment, number)
        if outer is None:
            return {}
        rows = frame.rows
        return {
            key: mark if mark.shape[0] == 1 else mark[rows]
            for key, mark in self.of(frame.parent, number, outer).items()
        }

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        """Copy the marks of values that come from the parent frame, which are new objects in this frame."""
        for number, value in zip(numbers, values, strict=True) if self._known else ():
            self.put(value, self.of(frame, number, value))

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        """Merge the marks of values when programs that diverged join again."""
        known = [
            (rows, at, marks)
            for rows, source, at in (pieces if self._known else ())
            for marks in [self._of_object(source)]
            if marks and source is not result
        ]
        found: dict[Key, Array] = {}
        for key in {key for _, _, marks in known for key in marks}:
            mine = [(rows, at, marks[key]) for rows, at, marks in known if key in marks]
            shape = np.broadcast_shapes(*(mark.shape[1:] for _, _, mark in mine))
            whole = np.zeros((programs, *shape), self._kind)
            for rows, at, mark in mine:
                whole[rows] = mark if at is None or mark.shape[0] == 1 else mark[at]
            if whole.any():
                found[key] = whole
        self.put(result, found)

    def _of_object(self, value: Value) -> dict[Key, Array]:
        known = self._known.get(id(value))
        return known[1] if known is not None and known[0]() is value else {}


def inside_of_others(plan: Plan) -> set[int]:
    """The indices of the operations inside reductions, scans and maps, in which lanes take the place of programs."""
    return {
        inner.index for op in plan.walk() if op.regions and op.name not in HANDS_ON for inner in list(op.walk())[1:]
    }


def passed_on(frame: Frame, op: Op, operands: Sequence[Value], position: int, mark: Array) -> Array:
    """The lanes of the (first) result that depend on an operand's marked lanes."""
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
    # For other operations, any lane may depend on any lane.
    rows = np.asarray(mark.reshape(mark.shape[0], -1).any(axis=1))
    return rows.reshape(-1, *(1,) * len(result.shape))


def _whole(mark: Array, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(mark, (mark.shape[0], *shape))


def _along(op: Op, mark: Array) -> Array:
    """The marks of a reduction's or a scan's result."""
    axis = op.attributes["axis"] + 1
    if op.name == "tt.reduce":
        reduced: Array = mark.any(axis=axis)
        return reduced
    if op.attributes["reverse"]:
        return np.flip(np.logical_or.accumulate(np.flip(mark, axis), axis=axis), axis)
    return np.logical_or.accumulate(mark, axis=axis)


def moved(frame: Frame, op: Op, position: int, mark: Array, operands: int) -> Array:
    """The marks of the result of an operation that only moves elements."""
    shape = frame.type(op.operands[position]).shape
    whole = np.broadcast_to(mark, (mark.shape[0], *shape)) if shape else mark.reshape(-1)
    given = [np.zeros_like(whole)] * operands
    given[position] = whole
    found: Value = REGISTRY[op.name].run(frame, op, *given)
    return values.elements(found, frame.result_type(op)).astype(np.bool_)


def joined(parts: list[Array]) -> Array | None:
    """The *or* of all parts; None if there are none."""
    if not parts:
        return None
    result = parts[0]
    for part in parts[1:]:
        result = result | part
    return result
