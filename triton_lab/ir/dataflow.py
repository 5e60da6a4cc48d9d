"""What each value of a plan is computed from, through control flow and calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

from triton_lab.ir.plan import Op, Plan
from triton_lab.ir.value_flow import HANDS_ON, Value, decisive, edges


@dataclass
class Flow:
    """The data flow of a plan: for each value, its sources and the operation that computes it.

    ``feeds`` lists the sources of a value: what it is computed from, or what it may be. ``maker`` is the operation that
    computes it. Block arguments and results of control flow have no maker: each is one of the values that feed it.
    ``counters`` gives the loop for each value that is a loop's counter.
    """

    feeds: dict[Value, set[Value]] = field(default_factory=dict)
    maker: dict[Value, Op] = field(default_factory=dict)
    function_of: dict[int, str] = field(default_factory=dict)
    counters: dict[Value, Op] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan) -> Flow:
        """The flow of ``plan``, which all callers share: they do not change it."""
        known = _KNOWN.get(plan)
        if known is None:
            known = _KNOWN[plan] = cls._made(plan)
        return known

    @classmethod
    def _made(cls, plan: Plan) -> Flow:
        flow = cls()
        for source, target in edges(plan):
            flow.feeds.setdefault(target, set()).add(source)
        for function in plan.functions.values():
            for op in function.walk():
                flow.function_of[op.index] = function.name
                flow._visit(function.name, op)
        return flow

    def behind(self, start: Iterable[Value], through: Callable[[Op], bool] = lambda op: True) -> set[Value]:
        """All values that ``start`` are computed from, ``start`` included.

        The search stops at the results of an operation for which ``through`` is False.
        """
        return self._reached(start, through, self.feeds)

    def ahead(self, start: Iterable[Value], through: Callable[[Op], bool] = lambda op: True) -> set[Value]:
        """All values that are computed from ``start``, ``start`` included; the search stops as in `behind`."""
        return self._reached(start, through, self.uses)

    @cached_property
    def uses(self) -> Mapping[Value, set[Value]]:
        """The values that are computed from each, or may be it."""
        found: dict[Value, set[Value]] = {}
        for value, sources in self.feeds.items():
            for source in sources:
                found.setdefault(source, set()).add(value)
        return found

    def _reached(
        self, start: Iterable[Value], through: Callable[[Op], bool], near: Mapping[Value, set[Value]]
    ) -> set[Value]:
        found: set[Value] = set()
        todo = list(start)
        while todo:
            value = todo.pop()
            if value in found:
                continue
            found.add(value)
            maker = self.maker.get(value)
            if maker is None or through(maker):
                todo.extend(near.get(value, ()))
        return found

    def _visit(self, function: str, op: Op) -> None:
        if op.name == "scf.for":
            counter = Value(function, op.regions[0].blocks[0].arguments[0])
            self.counters[counter] = op
            self._computed(counter, function, decisive(op))
        elif op.name not in HANDS_ON:
            for result in op.results:
                value = Value(function, result)
                self.maker[value] = op
                self._computed(value, function, op.operands)

    def _computed(self, value: Value, function: str, operands: Iterable[int]) -> None:
        self.feeds.setdefault(value, set()).update(Value(function, operand) for operand in operands)


# By plan, as long as it lives. An interrupt or another thread costs a second computation at most.
_KNOWN: WeakKeyDictionary[Plan, Flow] = WeakKeyDictionary()

__all__ = ["Flow", "Value"]
