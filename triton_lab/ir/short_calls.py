"""Replaces each call of a function that is one operation by that operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triton_lab.ir.plan import Op, Plan
from triton_lab.ir.plan_edits import Editor, edited


def without_short_calls(plan: Plan) -> Plan:
    """``plan`` without calls of functions of one operation: a sum's region holds ``arith.addf``, not a call of it.

    Before the compiler inlines, the combine functions of reductions and scans are such calls.
    """

    def inlined(editor: Editor, call: Op) -> Sequence[Op]:
        called = plan.functions[call.attributes["callee"]]
        body = called.body.blocks[0].ops[0]
        given = dict(zip(called.arguments, call.operands, strict=True))
        operands = tuple(given[one] for one in body.operands)
        return [replace(call, name=body.name, operands=operands, attributes=body.attributes)]

    return edited(plan, [(op.index, inlined) for op in plan.walk() if _is_short_call(op, plan)])


def _is_short_call(op: Op, plan: Plan) -> bool:
    """Whether an operation calls a function that returns what one operation makes of its arguments."""
    if op.name != "tt.call" or (called := plan.functions.get(op.attributes["callee"])) is None:
        return False
    # The front end adds a second block, which is never reached.
    *body, end = called.body.blocks[0].ops
    if len(body) != 1 or end.successors or body[0].regions or body[0].name == "tt.call":
        return False
    return end.operands == body[0].results and {*body[0].operands} <= {*called.arguments}
