"""Atomics that leave the same bits in memory in whatever batches programs run: sums, and what is like them.

The lanes of an atomic take their turns in ascending order of program and lane. NumPy runs an operation for a batch of
programs, machine code a program at a time. For one atomic on an element that is the same order if each program comes to
it once; integers do not depend on the order at all.
"""

from __future__ import annotations

from triton_lab.ir import Op
from triton_lab.ir.effects import Rmw, operands_of
from triton_lab.ir.plan import Function
from triton_lab.ir.value_flow import LOOPS

# The sum, and what does not depend on the order of integers.
_SUMS = frozenset({Rmw.ADD, Rmw.FADD})
_OF_INTEGERS = _SUMS | {Rmw.AND, Rmw.OR, Rmw.XOR, Rmw.MAX, Rmw.MIN, Rmw.UMAX, Rmw.UMIN}


def atomic_sums(function: Function) -> frozenset[Op]:
    """Those of a function. No other access may touch their memory: that is for the caller to see."""
    ops = list(function.walk())
    used = {value for op in ops for value in (*op.operands, *_handed_on(op))}
    repeated = {inner for op in ops if op.name in LOOPS for inner in op.walk()}
    # Programs that come to a block on several ways may run it one way after the other.
    if len(function.body.blocks) > 1:
        repeated = set(ops)
    return frozenset(
        op
        for op in ops
        if op.name == "tt.atomic_rmw"
        and not used.intersection(op.results)
        and _is_sum(function, op, op not in repeated)
    )


def _is_sum(function: Function, op: Op, is_once: bool) -> bool:
    at = operands_of(op).value
    assert at is not None
    kind = op.attributes["atomic_rmw_op"]
    if function.types[op.operands[at]].element[0] in "fb":
        return is_once and kind in _SUMS
    return kind in _OF_INTEGERS


def _handed_on(op: Op) -> tuple[int, ...]:
    return tuple(value for successor in op.successors for value in successor.operands)
