"""Values of a kernel that only a run knows: each gets a symbol, and numbers that may overflow are noted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triton_lab.ir import Type
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import Interval, UnknownTerm

if TYPE_CHECKING:
    from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Facts
    from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicNumber

# The bounds of what an argument's memory holds: least and most, as expressions of parameters.
Contents = Mapping[int, "tuple[AffineExpr | None, AffineExpr | None]"]


@dataclass(frozen=True)
class MayOverflow:
    """A number computed in operation ``op`` with ``bits`` bits."""

    op: int
    value: SymbolicNumber
    bits: int
    facts: Facts


@dataclass
class UnknownValues:
    """Gives symbols to unknown values, each a function of the lane, the program and the iterations around it.

    ``contents`` bounds what the memory of the plan's arguments holds.
    """

    contents: Contents = field(default_factory=dict)
    overflows: dict[int, MayOverflow] = field(default_factory=dict)
    # The operations whose numbers may wrap around at the launch's own sizes, with the reason.
    wraps: dict[int, str] = field(default_factory=dict)
    _number: int = 0

    def value(self, type: Type, reason: str, op: int | None, facts: Facts, root: int | None = None) -> UnknownTerm:
        """A new symbol for a value of this ``type``; ``root`` is the argument that it was loaded from."""
        self._number += 1
        places = [f"_l{axis}" for axis, extent in enumerate(type.shape) if extent > 1]
        places += [name for name in facts.ranges if name.startswith(("_p", "_t"))]
        least, most = (None, None) if root is None else self.contents.get(root, (None, None))
        arguments = tuple(AffineExpr.of(place) for place in places)
        return UnknownTerm(self._number, arguments, reach_of(type), reason, op, least, most)

    def note_overflow(self, op: int, value: SymbolicNumber, bits: int, facts: Facts) -> None:
        """Remember a number that fits its type at the launch's sizes, and perhaps not at others."""
        limit = 1 << (bits - 1)
        for piece in value.pieces:
            low, high = facts.bounds(piece.value)
            if low < -limit or high >= limit:
                self.overflows[op] = MayOverflow(op, value, bits, facts)


def reach_of(type: Type) -> Interval:
    """The numbers that the type holds."""
    if type.element == "i1":
        return 0, 1
    if type.element == "index":
        return -math.inf, math.inf
    return -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1
