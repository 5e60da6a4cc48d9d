"""Replaces each call of a function that is one operation by that operation."""

from __future__ import annotations

from dataclasses import replace

from triton_lab.ir.plan import Block, Function, Op, Plan, Region


def without_short_calls(plan: Plan) -> Plan:
    """``plan`` without calls of functions of one operation: a sum's region holds ``arith.addf``, not a call of it.

    Before the compiler inlines, the combine functions of reductions and scans are such calls.
    """
    return Plan({name: _function(function, plan) for name, function in plan.functions.items()}, plan.text)


def _function(function: Function, plan: Plan) -> Function:
    return replace(function, body=_region(function.body, plan))


def _region(region: Region, plan: Plan) -> Region:
    return Region(tuple(Block(block.arguments, tuple(_op(op, plan) for op in block.ops)) for block in region.blocks))


def _op(op: Op, plan: Plan) -> Op:
    if op.regions:
        return replace(op, regions=tuple(_region(one, plan) for one in op.regions))
    if op.name != "tt.call" or (called := plan.functions.get(op.attributes["callee"])) is None:
        return op
    # The front end adds a second block, which is never reached.
    first = called.body.blocks[0]
    if len(first.ops) != 2:
        return op
    body, end = first.ops
    if end.successors or body.regions or body.name == "tt.call" or end.operands != body.results:
        return op
    given = dict(zip(called.arguments, op.operands, strict=True))
    if not given.keys() >= {*body.operands}:
        return op
    return replace(op, name=body.name, operands=tuple(given[one] for one in body.operands), attributes=body.attributes)
