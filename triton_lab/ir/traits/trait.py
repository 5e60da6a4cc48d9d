"""`Trait`: what is declared once of an operation, and the table that the dialects' files fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from triton_lab.ir.plan import Op
from triton_lab.ir.traits.lane_map import LaneMap
from triton_lab.ir.traits.memory_effect import Effect
from triton_lab.ir.types import Type

# The lane maps of an operation, by result and then by operand. The types are those of its function, by value number.
LaneRule = Callable[[Op, Sequence[Type]], tuple[tuple[LaneMap, ...], ...]]


Numbers = Literal["float", "integer", ""]


class Kind(StrEnum):
    """What an operation does to the elements of its operands."""

    MOVES = "moves"  # to other places, which attributes and shapes decide
    PERMUTES = "permutes"  # to other places, which values decide
    ELEMENTWISE = "elementwise"  # computes each lane from the same lane of each operand
    COMPARES = "compares"  # the same, with a mask as the result
    CASTS = "casts"  # the same number in another type
    REDUCES = "reduces"  # several lanes to one
    SCANS = "scans"  # each lane with those before it
    CONTRACTS = "contracts"  # products, summed
    CREATES = "creates"  # values from attributes, the grid, or scalars
    ACCESSES = "accesses"  # reads or writes memory
    CONTROL = "control"  # runs its regions, ends a block, or calls
    ORDERS = "orders"  # makes programs, lanes or memory wait
    REPORTS = "reports"  # prints, asserts, or states what holds


class Accuracy(StrEnum):
    """How far the float results of an operation may be from the exact ones."""

    EXACT = "exact"  # no rounding: integers, comparisons, moves
    CORRECT = "correct"  # the exact result, rounded once to nearest
    ANY_ORDER = "any order"  # a sum or a product of terms, rounded after each, in an order that differs by target
    APPROXIMATE = "approximate"  # a GPU approximates it in float32


@dataclass(frozen=True, slots=True)
class Rounding:
    """How an operation rounds.

    ``ulp`` bounds the error of a GPU's approximation in float32, in units in the last place, as NVIDIA documents it;
    None where that bound is absolute, or depends on the function. ``flushes``: on a GPU, float32 operands and results
    that are subnormal count as zero; None if that depends on the function. ``unit`` is the function of a GPU that
    computes it, with which it shares its error. ``ieee``: IEEE 754 demands the nearest number, which a CPU gives.
    """

    accuracy: Accuracy = Accuracy.EXACT
    ulp: float | None = 0.0
    flushes: bool | None = False
    unit: str = ""
    ieee: bool = False


EXACT = Rounding()
CORRECT = Rounding(Accuracy.CORRECT, 0.5)
ANY_ORDER = Rounding(Accuracy.ANY_ORDER, None)


def approximate(ulp: float | None, flushes: bool | None = False, unit: str = "", ieee: bool = False) -> Rounding:
    """A function that a GPU approximates."""
    return Rounding(Accuracy.APPROXIMATE, ulp, flushes, unit, ieee)


@dataclass(frozen=True, slots=True)
class Trait:
    """What is declared of the operation ``name``.

    ``lanes`` gives its lane maps. ``numbers``: whether it computes with floats or integers; ``makes``: what its result
    is, for a cast that changes that. ``commutative``: its first two operands may change places. ``idempotent``: of
    equal operands, or done again, it gives the same. ``keeps``: each element of a result is one of an operand, bit for
    bit. ``wraps``: an integer result may not fit its type. ``sums``: it adds or subtracts its operands, or products of
    them. ``signed``: how it reads integers; None if that makes no difference. ``bitwise``: it works on bits, not on
    numbers. ``absorbing``: an operand of this value decides the result whatever the other is (for floats, if that is
    finite). ``extreme``: the result is the least (-1) or the greatest (1) of its operands. ``drops_nan``: of a number
    and NaN it gives the number. ``fuses``: a GPU may compute it together with the addition that takes its result,
    without rounding in between. ``symbol`` is its operator in Python. ``refused`` says why the CPU target does not run
    it; "" if it does. ``inverse`` undoes it, and ``siblings`` are what is written in its place by mistake, or on
    purpose.
    """

    name: str
    kind: Kind
    lanes: LaneRule
    numbers: Numbers = ""
    rounding: Rounding = EXACT
    effect: Effect | None = None
    commutative: bool = False
    idempotent: bool = False
    keeps: bool = False
    wraps: bool = False
    sums: bool = False
    signed: bool | None = None
    bitwise: bool = False
    absorbing: int | None = None
    makes: Numbers = ""
    extreme: int = 0
    drops_nan: bool = False
    fuses: bool = False
    symbol: str = ""
    inverse: str | None = None
    refused: str = ""
    siblings: tuple[str, ...] = ()

    @property
    def dialect(self) -> str:
        """The part of the name before the first dot."""
        return self.name.partition(".")[0]

    @property
    def is_lane_by_lane(self) -> bool:
        """Whether each lane of the result is computed from the same lane of each operand."""
        return self.kind in (Kind.ELEMENTWISE, Kind.COMPARES, Kind.CASTS)

    @property
    def is_pure(self) -> bool:
        """Whether the operation only computes its results: no memory, no control flow, no output."""
        return self.kind not in (Kind.ACCESSES, Kind.CONTROL, Kind.ORDERS, Kind.REPORTS)


def table(*rows: Trait) -> dict[str, Trait]:
    """The rows by name. Raises ValueError if two have one name."""
    found: dict[str, Trait] = {}
    for row in rows:
        if row.name in found:
            raise ValueError(f"{row.name} is declared twice")
        found[row.name] = row
    return found


__all__ = [
    "ANY_ORDER",
    "CORRECT",
    "EXACT",
    "Accuracy",
    "Kind",
    "LaneRule",
    "Rounding",
    "Trait",
    "approximate",
    "table",
]
