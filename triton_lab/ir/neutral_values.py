"""What a reduction or a scan combines its elements by, and the value that changes nothing there."""

from __future__ import annotations

import math

from triton_lab.ir import traits
from triton_lab.ir.plan import Op
from triton_lab.ir.types import Type


def combined_by(op: Op) -> str:
    """The name of the one operation by which a reduction or a scan of single values combines them, or ""."""
    names = [one.name for one in op.walk() if one is not op and not one.name.endswith(".return")]
    return names[0] if len(names) == 1 and len(op.operands) == 1 else ""


def neutral(name: str, type: Type) -> float | None:
    """The number that the operation ``name`` combines with another one to that one; None if it has none."""
    trait = traits.of(name)
    if trait.extreme:
        if type.is_float:
            return -trait.extreme * math.inf
        least, greatest = (0, -1) if trait.signed is False else (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1)
        return least if trait.extreme > 0 else greatest
    return {"+": 0.0, "*": 1.0}.get(trait.symbol) if trait.commutative and trait.numbers else None
