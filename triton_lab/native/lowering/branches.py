"""Branches: blocks of a kernel that are joined by them (a ``return`` before the end), and ``scf.if``."""

from __future__ import annotations

from collections.abc import Sequence

from triton_lab.ir import Op
from triton_lab.ir.plan import Region
from triton_lab.ir.value_flow import BRANCHES
from triton_lab.localization import _
from triton_lab.native.analysis.plan_walk import walk
from triton_lab.native.blocks.materialize import materialise
from triton_lab.native.blocks.value_repr import DescriptorValue, Form
from triton_lab.native.llvm import builder as text
from triton_lab.native.llvm.builder import BasicBlock, FunctionBuilder, Reg
from triton_lab.native.lowering.descriptors import descriptor_of
from triton_lab.native.lowering.emitter import Emitter, emits
from triton_lab.native.unsupported import Unsupported


def run_body(emitter: Emitter, body: Region) -> None:
    """Write the blocks of a kernel; the code goes on where all of them have ended."""
    if len(body.blocks) == 1:
        walk(emitter, body.blocks[0])
    else:
        _Branches(emitter, body).run()


class _Branches:
    """Writes blocks in the order of the text, since branches only go forwards. Each starts with the forms that all
    paths to it know.
    """

    def __init__(self, emitter: Emitter, body: Region) -> None:
        self.emitter, self.body = emitter, body
        self.targets = [emitter.code.new_block("part") for _unused in body.blocks]
        # The branches to each block: where they come from, and the values that they bring.
        self.arrivals: list[list[tuple[BasicBlock, tuple[int, ...], int]]] = [[] for _unused in body.blocks]
        self.known: list[tuple[dict[int, Form], dict[int, int]]] = []
        self.before: list[set[int]] = []

    def run(self) -> None:
        emitter, code = self.emitter, self.emitter.code
        ended = code.new_block("ended")
        code.jump(self.targets[0])
        for number, block in enumerate(self.body.blocks):
            code.block = self.targets[number]
            self._enter(number, block.arguments)
            end = walk(emitter, block)
            self.known.append((emitter.forms, emitter.costs))
            if end.name == "tt.return":
                code.jump(ended)
            elif end.name in BRANCHES:
                self._leave(number, end)
            else:
                raise Unsupported(end.name)
        code.block = ended

    def _enter(self, number: int, arguments: tuple[int, ...]) -> None:
        emitter, code = self.emitter, self.emitter.code
        if number == 0:
            self.before.append({0})
            emitter.forms, emitter.costs = dict(emitter.forms), dict(emitter.costs)
            return
        ways = self.arrivals[number]
        if not ways:
            raise Unsupported(_("a part of a kernel that is never reached"))
        # The blocks on every path here; the last one of them knows the most forms.
        common = set.intersection(*(self.before[source] for _block, _values, source in ways))
        self.before.append(common | {number})
        forms, costs = self.known[max(common)]
        emitter.forms, emitter.costs = dict(forms), dict(costs)
        for position, argument in enumerate(arguments):
            if emitter.rehearsal and not emitter.order.is_needed(argument):
                continue
            if emitter.types[argument].shape:
                raise Unsupported(_("a branch that passes on a block of values"))
            phi = code.phi(emitter.kind(argument))
            for block, handed, source in ways:
                brought = self.known[source][0][emitter.analysis.one(handed[position])]
                assert isinstance(brought, Reg)
                phi.come(brought, block)
            emitter.forms[argument] = phi.reg

    def _leave(self, number: int, end: Op) -> None:
        code = self.emitter.code
        if any(successor.block <= number for successor in end.successors):
            raise Unsupported("a branch backwards")
        blocks = [successor.block for successor in end.successors]
        if len(set(blocks)) != len(blocks):
            raise Unsupported(_("a branch that leads to one place"))
        for successor in end.successors:
            self.arrivals[successor.block].append((code.block, successor.operands, number))
        if end.name == "cf.br":
            code.jump(self.targets[blocks[0]])
        else:
            code.branch(self.emitter.scalar(end.operands[0]), *(self.targets[block] for block in blocks))


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
        for x, (_unused, block) in zip(found, ways, strict=True):
            phi.come(x, block)
        return phi.reg

    forms = [form for form, _ in ways]
    if isinstance(forms[0], DescriptorValue):
        return descriptor_of(joined, [form for form in forms if isinstance(form, DescriptorValue)])
    return joined(*(form for form in forms if isinstance(form, Reg)))
