"""`OperationBounds`: the bounds of an operation's results from those of its operands, for every operation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import REGISTRY
from triton_lab.interpreter.ops.dot_scaled import scaled_factors
from triton_lab.interpreter.runtime_values import Descriptor, Value, elements, spread
from triton_lab.ir import Op, Plan, Type, traits
from triton_lab.ir.dataflow import Flow
from triton_lab.ir.dataflow import Value as PlanValue
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.bounds import rounding_rules
from triton_lab.launch.comparison.bounds.bound import CHOICE, LOST, NOTHING, Bound, alone
from triton_lab.launch.comparison.bounds.float_bounds import ADDS, FloatStep, of_float
from triton_lab.launch.comparison.bounds.fold_bounds import of_dot, of_fold, of_histogram, rounds
from triton_lab.launch.comparison.bounds.whole_number_bounds import of_whole
from triton_lab.launch.comparison.number_formats import is_float, wide
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.propagation.value_marks import Marks

Array = NDArray[Any]
Known = Sequence[Bound | None]

_MOVES = traits.names(lambda trait: trait.kind is Kind.MOVES and trait.keeps) | {"tt.gather"}
_BITS = traits.names(lambda trait: trait.kind is Kind.CASTS and trait.bitwise)
# The kinds of operations that round differently on different targets, although their operands are equal.
_VARY = traits.FOLDS | traits.DOTS | {"tt.map_elementwise"}


class OperationBounds:
    """The rules, for one kernel.

    With ``same``, both evaluations are of this kernel; with ``only``, they differ only in the operations with these
    names. ``on_gpu``: whether one of them is a GPU's.
    """

    def __init__(self, plan: Plan, same: bool, only: Collection[str] | None, on_gpu: bool) -> None:
        self._same, self._only = same, only
        self._on_gpu = on_gpu or same
        self._fused: dict[int, list[int]] = {}
        # How far products that may be fused are from the exact ones, and the operations that give them.
        self._products: Marks[int] = Marks(np.float64)
        self._makers: set[int] = set()
        self._summed = set() if same else _of_several_terms(plan)
        for function in plan.functions.values():
            made = {number: op for op in function.walk() for number in op.results}
            for op in function.walk():
                if op.name in ADDS:
                    found = rounding_rules.contractible(op, made)
                    self._fused[op.index] = found
                    makers = [made[op.operands[k]] for k in found]
                    self._makers.update(maker.index for maker in makers if maker.name == "arith.mulf")

    def of(
        self, frame: Frame, op: Op, operands: Sequence[Value], known: Known, results: Sequence[Value]
    ) -> Sequence[Bound | None] | None:
        """The bound of each result, None for exact ones. None alone: it is not known what else may differ."""
        nothing: list[Bound | None] = [None] * len(results)
        types = [frame.type(number) for number in op.results]
        some = any(one is not None and one.any for one in known)
        if any(type.is_descriptor for type in types) or any(isinstance(value, Descriptor) for value in results):
            return None if some else nothing
        if op.index in self._makers and not some and self._only is None:
            self._lost_digits(frame, op, operands, results[0], types[0])
        if not op.operands or (not some and not self._rounds(op, types)):
            return nothing
        if op.name in traits.DOTS:
            return [self._of_dot(frame, op, operands, known)]
        if op.name in traits.FOLDS:
            return self._of_fold(frame, op, operands, known, results)
        if op.name in _MOVES:
            return self._moved(frame, op, operands, known, types) if some else nothing
        if op.name == "arith.select":
            return [self._selected(frame, op, operands, known, results[0])] if some else nothing
        if op.name == "tt.histogram":
            return [self._counted(frame, op, operands, known, results[0])] if some else nothing
        if op.name == "tt.map_elementwise":
            return [LOST] * len(results) if some or rounds(op) else nothing
        if len(results) != 1:
            return [LOST] * len(results) if some else nothing
        return [self._elementwise(frame, op, operands, known, results[0], types[0])]

    def _lost_digits(self, frame: Frame, op: Op, operands: Sequence[Value], value: Value, type: Type) -> None:
        """Note how far a product is from the exact one, for the addition that it may be fused with."""
        rank = len(type.shape)
        a, b = (wide(lifted(frame.elements(op, k, operand), rank)) for k, operand in enumerate(operands))
        raw = lifted(elements(value, type), rank)
        if raw.dtype.itemsize <= 4:
            with np.errstate(all="ignore"):
                off = np.abs(a * b - wide(raw))
                self._products.put(value, {0: np.atleast_1d(np.where(np.isfinite(off), off, 0.0))})

    def _rounds(self, op: Op, types: Sequence[Type]) -> bool:
        """Whether a result may differ although the operands are equal."""
        if self._only is not None:
            return op.name in self._only
        if op.name in _VARY:
            return True
        if not any(type.is_float for type in types):
            return False
        return not self._same or bool(self._fused.get(op.index)) or rounding_rules.varies(op)

    def _elementwise(
        self, frame: Frame, op: Op, operands: Sequence[Value], known: Known, value: Value, type: Type
    ) -> Bound | None:
        rank = len(type.shape)
        arrays = [lifted(frame.elements(op, k, operand), rank) for k, operand in enumerate(operands)]
        raw = lifted(elements(value, type), rank)
        near = [None if one is None else widened(one, rank) for one in known]
        some = any(one is not None for one in near)
        if op.name in _BITS:
            (one,) = near
            return None if one is None else LOST.where(one.uncertain, NOTHING)
        with np.errstate(all="ignore"):
            if not type.is_float:
                given = [NOTHING if one is None else one for one in near]
                types = [*(frame.type(number) for number in op.operands), type]

                def run(*others: Array) -> Array:
                    return elements(REGISTRY[op.name].run(frame, op, *others), type)

                return of_whole(op, arrays, given, raw, types, run) if some else None
            fused = {k: self._off(frame, op, operands, k, rank) for k in self._fused.get(op.index, [])}
            if self._only is not None:
                fused = {}
            varies = rounding_rules.varies(op, self._on_gpu) and (self._only is None or op.name in self._only)
            widens = op.name == "arith.extf" or (
                op.name == "tt.fp_to_fp" and raw.dtype.itemsize > arrays[0].dtype.itemsize
            )
            step = FloatStep(op, arrays, near, raw, fused, varies, widens, op.index in self._summed)
            return of_float(step, self._same or self._only is not None)

    def _off(self, frame: Frame, op: Op, operands: Sequence[Value], position: int, rank: int) -> Array | None:
        """How far a product is from the exact one; None if that is not known."""
        known = self._products.of(frame, op.operands[position], operands[position])
        return lifted(known[0], rank) if known else None

    def _selected(self, frame: Frame, op: Op, operands: Sequence[Value], known: Known, value: Value) -> Bound:
        """What was chosen; both, where the condition may be another one."""
        type = frame.result_type(op)
        rank = len(type.shape)
        condition, a, b = (NOTHING if one is None else widened(one, rank) for one in known)
        truth = lifted(frame.elements(op, 0, operands[0]), rank)
        chosen = a if truth.all() else a.where(truth, b)
        if not condition.any:
            return chosen
        if type.is_pointer:
            return LOST.where(condition.uncertain, chosen)
        x, y = (wide(lifted(frame.elements(op, k, operands[k]), rank)) for k in (1, 2))
        with np.errstate(invalid="ignore"):
            low, high = np.minimum(x - a.below, y - b.below), np.maximum(x + a.above, y + b.above)
        result = wide(lifted(elements(value, type), rank))
        either = Bound.between(low, result, high, CHOICE)
        same = (x == y) & ~(a.uncertain | b.uncertain)
        whole = np.where(high - low <= 1, alone([condition, a, b]), CHOICE) if not type.is_float else CHOICE
        either = Bound(either.below, either.above, np.broadcast_to(whole, either.below.shape))
        return either.where(condition.uncertain & ~same, chosen)

    def _moved(
        self, frame: Frame, op: Op, operands: Sequence[Value], known: Known, types: Sequence[Type]
    ) -> list[Bound | None]:
        """The bounds of operations that only move elements, which are moved in the same way."""
        if op.name == "tt.splat":  # of integers it makes compact forms, which have no room for distances
            return [None if known[0] is None else widened(known[0], len(types[0].shape))]
        gathers = op.name == "tt.gather"
        moving = [NOTHING if one is None else one for one in known[: 1 if gathers else None]]
        shapes = [frame.type(number).shape for number in op.operands]

        def run(pick: Literal["below", "above", "kind"]) -> list[Array]:
            given: list[Any] = []
            for one, shape in zip(moving, shapes, strict=False):
                part = np.asarray(getattr(one, pick), np.float64)
                part = part if part.ndim else part.reshape((1,) * (1 + len(shape)))
                given.append(np.broadcast_to(part, (part.shape[0], *shape)) if shape else part.reshape(-1))
            found = REGISTRY[op.name].run(frame, op, *given, *(operands[1:] if gathers else ()))
            parts = found if isinstance(found, tuple) else (found,)
            return [lifted(elements(part, type), len(type.shape)) for part, type in zip(parts, types, strict=True)]

        below = run("below")
        above = below if all(one.below is one.above for one in moving) else run("above")
        kind = run("kind") if any(one.kind.any() for one in moving) else [NOTHING.kind] * len(types)
        result: list[Bound | None] = [Bound(*parts) for parts in zip(below, above, kind, strict=True)]
        if gathers and known[1] is not None:
            lost = known[1].uncertain
            result = [LOST.where(lost, one) for one in result if one is not None]
        return result

    def _full(self, frame: Frame, op: Op, position: int, value: Value, one: Bound | None) -> tuple[Array, Bound]:
        """An operand and its bound over the whole block."""
        array = frame.spread(op, position, value)
        one = one or NOTHING
        shape = np.broadcast_shapes(array.shape, one.below.shape, one.above.shape)
        return np.broadcast_to(array, shape), one.mapped(lambda part: np.broadcast_to(part, shape))

    def _of_fold(
        self, frame: Frame, op: Op, operands: Sequence[Value], known: Known, results: Sequence[Value]
    ) -> list[Bound | None]:
        full = [self._full(frame, op, k, value, known[k]) for k, value in enumerate(operands)]
        shape = np.broadcast_shapes(*(array.shape for array, _ in full))
        arrays = [np.broadcast_to(array, shape) for array, _ in full]
        near = [one.mapped(lambda part: np.broadcast_to(part, shape)) for _, one in full]
        types = [frame.type(number) for number in op.results]
        raw = [spread(value, type) for value, type in zip(results, types, strict=True)]
        with np.errstate(all="ignore"):
            return [of_fold(op, arrays, near, raw, k, self._same) for k in range(len(results))]

    def _counted(self, frame: Frame, op: Op, operands: Sequence[Value], known: Known, value: Value) -> Bound | None:
        if any(one is not None for one in known[1:]):
            return LOST
        array, one = self._full(frame, op, 0, operands[0], known[0])
        return of_histogram(array, one, spread(value, frame.result_type(op)))

    def _of_dot(self, frame: Frame, op: Op, operands: Sequence[Value], known: Known) -> Bound | None:
        dtype = dtype_of(frame.result_type(op))
        if op.name != "tt.dot_scaled":
            return self.of_product(op, [frame.spread(op, k, operands[k]) for k in range(3)], known, dtype)
        if any(one is not None for one in (*known[:2], *known[3:])):
            return LOST
        first, second, _accumulator, *scales = operands
        factors = scaled_factors(frame, op, first, second, *scales)[:2]
        rules = 0.0, 2.0**-13 if dtype.itemsize >= 4 else 2.0**-10
        return self.of_product(op, [*factors, frame.spread(op, 2, operands[2])], known, dtype, rules)

    def of_product(
        self,
        op: Op,
        arrays: Sequence[Array],
        known: Known,
        dtype: np.dtype[Any],
        rules: tuple[float, float] | None = None,
    ) -> Bound | None:
        """The bound of ``a @ b + sum`` of these ``arrays``, each ``(programs or 1, *block)``, computed as ``dtype``.

        ``rules`` are those of `rounding_rules.dot_inputs`, if other ones than these hold.
        """
        a, b = (np.abs(_narrow(array)) for array in arrays[:2])
        narrowed, u = rules or rounding_rules.dot_inputs(op, arrays[0].dtype, dtype)
        if dtype.kind == "i":
            narrowed = u = 0.0
            if not any(one is not None for one in known):
                return None
        if self._only is not None:
            narrowed = 0.0
        e_a, e_b = (
            None if one is None else _factor_error(one, size) for one, size in zip(known[:2], (a, b), strict=True)
        )
        near = [NOTHING if one is None else one for one in known[:3]]
        start = wide(np.abs(_narrow(lifted(arrays[2], 2))))
        if rounding_rules.has_nan(start):
            start = np.where(np.isnan(start), 0.0, start)
        error = of_dot((a, b), start, (e_a, e_b, near[2].size), narrowed, u)
        choice = dtype.kind == "i" or any((one.kind > 0).any() for one in near)
        return Bound.around(error, np.where(error > 0, CHOICE, 0) if choice else 0)


def _factor_error(one: Bound, size: Array) -> Array:
    """The error of a factor of a product of tiles, for each of its elements."""
    programs = np.broadcast_shapes(size.shape[:1], one.size.shape[:1])
    return np.broadcast_to(one.size, (*programs, *size.shape[1:]))


def widened(one: Bound, rank: int) -> Bound:
    """The bound with the block's axes added, if it has one number for each program."""
    return one.mapped(lambda part: lifted(part, rank))


def _narrow(array: Array) -> Array:
    """The numbers in float32 where that holds all of them, else in float64."""
    return array.astype(np.float32, copy=False) if is_float(array.dtype) and array.dtype.itemsize <= 4 else wide(array)


def _of_several_terms(plan: Plan) -> set[int]:
    """The additions, by index, with which a loop sums up; an unrolled one has each addition several times."""
    flow, found = Flow.of(plan), set[int]()
    for value, op in flow.maker.items():
        if op.name not in ADDS:
            continue
        for number in op.operands:
            one = PlanValue(value.function, number)
            before = flow.maker.get(one)
            if before is None:  # a loop hands it on
                makers = [maker for each in flow.feeds.get(one, ()) if (maker := flow.maker.get(each)) is not None]
            else:
                makers = [before] if op.location is not None and _place(before) == _place(op) else []
            earlier = {maker.index for maker in makers if maker.name in ADDS}
            if earlier:
                found |= {op.index, *earlier}
    return found


def _place(op: Op) -> tuple[object, ...]:
    return () if op.location is None else (op.location.file, op.location.line, op.location.column)
