"""What each value of a plan is computed from, through control flow and calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from triton_lab.ir.plan import Function, Op, Plan


class Value(NamedTuple):
    """A value of a function of the plan."""

    function: str
    number: int


@dataclass
class Flow:
    """``feeds`` lists the values that a value may be, or is computed from; ``maker`` the operation that computes it.

    Block arguments and results of control flow have no maker: they are one of the values that feed them.
    ``counters`` are the loops that count in a value.
    """

    feeds: dict[Value, set[Value]] = field(default_factory=dict)
    maker: dict[Value, Op] = field(default_factory=dict)
    function_of: dict[int, str] = field(default_factory=dict)
    counters: dict[Value, Op] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan) -> Flow:
        flow = cls()
        for function in plan.functions.values():
            for op in function.walk():
                flow.function_of[op.index] = function.name
                flow._visit(plan, function, op)
        return flow

    def behind(self, start: Iterable[Value], through: Callable[[Op], bool] = lambda op: True) -> set[Value]:
        """All values that ``start`` are computed from, themselves included.

        What an operation was made of is left out unless ``through`` says to go on.
        """
        found: set[Value] = set()
        todo = list(start)
        while todo:
            value = todo.pop()
            if value in found:
                continue
            found.add(value)
            maker = self.maker.get(value)
            if maker is None or through(maker):
                todo.extend(self.feeds.get(value, ()))
        return found

    def _join(self, function: Function, sources: Iterable[int], targets: Iterable[int]) -> None:
        for source, target in zip(sources, targets, strict=False):
            self.feeds.setdefault(Value(function.name, target), set()).add(Value(function.name, source))

    def _visit(self, plan: Plan, function: Function, op: Op) -> None:
        for successor in op.successors:
            self._join(function, successor.operands, function.body.blocks[successor.block].arguments)
        if op.name == "scf.for":
            body = op.regions[0].blocks[0]
            carried = body.ops[-1].operands
            self.counters[Value(function.name, body.arguments[0])] = op
            for bound in op.operands[:3]:
                self._join(function, [bound], body.arguments[:1])
            for sources in (op.operands[3:], carried):
                self._join(function, sources, body.arguments[1:])
                self._join(function, sources, op.results)
        elif op.name == "scf.while":
            before, after = (region.blocks[0] for region in op.regions)
            self._join(function, op.operands, before.arguments)
            self._join(function, after.ops[-1].operands, before.arguments)
            for targets in (after.arguments, op.results):
                self._join(function, before.ops[-1].operands[1:], targets)
        elif op.name == "scf.if":
            for region in op.regions:
                for block in region.blocks:  # none where there is no else
                    self._join(function, block.ops[-1].operands, op.results)
        elif op.name == "tt.call":
            callee = plan.functions[op.attributes["callee"]]
            for source, target in zip(op.operands, callee.arguments, strict=True):
                self.feeds.setdefault(Value(callee.name, target), set()).add(Value(function.name, source))
            for block in callee.body.blocks:
                if block.ops[-1].name == "tt.return":
                    for source, target in zip(block.ops[-1].operands, op.results, strict=True):
                        self.feeds.setdefault(Value(function.name, target), set()).add(Value(callee.name, source))
        else:
            for result in op.results:
                value = Value(function.name, result)
                self.maker[value] = op
                self.feeds.setdefault(value, set()).update(Value(function.name, operand) for operand in op.operands)
            for region in op.regions:
                self._combine(function, op, region.blocks[0].arguments, region.blocks[-1].ops[-1].operands)

    def _combine(self, function: Function, op: Op, arguments: Iterable[int], returned: Iterable[int]) -> None:
        """The function within a reduction or a scan: its arguments are elements, or what it returned before."""
        returned = tuple(returned)
        for argument in arguments:
            for source in (*op.operands, *returned):
                self._join(function, [source], [argument])
        for result in op.results:
            for source in returned:
                self._join(function, [source], [result])
