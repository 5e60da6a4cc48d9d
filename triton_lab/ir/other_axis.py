"""Turns operations of two-dimensional blocks to the other axis."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from triton_lab.ir import traits
from triton_lab.ir.plan import Block, Function, Op, Plan, Region


def along_other_axis(plan: Plan, ops: Collection[int]) -> Plan:
    """``plan`` with each ``tt.reduce`` and ``tt.expand_dims`` in ``ops`` (by index) along the other of two axes.

    Blocks that are reduced must be square, so that the results keep their shapes. What ``tt.expand_dims`` gives gets
    its extents exchanged, and so does what is computed from it lane by lane.
    """
    return Plan({name: _turned(function, ops) for name, function in plan.functions.items()}, plan.text)


def _turned(function: Function, ops: Collection[int]) -> Function:
    types = list(function.types)
    turned: set[int] = set()
    for op in function.walk():
        spreads = op.index in ops and op.name == "tt.expand_dims"
        if spreads or (traits.of(op.name).is_lane_by_lane and turned.intersection(op.operands)):
            turned.update(op.results)
    for number in turned:
        types[number] = replace(types[number], shape=types[number].shape[::-1])
    return replace(function, body=_region(function.body, ops), types=tuple(types))


def _region(region: Region, ops: Collection[int]) -> Region:
    return Region(tuple(Block(block.arguments, tuple(_op(op, ops) for op in block.ops)) for block in region.blocks))


def _op(op: Op, ops: Collection[int]) -> Op:
    if op.index in ops:
        return replace(op, attributes={**op.attributes, "axis": 1 - op.attributes["axis"]})
    return replace(op, regions=tuple(_region(one, ops) for one in op.regions)) if op.regions else op
