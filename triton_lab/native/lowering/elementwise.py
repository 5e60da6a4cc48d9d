"""Operations on elements: one function per kind, on registers that may be scalars or vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton_lab.ir import Bits, Dense, Op, predicates
from triton_lab.ir.symmetric_clamp import SYMMETRIC, UNSIGNED
from triton_lab.localization import _
from triton_lab.native.blocks.elements import Indices, at, position, widened_at
from triton_lab.native.blocks.value_repr import AffineValue
from triton_lab.native.llvm.builder import FunctionBuilder, Reg, bits_of
from triton_lab.native.llvm.element_types import is_narrow, kind_of, width_of
from triton_lab.native.lowering.emitter import Emitter, elements_of
from triton_lab.native.math import FUNCTIONS
from triton_lab.native.math.libdevice_symbols import library
from triton_lab.native.math.number_conversions import (
    float_to_float,
    float_to_integer,
    integer_to_float,
    narrow,
    narrow_fma,
)
from triton_lab.native.unsupported import Unsupported

# Constants, and the program's own ids.


def literal(code: FunctionBuilder, value: Any, element: str) -> Reg:
    """A constant of a plan in the form that registers hold."""
    kind = kind_of(element)
    if isinstance(value, Bits):
        return code.constant(kind, value.pattern) if kind[0] == "i" else code.pattern(kind, value.pattern)
    if is_narrow(element):
        import numpy as np

        from triton_lab.interpreter.dtypes import numpy_dtype

        bits = np.array(value).astype(numpy_dtype(element)).view(f"u{width_of(element)}")
        return code.constant(kind, int(bits))
    return code.constant(kind, value)


@elements_of("arith.constant")
def constant(emitter: Emitter, op: Op, index: Indices) -> Reg:
    given, element = op.attributes["value"], emitter.element(op.results[0])
    if not isinstance(given, Dense):
        return literal(emitter.code, given, element)
    if isinstance(given.values, bytes) or len(given.values) != 1:
        if element == "i1" and given.values in (b"\x00", b"\xff"):
            return emitter.code.constant("i1", given.values == b"\xff")
        raise Unsupported(_("a block of different constants"))
    return literal(emitter.code, given.values[0], element)


@elements_of("ub.poison")
def poison(emitter: Emitter, op: Op, index: Indices) -> Reg:
    return emitter.code.constant(emitter.kind(op.results[0]), 0)


@elements_of("tt.make_range")
def make_range(emitter: Emitter, op: Op, index: Indices) -> Reg:
    form = AffineValue(op.attributes["start"], (1,), emitter.types[op.results[0]].shape, 64, 64)
    return position(emitter, form, index, emitter.kind(op.results[0]))


@elements_of("tt.get_program_id")
def get_program_id(emitter: Emitter, op: Op, index: Indices) -> Reg:
    axis: int = op.attributes["axis"]
    return emitter.setting.ids[axis]


@elements_of("tt.get_num_programs")
def get_num_programs(emitter: Emitter, op: Op, index: Indices) -> Reg:
    axis: int = op.attributes["axis"]
    return emitter.setting.grid[axis]


# Shapes: the same elements at another index.


@elements_of("tt.splat", "tt.broadcast", "ttg.convert_layout")
def spread(emitter: Emitter, op: Op, index: Indices) -> Reg:
    (source,) = op.operands
    return at(emitter, source, index if emitter.types[source].shape else ())


@elements_of("tt.expand_dims")
def expand_dims(emitter: Emitter, op: Op, index: Indices) -> Reg:
    axis = op.attributes["axis"]
    return at(emitter, op.operands[0], index[:axis] + index[axis + 1 :])


@elements_of("tt.trans")
def trans(emitter: Emitter, op: Op, index: Indices) -> Reg:
    order = op.attributes["order"]
    return at(emitter, op.operands[0], [index[order.index(axis)] for axis in range(len(order))])


# Floats: narrow ones are computed as float32 and rounded once.

_FLOATS = {
    "arith.addf": "fadd",
    "arith.subf": "fsub",
    "arith.mulf": "fmul",
    "arith.divf": "fdiv",
    "tt.precise_divf": "fdiv",
    "tt.approx_divf": "fdiv",
}
_ROOTS = {"math.sqrt": "llvm.sqrt", "tt.precise_sqrt": "llvm.sqrt"}


def rounded(emitter: Emitter, op: Op, found: Reg) -> Reg:
    """A result computed in ``float``, converted to its own type."""
    element = emitter.element(op.results[0])
    return narrow(emitter.code, found, element) if is_narrow(element) else found


@elements_of(*_FLOATS)
def float_binary(emitter: Emitter, op: Op, index: Indices) -> Reg:
    a, b = (widened_at(emitter, value, index) for value in op.operands)
    return rounded(emitter, op, emitter.code.op(_FLOATS[op.name], a, b))


_EXTREMES = {
    "arith.maximumf": "llvm.maximum",
    "arith.minimumf": "llvm.minimum",
    "arith.maxnumf": "llvm.maximumnum",
    "arith.minnumf": "llvm.minimumnum",
}


def extreme(code: FunctionBuilder, name: str, a: Reg, b: Reg) -> Reg:
    """The maximum or minimum of floats, with -0.0 below 0.0. ``maximumf`` keeps a NaN, ``maxnumf`` the
    other operand.
    """
    return code.intrinsic(_EXTREMES[name], a, b)


@elements_of(*_EXTREMES)
def float_extreme(emitter: Emitter, op: Op, index: Indices) -> Reg:
    a, b = (widened_at(emitter, value, index) for value in op.operands)
    return rounded(emitter, op, extreme(emitter.code, op.name, a, b))


@elements_of("tt.clampf")
def clampf(emitter: Emitter, op: Op, index: Indices) -> Reg:
    x, low, high = (widened_at(emitter, value, index) for value in op.operands)
    keep = bool(op.attributes.get("propagateNan", 0))
    if op.attributes.get(SYMMETRIC):
        if op.attributes[SYMMETRIC] == UNSIGNED:  # a NaN has no sign
            x = emitter.code.select(emitter.code.compare("uno", x, x), emitter.code.intrinsic("llvm.fabs", x), x)
        return rounded(emitter, op, _lesser_size(emitter, x, high, keep))
    above = extreme(emitter.code, "arith.maximumf" if keep else "arith.maxnumf", x, low)
    return rounded(emitter, op, extreme(emitter.code, "arith.minimumf" if keep else "arith.minnumf", above, high))


def _lesser_size(emitter: Emitter, x: Reg, limit: Reg, keep: bool) -> Reg:
    """The lesser size of both, with the product of their signs."""
    code = emitter.code
    sizes = (code.intrinsic("llvm.fabs", one) for one in (x, limit))
    size = extreme(code, "arith.minimumf" if keep else "arith.minnumf", *sizes)
    whole = f"i{bits_of(x.kind)}"
    signs = code.op("xor", *(code.cast("bitcast", one, whole) for one in (x, limit)))
    return code.select(code.compare("slt", signs, code.constant(whole, 0)), code.op("fneg", size), size)


def _sign_changed(emitter: Emitter, op: Op, index: Indices, name: str, mask: Callable[[int], int]) -> Reg:
    """A float with an operation on its sign bit, also of a NaN."""
    code = emitter.code
    x = at(emitter, op.operands[0], index)
    bits = bits_of(x.kind)
    whole = code.cast("bitcast", x, f"i{bits}")
    return code.cast("bitcast", code.op(name, whole, code.constant(whole.kind, mask(1 << bits - 1))), x.kind)


@elements_of("arith.negf")
def negf(emitter: Emitter, op: Op, index: Indices) -> Reg:
    return _sign_changed(emitter, op, index, "xor", lambda sign: sign)


@elements_of("math.absf")
def absf(emitter: Emitter, op: Op, index: Indices) -> Reg:
    return _sign_changed(emitter, op, index, "and", lambda sign: sign - 1)


@elements_of(*_ROOTS)
def square_root(emitter: Emitter, op: Op, index: Indices) -> Reg:
    return rounded(emitter, op, emitter.code.intrinsic(_ROOTS[op.name], widened_at(emitter, op.operands[0], index)))


@elements_of("math.floor", "math.ceil")
def whole(emitter: Emitter, op: Op, index: Indices) -> Reg:
    """Round to a whole number; a subnormal float32 counts as zero of its sign."""
    code, x = emitter.code, widened_at(emitter, op.operands[0], index)
    if x.kind == "float":
        small = code.compare("olt", code.intrinsic("llvm.fabs", x), code.pattern("float", 0x00800000))
        x = code.select(small, code.intrinsic("llvm.copysign", code.like(x, 0.0), x), x)
    return rounded(emitter, op, code.intrinsic(f"llvm.{op.name[5:]}", x))


@elements_of("math.fma")
def fma(emitter: Emitter, op: Op, index: Indices) -> Reg:
    operands, element = [at(emitter, value, index) for value in op.operands], emitter.element(op.results[0])
    if is_narrow(element):
        a, b, c = operands
        return narrow_fma(emitter.code, a, b, c, element)
    return emitter.code.intrinsic("llvm.fma", *operands)


@elements_of("arith.remf")
def remf(emitter: Emitter, op: Op, index: Indices) -> Reg:
    code = emitter.code
    a, b = code.alike(*(widened_at(emitter, value, index) for value in op.operands))
    return rounded(emitter, op, library(code, "__nv_fmodf" if a.kind == "float" else "__nv_fmod", (a, b), a.kind))


@elements_of(*(f"math.{name}" for name in ("exp", "exp2", "log", "log2", "sin", "cos", "erf", "rsqrt")))
def elementary(emitter: Emitter, op: Op, index: Indices) -> Reg:
    x = widened_at(emitter, op.operands[0], index)
    if op.name[5:] not in FUNCTIONS:
        raise Unsupported(f"{op.name} of {emitter.element(op.results[0])}")
    return rounded(emitter, op, FUNCTIONS[op.name[5:]](emitter.code, x))


# Comparisons and choices.


@elements_of("arith.cmpi")
def cmpi(emitter: Emitter, op: Op, index: Indices) -> Reg:
    a, b = (at(emitter, value, index) for value in op.operands)
    return emitter.code.compare(predicates.INTEGER[op.attributes["predicate"]], a, b)


@elements_of("arith.cmpf")
def cmpf(emitter: Emitter, op: Op, index: Indices) -> Reg:
    a, b = (widened_at(emitter, value, index) for value in op.operands)
    return emitter.code.compare(predicates.FLOAT[op.attributes["predicate"]], a, b)


@elements_of("arith.select")
def select(emitter: Emitter, op: Op, index: Indices) -> Reg:
    condition, a, b = op.operands
    chosen = at(emitter, condition, index if emitter.types[condition].shape else ())
    if chosen.literal is not None and not chosen.lanes:
        return at(emitter, a if chosen.literal else b, index)
    return emitter.code.select(chosen, at(emitter, a, index), at(emitter, b, index))


# Casts.


@elements_of("arith.extsi", "arith.extui", "arith.trunci")
def resize(emitter: Emitter, op: Op, index: Indices) -> Reg:
    name = {"arith.extsi": "sext", "arith.extui": "zext", "arith.trunci": "trunc"}[op.name]
    return emitter.code.cast(name, at(emitter, op.operands[0], index), emitter.kind(op.results[0]))


@elements_of("arith.sitofp", "arith.uitofp")
def to_float(emitter: Emitter, op: Op, index: Indices) -> Reg:
    x = at(emitter, op.operands[0], index)
    return integer_to_float(emitter.code, x, emitter.element(op.results[0]), op.name == "arith.sitofp")


@elements_of("arith.fptosi", "arith.fptoui")
def to_integer(emitter: Emitter, op: Op, index: Indices) -> Reg:
    (source,) = op.operands
    target, signed = emitter.element(op.results[0]), op.name == "arith.fptosi"
    return float_to_integer(emitter.code, at(emitter, source, index), emitter.element(source), target, signed)


@elements_of("arith.extf", "arith.truncf", "tt.fp_to_fp")
def between_floats(emitter: Emitter, op: Op, index: Indices) -> Reg:
    (source,) = op.operands
    given, target = emitter.element(source), emitter.element(op.results[0])
    if given == target:
        return at(emitter, source, index)
    if target == "f32" and is_narrow(given):
        return widened_at(emitter, source, index)
    towards_zero = op.attributes.get("rounding") == 0
    return float_to_float(emitter.code, at(emitter, source, index), given, target, towards_zero)


@elements_of("arith.bitcast", "tt.bitcast", "tt.ptr_to_int", "tt.int_to_ptr")
def bitcast(emitter: Emitter, op: Op, index: Indices) -> Reg:
    return emitter.code.cast("bitcast", at(emitter, op.operands[0], index), emitter.kind(op.results[0]))


@elements_of("tt.addptr")
def addptr(emitter: Emitter, op: Op, index: Indices) -> Reg:
    code = emitter.code
    pointer, offset = (at(emitter, value, index) for value in op.operands)
    pointee = emitter.types[op.results[0]].pointee
    assert pointee is not None
    wide = code.cast("sext", offset, "i64")
    return code.op("add", pointer, code.op("mul", wide, code.like(wide, width_of(pointee.element))))
