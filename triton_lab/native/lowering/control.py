"""Loops.

A loop carries a scalar, the base of an affine block, or the pointers to two buffers, each as a phi. The two buffers
swap places, so that a round reads the old block while it writes the new one. A block stays in one buffer if a round
needs each of its elements only for the same element of the new block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from triton_lab.ir import Op
from triton_lab.ir.plan import Block
from triton_lab.native.analysis.plan_walk import walk
from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.materialize import materialise
from triton_lab.native.blocks.value_repr import AffineValue, DescriptorValue, Form, ScratchBlock
from triton_lab.native.llvm import builder as text
from triton_lab.native.llvm.builder import FunctionBuilder, Phi, Reg
from triton_lab.native.lowering.emitter import Emitter, Retry, emits
from triton_lab.native.lowering.progress_guard import Handed, Rounds


@dataclass(slots=True)
class CarriedValue:
    """A value that a loop carries: its argument, its phis and its form."""

    argument: int
    phis: tuple[Phi, ...]
    form: AffineValue | ScratchBlock | DescriptorValue | Reg


@emits(
    "llvm.intr.assume", "tt.grid_dependency_wait", "tt.grid_dependency_launch_dependents", "gpu.barrier", "ttg.barrier"
)
def nothing(emitter: Emitter, op: Op) -> None:
    """An operation that has no effect when programs run one at a time."""


@emits("scf.for")
def scf_for(emitter: Emitter, op: Op) -> None:
    code = emitter.code
    (body,) = op.regions[0].blocks
    low, high, step = (emitter.scalar(value) for value in op.operands[:3])
    unsigned = bool(op.attributes.get("unsignedCmp"))
    counter, arguments = body.arguments[0], body.arguments[1:]
    # The rounds are counted, so that a counter near the end of its type does not wrap to the start.
    rounds = _rounds(emitter, op, low, high, step, unsigned)
    starts = _prepared(emitter, arguments, op.operands[3:], op.results, body.ops[-1])
    before, head, inside, after = code.block, *(code.new_block(name) for name in ("for", "body", "after"))
    code.jump(head)
    code.block = head
    number, i = code.phi("i64"), code.phi(low.kind)
    number.come(code.constant("i64", 0), before)
    i.come(low, before)
    carried = _carry(emitter, starts, before)
    code.branch(code.compare("ult", number.reg, rounds), inside, after)
    code.block = inside
    forms, costs = dict(emitter.forms), dict(emitter.costs)
    emitter.forms[counter] = i.reg
    _turn(emitter, op, body, carried, arguments)
    number.come(code.op("add", number.reg, code.constant("i64", 1)), code.block)
    i.come(code.op("add", i.reg, step), code.block)
    code.jump(head)
    emitter.forms, emitter.costs = forms, costs
    code.block = after
    _results(emitter, op, carried)


def _rounds(emitter: Emitter, op: Op, low: Reg, high: Reg, step: Reg, unsigned: bool) -> Reg:
    """How often the body runs: ``ceil((high - low) / step)``, at least 0. A guard checks that the step is positive."""
    code = emitter.code
    cast = "zext" if unsigned else "sext"
    start, end, pace = (
        code.cast(cast, x, "i64") if x.literal is None else _wide(code, x, unsigned) for x in (low, high, step)
    )
    emitter.guards.require(code.compare("sgt", pace, code.constant("i64", 0)), op, "step")
    if low.kind == "i64":
        # Guards keep the bounds far from overflow of 64 bits.
        for x in (start, end):
            if x.literal is None or not -(1 << 61) <= x.literal < 1 << 61:
                shifted = code.op("add", x, code.constant("i64", 1 << 61))
                emitter.guards.require(code.compare("ult", shifted, code.constant("i64", 1 << 62)), op, "wraps")
    some = code.compare("slt", start, end)
    distance = code.select(some, code.op("sub", end, start), code.constant("i64", 0))
    if pace.literal == 1:
        return distance
    rounded = code.op("add", distance, code.op("sub", pace, code.constant("i64", 1)))
    return code.op("udiv", rounded, pace)


def _wide(code: FunctionBuilder, x: Reg, unsigned: bool) -> Reg:
    value = x.literal
    assert value is not None
    return code.constant("i64", value % (1 << int(x.kind[1:])) if unsigned else value)


Start = tuple[int, Form | tuple[ScratchBlock, ScratchBlock]]


def _prepared(
    emitter: Emitter, arguments: Sequence[int], values: Sequence[int], last: Sequence[int], end: Op | None = None
) -> list[Start]:
    """The start form of each carried value; blocks that are not affine are written to scratch.

    ``last`` are the values that stand for the carried ones after the last round: if no round reads a value, a guard may
    still need that one. ``end`` yields the next values, if only the body reads the old ones.
    """
    found: list[Start] = []
    for at, (argument, value, after) in enumerate(zip(arguments, values, last, strict=True)):
        if emitter.rehearsal and not (emitter.order.is_needed(argument) or emitter.order.is_needed(after)):
            continue
        form = emitter.form(value)
        if isinstance(form, (Reg, DescriptorValue)) or (
            isinstance(form, AffineValue) and argument not in emitter.crooked
        ):
            found.append((argument, form))
            continue
        first = emitter.take(argument)
        materialise(emitter, value, first)
        if end is not None and emitter.analysis.is_renewed(argument, emitter.analysis.one(end.operands[at]), end):
            found.append((argument, first))
        else:
            found.append((argument, (first, emitter.take(argument))))
    return found


def _carry(emitter: Emitter, starts: Sequence[Start], before: text.BasicBlock) -> list[CarriedValue]:
    """Phis at the head of a loop, each with its value from ``before``."""
    code = emitter.code
    carried = []
    for argument, start in starts:
        if isinstance(start, Reg):
            phi = code.phi(start.kind)
            phi.come(start, before)
            carried.append(CarriedValue(argument, (phi,), phi.reg))
            emitter.forms[argument] = phi.reg
        elif isinstance(start, DescriptorValue):
            phis = tuple(code.phi(reg.kind) for reg in start.registers)
            for phi, reg in zip(phis, start.registers, strict=True):
                phi.come(reg, before)
            emitter.forms[argument] = described = DescriptorValue.of([phi.reg for phi in phis])
            carried.append(CarriedValue(argument, phis, described))
        elif isinstance(start, AffineValue):
            phi = code.phi("i64")
            phi.come(int_expr.register(code, start.base), before)
            bits = emitter.types[argument].bits
            form = replace(start, base=phi.reg, base_bits=bits if bits == 64 else bits - 1)
            carried.append(CarriedValue(argument, (phi,), form))
            emitter.forms[argument] = form
        elif isinstance(start, ScratchBlock):
            carried.append(CarriedValue(argument, (), start))
            emitter.forms[argument] = start
        else:
            assert isinstance(start, tuple)
            now, then = code.phi("ptr"), code.phi("ptr")
            now.come(start[0].pointer, before)
            then.come(start[1].pointer, before)
            buffer = ScratchBlock(now.reg, start[0].shape, start[0].strides, start[0].kind, start[0].widened)
            carried.append(CarriedValue(argument, (now, then), buffer))
            emitter.forms[argument] = buffer
        emitter.costs[argument] = 1
    return carried


def _turn(
    emitter: Emitter,
    op: Op,
    body: Block,
    carried: Sequence[CarriedValue],
    arguments: Sequence[int],
    rounds: Rounds | None = None,
) -> None:
    """One round of the loop ``op``: the body, and its values for the next round."""
    yields = dict(zip(arguments, body.ops[-1].operands, strict=True))
    wanted = dict(emitter.wanted)
    for each in carried:
        value = emitter.analysis.one(yields[each.argument])
        if isinstance(each.form, ScratchBlock) and value not in emitter.forms and value not in emitter.wanted:
            emitter.wanted[value] = _other(each)
    emitter.guards.ask(op)
    walk(emitter, body)
    _hand_back(emitter, carried, yields, rounds)
    emitter.wanted = wanted


def _other(each: CarriedValue) -> ScratchBlock:
    """The buffer that the next round will read."""
    assert isinstance(each.form, ScratchBlock)
    if not each.phis:
        return each.form
    return ScratchBlock(each.phis[1].reg, each.form.shape, each.form.strides, each.form.kind, each.form.widened)


def _hand_back(
    emitter: Emitter, carried: Sequence[CarriedValue], yields: dict[int, int], rounds: Rounds | None
) -> None:
    """The values of the next round; all of them are computed before any phi changes."""
    code = emitter.code
    following: list[tuple[Reg, ...]] = []
    for each in carried:
        value = emitter.analysis.one(yields[each.argument])
        form = emitter.forms[value]
        if isinstance(each.form, Reg):
            assert isinstance(form, Reg)
            following.append((form,))
        elif isinstance(each.form, DescriptorValue):
            assert isinstance(form, DescriptorValue)
            following.append(form.registers)
        elif isinstance(each.form, AffineValue):
            if not isinstance(form, AffineValue) or form.strides != each.form.strides:
                raise Retry(each.argument)
            following.append((int_expr.register(code, form.base),))
        elif value == each.argument:
            following.append(tuple(phi.reg for phi in each.phis))
        else:
            other = _other(each)
            if not (isinstance(form, ScratchBlock) and form.pointer == other.pointer):
                materialise(emitter, value, other)
            following.append(tuple(phi.reg for phi in reversed(each.phis)))
    if rounds is not None:
        rounds.end([_handed(emitter, each, regs, yields) for each, regs in zip(carried, following, strict=True)])
    for each, regs in zip(carried, following, strict=True):
        for phi, reg in zip(each.phis, regs, strict=True):
            phi.come(reg, code.block)


def _handed(emitter: Emitter, each: CarriedValue, after: Sequence[Reg], yields: dict[int, int]) -> Handed:
    if isinstance(each.form, ScratchBlock):
        is_other = emitter.analysis.one(yields[each.argument]) != each.argument
        return Handed(each.argument, (), (), is_other)
    return Handed(each.argument, [phi.reg for phi in each.phis], after, False)


def _results(emitter: Emitter, op: Op, carried: Sequence[CarriedValue]) -> None:
    """Give the loop's results the forms of the last carried values."""
    (body,) = op.regions[0].blocks
    results = dict(zip(body.arguments[1:], op.results, strict=True))
    for each in carried:
        emitter.forms[results[each.argument]] = each.form
        emitter.costs[results[each.argument]] = 1


