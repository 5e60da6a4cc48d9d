"""`ForwardAnalysis`: follows marks on lanes through a replay, from operands to results.

A subclass is a lattice and a few transfer functions: what a result's marks are, and what marks mean where values are
used. Lanes, control flow and calls are the same for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, Plan, effects, traits
from triton_lab.ir.dataflow import Flow
from triton_lab.ir.dataflow import Value as PlanValue
from triton_lab.ir.lane_exchange import exchanges
from triton_lab.ir.value_flow import HANDS_ON, conditions, decisive
from triton_lab.launch.propagation.element_functions import inside_of_others
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.propagation.value_marks import Key, Marks
from triton_lab.launch.recording.watcher import Watcher

Array = NDArray[Any]


class ForwardAnalysis(Watcher, Generic[Key]):
    """Observes a replay. The marks of a value are arrays by key, which broadcast to ``(programs, *block)``.

    They are flags, which `merged` joins, or numbers of another ``kind``. Where values are used, a subclass is called:
    `accessed`, `decided`, `reported`.
    """

    def __init__(self, plan: Plan, kind: Any = np.bool_) -> None:
        self.marks: Marks[Key] = Marks(kind)
        self._inside = inside_of_others(plan)
        self._exchanges = exchanges(plan, Flow.of(plan))
        self._conditions = conditions(plan)

    # What an analysis defines.

    def transferred(self, frame: Frame, op: Op, operands: Sequence[Value], value: Any, result: int) -> dict[Key, Array]:
        """The marks of ``value``, which is a result of ``op``."""
        return self.inherited(frame, op, operands, result)

    def accessed(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        """An access has run."""

    def decided(self, frame: Frame, op: Op, number: int, value: Value) -> None:
        """A value has decided where control goes from ``op``."""

    def reported(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        """An operation without results, which is no access, has run."""

    def merged(self, one: Array, other: Array) -> Array:
        """What a lane is marked with that depends on two marked lanes."""
        return one | other

    def follows_decisions(self, op: Op, key: Key) -> bool:
        """Whether an operand that only decides which element the result is passes its marks on."""
        return True

    def absorbs(self, op: Op) -> bool:
        """Whether an operand passes no marks on where the other one decides the result alone."""
        return False

    def doubts(self, marks: dict[Key, Array], key: Key) -> Iterable[Array]:
        """The lanes in which an operand with these ``marks`` does not decide for certain, for marks of ``key``."""
        return marks.values()

    def moved(
        self, frame: Frame, op: Op, operands: Sequence[Value], position: int, mark: Array, result: int, key: Key
    ) -> Array:
        """The lanes of a result that depend on the marked lanes of an operand."""
        deciding = self.follows_decisions(op, key)
        return self.marks.passed_on(frame, op, operands, position, mark, result, deciding)

    # What all have in common.

    def marks_of(self, frame: Frame, op: Op, operands: Sequence[Value], position: int) -> dict[Key, Array]:
        """The marks of an operand."""
        return self.marks.of(frame, op.operands[position], operands[position])

    def inherited(self, frame: Frame, op: Op, operands: Sequence[Value], result: int = 0) -> dict[Key, Array]:
        """A result's marks, from those of the operands. What memory holds is not among these, but ``other=`` is."""
        if not self.marks:
            return {}
        if op.index in self._exchanges:
            source, axis = self._exchanges[op.index]
            marks = self.marks_of(frame, op, operands, source)
            return {key: np.flip(mark, axis + 1) for key, mark in marks.items()}
        found: dict[Key, Array] = {}
        for position in _passing(op):
            for key, mark in self.marks_of(frame, op, operands, position).items():
                lanes = self.moved(frame, op, operands, position, mark, result, key)
                if self.absorbs(op):
                    lanes = lanes & ~self._settled(frame, op, operands, 1 - position, key)
                found[key] = self.merged(found[key], lanes) if key in found else lanes
        return {key: mark for key, mark in found.items() if mark.any()}

    def _settled(self, frame: Frame, op: Op, operands: Sequence[Value], position: int, key: Key) -> Array:
        """The lanes where the operand at ``position`` alone decides the result."""
        rank = len(frame.result_type(op).shape)
        side = lifted(frame.elements(op, position, operands[position]), rank)
        settled: Array = side == np.array(traits.of(op.name).absorbing).astype(side.dtype)
        for mark in self.doubts(self.marks_of(frame, op, operands, position), key):
            settled = settled & ~lifted(mark, rank)
        return settled

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if op.index in self._inside:
            return
        results = list(result) if len(op.results) > 1 else [result] * len(op.results)
        if op.name in HANDS_ON:
            self.ended(frame, op, operands, results)
        else:
            self.computed(frame, op, operands, results)

    def ended(self, frame: Frame, op: Op, operands: Sequence[Value], results: Sequence[Any]) -> None:
        """A loop, a branch or a call has ended."""
        for number, value in zip(decisive(op), operands, strict=False):
            self.decided(frame, op, number, value)

    def computed(self, frame: Frame, op: Op, operands: Sequence[Value], results: Sequence[Any]) -> None:
        """An operation has run: mark its results."""
        if effects.is_access(op):
            self.accessed(frame, op, operands)
        elif not op.results:
            self.reported(frame, op, operands)
        for number, value in enumerate(results):
            self.marks.put(value, self.transferred(frame, op, operands, value, number))

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        self.marks.handed(frame, numbers, values)
        for number, value in zip(numbers, values, strict=True) if self.marks else ():
            end = self._conditions.get(PlanValue(frame.routine.function.name, number))
            if end is not None:
                self.decided(frame, end, number, value)

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        self.marks.joined(pieces, programs, result)


def _passing(op: Op) -> Iterable[int]:
    """The positions of the operands whose elements a result may be, or be computed from."""
    if not effects.is_access(op):
        return range(len(op.operands))
    other = effects.operands_of(op).other
    return () if other is None else (other,)


def union(parts: Sequence[Array]) -> Array:
    """The *or* of one part or more."""
    return reduce(np.logical_or, parts)
