"""Backward through a program's run: which elements of earlier values an element of a value depends on.

A `RunRecord` notes each operation that one program runs, with its operands and results as objects. From the elements
that are needed of one value, `RunRecord.pass_back` finds those that are needed of all values before it, by the lane
maps of `ir.traits`. What decides counts as well: addresses and masks of loads, conditions and bounds of control flow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.shared_views import SharedView
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value, elements
from triton_lab.ir import Op, Plan, traits
from triton_lab.ir.dataflow import Flow
from triton_lab.ir.dataflow import Value as PlanValue
from triton_lab.ir.lane_exchange import exchanges
from triton_lab.ir.traits import LaneMap
from triton_lab.ir.traits.trait import Kind
from triton_lab.ir.value_flow import HANDS_ON, decisive
from triton_lab.launch.propagation import lane_sets
from triton_lab.launch.propagation.buffer_needs import BufferWrite, WrittenBytes, is_product, of_factors, write_of
from triton_lab.launch.propagation.element_functions import inside_of_others
from triton_lab.launch.recording.watcher import Watcher

Array = NDArray[Any]
Shape = tuple[int, ...]
Maps = tuple[tuple[LaneMap, ...], ...]


@dataclass(eq=False)
class ExecutedStep:
    """One executed operation; ``need`` are the elements needed of each result, ``(1, *block)``, or None.

    ``decided_by`` are the values that decided where control went. ``moved``: the elements that are needed of what a
    copy brings into shared memory.
    """

    op: Op
    frame: Frame
    operands: Sequence[Value]
    results: Sequence[Value]
    need: list[Array | None]
    decided_by: Sequence[Value] = ()
    moved: Array | None = None

    def shape(self, number: int) -> Shape:
        """The shape of a value of the step's function."""
        return self.frame.type(number).shape

    def operand_shape(self, position: int) -> Shape:
        """The shape of an operand, in registers or in shared memory."""
        value = self.operands[position]
        return value.shape if isinstance(value, SharedView) else self.shape(self.op.operands[position])


class RunRecord(Watcher):
    """Observes the run of one program."""

    def __init__(self, plan: Plan) -> None:
        self.steps: list[ExecutedStep] = []
        self._inside = inside_of_others(plan)
        self._exchanges = exchanges(plan, Flow.of(plan))
        # For each object, by identity: the steps and results that made it, in order, and their shapes. An operation may
        # return its operand as it is, for another shape.
        self._makers: dict[int, list[tuple[int, int, Shape]]] = {}
        self._alive: list[Value] = []
        # Operations that decide where control goes, by function and operands; and the operation whose results depend
        # on it, by its index: the loop, or the function that is called.
        self._deciding: dict[tuple[str, tuple[int, ...]], list[tuple[Op, int | str]]] = {}
        for key, op, owner in _deciding(plan):
            self._deciding.setdefault(key, []).append((op, owner))
        self._decided: dict[int | str, list[Value]] = {}
        self._loops = {
            PlanValue(name, op.regions[0].blocks[0].arguments[0]): op.index
            for name, function in plan.functions.items()
            for op in function.walk()
            if op.name == "scf.for"
        }
        # The bounds of each run of a loop, after the step of this number.
        self._bounds: dict[int, list[tuple[int, Sequence[Value]]]] = {}
        # What was written to shared and tensor memory, in order.
        self._writes: list[BufferWrite] = []

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if op.index in self._inside:
            return
        results = () if result is None else result if isinstance(result, tuple) else (result,)
        decided: list[Value] = []
        if op.name in HANDS_ON:
            owner = op.attributes["callee"] if op.name == "tt.call" else op.index
            decided = [*operands[: len(decisive(op))], *self._decided.pop(owner, ())]
        step = ExecutedStep(op, frame, tuple(operands), tuple(results), [None] * len(results), decided)
        for number, (value, made) in enumerate(zip(step.results, op.results, strict=True)):
            self._makers.setdefault(id(value), []).append((len(self.steps), number, step.shape(made)))
        written = write_of(len(self.steps), op, step.operands, step.results)
        if written is not None:
            self._writes.append(written)
        self.steps.append(step)

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        for op, owner in self._deciding.get((frame.routine.function.name, tuple(numbers)), ()):
            decided = tuple(values[: len(decisive(op))])
            if op.name == "scf.for":
                self._bounds.setdefault(op.index, []).append((len(self.steps), decided))
            else:
                self._decided.setdefault(owner, []).extend(decided)

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        """Note that ``result`` is a copy of one piece: there is one program, which is in one piece."""
        for rows, source, _ in pieces:
            if len(rows) and source is not result:
                self._alive.append(result)
                self._makers.setdefault(id(result), []).extend(self._makers.get(id(source), ()))

    def ask(self, before: int, step: ExecutedStep, position: int, need: Array) -> None:
        """Note that the elements ``need`` of an operand of ``step`` are needed."""
        number = step.op.operands[position]
        self._need(before, step.operands[position], step.shape(number), need)
        loop = self._loops.get(PlanValue(step.frame.routine.function.name, number))
        if loop is not None:  # the counter of a loop comes from its bounds
            _, bounds = max((run for run in self._bounds[loop] if run[0] <= before), key=lambda run: run[0])
            for bound in bounds:
                self._need(before, bound, (), np.ones(1, np.bool_))

    def ask_buffer(self, before: int, view: SharedView, need: Array) -> None:
        """Note that the elements ``need`` of a part of shared memory are needed: as the last writes have left them."""
        wanted = WrittenBytes(view, need)
        for written in reversed(self._writes):
            if written.step >= before or written.view.buffer is not view.buffer:
                continue
            hit = wanted.hit(written.view)
            if not hit.any():
                continue
            step = self.steps[written.step]
            if written.factors is not None:
                needs = of_factors(hit, [one.shape for one in written.factors])
                for factor, some in zip(written.factors, needs, strict=True):
                    self.ask_buffer(written.step, factor, some)
            elif written.value is None:
                step.moved = hit if step.moved is None else step.moved | hit
            else:
                shape = step.shape(step.op.operands[written.value])
                self.ask(
                    written.step, step, written.value, hit if shape == hit.shape[1:] else np.ones((1, *shape), bool)
                )
            if not written.adds:
                wanted.found(written.view, hit)
            if not wanted.wanted.any():
                return

    def _need(self, before: int, value: Value, shape: Shape, need: Array) -> None:
        # An operation may return its operand unchanged: the last one to do so passes the need on.
        for position, number, made in reversed(self._makers.get(id(value), ())):
            if position < before and made == shape:
                old = self.steps[position].need[number]
                self.steps[position].need[number] = need if old is None else old | need
                return

    def pass_back(self, start: int) -> Iterator[ExecutedStep]:
        """Pass needs back from the step ``start``, exclusive, to the first; yields the steps of which any is needed."""
        maps: dict[Op, Maps] = {}
        for position in range(start - 1, -1, -1):
            step = self.steps[position]
            if step.moved is not None:
                for operand, number in enumerate(step.op.operands):
                    if not step.frame.type(number).is_opaque:
                        shape = step.shape(number)
                        some = step.moved if shape == step.moved.shape[1:] else np.ones((1, *shape), np.bool_)
                        self.ask(position, step, operand, some)
                yield step
                continue
            if not any(need is not None and need.any() for need in step.need):
                continue
            if step.op.name in HANDS_ON:
                for value, number, need in zip(step.results, step.op.results, step.need, strict=True):
                    if need is not None:
                        self._need(position, value, step.shape(number), need)
                for value in step.decided_by:
                    self._need(position, value, (), np.ones(1, np.bool_))
            elif step.op.index in self._exchanges and step.need[0] is not None:
                source, axis = self._exchanges[step.op.index]
                self.ask(position, step, source, np.flip(step.need[0], axis + 1))
            else:
                if step.op not in maps:
                    maps[step.op] = traits.lanes(step.op, step.frame.routine.types)
                for operand, need in enumerate(_needs(step, maps[step.op])):
                    given = step.operands[operand]
                    if need.any():
                        self.ask(position, step, operand, need)
                    if isinstance(given, SharedView) and not isinstance(step.results[0], SharedView):
                        self.ask_buffer(position, given, _of_buffer(step, operand, given))
            yield step


