"""64-bit integers that are known when code is written, or in a register: sums and products of both."""

from __future__ import annotations

from triton_lab.native.llvm.builder import FunctionBuilder, Reg

Term = int | Reg

_WRAP = 1 << 64


def wrapped(value: int) -> int:
    """``value`` as a signed 64-bit number."""
    return (value + _WRAP // 2) % _WRAP - _WRAP // 2


def known(reg: Reg) -> Term:
    """The number itself if ``reg`` is a literal, else the register."""
    literal = reg.literal
    return reg if literal is None else literal


def register(code: FunctionBuilder, x: Term) -> Reg:
    return code.constant("i64", x) if isinstance(x, int) else x


def add(code: FunctionBuilder, a: Term, b: Term) -> Term:
    if isinstance(a, int) and isinstance(b, int):
        return wrapped(a + b)
    if a == 0 or b == 0:
        return b if a == 0 else a
    return code.op("add", register(code, a), register(code, b))


def subtract(code: FunctionBuilder, a: Term, b: Term) -> Term:
    if isinstance(a, int) and isinstance(b, int):
        return wrapped(a - b)
    return a if b == 0 else code.op("sub", register(code, a), register(code, b))


def multiply(code: FunctionBuilder, a: Term, b: Term) -> Term:
    if isinstance(a, int) and isinstance(b, int):
        return wrapped(a * b)
    if a == 0 or b == 0:
        return 0
    if a == 1 or b == 1:
        return b if a == 1 else a
    return code.op("mul", register(code, a), register(code, b))


def least(code: FunctionBuilder, a: Term, b: Term) -> Term:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return a if a == b else code.intrinsic("llvm.smin", register(code, a), register(code, b))


def greatest(code: FunctionBuilder, a: Term, b: Term) -> Term:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    return a if a == b else code.intrinsic("llvm.smax", register(code, a), register(code, b))
