"""Operations on integers: they wrap, shift and divide as in the interpreter."""

from __future__ import annotations

from triton_lab.ir import Op
from triton_lab.native.blocks.elements import Indices, at
from triton_lab.native.llvm.builder import FunctionBuilder, Reg, bits_of
from triton_lab.native.lowering.emitter import Emitter, elements_of

_PLAIN = {
    "arith.addi": "add",
    "arith.subi": "sub",
    "arith.muli": "mul",
    "arith.andi": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
}


@elements_of(*_PLAIN)
def plain(emitter: Emitter, op: Op, index: Indices) -> Reg:
    a, b = (at(emitter, value, index) for value in op.operands)
    return emitter.code.op(_PLAIN[op.name], a, b)


_EXTREMES = {"arith.maxsi": "smax", "arith.minsi": "smin", "arith.maxui": "umax", "arith.minui": "umin"}


@elements_of(*_EXTREMES)
def extremes(emitter: Emitter, op: Op, index: Indices) -> Reg:
    a, b = (at(emitter, value, index) for value in op.operands)
    return emitter.code.intrinsic(f"llvm.{_EXTREMES[op.name]}", a, b)


@elements_of("math.absi")
def absi(emitter: Emitter, op: Op, index: Indices) -> Reg:
    """The absolute value; the least integer stays as it is."""
    code, x = emitter.code, at(emitter, op.operands[0], index)
    return code.intrinsic("llvm.smax", x, code.op("sub", code.like(x, 0), x))


_DIVISIONS = {"arith.divsi": "sdiv", "arith.remsi": "srem", "arith.divui": "udiv", "arith.remui": "urem"}


@elements_of(*_DIVISIONS)
def divide(emitter: Emitter, op: Op, index: Indices) -> Reg:
    a, b = (at(emitter, value, index) for value in op.operands)
    return divided(emitter.code, _DIVISIONS[op.name], a, b)


def divided(code: FunctionBuilder, name: str, a: Reg, b: Reg) -> Reg:
    """The quotient truncated towards zero, or its remainder. Division by zero gives zero; the least integer over -1
    wraps.
    """
    if a.kind == "i1":
        return code.op("and", a, b) if name.endswith("div") else code.like(code.op("and", a, b), 0)
    literal = code.literal_of(b)
    if literal is not None and literal not in (0, -1):
        return code.op(name, a, b)
    zero = code.compare("eq", b, code.like(b, 0))
    unusual = zero
    if name[0] == "s":
        unusual = code.op("or", zero, code.compare("eq", b, code.like(b, -1)))
    found = code.op(name, a, code.select(unusual, code.like(b, 1), b))
    if name == "sdiv":
        found = code.select(unusual, code.op("sub", code.like(a, 0), a), found)
    # Zero divisors were replaced by one, so the remainder is zero already.
    return found if name.endswith("rem") else code.select(zero, code.like(found, 0), found)


_SHIFTS = {"arith.shli": "shl", "arith.shrsi": "ashr", "arith.shrui": "lshr"}


@elements_of(*_SHIFTS)
def shift(emitter: Emitter, op: Op, index: Indices) -> Reg:
    """A shift. By the width or more, the result is zero, or the sign."""
    code, name = emitter.code, _SHIFTS[op.name]
    a, b = (at(emitter, value, index) for value in op.operands)
    if a.kind == "i1":
        return a if name == "ashr" else code.op("and", a, code.op("xor", b, code.like(b, 1)))
    bits = bits_of(a.kind)
    beyond = code.compare("uge", b, code.like(b, bits))
    found = code.op(name, a, code.select(beyond, code.like(b, bits - 1 if name == "ashr" else 0), b))
    return found if name == "ashr" else code.select(beyond, code.like(found, 0), found)


@elements_of("tt.mulhiui")
def multiply_high(emitter: Emitter, op: Op, index: Indices) -> Reg:
    """The upper half of the product of two unsigned integers."""
    code = emitter.code
    a, b = (at(emitter, value, index) for value in op.operands)
    bits = bits_of(a.kind)
    wide = f"i{2 * bits}"
    product = code.op("mul", code.cast("zext", a, wide), code.cast("zext", b, wide))
    return code.cast("trunc", code.op("lshr", product, code.like(product, bits)), a.kind)
