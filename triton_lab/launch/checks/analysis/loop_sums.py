"""Float sums that a loop carries, compared with the same sums in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import user_name
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.number_conversion import widen
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, dataflow, traits
from triton_lab.ir.traits import Kind
from triton_lab.ir.value_flow import LOOPS
from triton_lab.launch.propagation.forward_analysis import ForwardAnalysis
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.launch_record import Recorded

Array = NDArray[Any]

# Bits of the fraction, the hidden bit included, of narrow floats.
FRACTION = {"f16": 11, "bf16": 8}
# A sum is reported if it is off by more than `COSTLY` roundings and has at least `MANY` terms.
COSTLY, MANY = 8.0, 8

# The marks of a sum: its exact value less its value, and the sum of its terms' squares.
_ERROR, _SQUARES = range(2)


@dataclass(frozen=True, eq=False)
class Exact:
    """A sum in float64, and the sum of its terms' squares, which bounds the size that it may have by chance."""

    sum: Array
    squares: Array

    def scaled(self, factor: Array) -> Exact:
        """The sum of the terms times ``factor``."""
        return Exact(self.sum * factor, self.squares * factor**2)

    def plus(self, other: Exact) -> Exact:
        """The sum of all terms."""
        return Exact(self.sum + other.sum, self.squares + other.squares)


def _product(a: Exact, b: Exact) -> Exact:
    return Exact(a.sum * b.sum, a.squares * b.sum**2 + b.squares * a.sum**2)


def _term(product: Array) -> Exact:
    return Exact(product, product * product)


