"""Float sums that loops carry, found in a plan: the operations that a sum passes through, and their exact results."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from triton_lab.ir import Op, Plan, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.traits import Kind
from triton_lab.ir.value_flow import LOOPS

Array = NDArray[Any]

# Bits of the fraction, the hidden bit included, of narrow floats.
FRACTION = {"f16": 11, "bf16": 8}


@dataclass(frozen=True, eq=False)
class Exact:
    """A sum in float64, and the sum of its terms' squares, which bounds the size that it may have by chance."""

    sum: Array
    squares: Array

    def scaled(self, factor: Any) -> Exact:
        """The sum of the terms times ``factor``."""
        return Exact(self.sum * factor, self.squares * factor**2)

    def plus(self, other: Exact) -> Exact:
        """The sum of all terms."""
        return Exact(self.sum + other.sum, self.squares + other.squares)

    def times(self, other: Exact) -> Exact:
        """The product of a sum and a factor, whose squares are 0; in either order."""
        return Exact(self.sum * other.sum, self.squares * other.sum**2 + other.squares * self.sum**2)


def term(product: Array) -> Exact:
    """A sum of one term."""
    return Exact(product, product * product)


ADDS = traits.names(lambda trait: trait.sums and trait.numbers != "integer") - {"tt.dot_scaled"}
KEEPS = traits.names(lambda trait: trait.keeps)
_CASTS = traits.names(lambda trait: trait.kind is Kind.CASTS and trait.numbers == "float" and not trait.makes)
_OF_SYMBOL: dict[str, Callable[..., Exact]] = {
    "+": Exact.plus,
    "-": lambda a, b: a.plus(b.scaled(-1.0)),
    "*": Exact.times,
    "/": lambda a, b: a.scaled(1 / b.sum),
}
EXACT: dict[str, Callable[..., Exact]] = {
    **{
        name: _OF_SYMBOL[trait.symbol]
        for name, trait in traits.TRAITS.items()
        if trait.numbers == "float" and trait.symbol in _OF_SYMBOL
    },
    **dict.fromkeys(_CASTS, lambda a: a),
    "math.fma": lambda a, b, c: term(a.sum * b.sum).plus(c),
    "arith.negf": lambda a: a.scaled(-1.0),
}
"""The exact results of operations that a sum may pass through, from those of the operands; those of `KEEPS` move it."""


@dataclass(frozen=True)
class Chains:
    """The sums of a plan's loops: their operations ``round``, and those at which they are ``compared`` with exact ones,
    with the position of the operand that is a constant term; None if there is none.
    """

    round: set[int] = field(default_factory=set)
    compared: dict[int, int | None] = field(default_factory=dict)


def chains(plan: Plan, exchanges: Collection[int]) -> Chains:
    """The sums of a plan. Those in narrow floats, and those in float32 to which one constant is added each time."""
    found = Chains()
    types = {name: function.types for name, function in plan.functions.items()}
    if not any(op.name in LOOPS for op in plan.walk()) or not any(t.is_float for own in types.values() for t in own):
        return found
    flow = Flow.of(plan)

    def through(op: Op) -> bool:
        return op.name in EXACT or op.name in ADDS | KEEPS or op.index in exchanges

    for value, op in flow.maker.items():
        type = types[value.function][value.number]
        if op.name not in ADDS or not type.is_float:
            continue
        behind = flow.behind(flow.feeds[value], through)
        if value not in behind:
            continue
        makers = [maker for each in behind if (maker := flow.maker.get(each)) is not None and through(maker)]
        way = {
            maker.index: maker
            for maker in makers
            if value in flow.behind([Value(value.function, number) for number in maker.results], through)
        }
        narrow = [
            index
            for index, maker in way.items()
            if types[value.function][maker.results[0]].element in FRACTION and maker.name in ADDS | _CASTS
        ]
        last = [index for index in narrow if way[index].name in _CASTS] or narrow
        step = _step(flow, value, op)
        alone = set(way) == {op.index}
        if last or (step is not None and alone and type.element == "f32"):
            found.round.update(way)
            found.compared.update((index, step if index == op.index and alone else None) for index in last or way)
    return found


def _step(flow: Flow, value: Value, op: Op) -> int | None:
    """The position of the constant that ``op`` adds each time; None if it adds anything else."""
    for number in op.operands if op.name == "arith.addf" else ():
        maker = flow.maker.get(Value(value.function, number))
        if maker is not None and maker.name == "tt.splat":
            maker = flow.maker.get(Value(value.function, maker.operands[0]))
        if maker is not None and maker.name == "arith.constant":
            return op.operands.index(number)
    return None