def _needs(step: ExecutedStep, lanes: Maps) -> list[Array]:
    """The elements of each operand that the needed elements of the results depend on."""
    op = step.op

    def value(position: int) -> Array:
        return elements(step.operands[position], step.frame.type(op.operands[position]))

    found = [np.zeros((1, *step.shape(number)), np.bool_) for number in op.operands]
    first = step.need[0] if step.need else None
    if first is not None and is_product(op):  # of a product of registers and shared memory: rows, columns, the sum
        known = [*of_factors(first, [step.operand_shape(k) for k in range(2)]), first]
        known = [one if one.ndim == all_.ndim else all_ | True for one, all_ in zip(known, found, strict=False)]
        return [*known, *(one | True for one in found[len(known) :])]
    if traits.of(op.name).kind is Kind.ORDERS:  # it passes on what it waits for
        for need, passed in zip(step.need, step.results, strict=True):
            for position, operand in enumerate(step.operands):
                if operand is passed and need is not None:
                    found[position] = found[position] | need
        return found
    for need, result, maps in zip(step.need, op.results, lanes, strict=True):
        if need is None or not need.any():
            continue
        for position, (number, rule) in enumerate(zip(op.operands, maps, strict=True)):
            some = lane_sets.operands(rule, need, step.shape(number), step.shape(result), value)
            found[position] = found[position] | some
    return found


def _of_buffer(step: ExecutedStep, position: int, view: SharedView) -> Array:
    """The elements of a part of shared memory that the needed elements of the results depend on."""
    need = step.need[0]
    if need is not None and is_product(step.op):
        return of_factors(need, [step.operand_shape(k) for k in range(2)])[position]
    if need is not None and need.shape[1:] == view.shape and position == 0:
        return need
    return np.ones((1, *view.shape), np.bool_)


_Deciding = tuple[tuple[str, tuple[int, ...]], Op, int | str]


def _deciding(plan: Plan) -> Iterator[_Deciding]:
    """The loops, conditions and branches whose operands an observer sees when they are handed on."""
    for name, function in plan.functions.items():
        for op in function.walk():
            if op.name == "scf.for":
                yield (name, op.operands), op, op.index
            elif op.name == "scf.while":
                for block in op.regions[0].blocks:
                    if decisive(block.ops[-1]):
                        yield (name, block.ops[-1].operands), block.ops[-1], op.index
        for block in function.body.blocks:
            if decisive(block.ops[-1]):
                yield (name, block.ops[-1].operands), block.ops[-1], name
