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
from triton_lab.ir import Op, dataflow, traits
from triton_lab.ir.traits import Kind
from triton_lab.ir.value_flow import LOOPS
from triton_lab.launch.checks.analysis.loop_state import Exact, LoopState, block, moved
from triton_lab.launch.checks.analysis.value_marks import MOVES
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.watcher import Watcher

Array = NDArray[Any]

# Bits of the fraction, the hidden bit included, of narrow floats.
FRACTION = {"f16": 11, "bf16": 8}
# A sum is reported if it is off by more than `COSTLY` roundings and has at least `MANY` terms.
COSTLY, MANY = 8.0, 8

_ADDS = traits.names(lambda trait: trait.sums and trait.numbers != "integer") - {"tt.dot_scaled"}
_CASTS = traits.names(lambda trait: trait.kind is Kind.CASTS and trait.numbers == "float" and not trait.makes)
_SCALES = traits.names(lambda trait: trait.numbers == "float" and trait.symbol in ("*", "/"))
# Operations that a sum may pass through in the loop.
_ROUND = _ADDS | _CASTS | _SCALES | MOVES | {"arith.negf", "arith.select"}


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


class CarriedSums(Watcher):
    """Watches the float sums that loops carry; False if the kernel has none."""

    def __init__(self, launch: Recorded) -> None:
        self.launch = launch
        plan = launch.executable.plan
        self._ops = {op.index: op for op in plan.walk()}
        # The operations of a sum in a loop; those at which it is compared, with the position of a constant operand.
        self._round: set[int] = set()
        self._told: dict[int, int | None] = {}
        # The values of such sums that control flow carries, such as loop arguments.
        self._parts: set[dataflow.Value] = set()
        loops = any(op.name in LOOPS for op in plan.walk())
        if loops and any(type.is_float for function in plan.functions.values() for type in function.types):
            self._look(dataflow.Flow.of(plan))
        # By object identity, in the order of computation; a sum is needed at most one iteration later.
        self._exact: dict[int, tuple[Value, Exact]] = {}
        self._kept = 8 * len(self._round) + 8
        # The same by operation and program.
        self._carried: dict[int, LoopState] = {}
        self._until = -1
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
            return op.name in _ROUND

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
                and maker.name in _ROUND
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
            self._parts |= {each for each in behind if each not in flow.maker}
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

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if op.index not in self._round:
            return
        exact = self._carried_on(frame, op, operands)
        self._remember(frame, op, result, exact)
        self._exact[id(result)] = (result, exact)
        if len(self._exact) > self._kept:
            del self._exact[next(iter(self._exact))]
        if op.index in self._terms:
            terms = frame.type(op.operands[0]).shape[-1] if op.name == "tt.dot" else 1
            self._terms[op.index][frame.programs] += terms
        if op.index in self._told:
            self._compare(frame, op, operands, result, exact)

    def _remember(self, frame: Frame, op: Op, result: Any, exact: Exact) -> None:
        waits = bool(frame.machine.executable.waiting_loops)
        whole = frame
        while whole.parent is not None:
            whole = whole.parent
        if whole.programs[0] > self._until and not waits:
            self._carried.clear()  # a new batch begins
        self._until = max(self._until, int(whole.programs[-1]))
        value = block(np.asarray(result), len(frame.result_type(op).shape))
        now = LoopState(frame.programs, value, exact)
        before = self._carried.pop(op.index, None)
        if before is not None:
            now = before.updated(now)
        # The latest state comes last.
        self._carried[op.index] = now

    def _recalled(self, frame: Frame, value: Array) -> Exact | None:
        """The exact value of ``value`` in the lanes where it equals what the programs carried last."""
        found: Exact | None = None
        for carried in self._carried.values():
            if carried.value.dtype != value.dtype:
                continue
            recalled = carried.recalled(frame.programs, value)
            if recalled is None:
                continue
            same, exact = recalled
            if found is None:
                wide = value.astype(np.float64)
                found = Exact(wide, wide * wide)
            found = Exact(np.where(same, exact.sum, found.sum), np.where(same, exact.squares, found.squares))
        return found

    def _of(self, frame: Frame, op: Op, position: int, operands: Sequence[Value], term: bool) -> Exact:
        """An operand in float64: its exact value if that is followed, else the operand itself."""
        value = operands[position]
        known = self._exact.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        array = frame.elements(op, position, value)
        rank = len(frame.result_type(op).shape)
        array = array.reshape(-1, *(1,) * rank) if array.ndim == 1 else array
        if dataflow.Value(frame.routine.function.name, op.operands[position]) in self._parts:
            recalled = self._recalled(frame, array)
            if recalled is not None:
                return recalled
        wide = array.astype(np.float64)
        return Exact(wide, wide * wide if term else np.zeros(1).reshape((1,) * wide.ndim))

    def _carried_on(self, frame: Frame, op: Op, operands: Sequence[Value]) -> Exact:
        """The exact result of ``op`` in float64."""
        if op.name == "arith.select":
            chosen = frame.elements(op, 0, operands[0])
            rank = len(frame.result_type(op).shape)
            chosen = chosen.reshape(-1, *(1,) * rank) if chosen.ndim == 1 else chosen
            a, b = (self._of(frame, op, position, operands, True) for position in (1, 2))
            return Exact(np.where(chosen, a.sum, b.sum), np.where(chosen, a.squares, b.squares))
        parts = [self._of(frame, op, position, operands, op.name in _ADDS) for position in range(len(operands))]
        if op.name in _ADDS and traits.of(op.name).symbol:
            sign = 1 if traits.of(op.name).symbol == "+" else -1
            return Exact(parts[0].sum + sign * parts[1].sum, parts[0].squares + parts[1].squares)
        if op.name == "math.fma":
            product = parts[0].sum * parts[1].sum
            return Exact(product + parts[2].sum, product * product + parts[2].squares)
        if op.name == "tt.dot":
            left, right = (frame.spread(op, position, operands[position]) for position in (0, 1))
            product = np.matmul(widen(left).astype(np.float64), widen(right).astype(np.float64))
            return Exact(product + parts[2].sum, product * product + parts[2].squares)
        if op.name in _SCALES:
            carried, factor = (0, 1) if id(operands[0]) in self._exact else (1, 0)
            if traits.of(op.name).symbol == "/":
                return Exact(parts[0].sum / parts[1].sum, parts[0].squares / parts[1].sum ** 2)
            return Exact(parts[0].sum * parts[1].sum, parts[carried].squares * parts[factor].sum ** 2)
        if op.name == "arith.negf":
            return Exact(-parts[0].sum, parts[0].squares)
        if op.name in MOVES:
            return moved(frame, op, parts)
        return parts[0]

    def _compare(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any, exact: Exact) -> None:
        """Update which programs' sums have lost too much by now; earlier losses are replaced or removed."""
        type = frame.result_type(op)
        narrow: Array = np.asarray(result)
        shape = (frame.count, *type.shape)
        rank = len(type.shape)
        narrow = narrow.reshape(-1, *(1,) * rank) if narrow.ndim == 1 else narrow
        step = self._told[op.index]
        worst = self._worst[op.index]
        if step is not None:
            both = [block(frame.elements(op, position, operands[position]), rank) for position in (0, 1)]
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
            steps = np.broadcast_to(block(frame.elements(op, step, operands[step]), rank), shape)
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
