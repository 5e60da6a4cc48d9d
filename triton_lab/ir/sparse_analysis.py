"""Forward analyses of a plan's values: a lattice, and a transfer function for each operation, settled to a fixed point.

Control flow, calls and functions of elements need no transfer functions: the values that they pass on are joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from triton_lab.ir.plan import Op, Plan
from triton_lab.ir.value_flow import HANDS_ON, Value, edges

Fact = TypeVar("Fact")


class SparseAnalysis(Generic[Fact]):
    """Finds a fact for each value, from those of the values that it is computed from.

    A subclass gives the least element of the lattice (``bottom``), `joined` (of which no infinite chain may rise),
    `starting` and `transferred`.
    """

    bottom: Fact

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._facts: dict[Value, Fact] = {}
        self._changed = True

    def joined(self, one: Fact, other: Fact) -> Fact:
        """The least fact that covers both."""
        raise NotImplementedError

    def starting(self) -> Iterable[tuple[Value, Fact]]:
        """What is known of the kernel's arguments."""
        return ()

    def transferred(self, function: str, op: Op, operands: Sequence[Fact]) -> Sequence[Fact]:
        """The facts of the operation's results, from those of its operands."""
        raise NotImplementedError

    def follows(self, value: Value) -> bool:
        """Whether anything is asked of this value."""
        return True

    def of(self, value: Value) -> Fact:
        """The fact of a value."""
        return self._facts.get(value, self.bottom)

    def settle(self) -> None:
        """Apply all transfer functions until no fact changes."""
        handed = [edge for edge in edges(self.plan) if self.follows(edge.target)]
        computed = list(self._computed())
        for value, fact in self.starting():
            self._raise(value, fact)
        while self._changed:
            self._changed = False
            for source, target in handed:
                self._raise(target, self.of(source))
            for function, op in computed:
                facts = self.transferred(function, op, [self.of(Value(function, number)) for number in op.operands])
                for number, fact in zip(op.results, facts, strict=True):
                    self._raise(Value(function, number), fact)

    def _computed(self) -> Iterator[tuple[str, Op]]:
        for name, function in self.plan.functions.items():
            for op in function.walk():
                if op.name not in HANDS_ON and any(self.follows(Value(name, number)) for number in op.results):
                    yield name, op

    def _raise(self, value: Value, fact: Fact) -> None:
        old = self.of(value)
        new = self.joined(old, fact)
        if new != old and self.follows(value):
            self._facts[value] = new
            self._changed = True
