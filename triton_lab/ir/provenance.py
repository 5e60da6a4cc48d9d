"""Which arguments a pointer can come from, found in the plan alone.

An access whose pointer comes from ``x_ptr`` may touch x's storage and no other, wherever other storages lie in memory.
An access through a pointer that was itself loaded may go anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.ir import effects, traits
from triton_lab.ir.plan import Op, Plan
from triton_lab.ir.sparse_analysis import SparseAnalysis
from triton_lab.ir.traits import Kind
from triton_lab.ir.value_flow import Value

# The kernel's arguments (by position) that a value can come from. None: unknown.
Roots = frozenset[int] | None
_NOTHING: Roots = frozenset()


def pointer_roots(plan: Plan) -> dict[int, Roots]:
    """For each access, by operation index: the kernel's arguments its pointer can come from."""
    analysis = _Addresses(plan)
    analysis.settle()
    return {
        op.index: analysis.of(Value(name, op.operands[effects.operands_of(op).address]))
        for name, function in plan.functions.items()
        for op in function.walk()
        if effects.is_access(op)
    }


class _Addresses(SparseAnalysis[Roots]):
    """Sets of arguments, with None as the top of the lattice. Only pointers and descriptors are followed."""

    bottom = _NOTHING

    def joined(self, one: Roots, other: Roots) -> Roots:
        return None if one is None or other is None else one | other

    def follows(self, value: Value) -> bool:
        type = self.plan.functions[value.function].types[value.number]
        return type.is_pointer or type.is_descriptor

    def starting(self) -> Iterator[tuple[Value, Roots]]:
        kernel = self.plan.kernel
        for position, number in enumerate(kernel.arguments):
            yield Value(kernel.name, number), frozenset([position])

    def transferred(self, function: str, op: Op, operands: Sequence[Roots]) -> Sequence[Roots]:
        return [
            self._of_result(
                op,
                [
                    roots
                    for number, roots, rule in zip(op.operands, operands, maps, strict=True)
                    if not rule.decides and self.follows(Value(function, number))
                ],
            )
            for maps in traits.lanes(op, self.plan.functions[function].types)
        ]

    def _of_result(self, op: Op, addresses: Sequence[Roots]) -> Roots:
        trait = traits.of(op.name)
        passes = trait.keeps or trait.kind is Kind.CREATES or op.name == "tt.addptr"
        if not passes or not addresses:
            return None  # loaded, or computed from numbers alone: it may be any address
        found: Roots = _NOTHING
        for roots in addresses:
            found = self.joined(found, roots)
        return found
