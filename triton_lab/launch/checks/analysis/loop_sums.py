"""Float sums that a loop carries, compared with the same sums in float64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import user_name
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.number_conversion import widen
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.launch.checks.analysis.sum_chains import ADDS, EXACT, FRACTION, KEEPS, Exact, chains, term
from triton_lab.launch.propagation.forward_analysis import ForwardAnalysis
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.launch_record import Recorded

Array = NDArray[Any]

# A sum is reported if it is off by more than `COSTLY` roundings and has at least `MANY` terms.
COSTLY, MANY = 8.0, 8
# The marks of a sum: its exact value less its value, and the sum of its terms' squares.
_ERROR, _SQUARES = range(2)


@dataclass(frozen=True)
class Inexact:
    """A sum and its float64 value, in ``lane`` of ``program``; ``cost`` is the error in roundings of its ``type``."""

    program: int
    lane: int
    sum: Any
    exact: float
    terms: int
    cost: float
    type: str


@dataclass(frozen=True)
class Loss(Inexact):
    """The loss of one program's sum, in the lane with the largest loss.

    ``step`` is the term that was added without effect, if it is a constant; ``lanes`` are all lanes with a loss.
    """

    step: Any = None
    lanes: Array = field(default_factory=lambda: np.zeros(0, np.int64), compare=False)


class CarriedSums(ForwardAnalysis[int]):
    """Follows the float sums that loops carry; False if the kernel has none."""

    def __init__(self, launch: Recorded) -> None:
        plan = launch.executable.plan
        super().__init__(plan, np.float64)
        self._ops = {op.index: op for op in plan.walk()}
        self._chains = chains(plan, self._exchanges.keys())
        # The terms that each program has added by now, and its worst sum, by operation.
        self._terms: dict[int, NDArray[np.int64]] = {
            index: np.zeros(launch.programs, np.int64) for index in self._chains.round if self._ops[index].name in ADDS
        }
        self._worst: dict[int, dict[int, Loss]] = {index: {} for index in self._chains.compared}

    def __bool__(self) -> bool:
        return bool(self._chains.compared)

    def losses(self) -> Iterator[tuple[Op, list[Loss]]]:
        """For each operation, a `Loss` for each program whose sum has lost too much."""
        for index, worst in sorted(self._worst.items()):
            if worst:
                yield self._ops[index], [worst[program] for program in sorted(worst)]

    def merged(self, one: Array, other: Array) -> Array:
        return one + other

    def follows_decisions(self, op: Op, key: int) -> bool:
        return False

    def transferred(self, frame: Frame, op: Op, operands: Sequence[Value], value: Any, result: int) -> dict[int, Array]:
        if op.index not in self._chains.round:
            return {}
        if op.name in KEEPS or op.index in self._exchanges:
            return self.inherited(frame, op, operands, result)
        exact = self._exact(frame, op, operands)
        if op.index in self._terms:
            terms = frame.type(op.operands[0]).shape[-1] if op.name == "tt.dot" else 1
            self._terms[op.index][frame.programs] += terms
        narrow = lifted(np.asarray(value), len(frame.result_type(op).shape))
        if op.index in self._chains.compared:
            self._compare(frame, op, operands, narrow, exact)
        off = exact.sum - narrow.astype(np.float64)
        return {_ERROR: np.where(np.isfinite(off), off, 0.0), _SQUARES: np.nan_to_num(exact.squares)}

    def _exact(self, frame: Frame, op: Op, operands: Sequence[Value]) -> Exact:
        """The exact result of ``op`` in float64."""
        with np.errstate(all="ignore"):
            if op.name == "tt.dot":
                left, right = (widen(frame.spread(op, k, operands[k])).astype(np.float64) for k in (0, 1))
                return term(np.matmul(left, right)).plus(self._part(frame, op, operands, 2))
            return EXACT[op.name](*(self._part(frame, op, operands, k) for k in range(len(operands))))

    def _part(self, frame: Frame, op: Op, operands: Sequence[Value], position: int) -> Exact:
        """An operand in float64: its exact value if that is followed, else the operand itself, as a term of a sum."""
        wide = self._operand(frame, op, operands, position).astype(np.float64)
        marks = self.marks_of(frame, op, operands, position)
        alone = wide * wide if op.name in ADDS else np.zeros((1,) * wide.ndim)
        return Exact(wide + marks.get(_ERROR, 0.0), marks.get(_SQUARES, alone))

    def _operand(self, frame: Frame, op: Op, operands: Sequence[Value], position: int) -> Array:
        return lifted(frame.elements(op, position, operands[position]), len(frame.result_type(op).shape))

    def _compare(self, frame: Frame, op: Op, operands: Sequence[Value], narrow: Array, exact: Exact) -> None:
        """Update which programs' sums have lost too much by now; earlier losses are replaced or removed."""
        type, step, worst = frame.result_type(op), self._chains.compared[op.index], self._worst[op.index]
        cost = (
            _cost(FRACTION[type.element], narrow, exact) if type.element in FRACTION else np.zeros((1,) * narrow.ndim)
        )
        added = np.zeros_like(narrow) if step is None else self._operand(frame, op, operands, step)
        if step is not None:
            stuck = (narrow == self._operand(frame, op, operands, 1 - step)) & (added != 0) & np.isfinite(widen(narrow))
            cost = np.where(stuck, np.inf, cost)
        cost, sums, exacts, steps = (
            np.broadcast_to(array, (frame.count, *type.shape)).reshape(frame.count, -1)
            for array in (cost, narrow, exact.sum, added)
        )
        lanes = cost.argmax(axis=1)
        most = cost[np.arange(frame.count), lanes]
        counted = [self._terms[op.index]] if op.index in self._terms else list(self._terms.values())
        terms = np.max([each[frame.programs] for each in counted], axis=0)
        costly = (most > COSTLY) & ((terms >= MANY) | np.isinf(most))
        for program in frame.programs[~costly].tolist() if worst else ():
            worst.pop(program, None)
        for row in np.flatnonzero(costly).tolist():
            program, lane = int(frame.programs[row]), int(lanes[row])
            worst[program] = Loss(
                program,
                lane,
                sums[row, lane],
                float(exacts[row, lane]),
                int(terms[row]),
                float(most[row]),
                user_name(type.element),
                steps[row, lane] if np.isinf(most[row]) else None,
                np.flatnonzero(cost[row] > COSTLY),
            )


def _cost(fraction: int, narrow: Array, exact: Exact) -> Array:
    """The errors of sums, in roundings of their type; infinity and NaN have their own check."""
    wide = narrow.astype(np.float64)
    scale = np.maximum(np.abs(exact.sum), np.sqrt(np.maximum(exact.squares, 0)))
    off = np.abs(wide - exact.sum) / np.where(scale > 0, scale, np.inf)
    cost: Array = np.where(np.isfinite(off) & np.isfinite(wide), off * 2.0**fraction, 0.0)
    return cost
