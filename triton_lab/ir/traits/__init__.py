"""What each operation does, declared once: to lanes, to values and their rounding, and to memory.

An operation's name enters; its `Trait` leaves, and for an `Op` the lane maps of its results. Everything that follows
values asks here: origins, marks, bounds, footprints, both engines. One file for each dialect; read `trait` and
`lane_map` first. An operation without a row is not known: each of its results may depend on all lanes of all operands.

>>> from triton_lab.ir import traits
>>> traits.of("tt.gather").kind
<Kind.PERMUTES: 'permutes'>
>>> traits.known("my.operation")
False
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from triton_lab.ir.plan import Op
from triton_lab.ir.traits import arith, control, lane_rules, math, tt, tt_accesses, ttg
from triton_lab.ir.traits.lane_map import All, At, AxisRule, LaneMap, Only, Picked, UpTo
from triton_lab.ir.traits.memory_effect import Effect
from triton_lab.ir.traits.trait import ANY_ORDER, Accuracy, Kind, Rounding, Trait, approximate, table
from triton_lab.ir.types import Type

TRAITS: Mapping[str, Trait] = table(
    *(row for dialect in (arith, math, tt, tt_accesses, control, ttg) for row in dialect.TRAITS.values())
)
# What an operation without a row may do: anything that runs no region and touches no memory that we know of.
_UNKNOWN = Trait("", Kind.CONTROL, lane_rules.unknown, rounding=approximate(None, flushes=None))


def known(name: str) -> bool:
    """Whether the operation is declared."""
    return name in TRAITS


def of(name: str) -> Trait:
    """What is declared of the operation; for one without a row, what holds for any."""
    return TRAITS.get(name, _UNKNOWN)


def names(which: Callable[[Trait], object]) -> frozenset[str]:
    """The names of the operations of which ``which`` is true."""
    return frozenset(name for name, trait in TRAITS.items() if which(trait))


# Reductions and scans by a function of elements, and products of tiles.
FOLDS = names(lambda trait: trait.kind in (Kind.REDUCES, Kind.SCANS) and trait.rounding is ANY_ORDER)
DOTS = names(lambda trait: trait.kind is Kind.CONTRACTS and trait.dialect == "tt")
# Sums of two operands; quotients of floats; these and products; exponentials; square roots and their inverses.
ADDITIONS = names(lambda trait: trait.symbol == "+")
QUOTIENTS = names(lambda trait: trait.symbol == "/" and trait.numbers == "float")
SCALINGS = QUOTIENTS | names(lambda trait: trait.symbol == "*")
EXPONENTIALS = names(lambda trait: trait.rounding.unit == "exp2")
ROOTS = names(lambda trait: trait.rounding.unit == "square root" or "math.sqrt" in trait.siblings)


def lanes(op: Op, types: Sequence[Type]) -> tuple[tuple[LaneMap, ...], ...]:
    """For each result and each operand of ``op``: the lanes of the operand that a lane of the result depends on.

    ``types`` are those of the function's values, by number.
    """
    return of(op.name).lanes(op, types)


def is_in_place(op: Op, types: Sequence[Type]) -> bool:
    """Whether ``op`` only computes, and each lane of its results depends on no other lane of its operands."""
    return of(op.name).is_pure and all(rule.stays for maps in lanes(op, types) for rule in maps)


__all__ = [
    "ADDITIONS",
    "DOTS",
    "EXPONENTIALS",
    "FOLDS",
    "QUOTIENTS",
    "ROOTS",
    "SCALINGS",
    "TRAITS",
    "Accuracy",
    "All",
    "At",
    "AxisRule",
    "Effect",
    "Kind",
    "LaneMap",
    "Only",
    "Picked",
    "Rounding",
    "Trait",
    "UpTo",
    "is_in_place",
    "known",
    "lanes",
    "names",
    "of",
]
