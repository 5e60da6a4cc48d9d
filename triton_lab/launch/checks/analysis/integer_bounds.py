"""Bounds of a launch's integers, computed from the plan and the launch's arguments.

If the bounds stay within a type, nothing can wrap, and no replay is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.ir import Dense, Op, Type, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.integer_intervals import Bounds, arithmetic, joined
from triton_lab.ir.traits import Kind

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded


class IntegerBounds:
    """The bounds of a launch's integers, ``(least, greatest)``, computed on demand."""

    def __init__(self, launch: Recorded, flow: Flow) -> None:
        self._launch = launch
        self._flow = flow
        self._known: dict[Value, Bounds] = {}
        self._types: Mapping[str, tuple[Type, ...]] = {
            name: function.types for name, function in launch.executable.plan.functions.items()
        }
        kernel = launch.executable.plan.kernel
        values = launch.snapshot.arguments if launch.snapshot is not None else ()
        for number, value in zip(kernel.arguments, values, strict=False):
            array = value.base if isinstance(value, AffineBlock) else value
            if isinstance(array, np.ndarray) and array.dtype.kind in "iub" and array.size:
                self._known[Value(kernel.name, number)] = int(array.min()), int(array.max())

    def type(self, value: Value) -> Type:
        """The type of a value."""
        return self._types[value.function][value.number]

    def bounds(self, value: Value) -> Bounds:
        """The bounds of a value."""
        if value not in self._known:
            # While it is being computed (a value carried by a loop), it may be anything.
            self._known[value] = self._any(value)
            self._known[value] = self._within(value, self._found(value))
        return self._known[value]

    def unwrapped(self, op: Op) -> Bounds | None:
        """The bounds of the exact result of an addition, subtraction, product, shift, sum or narrowing."""
        function = self._flow.function_of[op.index]
        operands = [self.bounds(Value(function, number)) for number in op.operands]
        if adds_up(op):
            return self._sum(op, function)
        if op.name == "arith.trunci":
            return operands[0]
        return arithmetic(op.name, operands) if len(operands) == 2 else None

    def _sum(self, op: Op, function: str) -> Bounds:
        """The bounds of a sum reduction or scan over its axis."""
        operand = Value(function, op.operands[0])
        least, most = self.bounds(operand)
        terms = self.type(operand).shape[op.attributes["axis"]]
        return min(least, least * terms), max(most, most * terms)

    def _any(self, value: Value) -> Bounds:
        bits = self.type(value).bits
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def _within(self, value: Value, bounds: Bounds) -> Bounds:
        least, most = self._any(value)
        return bounds if least <= bounds[0] and bounds[1] <= most else (least, most)

    def _found(self, value: Value) -> Bounds:
        maker = self._flow.maker.get(value)
        feeds = self._flow.feeds.get(value, set())
        if maker is None:
            return self._loop_counter(value) or (joined([self.bounds(f) for f in feeds]) if feeds else self._any(value))
        if maker.name == "arith.constant":
            return constant_bounds(maker) or self._any(value)
        if maker.name == "tt.make_range":
            return int(maker.attributes["start"]), int(maker.attributes["end"]) - 1
        if maker.name == "tt.get_program_id":
            return 0, self._launch.grid[maker.attributes["axis"]] - 1
        if maker.name == "tt.get_num_programs":
            extent = self._launch.grid[maker.attributes["axis"]]
            return extent, extent
        operands = [Value(value.function, number) for number in maker.operands]
        if not operands or any(not self.type(each).is_integer for each in operands):
            return self._any(value)
        if adds_up(maker):
            return self._sum(maker, value.function)
        if _is_number(maker):
            rules = traits.lanes(maker, self._types[value.function])[0]
            return joined([self.bounds(each) for each, rule in zip(operands, rules, strict=True) if not rule.decides])
        return arithmetic(maker.name, [self.bounds(each) for each in operands]) or self._any(value)

    def _loop_counter(self, value: Value) -> Bounds | None:
        """The bounds of a for loop's counter, which never reaches the upper bound; None for other values."""
        loop = self._flow.counters.get(value)
        if loop is None:
            return None
        lower, upper = (self.bounds(Value(value.function, number)) for number in loop.operands[:2])
        return lower[0], max(lower[0], upper[1] - 1)


def _is_number(op: Op) -> bool:
    """Whether the elements of the result are elements of the operands, or the same numbers in another type."""
    trait = traits.of(op.name)
    if trait.kind is Kind.CASTS:
        return trait.numbers == "integer" and not trait.makes and trait.signed is not False
    return trait.keeps


def adds_up(op: Op) -> bool:
    """Whether a reduction or a scan is a sum of integers."""
    if op.name not in traits.FOLDS or len(op.operands) != 1:
        return False
    (block,) = op.regions[0].blocks
    names = [each.name for each in block.ops]
    return len(names) == 2 and names[0] == "arith.addi"


def constant_bounds(op: Op) -> Bounds | None:
    """The least and the greatest number of a constant; None if it holds none."""
    value = op.attributes["value"]
    if isinstance(value, Dense):
        if isinstance(value.values, bytes) or not all(isinstance(v, int) for v in value.values):
            return None
        return int(min(value.values)), int(max(value.values))
    return (int(value), int(value)) if isinstance(value, (int, bool)) else None
