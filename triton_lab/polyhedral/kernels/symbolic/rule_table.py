"""The rules of operations on symbolic values, by the operations' names, and how one is applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from triton_lab.interpreter.op_registry import bind
from triton_lab.ir import Function, Op, Type, traits
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import TRUE
from triton_lab.polyhedral.kernels.symbolic import symbolic_arithmetic as arithmetic
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Facts
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicNumber, Truth, Unknown, Value, stand_in
from triton_lab.polyhedral.kernels.symbolic.unknown_values import MayOverflow


@dataclass(frozen=True)
class Scene:
    """The context of an operation: its function, the known facts, and the extents of the grid."""

    function: Function
    facts: Facts
    grid: tuple[SymbolicNumber, SymbolicNumber, SymbolicNumber]

    def type(self, number: int) -> Type:
        return self.function.types[number]

    def lanes(self, op: Op) -> Facts:
        """The facts with the lanes of the operation's (first) result."""
        return self.facts.block(self.type(op.results[0]).shape)


Rule: TypeAlias = "Callable[..., Any]"
RULES: dict[str, Rule] = {}
_TAKES_UNKNOWN: set[Rule] = set()


def rule(*names: str, takes_unknown: bool = False) -> Callable[[Rule], Rule]:
    """Registers a rule; one that takes unknown operands may know the result although it does not know them."""

    def enter(function: Rule) -> Rule:
        for name in names:
            bind(RULES, name, function)
        if takes_unknown:
            _TAKES_UNKNOWN.add(function)
        return function

    return enter


def apply(scene: Scene, op: Op, operands: list[Value]) -> tuple[Value, ...]:
    """The results of an operation that neither accesses memory nor has regions."""
    types = [scene.type(number) for number in op.results]
    if not any(t.is_integer or t.is_pointer or t.is_descriptor or t.element == "index" for t in types):
        return tuple(_FLOAT for _ in types)
    unknown = next((value for value in operands if isinstance(value, Unknown)), None)
    function = RULES.get(op.name)
    if unknown is not None and function not in _TAKES_UNKNOWN:
        return tuple(stand_in(unknown, t, scene.facts) for t in types)
    if function is None:
        kind = traits.of(op.name).kind
        if scene.facts.unknown is not None and kind in _COMPUTES:
            scene.facts.unknown.may_wrap(op.index)
        return tuple(stand_in(Unknown(op.name, op.index), t, scene.facts) for t in types)
    result = function(scene, op, *operands)
    results = result if isinstance(result, tuple) else (result,)
    return tuple(_checked(scene, op, value, t) for value, t in zip(results, types, strict=True))


_FLOAT = Unknown("a floating-point value")
_COMPUTES = frozenset({traits.Kind.ELEMENTWISE, traits.Kind.REDUCES, traits.Kind.SCANS, traits.Kind.CONTRACTS})


def _checked(scene: Scene, op: Op, value: Value, type: Type) -> Value:
    if isinstance(value, Unknown):
        named = value if value.op is not None else Unknown(value.reason, op.index, value.names)
        return stand_in(named, type, scene.facts)
    if isinstance(value, Truth) and value.unknown is not None and value.cases == TRUE:
        return stand_in(value.unknown, type, scene.facts)
    if not isinstance(value, SymbolicNumber) or not type.is_integer or _never_wraps(traits.of(op.name)):
        return value
    facts = scene.facts.block(type.shape)
    if not arithmetic.fits(value, type.bits, facts):
        wraps = Unknown(_("a number that wraps around at {bits} bits").format(bits=type.bits), op.index)
        if facts.unknown is not None:
            facts.unknown.wraps[op.index] = wraps.reason
        return stand_in(wraps, type, scene.facts)
    if facts.unknown is not None and not arithmetic.always_fits(value, type.bits, facts):
        cases = [(piece.when, piece.value) for piece in value.pieces]
        facts.unknown.overflows[op.index] = MayOverflow(op.index, cases, type.bits, facts.ranges, facts.formula)
    return value


def _never_wraps(trait: traits.Trait) -> bool:
    """Whether a result fits its type because the operands fit theirs."""
    widens = trait.signed is True and trait.inverse == "arith.trunci"
    return trait.keeps or widens or trait.name == "arith.constant"
