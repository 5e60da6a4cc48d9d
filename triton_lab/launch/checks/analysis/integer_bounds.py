"""Bounds of a launch's integers, computed from the plan and the launch's arguments.

If the bounds stay within a type, nothing can wrap, and no replay is needed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.ir import Dense, Op, Type
from triton_lab.ir.dataflow import Flow, Value

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

Bounds = tuple[int, int]

# Operations that return their operands' elements; the bounds of several operands are joined.
_MOVES = frozenset(
    {
        "tt.splat",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.reshape",
        "tt.trans",
        "tt.join",
        "tt.cat",
        "tt.split",
        "tt.gather",
        "arith.extsi",
        "arith.trunci",
        "arith.index_cast",
    }
)


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
        return _arithmetic(op.name, operands) if len(operands) == 2 else None

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
            return self._loop_counter(value) or (
                _joined([self.bounds(f) for f in feeds]) if feeds else self._any(value)
            )
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
        if maker.name in _MOVES:
            return _joined([self.bounds(each) for each in operands])
        if maker.name == "arith.select":
            return _joined([self.bounds(each) for each in operands[1:]])
        return _arithmetic(maker.name, [self.bounds(each) for each in operands]) or self._any(value)

    def _loop_counter(self, value: Value) -> Bounds | None:
        """The bounds of a for loop's counter, which never reaches the upper bound; None for other values."""
        loop = self._flow.counters.get(value)
        if loop is None:
            return None
        lower, upper = (self.bounds(Value(value.function, number)) for number in loop.operands[:2])
        return lower[0], max(lower[0], upper[1] - 1)


def adds_up(op: Op) -> bool:
    """Whether a reduction or a scan is a sum of integers."""
    if op.name not in ("tt.reduce", "tt.scan") or len(op.operands) != 1:
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


def _joined(bounds: list[Bounds]) -> Bounds:
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _arithmetic(name: str, operands: list[Bounds]) -> Bounds | None:
    """The bounds of an operation's exact result; None for operations that are not followed."""
    followed = _FOLLOWED.get(name)
    return followed(*operands) if followed is not None and len(operands) == 2 else None


def _of_corners(function: Callable[[int, int], int], one: Bounds, other: Bounds) -> Bounds:
    """The bounds of a function whose extremes are at the extremes of its operands."""
    corners = [function(a, b) for a in one for b in other]
    return min(corners), max(corners)


def _product(one: Bounds, other: Bounds) -> Bounds:
    return _of_corners(operator.mul, one, other)


def _shifted(one: Bounds, by: Bounds) -> Bounds | None:
    return _of_corners(operator.lshift, one, by) if by[0] >= 0 and by[1] < 64 else None


def _quotient(one: Bounds, by: Bounds) -> Bounds | None:
    """The bounds of a quotient that is rounded towards zero."""
    return _of_corners(lambda n, m: abs(n) // m * (1 if n >= 0 else -1), one, by) if by[0] > 0 else None


def _unsigned_quotient(one: Bounds, by: Bounds) -> Bounds | None:
    return _of_corners(operator.floordiv, one, by) if one[0] >= 0 and by[0] > 0 else None


def _remainder(one: Bounds, by: Bounds) -> Bounds | None:
    """The bounds of a remainder that has the dividend's sign."""
    if by[0] <= 0:
        return None
    return (0, min(one[1], by[1] - 1)) if one[0] >= 0 else (1 - by[1], by[1] - 1)


def _unsigned_remainder(one: Bounds, by: Bounds) -> Bounds | None:
    if by[0] <= 0:
        return None
    return 0, min(one[1], by[1] - 1) if one[0] >= 0 else by[1] - 1


def _bits_of_both(one: Bounds, other: Bounds) -> Bounds | None:
    """The bounds of a bitwise *and*: the result is at most any non-negative operand."""
    most = [high for low, high in (one, other) if low >= 0]
    return (0, min(most)) if most else None


def _shifted_down(one: Bounds, by: Bounds) -> Bounds | None:
    return (0, one[1]) if one[0] >= 0 and by[0] >= 0 else None


_FOLLOWED: Mapping[str, Callable[[Bounds, Bounds], Bounds | None]] = {
    "arith.addi": lambda one, other: (one[0] + other[0], one[1] + other[1]),
    "arith.subi": lambda one, other: (one[0] - other[1], one[1] - other[0]),
    "arith.muli": _product,
    "arith.shli": _shifted,
    "arith.minsi": lambda one, other: (min(one[0], other[0]), min(one[1], other[1])),
    "arith.maxsi": lambda one, other: (max(one[0], other[0]), max(one[1], other[1])),
    "arith.divsi": _quotient,
    "arith.divui": _unsigned_quotient,
    "arith.remsi": _remainder,
    "arith.remui": _unsigned_remainder,
    "arith.andi": _bits_of_both,
    "arith.shrui": _shifted_down,
}
