"""Which arguments a pointer can come from, found in the plan alone.

An access whose pointer comes from ``x_ptr`` may touch x's storage and no other, wherever other storages lie in memory.
An access through a pointer that was itself loaded may go anywhere.
"""

from __future__ import annotations

from triton_lab.ir import effects, traits
from triton_lab.ir.plan import Op, Plan
from triton_lab.ir.traits import Kind
from triton_lab.ir.value_flow import HANDS_ON, Value, edges

# The kernel's arguments (by position) that a value can come from. None: unknown.
Roots = frozenset[int] | None
_NOTHING: Roots = frozenset()


def pointer_roots(plan: Plan) -> dict[int, Roots]:
    """For each access, by operation index: the kernel's arguments its pointer can come from."""
    analysis = _Analysis(plan)
    analysis.settle()
    return analysis.accesses


class _Analysis:
    """A fixed point over all values. Sets only grow; None is the top of the lattice."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.roots: dict[Value, Roots] = {}
        self.accesses: dict[int, Roots] = {}
        self.changed = False
        self.handed = [edge for edge in edges(plan) if self.is_address(edge.target)]
        kernel = plan.kernel
        for position, number in enumerate(kernel.arguments):
            value = Value(kernel.name, number)
            if self.is_address(value):
                self.roots[value] = frozenset([position])

    def is_address(self, value: Value) -> bool:
        type = self.plan.functions[value.function].types[value.number]
        return type.is_pointer or type.is_descriptor

    def settle(self) -> None:
        self.changed = True
        while self.changed:
            self.changed = False
            for source, target in self.handed:
                self.flow(target, self.of(source))
            for function in self.plan.functions.values():
                for op in function.walk():
                    self.visit(function.name, op)

    def of(self, value: Value) -> Roots:
        return self.roots.get(value, _NOTHING)

    def flow(self, value: Value, roots: Roots) -> None:
        """Record that ``value`` may also come from ``roots``."""
        if not self.is_address(value):
            return
        old = self.of(value)
        new = None if old is None or roots is None else old | roots
        if new != old:
            self.roots[value] = new
            self.changed = True

    def visit(self, function: str, op: Op) -> None:
        if effects.is_access(op):
            self.accesses[op.index] = self.of(Value(function, op.operands[effects.operands_of(op).address]))
        if op.name in HANDS_ON:
            return
        types = self.plan.functions[function].types
        for result, maps in zip(op.results, traits.lanes(op, types), strict=True):
            sources = [
                Value(function, number) for number, rule in zip(op.operands, maps, strict=True) if not rule.decides
            ]
            addresses = [source for source in sources if self.is_address(source)]
            # An address that is computed from numbers alone may be any.
            if not _passes_on(op) or not addresses:
                self.flow(Value(function, result), None)
            for source in addresses:
                self.flow(Value(function, result), self.of(source))


def _passes_on(op: Op) -> bool:
    """Whether addresses in the result come from those in the operands."""
    trait = traits.of(op.name)
    return trait.keeps or trait.kind is Kind.CREATES or op.name == "tt.addptr"
