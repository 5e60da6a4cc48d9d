"""The walk over the operations of a plan's block."""

from __future__ import annotations

from triton_lab.ir import Op
from triton_lab.ir.plan import Block
from triton_lab.native.analysis.compact_forms import compact
from triton_lab.native.blocks.materialize import settle
from triton_lab.native.blocks.value_repr import Lazy
from triton_lab.native.lowering.descriptors import chosen
from triton_lab.native.lowering.emitter import ELEMENTS, EMITS, Emitter
from triton_lab.native.lowering.pure_operations import PURE
from triton_lab.native.unsupported import Unsupported


def walk(emitter: Emitter, block: Block) -> Op:
    """Give the results of a block's operations their forms, and write those with effects. Returns the last
    operation.
    """
    for op in block.ops[:-1]:
        if emitter.analysis.repeats(op) or op in emitter.done:
            continue
        if op in emitter.order.writing:
            # From here on the program cannot start again on the other path.
            emitter.within = False
        if op.name in PURE:
            _define(emitter, op)
        elif op.name not in EMITS:
            raise Unsupported(op.name)
        elif not emitter.rehearsal or emitter.order.is_rehearsed(op):
            EMITS[op.name](emitter, op)
    return block.ops[-1]


def _define(emitter: Emitter, op: Op) -> None:
    (value,) = op.results
    if not emitter.types[value].shape:
        if emitter.rehearsal and any(emitter.analysis.one(operand) not in emitter.forms for operand in op.operands):
            return
        is_descriptor = emitter.types[value].is_descriptor
        emitter.forms[value] = chosen(emitter, op) if is_descriptor else ELEMENTS[op.name](emitter, op, ())
        return
    if emitter.rehearsal and not emitter.order.is_needed(value):
        return
    form = compact(emitter, op)
    if form is not None:
        emitter.forms[value], emitter.costs[value] = form, 1
        return
    emitter.forms[value] = Lazy(op)
    operands = {emitter.analysis.one(operand) for operand in op.operands}
    emitter.costs[value] = min(1000, emitter.analysis.cost(op) + sum(map(emitter.cost_of, operands)))
    settle(emitter, value)
