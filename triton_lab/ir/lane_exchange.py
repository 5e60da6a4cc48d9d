"""Exchanges of elements between lanes by exclusive or: how ``tl.sort`` and ``tl.flip`` are written.

Along an axis of two, ``x ^ (x[0] ^ x[1])`` is the other element. The operations of such an exchange compute with bits,
and only move elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.plan import Op, Plan
from triton_lab.ir.traits import Kind, of

_XOR = "arith.xori"


class Exchange(NamedTuple):
    """An exclusive or that gives the elements of its operand ``source`` with the indices along ``axis`` exchanged."""

    source: int
    axis: int


def exchanges(plan: Plan, flow: Flow) -> Mapping[int, Exchange]:
    """The exchanges of a plan, by the index of the exclusive or."""
    found = {}
    for function in plan.functions.values():
        for op in function.walk():
            if op.name != _XOR or not function.types[op.results[0]].shape:
                continue
            for source, other in ((0, 1), (1, 0)):
                axis = _exchanged(flow, function.name, op.operands[source], op.operands[other])
                if axis is not None and function.types[op.operands[source]].shape[axis] == 2:
                    found[op.index] = Exchange(source, axis)
    return found


def is_xor_sum(op: Op) -> bool:
    """Whether a reduction combines its elements by exclusive or alone."""
    if of(op.name).kind is not Kind.REDUCES or len(op.operands) != 1 or not op.regions:
        return False
    return [each.name for block in op.regions[0].blocks for each in block.ops][:-1] == [_XOR]


def _exchanged(flow: Flow, function: str, source: int, other: int) -> int | None:
    """The axis along which ``other`` is the exclusive or of ``source``, put back in its place; None if it is not."""
    maker = flow.maker.get(Value(function, other))
    while maker is not None and maker.name in ("tt.broadcast", "ttg.convert_layout"):
        maker = flow.maker.get(Value(function, maker.operands[0]))
    if maker is None or maker.name != "tt.expand_dims":
        return None
    axis = int(maker.attributes["axis"])
    maker = flow.maker.get(Value(function, maker.operands[0]))
    if maker is None or not is_xor_sum(maker) or maker.attributes["axis"] != axis or maker.operands[0] != source:
        return None
    return axis
