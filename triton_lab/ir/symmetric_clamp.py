"""Finds clamps whose limits are negatives of each other, which sm_90 computes in another way.

Triton makes ``min.xorsign.abs`` of ``clamp(x, -limit, limit)`` in float32 and float16: the lesser of both sizes, with
the product of both signs. In float64, which has no such instruction, it fails. It takes a clamp for one if the lower
limit is a constant and the negative of the upper one, or if it is ``-limit`` or ``0 - limit``. The results differ from
those of two comparisons for a NaN, and where ``limit`` is negative.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from triton_lab.ir.plan import Block, Dense, Function, Op, Region

SYMMETRIC = "symmetric"  # the attribute that such a clamp gets, with one of these:
SIGNED, UNSIGNED = "signed", "unsigned"  # whether a NaN that it takes has a sign
_TYPES = ("f32", "f16", "f64")


def marked(function: Function) -> Function:
    """The function, in which such clamps have the attribute `SYMMETRIC`."""
    made = {op.results[0]: op for op in function.walk() if len(op.results) == 1}
    found = {
        op.index: UNSIGNED if _widened(function, made.get(op.operands[0])) else SIGNED
        for op in function.walk()
        if op.name == "tt.clampf"
        and function.types[op.results[0]].element in _TYPES
        and _opposite(made, op.operands[1], op.operands[2])
    }
    return replace(function, body=_region(function.body, found)) if found else function


def _region(region: Region, found: dict[int, str]) -> Region:
    return Region(tuple(Block(block.arguments, tuple(_op(op, found) for op in block.ops)) for block in region.blocks))


def _op(op: Op, found: dict[int, str]) -> Op:
    if op.index in found:
        return replace(op, attributes={**op.attributes, SYMMETRIC: found[op.index]})
    return replace(op, regions=tuple(_region(one, found) for one in op.regions)) if op.regions else op


def _widened(function: Function, op: Op | None) -> bool:
    """Whether ``op`` widens float16 or fp8, of which a GPU makes NaN without a sign."""
    if op is None or op.name not in ("arith.extf", "tt.fp_to_fp"):
        return False
    source = function.types[op.operands[0]].element
    return source == "f16" or source.startswith("f8")


def _opposite(made: dict[int, Op], low: int, high: int) -> bool:
    """Whether Triton sees that ``low`` is the negative of ``high``."""
    lower = made.get(low)
    if lower is not None and lower.name == "arith.negf":
        return lower.operands[0] == high
    if lower is not None and lower.name == "arith.subf":
        return lower.operands[1] == high and _number(made, lower.operands[0]) == 0.0
    one, other = _number(made, low), _number(made, high)
    return one is not None and other is not None and one == -other


def _number(made: dict[int, Op], value: int) -> float | None:
    """The number that a constant, or a block of one constant, holds; None for others."""
    op = made.get(value)
    if op is not None and op.name == "tt.splat":
        op = made.get(op.operands[0])
    if op is None or op.name != "arith.constant":
        return None
    given: Any = op.attributes["value"]
    if isinstance(given, Dense):
        if isinstance(given.values, bytes) or len(given.values) != 1:
            return None
        given = given.values[0]
    return float(given) if isinstance(given, int | float) and not math.isnan(given) else None
