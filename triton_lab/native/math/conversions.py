"""Conversions between number formats: what the generator calls. `element` is MLIR's name (``bf16``), registers as in `kinds`."""

from __future__ import annotations

from triton_lab.native.code import Code, Reg
from triton_lab.native.unsupported import Unsupported


def widen(code: Code, x: Reg, element: str) -> Reg:
    """The bits of narrow floats as the ``float`` they are, exactly."""
    if element == "f16":
        return code.cast("fpext", code.cast("bitcast", x, "half"), "float")
    if element == "bf16":
        wide = code.op("shl", code.cast("zext", x, "i32"), code.constant("i32", 16))
        return code.cast("bitcast", wide, "float")
    raise Unsupported(f"floats of type {element}")


def narrow(code: Code, x: Reg, element: str) -> Reg:
    """``float`` rounded to nearest even, as the bits of a narrow float: the interpreter's ``astype`` after arithmetic."""
    if element == "f16":
        return code.cast("bitcast", code.cast("fptrunc", x, "half"), "i16")
    if element == "bf16":
        bits = code.cast("bitcast", x, "i32")
        odd = code.op("and", code.op("lshr", bits, code.constant("i32", 16)), code.constant("i32", 1))
        up = code.op("add", bits, code.op("add", odd, code.constant("i32", 0x7FFF)))
        near = code.op("lshr", up, code.constant("i32", 16))
        return code.cast("trunc", code.select(code.compare("uno", x, x), code.like(near, 0x7FC0), near), "i16")
    raise Unsupported(f"floats of type {element}")


def float_to_float(code: Code, x: Reg, source: str, target: str, towards_zero: bool = False) -> Reg:
    """A cast between floats, both as registers keep them: the interpreter's `float_to_float`."""
    raise Unsupported(f"a cast from {source} to {target}")


def float_to_integer(code: Code, x: Reg, source: str, target: str, signed: bool) -> Reg:
    """Truncated and saturated, as the interpreter's `float_to_integer`; ``target`` is ``i8`` to ``i64``."""
    raise Unsupported(f"a cast from {source} to {target}")


def integer_to_float(code: Code, x: Reg, target: str, signed: bool) -> Reg:
    """Nearest even, rounded once: the interpreter's `integer_to_float`."""
    raise Unsupported(f"a cast from {x.kind} to {target}")
