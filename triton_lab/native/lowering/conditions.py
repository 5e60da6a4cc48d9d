"""``scf.if``: two branches, and the merge of their results."""

from __future__ import annotations

from collections.abc import Sequence

from triton_lab.ir import Op
from triton_lab.native.analysis.plan_walk import walk
from triton_lab.native.blocks.materialize import materialise
from triton_lab.native.blocks.value_repr import DescriptorValue, Form
from triton_lab.native.llvm import builder as text
from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.lowering.descriptors import descriptor_of
from triton_lab.native.lowering.emitter import Emitter, emits


@emits("scf.if")
def scf_if(emitter: Emitter, op: Op) -> None:
    code = emitter.code
    needed = [v for v in op.results if not emitter.rehearsal or emitter.order.is_needed(v)]
    buffers = {value: emitter.take(value) for value in needed if emitter.types[value].shape}
    then, otherwise, after = (code.new_block(name) for name in ("then", "else", "join"))
    code.branch(emitter.scalar(op.operands[0]), then, otherwise)
    ways = []
    for number, block in enumerate((then, otherwise)):
        code.block = block
        forms, costs = dict(emitter.forms), dict(emitter.costs)
        found: dict[int, Form] = {}
        if number < len(op.regions) and op.regions[number].blocks:
            (body,) = op.regions[number].blocks
            yields = dict(zip(op.results, walk(emitter, body).operands, strict=True))
            for value in needed:
                if value in buffers:
                    materialise(emitter, yields[value], buffers[value])
                else:
                    found[value] = emitter.form(yields[value])
        ways.append((found, code.block))
        code.jump(after)
        emitter.forms, emitter.costs = forms, costs
    code.block = after
    for value in needed:
        if value in buffers:
            emitter.keep(value, buffers[value])
        else:
            emitter.forms[value] = _come_together(code, [(found[value], block) for found, block in ways])


def _come_together(code: FunctionBuilder, ways: Sequence[tuple[Form, text.BasicBlock]]) -> Reg | DescriptorValue:
    """A scalar or a descriptor that has one value on each path to the current block."""

    def joined(*found: Reg) -> Reg:
        phi = code.phi(found[0].kind)
        for x, (_, block) in zip(found, ways, strict=True):
            phi.come(x, block)
        return phi.reg

    forms = [form for form, _ in ways]
    if isinstance(forms[0], DescriptorValue):
        return descriptor_of(joined, [form for form in forms if isinstance(form, DescriptorValue)])
    return joined(*(form for form in forms if isinstance(form, Reg)))