_FLOATS = {name: trait for name, trait in traits.TRAITS.items() if trait.numbers == "float"}
_CASTS = traits.names(lambda trait: trait.kind is Kind.CASTS and trait.numbers == "float" and not trait.makes)
_OF_SYMBOL: dict[str, Callable[..., Exact]] = {
    "+": Exact.plus,
    "-": lambda a, b: a.plus(b.scaled(np.full(1, -1.0))),
    "*": _product,
    "/": lambda a, b: a.scaled(1 / b.sum),
}
# The exact results of operations that a sum may pass through in the loop.
_EXACT: dict[str, Callable[..., Exact]] = {
    **{name: _OF_SYMBOL[trait.symbol] for name, trait in _FLOATS.items() if trait.symbol in _OF_SYMBOL},
    **dict.fromkeys(_CASTS, lambda a: a),
    "math.fma": lambda a, b, c: _term(a.sum * b.sum).plus(c),
    "arith.negf": lambda a: a.scaled(np.full(1, -1.0)),
}
_ADDS = traits.names(lambda trait: trait.sums and trait.numbers != "integer") - {"tt.dot_scaled"}
_KEEPS = traits.names(lambda trait: trait.keeps)
_ROUND = _EXACT.keys() | _ADDS | _KEEPS


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
        self.launch = launch
        self._ops = {op.index: op for op in plan.walk()}
        # The operations of a sum in a loop; those at which it is compared, with the position of a constant operand.
        self._round: set[int] = set()
        self._told: dict[int, int | None] = {}
        loops = any(op.name in LOOPS for op in plan.walk())
        if loops and any(type.is_float for function in plan.functions.values() for type in function.types):
            self._look(dataflow.Flow.of(plan))
        self._terms: dict[int, NDArray[np.int64]] = {
            index: np.zeros(launch.programs, np.int64) for index in self._round if self._ops[index].name in _ADDS
        }
        self._worst: dict[int, dict[int, Loss]] = {index: {} for index in self._told}

    def __bool__(self) -> bool:
        return bool(self._told)

    def losses(self) -> Iterator[tuple[Op, list[Loss]]]:
        """For each operation, a `Loss` for each program whose sum has lost too much."""
        for index, worst in sorted(self._worst.items()):
            if worst:
                yield self._ops[index], [worst[program] for program in sorted(worst)]

    def _look(self, flow: dataflow.Flow) -> None:
        """Find the sums in the plan."""
        types = {name: function.types for name, function in self.launch.executable.plan.functions.items()}

        def through(op: Op) -> bool:
            return op.name in _ROUND or op.index in self._exchanges

        for value, op in flow.maker.items():
            type = types[value.function][value.number]
            if op.name not in _ADDS or not type.is_float:
                continue
            behind = flow.behind(flow.feeds[value], through)
            if value not in behind:
                continue
            way = {
                maker.index: maker
                for each in behind
                if (maker := flow.maker.get(each)) is not None
                and through(maker)
                and value in flow.behind([each], through)
            }
            narrow = [
                index
                for index, maker in way.items()
                if types[value.function][maker.results[0]].element in FRACTION and maker.name in _ADDS | _CASTS
            ]
            last = [index for index in narrow if way[index].name in _CASTS] or narrow
            step = self._step(flow, value, op)
            if not last and (step is None or set(way) != {op.index} or type.element != "f32"):
                continue
            self._round |= set(way)
            for index in last or [op.index]:
                self._told[index] = step if index == op.index and set(way) == {op.index} else None

    def _step(self, flow: dataflow.Flow, value: dataflow.Value, op: Op) -> int | None:
        """The position of the constant that ``op`` adds each time; None if it adds anything else."""
        if op.name != "arith.addf":
            return None
        for number in op.operands:
            maker = flow.maker.get(dataflow.Value(value.function, number))
            if maker is not None and maker.name == "tt.splat":
                maker = flow.maker.get(dataflow.Value(value.function, maker.operands[0]))
            if maker is not None and maker.name == "arith.constant":
                return op.operands.index(number)
        return None

    def merged(self, one: Array, other: Array) -> Array:
        return one + other

    def follows_decisions(self, op: Op, key: int) -> bool:
        return False

    def transferred(self, frame: Frame, op: Op, operands: Sequence[Value], value: Any, result: int) -> dict[int, Array]:
        if op.index not in self._round:
            return {}
        if op.name in _KEEPS or op.index in self._exchanges:
            return self.inherited(frame, op, operands, result)
        exact = self._exact(frame, op, operands)
        if op.index in self._terms:
            terms = frame.type(op.operands[0]).shape[-1] if op.name == "tt.dot" else 1
            self._terms[op.index][frame.programs] += terms
        if op.index in self._told:
            self._compare(frame, op, operands, value, exact)
        off = exact.sum - lifted(np.asarray(value), len(frame.result_type(op).shape)).astype(np.float64)
        return {_ERROR: np.where(np.isfinite(off), off, 0.0), _SQUARES: np.nan_to_num(exact.squares)}

    def _exact(self, frame: Frame, op: Op, operands: Sequence[Value]) -> Exact:
        """The exact result of ``op`` in float64."""
        with np.errstate(all="ignore"):
            if op.name == "tt.dot":
                left, right = (widen(frame.spread(op, k, operands[k])).astype(np.float64) for k in (0, 1))
                return _term(np.matmul(left, right)).plus(self._part(frame, op, operands, 2))
            return _EXACT[op.name](*(self._part(frame, op, operands, k) for k in range(len(operands))))

    def _part(self, frame: Frame, op: Op, operands: Sequence[Value], position: int) -> Exact:
        """An operand in float64: its exact value if that is followed, else the operand itself, as a term of a sum."""
        rank = len(frame.result_type(op).shape)
        wide = lifted(frame.elements(op, position, operands[position]), rank).astype(np.float64)
        marks = self.marks_of(frame, op, operands, position)
        alone = wide * wide if op.name in _ADDS else np.zeros((1,) * wide.ndim)
        return Exact(wide + marks.get(_ERROR, 0.0), marks.get(_SQUARES, alone))

    def _compare(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any, exact: Exact) -> None:
        """Update which programs' sums have lost too much by now; earlier losses are replaced or removed."""
        type = frame.result_type(op)
        narrow: Array = np.asarray(result)
        shape = (frame.count, *type.shape)
        rank = len(type.shape)
        narrow = lifted(narrow, rank)
        step = self._told[op.index]
        worst = self._worst[op.index]
        if step is not None:
            both = [lifted(frame.elements(op, position, operands[position]), rank) for position in (0, 1)]
            sum_, added = both[1 - step], both[step]
            stuck = (narrow == sum_) & (added != 0) & np.isfinite(widen(narrow))
            cost = np.where(stuck, np.inf, 0.0)
            if type.element in FRACTION:
                cost = np.maximum(cost, self._cost(type.element, narrow, exact))
        else:
            cost = self._cost(type.element, narrow, exact)
        cost = np.broadcast_to(cost, shape).reshape(frame.count, -1)
        lanes = cost.argmax(axis=1)
        rows = np.arange(frame.count)
        most = cost[rows, lanes]
        terms = self._terms_of(op, frame)
        costly = (most > COSTLY) & ((terms >= MANY) | np.isinf(most))
        for program in frame.programs[~costly].tolist() if worst else ():
            worst.pop(program, None)
        if not costly.any():
            return
        chosen = rows[costly]
        sums = np.broadcast_to(narrow, shape).reshape(frame.count, -1)[chosen, lanes[chosen]]
        exacts = np.broadcast_to(exact.sum, shape).reshape(frame.count, -1)[chosen, lanes[chosen]]
        steps = None
        if step is not None:
            steps = np.broadcast_to(lifted(frame.elements(op, step, operands[step]), rank), shape)
            steps = steps.reshape(frame.count, -1)[chosen, lanes[chosen]]
        for k, row in enumerate(chosen.tolist()):
            program = int(frame.programs[row])
            worst[program] = Loss(
                program,
                int(lanes[row]),
                sums[k],
                float(exacts[k]),
                int(terms[row]),
                float(most[row]),
                user_name(type.element),
                steps[k] if steps is not None and np.isinf(most[row]) else None,
                np.flatnonzero(cost[row] > COSTLY),
            )

    def _cost(self, element: str, narrow: Array, exact: Exact) -> Array:
        """The errors of sums, in roundings of their type; infinity and NaN have their own check."""
        wide = narrow.astype(np.float64)
        scale = np.maximum(np.abs(exact.sum), np.sqrt(np.maximum(exact.squares, 0)))
        off = np.abs(wide - exact.sum) / np.where(scale > 0, scale, np.inf)
        cost: Array = np.where(np.isfinite(off) & np.isfinite(wide), off * 2.0 ** FRACTION[element], 0.0)
        return cost

    def _terms_of(self, op: Op, frame: Frame) -> NDArray[np.int64]:
        """The number of terms that each program has added by now."""
        if op.index in self._terms:
            return self._terms[op.index][frame.programs]
        counts = [terms[frame.programs] for terms in self._terms.values()]
        found: NDArray[np.int64] = np.max(counts, axis=0)
        return found
