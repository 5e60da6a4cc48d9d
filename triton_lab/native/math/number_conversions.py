"""Conversions between number formats, equal to the bit to those of `interpreter.number_conversion`.

``element`` is MLIR's name (``bf16``). Registers are as in `element_types`: they hold narrow floats as bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab.localization import _
from triton_lab.native.llvm.builder import FunctionBuilder, Reg, bits_of
from triton_lab.native.math.lane_arithmetic import LaneArithmetic
from triton_lab.native.unsupported import Unsupported


@dataclass(frozen=True, slots=True)
class _Format:
    """A narrow float: its bits, fraction bits, exponent bias, greatest value, and the one NaN of a cast.

    ``limit`` is the first number whose bits are no finite value: infinity, or NaN if there is none.
    """

    bits: int
    fraction: int
    bias: int
    greatest: float
    limit: float
    nan: int
    has_infinity: bool = True


_FORMATS = {
    "f16": _Format(16, 10, 15, 65504.0, 65536.0, 0x7FFF),
    "bf16": _Format(16, 7, 127, float.fromhex("0x1.fep127"), float("inf"), 0x7FFF),
    "f8E5M2": _Format(8, 2, 15, 57344.0, 65536.0, 0x7F),
    "f8E4M3FN": _Format(8, 3, 7, 448.0, 480.0, 0x7F, has_infinity=False),
}


def widen(code: FunctionBuilder, x: Reg, element: str) -> Reg:
    """The bits of narrow floats as exact ``float``."""
    return _wide(LaneArithmetic(code, x), element).reg


def narrow(code: FunctionBuilder, x: Reg, element: str) -> Reg:
    """``float`` rounded to nearest even, as the bits of a narrow float; too great numbers become infinite, or NaN."""
    return _narrow(LaneArithmetic(code, x), element).reg


def float_to_float(code: FunctionBuilder, x: Reg, source: str, target: str, towards_zero: bool = False) -> Reg:
    """A cast between floats, both in the form that registers hold: the interpreter's `float_to_float`."""
    if source == target:
        return x
    lanes = LaneArithmetic(code, x)
    if (source, target) == ("f8E5M2", "bf16"):
        return _without_ends(lanes).reg
    wide = lanes if source in ("f32", "f64") else _wide(lanes, source)
    if _bits(target) >= _bits(source):
        widened = wide.cast("fpext", "double") if target == "f64" else wide
        return widened.reg if target in ("f32", "f64") else _narrow(widened, target).reg
    if towards_zero:
        return _cut(wide, target).reg
    if target == "f32":
        return wide.cast("fptrunc", "float").reg
    return _cast_down(_to_odd(wide) if source == "f64" else wide, target).reg


def float_to_integer(code: FunctionBuilder, x: Reg, source: str, target: str, signed: bool) -> Reg:
    """Truncated and saturated, as the interpreter's `float_to_integer`; ``target`` is ``i8`` to ``i64``."""
    if target in ("i1", "i8"):
        # Through 16 bits, of which the lower half stays.
        middle = LaneArithmetic(code, float_to_integer(code, x, source, "i16", signed and target != "i1"))
        return middle.differs(0).reg if target == "i1" else middle.cast("trunc", "i8").reg
    wide = LaneArithmetic(code, x if source in ("f32", "f64") else widen(code, x, source))
    name = "llvm.fptosi.sat" if signed else "llvm.fptoui.sat"
    found = LaneArithmetic(code, code.intrinsic(name, wide.reg, kind=target))
    if source == "f64" or target == "i64":
        found = wide.isnan().where(1 << bits_of(target) - 1, found)
    return found.reg


def integer_to_float(code: FunctionBuilder, x: Reg, target: str, signed: bool) -> Reg:
    """Round to nearest even, once: the interpreter's `integer_to_float`."""
    whole, name = LaneArithmetic(code, x), "sitofp" if signed else "uitofp"
    if target in ("f32", "f64"):
        return whole.cast(name, "float" if target == "f32" else "double").reg
    bits = bits_of(x.kind)
    if bits <= 16:
        return _cast_down(whole.cast(name, "float"), target).reg
    exact = (whole if bits <= 32 else _few_digits(whole, signed)).cast(name, "double")
    return _cast_down(_to_odd(exact), target).reg