@emits("scf.while")
def scf_while(emitter: Emitter, op: Op) -> None:
    code = emitter.code
    (condition,), (body,) = (region.blocks for region in op.regions)
    starts = _prepared(emitter, condition.arguments, op.operands, condition.arguments)
    waiting = emitter.order.waits.get(op)
    rounds = None if waiting is None else Rounds(emitter, op, waiting)
    before, head, inside, after = code.block, *(code.new_block(name) for name in ("while", "do", "after"))
    code.jump(head)
    code.block = head
    carried = _carry(emitter, starts, before)
    if rounds is not None:
        rounds.begin()
    forms, costs = dict(emitter.forms), dict(emitter.costs)
    end = walk(emitter, condition)
    passed = [emitter.analysis.one(value) for value in end.operands[1:]]
    for value in passed:
        if emitter.types[value].shape and value in emitter.forms and not isinstance(emitter.forms[value], AffineValue):
            materialise(emitter, value)
    code.branch(emitter.scalar(end.operands[0]), inside, after)
    middle = dict(emitter.forms), dict(emitter.costs)
    code.block = inside
    if rounds is not None:
        rounds.go_on()
    _hand_on(emitter, body.arguments, passed)
    _turn(emitter, op, body, carried, condition.arguments, rounds)
    code.jump(head)
    emitter.forms, emitter.costs = middle
    code.block = after
    _hand_on(emitter, op.results, passed)
    kept = {value: emitter.forms[value] for value in op.results if value in emitter.forms}
    emitter.forms, emitter.costs = forms | kept, costs


def _hand_on(emitter: Emitter, targets: Sequence[int], values: Sequence[int]) -> None:
    for target, value in zip(targets, values, strict=True):
        if value in emitter.forms:
            emitter.forms[target] = emitter.forms[value]
            emitter.costs[target] = 1
