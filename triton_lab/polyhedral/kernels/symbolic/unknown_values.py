"""Values of a kernel that only a run knows: each gets a symbol, and numbers that may overflow are noted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from triton_lab.ir import Type
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import Constraint, Formula
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import Interval, UnknownTerm

# The bounds of what an argument's memory holds: least and most, as expressions of parameters.
Contents = Mapping[int, "tuple[AffineExpr | None, AffineExpr | None]"]
# A number by cases: the condition of each, and the value.
Cases = Sequence["tuple[tuple[Constraint, ...], AffineExpr]"]


@dataclass(frozen=True)
class MayOverflow:
    """A number computed in operation ``op`` with ``bits`` bits; ``ranges`` and ``formula`` hold there."""

    op: int
    cases: Cases
    bits: int
    ranges: Mapping[str, Interval]
    formula: Formula


@dataclass
class UnknownValues:
    """Gives symbols to unknown values, each a function of the lane, the program and the iterations around it.

    ``contents`` bounds what the memory of the plan's arguments holds. ``overflows`` are numbers that fit their types at
    the launch's own sizes, and perhaps not at others; ``wraps`` those that may not fit at these, with the reason.
    """

    contents: Contents = field(default_factory=dict)
    overflows: dict[int, MayOverflow] = field(default_factory=dict)
    wraps: dict[int, str] = field(default_factory=dict)
    _number: int = 0

    def value(
        self, type: Type, reason: str, op: int | None, symbols: Iterable[str], root: int | None = None
    ) -> UnknownTerm:
        """A new symbol for a value of this ``type``; ``root`` is the argument that it was loaded from.

        ``symbols`` are those in scope.
        """
        self._number += 1
        places = [f"_l{axis}" for axis, extent in enumerate(type.shape) if extent > 1]
        places += [name for name in symbols if name.startswith(("_p", "_t"))]
        least, most = (None, None) if root is None else self.contents.get(root, (None, None))
        arguments = tuple(AffineExpr.of(place) for place in places)
        return UnknownTerm(self._number, arguments, reach_of(type), reason, op, least, most)

    def may_wrap(self, op: int) -> None:
        """Note an operation of which it is not known whether its result fits its type."""
        self.wraps[op] = _("a number that may overflow")


def reach_of(type: Type) -> Interval:
    """The numbers that the type holds."""
    if type.element == "i1":
        return 0, 1
    if type.element == "index":
        return -math.inf, math.inf
    return -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1
