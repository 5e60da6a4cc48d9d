"""`Marks`: flags on the lanes of values during a replay, which follow where values come from."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, traits
from triton_lab.ir.traits import LaneMap
from triton_lab.launch.propagation import lane_sets

Array = NDArray[Any]
Key = TypeVar("Key", bound=Hashable)


class Marks(Generic[Key]):
    """Arrays of flags (or numbers of another ``kind``) by value and key, which broadcast to ``(programs, *block)``.

    Marks belong to an object while it lives: a value that a loop carries stays the same object. If control flow splits
    or merges values, new objects arise; `handed` and `joined` give them their marks.
    """

    def __init__(self, kind: Any = np.bool_) -> None:
        self._kind = kind
        self._known: dict[int, tuple[Callable[[], Value | None], dict[Key, Array]]] = {}
        self._lanes: dict[Op, tuple[tuple[LaneMap, ...], ...]] = {}

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

    def passed_on(
        self,
        frame: Frame,
        op: Op,
        operands: Sequence[Value],
        position: int,
        mark: Array,
        result: int = 0,
        deciding: bool = True,
    ) -> Array:
        """The lanes of a result that depend on an operand's marked lanes.

        Without ``deciding``, an operand that only decides which element the result is passes no marks on.
        """
        if op not in self._lanes:
            self._lanes[op] = traits.lanes(op, frame.routine.types)
        rule = self._lanes[op][result][position]
        shape = frame.result_type(op, result).shape
        if rule.decides and not deciding:
            return np.zeros((1,) * (1 + len(shape)), mark.dtype)
        operand = frame.type(op.operands[position]).shape
        return lane_sets.results(rule, mark, operand, shape, lambda k: frame.elements(op, k, operands[k]))

    def _of_object(self, value: Value) -> dict[Key, Array]:
        known = self._known.get(id(value))
        return known[1] if known is not None and known[0]() is value else {}
