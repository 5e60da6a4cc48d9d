"""Rules of operations that compute: arithmetic, bits, comparisons, casts."""

from __future__ import annotations

from typing import Any

from triton_lab.ir import Dense, Op
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import FALSE, TRUE
from triton_lab.polyhedral.kernels.symbolic import symbolic_arithmetic as arithmetic
from triton_lab.polyhedral.kernels.symbolic.rule_table import Scene, rule
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import program
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import (
    SymbolicNumber,
    Truth,
    Unknown,
    Value,
    both,
    choose,
    either,
    negation,
)


@rule("arith.constant")
def constant(scene: Scene, op: Op) -> Value:
    value = op.attributes["value"]
    type = scene.type(op.results[0])
    if isinstance(value, Dense):
        if isinstance(value.values, bytes) or len(set(value.values)) != 1:
            return Unknown(_("a table of constants"))
        value = value.values[0]
    if type.element == "i1":
        return Truth(TRUE if value else FALSE)
    return SymbolicNumber.of(int(value))


@rule("tt.get_program_id")
def get_program_id(scene: Scene, op: Op) -> Value:
    return SymbolicNumber.of(program(op.attributes["axis"]))


@rule("tt.get_num_programs")
def get_num_programs(scene: Scene, op: Op) -> Value:
    return scene.grid[op.attributes["axis"]]


@rule("arith.addi")
def addi(scene: Scene, op: Op, a: Value, b: Value) -> Value:
    if isinstance(a, SymbolicNumber) and isinstance(b, SymbolicNumber):
        return arithmetic.add(a, b, scene.lanes(op))
    return _exclusive(scene, op, a, b)


@rule("arith.subi")
def subi(scene: Scene, op: Op, a: SymbolicNumber, b: SymbolicNumber) -> Value:
    return arithmetic.subtract(a, b, scene.lanes(op))


@rule("arith.muli")
def muli(scene: Scene, op: Op, a: Value, b: Value) -> Value:
    if isinstance(a, Truth) and isinstance(b, Truth):
        return both(a, b, scene.lanes(op))
    return arithmetic.multiply(a, b, scene.lanes(op))  # type: ignore[arg-type]


@rule("arith.divsi")
def divsi(scene: Scene, op: Op, a: SymbolicNumber, b: SymbolicNumber) -> Value:
    return arithmetic.divide(a, b, scene.lanes(op))


@rule("arith.floordivsi")
def floordivsi(scene: Scene, op: Op, a: SymbolicNumber, b: SymbolicNumber) -> Value:
    return arithmetic.divide(a, b, scene.lanes(op), "floor")


@rule("arith.remsi")
def remsi(scene: Scene, op: Op, a: SymbolicNumber, b: SymbolicNumber) -> Value:
    return arithmetic.remainder(a, b, scene.lanes(op))


def _unsigned(scene: Scene, op: Op, *numbers: SymbolicNumber) -> bool:
    """Whether the numbers are the same when read as unsigned."""
    facts = scene.lanes(op)
    return all(arithmetic.not_negative(p.value, facts, p.when) for n in numbers for p in n.pieces)


@rule("arith.divui")
def divui(scene: Scene, op: Op, a: SymbolicNumber, b: SymbolicNumber) -> Value:
    return divsi(scene, op, a, b) if _unsigned(scene, op, a, b) else _NEGATIVE


@rule("arith.remui")
def remui(scene: Scene, op: Op, a: SymbolicNumber, b: SymbolicNumber) -> Value:
    return remsi(scene, op, a, b) if _unsigned(scene, op, a, b) else _NEGATIVE


_NEGATIVE = Unknown("an unsigned operation on a possibly negative value")


@rule("arith.shli")
def shli(scene: Scene, op: Op, a: SymbolicNumber, b: SymbolicNumber) -> Value:
    amount = arithmetic.constant(b, scene.lanes(op))
    if amount is None or not 0 <= amount < scene.type(op.results[0]).bits - 1:
        return Unknown(_("a shift by a variable"), names=b.names)
    return arithmetic.scaled(a, 1 << amount)


@rule("arith.shrsi")
def shrsi(scene: Scene, op: Op, a: SymbolicNumber, b: SymbolicNumber) -> Value:
    amount = arithmetic.constant(b, scene.lanes(op))
    if amount is None or not 0 <= amount < scene.type(op.results[0]).bits:
        return Unknown(_("a shift by a variable"), names=b.names)
    return arithmetic.divide(a, SymbolicNumber.of(1 << amount), scene.lanes(op), "floor")


@rule("arith.shrui")
def shrui(scene: Scene, op: Op, a: SymbolicNumber, b: SymbolicNumber) -> Value:
    return shrsi(scene, op, a, b) if _unsigned(scene, op, a) else _NEGATIVE


