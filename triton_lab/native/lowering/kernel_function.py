"""Writes the function around a kernel: it reads the arguments, and runs one program after another."""

from __future__ import annotations

from triton_lab.ir import Plan, Type
from triton_lab.native.analysis.effect_order import EffectOrder
from triton_lab.native.analysis.inlining import flattened
from triton_lab.native.analysis.value_uses import Analysis
from triton_lab.native.blocks.value_repr import Form
from triton_lab.native.function_contract import Generated, Signature
from triton_lab.native.llvm.builder import FunctionBuilder, Reg, bits_of
from triton_lab.native.llvm.element_types import kind_of
from triton_lab.native.lowering import (  # noqa: F401 - they register what they know
    asserts,
    atomics,
    control,
    descriptors,
    dot,
    dot_scaled,
    elementwise,
    integers,
    lanes,
    memory,
    reduce,
    scan,
    shapes,
)
from triton_lab.native.lowering.branches import run_body
from triton_lab.native.lowering.emitter import Emitter, FunctionSetting, Retry, Scratch
from triton_lab.native.lowering.guards import Guards

SYMBOL = "run"
_POINTERS = ("arguments", "grid", "regions", "scratch", "fault")
_ARGUMENTS = ("arguments", "first", "end", "grid", "regions", "scratch", "fault")


def generate(plan: Plan, signature: Signature) -> Generated:
    """The function for all programs of ``plan``. Raises Unsupported, in a user's words, for what it does not know."""
    function = flattened(plan)
    analysis = Analysis(function)
    order = EffectOrder(analysis, signature)
    crooked: frozenset[int] = frozenset()
    while True:
        try:
            return _written(analysis, order, signature, crooked)
        except Retry as retry:
            crooked |= {retry.argument}


def _written(analysis: Analysis, order: EffectOrder, signature: Signature, crooked: frozenset[int]) -> Generated:
    function = analysis.function
    given = {name: Reg(f"%{name}", "ptr" if name in _POINTERS else "i64") for name in _ARGUMENTS}
    code = FunctionBuilder(SYMBOL, tuple(given.values()), "i64", signature.halves)
    guards = Guards(code, given["fault"])
    scalars = [
        _argument(code, given["arguments"], at, function.types[value]) for at, value in enumerate(function.arguments)
    ]
    grid = tuple(_number(code, given["grid"], axis) for axis in range(3))

    program, leave = code.new_block("program"), code.new_block("end")
    code.branch(code.compare("slt", given["first"], given["end"]), program, leave)
    entry, code.block = code.block, program
    number = code.phi("i64")
    number.come(given["first"], entry)
    rows = code.op("udiv", number.reg, grid[0])
    ids = (code.op("urem", number.reg, grid[0]), code.op("urem", rows, grid[1]), code.op("udiv", rows, grid[1]))
    setting = FunctionSetting(
        ids=tuple(code.cast("trunc", x, "i32") for x in ids),
        grid=tuple(code.cast("trunc", x, "i32") for x in grid),
        regions=given["regions"],
        scratch=Scratch(code, given["scratch"]),
    )
    other, following_program = code.new_block("otherwise"), code.new_block("next")
    for within in (True, False):
        guards.otherwise = other if within else None
        for rehearsal in (True, False) if order.needs_rehearsal else (False,):
            guards.late = order.needs_rehearsal and not rehearsal
            emitter = Emitter(
                code, analysis, order, signature, guards, setting, rehearsal=rehearsal, within=within, crooked=crooked
            )
            emitter.forms.update(zip(function.arguments, scalars, strict=True))
            run_body(emitter, function.body)
        code.jump(following_program)
        if not guards.has_otherwise:
            code.blocks.remove(other)
            break
        code.block = other
    code.block = following_program
    following = code.op("add", number.reg, code.constant("i64", 1))
    number.come(following, code.block)
    code.branch(code.compare("slt", following, given["end"]), program, leave)
    code.block = leave
    code.leave(given["end"])
    guards.finish(number.reg)
    slots, sites = tuple(setting.slots), tuple(guards.sites)
    return Generated(code.text(), SYMBOL, setting.scratch.size, slots, sites, order.is_transaction)


def _number(code: FunctionBuilder, table: Reg, at: int) -> Reg:
    return code.load("i64", code.offset(table, code.constant("i64", at), "i64"), constant=True)


def _argument(code: FunctionBuilder, table: Reg, at: int, type: Type) -> Form:
    """An argument in its kind: the lowest bits of its slot."""
    if type.is_descriptor:
        assert type.pointee is not None
        return descriptors.handed(code, table, at, len(type.pointee.shape))
    raw = _number(code, table, at)
    kind = kind_of(type.element)
    bits = bits_of(kind)
    return code.cast("bitcast", code.cast("trunc", raw, f"i{bits}"), kind)
