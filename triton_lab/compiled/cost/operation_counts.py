"""Counts the arithmetic of a launch: operations on numbers, as the kernel is written, over all programs.

An operation on a block counts once for each of its elements, masked ones too: a GPU computes them. A product of an M
x K by a K x N tile counts 2MNK. A reduction of n numbers counts n - 1 times the operations that combine two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from triton_lab.ir import Op, Plan, Type, traits
from triton_lab.ir.traits import Kind
from triton_lab.launch.replay.execution_counts import COMBINING, Executed

_TF32 = 0  # the number of the input precision that rounds float32 to tf32


@dataclass
class OperationCounts:
    """Counts of operations.

    ``floats``: on floating-point numbers outside of products of tiles. ``integers``: including addresses and
    comparisons. ``products``: in products of tiles, by the type that is multiplied.
    """

    floats: int = 0
    integers: int = 0
    products: Counter[str] = field(default_factory=Counter)

    @property
    def flops(self) -> int:
        """All operations on floating-point numbers, in products of tiles and outside."""
        return self.floats + sum(count for name, count in self.products.items() if not name.startswith("int"))

    @property
    def total(self) -> int:
        """All operations."""
        return self.floats + self.integers + sum(self.products.values())

    def add(self, other: OperationCounts, times: int = 1) -> None:
        """Add the counts of ``other``, ``times`` times."""
        self.floats += other.floats * times
        self.integers += other.integers * times
        self.products.update({name: count * times for name, count in other.products.items()})


def arithmetic(plan: Plan, executed: Executed) -> Mapping[int, OperationCounts]:
    """The counts of each operation over the launch, by its number; operations that compute nothing are left out."""
    found: dict[int, OperationCounts] = {}
    for function in plan.functions.values():
        for op in _outside(function.walk()):
            times = executed.times.get(op.index, 0)
            each = _of(op, function.types) if times else OperationCounts()
            if each.total:
                found[op.index] = total = OperationCounts()
                total.add(each, times)
    return found


def _outside(ops: Iterator[Op]) -> Iterator[Op]:
    """The operations outside of reductions: those inside are counted with their reduction."""
    inside: set[int] = set()
    for op in ops:
        if op.index in inside:
            continue
        if op.name in COMBINING:
            inside |= {each.index for each in op.walk()}
        yield op


def _of(op: Op, types: tuple[Type, ...]) -> OperationCounts:
    """The counts of one execution."""
    found = OperationCounts()
    size = types[op.results[0]].size if op.results else 0
    trait = traits.of(op.name)
    computes = trait.kind in (Kind.ELEMENTWISE, Kind.COMPARES)
    if op.name in traits.DOTS:
        found.products[_multiplied(op, types)] = 2 * size * types[op.operands[0]].shape[-1]
    elif op.name in COMBINING:
        before = types[op.operands[0]].size
        for inner in op.walk():
            if inner is not op:
                found.add(_of(inner, types), before - (size if op.name == "tt.reduce" else 0))
    elif op.name == "tt.extern_elementwise":
        if types[op.results[0]].is_float:
            found.floats = size
        else:
            found.integers = size
    elif computes and trait.numbers == "float":
        found.floats = 2 * size if op.name == "math.fma" else size
    elif computes and trait.numbers == "integer":
        found.integers = size
    elif op.name == "tt.atomic_rmw":
        value = types[op.operands[1]]
        if value.is_float:
            found.floats = value.size
        else:
            found.integers = value.size
    return found


_NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8"}


def _multiplied(op: Op, types: tuple[Type, ...]) -> str:
    """The type that a product multiplies, under the names that peak rates use."""
    element = types[op.operands[0]].element
    if op.name == "tt.dot_scaled":
        return "float8"
    if element == "f32":
        return "tf32" if op.attributes.get("inputPrecision") in (_TF32, None) else "float32"
    return "float8" if element.startswith("f8") else _NAMES.get(element, element)