@rule("arith.andi", takes_unknown=True)
def andi(scene: Scene, op: Op, a: Value, b: Value) -> Value:
    facts = scene.lanes(op)
    if isinstance(a, Truth) and isinstance(b, Truth):
        return both(a, b, facts)
    for unknown in (a, b):
        if isinstance(unknown, Unknown):
            return unknown
    assert isinstance(a, SymbolicNumber) and isinstance(b, SymbolicNumber)
    for one, other in ((a, b), (b, a)):
        mask = arithmetic.constant(one, facts)
        if mask is not None and mask >= 0 and mask & (mask + 1) == 0:  # the low bits
            return arithmetic.remainder(other, SymbolicNumber.of(mask + 1), facts, "floor")
        if mask is not None and mask < 0 and -mask & (-mask - 1) == 0:  # all but the low bits
            low = arithmetic.remainder(other, SymbolicNumber.of(-mask), facts, "floor")
            return low if isinstance(low, Unknown) else arithmetic.subtract(other, low, facts)
    return Unknown(_("a bitwise combination of two numbers"))


@rule("arith.ori", takes_unknown=True)
def ori(scene: Scene, op: Op, a: Value, b: Value) -> Value:
    if isinstance(a, Truth) and isinstance(b, Truth):
        return either(a, b, scene.lanes(op))
    return next((v for v in (a, b) if isinstance(v, Unknown)), Unknown(_("a bitwise combination of two numbers")))


@rule("arith.xori")
def xori(scene: Scene, op: Op, a: Value, b: Value) -> Value:
    return _exclusive(scene, op, a, b)


def _exclusive(scene: Scene, op: Op, a: Value, b: Value) -> Value:
    """The exclusive or of two booleans."""
    if not (isinstance(a, Truth) and isinstance(b, Truth)):
        return Unknown(_("a bitwise combination of two numbers"))
    facts = scene.lanes(op)
    return either(both(a, negation(b, facts), facts), both(negation(a, facts), b, facts), facts)


@rule("arith.minsi", "arith.minui")
def minsi(scene: Scene, op: Op, a: Value, b: Value) -> Value:
    return _extremum(scene, op, "min", a, b)


@rule("arith.maxsi", "arith.maxui")
def maxsi(scene: Scene, op: Op, a: Value, b: Value) -> Value:
    return _extremum(scene, op, "max", a, b)


def _extremum(scene: Scene, op: Op, kind: Any, a: Value, b: Value) -> Value:
    if not (isinstance(a, SymbolicNumber) and isinstance(b, SymbolicNumber)):
        return Unknown(_("the minimum or maximum of two conditions"))
    if op.name.endswith("ui") and not _unsigned(scene, op, a, b):
        return _NEGATIVE
    return arithmetic.extremum(kind, a, b, scene.lanes(op))


# In the order of MLIR's enumeration.
_PREDICATES = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")


@rule("arith.cmpi")
def cmpi(scene: Scene, op: Op, a: Value, b: Value) -> Value:
    predicate = op.attributes["predicate"]
    facts = scene.lanes(op)
    if isinstance(a, Truth) and isinstance(b, Truth):
        if predicate not in (0, 1):
            return Unknown(_("a comparison of two conditions"))
        different = _exclusive(scene, op, a, b)
        assert isinstance(different, Truth)
        return different if predicate == 1 else negation(different, facts)
    assert isinstance(a, SymbolicNumber) and isinstance(b, SymbolicNumber)
    if predicate >= 6 and not _unsigned(scene, op, a, b):
        return _NEGATIVE
    return arithmetic.compare(_PREDICATES[predicate], a, b, facts)


@rule("arith.select", takes_unknown=True)
def select(scene: Scene, op: Op, condition: Value, a: Value, b: Value) -> Value:
    if isinstance(condition, Unknown):
        condition = Truth(TRUE, condition)
    assert isinstance(condition, Truth)
    return choose(condition, a, b, scene.lanes(op))


@rule("arith.extsi", "arith.index_cast", "arith.bitcast", "tt.bitcast")
def same(scene: Scene, op: Op, value: Value) -> Value:
    if isinstance(value, Truth) and scene.type(op.results[0]).element != "i1":
        return choose(value, SymbolicNumber.of(-1), SymbolicNumber.of(0), scene.lanes(op))
    return value


@rule("arith.extui")
def extui(scene: Scene, op: Op, value: Value) -> Value:
    if isinstance(value, Truth):
        return choose(value, SymbolicNumber.of(1), SymbolicNumber.of(0), scene.lanes(op))
    assert isinstance(value, SymbolicNumber)
    return value if _unsigned(scene, op, value) else _NEGATIVE


@rule("arith.trunci")
def trunci(scene: Scene, op: Op, value: Value) -> Value:
    if scene.type(op.results[0]).element != "i1" or not isinstance(value, SymbolicNumber):
        return value  # the check of results finds an overflow
    facts = scene.lanes(op)
    bit = arithmetic.remainder(value, SymbolicNumber.of(2), facts, "floor")
    return bit if isinstance(bit, Unknown) else arithmetic.compare("==", bit, SymbolicNumber.of(1), facts)


@rule("math.absi")
def absi(scene: Scene, op: Op, value: SymbolicNumber) -> Value:
    return arithmetic.extremum("max", value, arithmetic.scaled(value, -1), scene.lanes(op))


@rule("tt.addptr")
def addptr(scene: Scene, op: Op, pointer: SymbolicNumber, offset: SymbolicNumber) -> Value:
    pointee = scene.type(op.results[0]).pointee
    assert pointee is not None
    return arithmetic.add(pointer, arithmetic.scaled(offset, max(1, pointee.bits // 8)), scene.lanes(op))