def narrow_fma(code: FunctionBuilder, a: Reg, b: Reg, c: Reg, element: str) -> Reg:
    """``a * b + c`` of narrow floats, rounded once. The sum in float64 is rounded to odd first."""
    x, y, z = (_wide(LaneArithmetic(code, operand), element).cast("fpext", "double") for operand in (a, b, c))
    product = x * y
    total = product + z
    part = total - product
    error = (product - (total - part)) + (z - part)
    bits = total.bits()
    inexact = error.differs(0.0) & (bits & 1).equals(0) & abs(total).less(float("inf")) & ~error.isnan()
    away = (error.bits() ^ bits).at_least(0)
    odd = inexact.where(away.where(bits + 1, bits - 1), bits).as_float()
    return _cast_down(_to_odd(odd), element).reg


def e4m3b15_to_half(code: FunctionBuilder, x: Reg) -> Reg:
    """The bits of an fp8 with four exponent bits of bias 15, as the bits of an equal float16."""
    bits = LaneArithmetic(code, x).resize("i16", signed=False)
    return (((bits & 0x80) << 8) | ((bits & 0x7F) << 7)).reg


def half_to_e4m3b15(code: FunctionBuilder, x: Reg) -> Reg:
    """Round to nearest, ties away from zero. Beyond 1.75, and for NaN, the result is 1.75."""
    bits = LaneArithmetic(code, x)
    magnitude = bits & 0x7FFF
    magnitude = magnitude.below(0x3F00).where(magnitude, 0x3F00)
    rounded = magnitude * 2 + 0x80
    return (rounded | (bits & 0x8000)).unsigned_shift(8).resize("i8", signed=False).reg


def _bits(element: str) -> int:
    return {"f32": 32, "f64": 64}.get(element) or _format(element).bits


def _format(element: str) -> _Format:
    found = _FORMATS.get(element)
    if found is None:
        raise Unsupported(_("floats of type {element}").format(element=element))
    return found


def _wide(x: LaneArithmetic, element: str) -> LaneArithmetic:
    format = _format(element)
    if element == "f16":
        return x.cast("bitcast", "half").cast("fpext", "float") if x.code.halves else _half_widened(x)
    if element == "bf16":
        return (x.resize("i32", signed=False) << 16).as_float()
    if element == "f8E5M2":  # the upper half of a float16
        return _wide(x.resize("i16", signed=False) << 8, "f16")
    # Place exponent and fraction as in float32, then correct the bias; this is right for zero and subnormal numbers as
    # well.
    bits = x.resize("i32", signed=False)
    size = ((bits & 0x7F) << (23 - format.fraction)).as_float() * 2.0 ** (127 - format.bias)
    size = (bits & 0x7F).equals(format.nan).where(float("nan"), size)
    return (size.bits() | ((bits & 0x80) << 24)).as_float()


def _narrow(x: LaneArithmetic, element: str) -> LaneArithmetic:
    """float32 rounded to nearest even; too great numbers become what the format has for them."""
    format = _format(element)
    if element == "f16":
        return x.cast("fptrunc", "half").cast("bitcast", "i16") if x.code.halves else _half_narrowed(x)
    if element == "bf16":
        bits = x.bits()
        odd = bits.unsigned_shift(16) & 1
        rounded = (bits + (odd + 0x7FFF)).unsigned_shift(16)
        return x.isnan().where(0x7FC0, rounded).cast("trunc", "i16")
    return x.isnan().where(format.nan, _packed(x, format, format.limit, towards_zero=False))


def _cast_down(x: LaneArithmetic, element: str) -> LaneArithmetic:
    """float32 rounded to nearest even, as by a cast: fp8 ends at its greatest value, and there is one NaN."""
    format = _format(element)
    found = _packed(x, format, format.greatest, towards_zero=False) if format.bits == 8 else _narrow(x, element)
    return x.isnan().where(format.nan, found)


def _cut(x: LaneArithmetic, element: str) -> LaneArithmetic:
    """float32 or float64 rounded towards zero."""
    if x.kind == "double":
        near = x.cast("fptrunc", "float")
        beyond = abs(near.cast("fpext", "double")).greater(abs(x))
        x = beyond.where(near.bits() - 1, near.bits()).as_float()
        if element == "f32":
            return x
    format = _format(element)
    if element == "bf16":
        found = x.bits().unsigned_shift(16).cast("trunc", "i16")
    else:
        found = _packed(x, format, format.greatest, towards_zero=True)
        if format.has_infinity:
            end = x.of(format.limit).copysign(x)
            infinite = _packed(end, format, format.limit, towards_zero=True)
            found = abs(x).equals(float("inf")).where(infinite, found)
    return x.isnan().where(format.nan, found)


