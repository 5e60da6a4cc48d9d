"""What the value of each store is computed from: operations and loads, without what only decides where it goes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from triton_lab.ir import Op, Plan, effects, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.neutral_values import combined_by
from triton_lab.ir.plan import Bits, Dense, Function
from triton_lab.ir.traits import Kind
from triton_lab.ir.types import Type
from triton_lab.launch.propagation.element_functions import inside_of_others

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True, eq=False)
class StoredValue:
    """The ``value`` of a ``store`` (a store or an atomic): ``ops`` compute it, ``loads`` bring numbers in."""

    store: Op
    value: Value
    ops: tuple[Op, ...]
    loads: tuple[Op, ...]

    def kinds(self) -> set[Kind]:
        """The kinds of the operations that compute it."""
        return {traits.of(op.name).kind for op in self.ops}


class PlanValues:
    """The values of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.flow = Flow.of(plan)
        self.inside = inside_of_others(plan)
        self._functions: dict[str, Function] = dict(plan.functions)

    def value(self, op: Op, position: int) -> Value:
        """An operand of an operation."""
        return Value(self.flow.function_of[op.index], op.operands[position])

    def type(self, value: Value) -> Type:
        """The type of a value."""
        return self._functions[value.function].types[value.number]

    def shape(self, value: Value) -> tuple[int, ...]:
        """The shape of its block; ``()`` for a scalar."""
        return self.type(value).shape

    def behind(self, value: Value) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
        """The operations that compute a value, and the loads whose numbers enter it.

        What only decides which element it is (addresses, masks, conditions, ``other=``) is left out.
        """
        ops, loads, seen, todo = {}, {}, set(), [value]
        while todo:
            one = todo.pop()
            if one in seen:
                continue
            seen.add(one)
            op = self.flow.maker.get(one)
            if op is None:
                todo += self.flow.feeds.get(one, ())
            elif effects.is_access(op):
                loads[op.index] = op
            else:
                ops[op.index] = op
                todo += [self.value(op, k) for k in self.data(op)]
        return tuple(ops[k] for k in sorted(ops)), tuple(loads[k] for k in sorted(loads))

    def data(self, op: Op) -> Iterator[int]:
        """The positions of the operands that are more than what decides which element a result is."""
        maps = traits.lanes(op, self._functions[self.flow.function_of[op.index]].types)
        for position in range(len(op.operands)):
            if not maps or not all(rules[position].decides for rules in maps if len(rules) > position):
                yield position

    def decided_by_loads(self, op: Op) -> bool:
        """Whether what memory holds decides where an access goes, or which of its lanes are on."""
        at = effects.operands_of(op)
        deciding = [k for k in (at.address, at.mask, *at.coordinates) if k is not None]
        near = self.flow.behind([self.value(op, k) for k in deciding])
        makers = (self.flow.maker.get(value) for value in near)
        return any(one is not None and effects.is_access(one) for one in makers)

    def maker(self, value: Value) -> Op | None:
        """The operation that computes a value, before moves and casts of one operand; None if control flow gives it."""
        return self.flow.maker.get(self.source(value))

    def source(self, value: Value) -> Value:
        """The value before moves and casts of one operand."""
        op = self.flow.maker.get(value)
        while op is not None and len(op.operands) == 1 and _hands_on(op):
            value = self.value(op, 0)
            op = self.flow.maker.get(value)
        return value

    def is_sum(self, op: Op) -> bool:
        """Whether it reduces by adding."""
        return op.name == "tt.reduce" and combined_by(op) in traits.ADDITIONS

    def extreme(self, op: Op) -> int:
        """1 if it reduces to a maximum, -1 to a minimum, else 0."""
        return traits.of(combined_by(op)).extreme if op.name == "tt.reduce" else 0

    def constants(self, ops: Collection[Op]) -> Iterator[float]:
        """The numbers of the constants among the operations."""
        for op in ops:
            value = op.attributes.get("value") if op.name == "arith.constant" else None
            for one in value.values if isinstance(value, Dense) and not isinstance(value.values, bytes) else (value,):
                if isinstance(one, (int, float)) and not isinstance(one, (bool, Bits)):
                    yield float(one)

    def scales(self, op: Op) -> bool:
        """Whether it multiplies or divides by something that no load enters."""
        if op.name not in traits.SCALINGS:
            return False
        second = self.behind(self.value(op, 1))[1]
        return not second or (op.name not in traits.QUOTIENTS and not self.behind(self.value(op, 0))[1])


class KernelValues(PlanValues):
    """The values of a launch's kernel."""

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch.executable.plan)
        self.launch = launch

    @cached_property
    def stores(self) -> tuple[StoredValue, ...]:
        """The stores and atomics of the launch that have run, in the order of the plan."""
        found = []
        for op in self.plan.walk():
            if op.index in self.inside or not effects.writes(op) or not self.launch.events.get(op.index):
                continue
            number = effects.operands_of(op).value
            if number is not None:
                value = self.value(op, number)
                ops, loads = self.behind(value)
                found.append(StoredValue(op, value, ops, loads))
        return tuple(found)

    def line(self, op: Op) -> int | None:
        """The line of an operation, as the editor counts."""
        known = self.launch.lines.get(op.index)
        return None if known is None else known.line


def _hands_on(op: Op) -> bool:
    """Whether it moves its operand or casts it to another float."""
    trait = traits.of(op.name)
    return trait.kind is Kind.MOVES or (trait.kind is Kind.CASTS and trait.makes != "integer")