def _packed(x: LaneArithmetic, format: _Format, end: float, *, towards_zero: bool) -> LaneArithmetic:
    """The bits of float32 in a format with fewer exponents; numbers greater than ``end`` become ``end``."""
    size = abs(x)
    size = size.greater(end).where(end, size)
    lost = 23 - format.fraction
    bits = size.bits()
    rounding = x.bits().of(0) if towards_zero else (bits.unsigned_shift(lost) & 1) + ((1 << lost - 1) - 1)
    normal = (bits + rounding).unsigned_shift(lost) - ((127 - format.bias) << format.fraction)
    # Below the normal numbers, neighbours are equally far apart: these are counted.
    counted = size * 2.0 ** (format.bias - 1 + format.fraction)
    least = 2.0 ** (1 - format.bias)
    counted = size.less(least).where(counted, 0.0).intrinsic("trunc" if towards_zero else "rint")
    magnitude = size.less(least).where(counted.cast("fptosi", "i32"), normal)
    sign = x.bits().unsigned_shift(32 - format.bits) & (1 << format.bits - 1)
    return (magnitude | sign).cast("trunc", f"i{format.bits}")


def _to_odd(x: LaneArithmetic) -> LaneArithmetic:
    """float64 cut to float32, with the last bit set if that is inexact, so that the next rounding acts as
    the only one.
    """
    near = x.cast("fptrunc", "float")
    back = near.cast("fpext", "double")
    bits = near.bits()
    # Too great numbers become infinity's predecessor, whose last bit is set.
    bits = abs(back).greater(abs(x)).where(bits - 1, bits)
    inexact = back.less(x) | back.greater(x)
    return inexact.where(bits | 1, bits).as_float()


def _few_digits(x: LaneArithmetic, signed: bool) -> LaneArithmetic:
    """64-bit integers, changed so that float64 keeps all that a rounding to fewer bits needs."""
    size = abs(x) if signed else x
    # Beyond 53 bits, of the low 11 bits it only matters whether they are zero.
    sticky = (x | ((x & 0x7FF).differs(0).where(x.of(1 << 11), 0))) & ~0x7FF
    return size.unsigned_shift(53).differs(0).where(sticky, x)


def _without_ends(x: LaneArithmetic) -> LaneArithmetic:
    """e5m2 as bf16, as Triton converts on sm_90: the bits moved, times 2**112. Infinity and NaN become
    numbers there.
    """
    bits = x.resize("i32", signed=False)
    moved = (((bits & 0x7F) << 21) | ((bits & 0x80) << 24)).as_float() * 2.0**112
    return moved.bits().unsigned_shift(16).cast("trunc", "i16")


# float16 by its bits, for processors that have no instruction for it. To the bit what F16C and arm64 do: NaN keeps its
# sign and its highest digits, and becomes quiet. It is the same on a thread that takes subnormal floats for zero.
_INFINITY, _QUIET = 0x7C00, 0x200  # of float16
_BIASES = (127 - 15) << 10  # between the exponents', above ten digits
# What is added to 0.5, whose last place is 2**-24, becomes its lowest bits: multiples of the least float16.
_HALF, _HALF_BITS = 0.5, 0x3F000000


def _half_widened(x: LaneArithmetic) -> LaneArithmetic:
    """The bits of float16, ``i16``, as ``float``, exactly."""
    bits = x.resize("i32", signed=False)
    size = bits & 0x7FFF
    subnormal = ((size | _HALF_BITS).as_float() - _HALF).bits()
    endless = (size.greater(_INFINITY).where(size | _QUIET, size) << 13) | 0x7F800000
    normal = size.less(_INFINITY).where((size + _BIASES) << 13, endless)
    found = size.less(0x400).where(subnormal, normal)
    return (found | ((bits & 0x8000) << 16)).as_float()


def _half_narrowed(x: LaneArithmetic) -> LaneArithmetic:
    """``float`` rounded to nearest even, as the bits of float16, ``i16``; from 65520 on it is infinite."""
    bits = x.bits()
    size = bits & 0x7FFFFFFF
    normal = (size + ((size.unsigned_shift(13) & 1) + 0xFFF)).unsigned_shift(13) - _BIASES
    subnormal = (size.as_float() + _HALF).bits() - _HALF_BITS
    found = size.less(0x38800000).where(subnormal, normal)  # 2**-14
    nan = (size.unsigned_shift(13) & 0x3FF) | (_INFINITY | _QUIET)
    endless = size.greater(0x7F800000).where(nan, _INFINITY)
    found = size.less(0x47800000).where(found, endless)  # 2**16
    return (found | (bits.unsigned_shift(16) & 0x8000)).cast("trunc", "i16")
