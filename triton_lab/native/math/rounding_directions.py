"""Arithmetic and conversions that round towards zero, down or up: ``_rz``, ``_rd``, ``_ru``.

A result rounded to nearest moves to its neighbour if its rounding error has that direction. The error itself, or a
number of its sign, is computed from the operands' fractions, where nothing overflows or underflows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from triton_lab.native.math.double_double import two_product, two_sum
from triton_lab.native.math.lane_arithmetic import LaneArithmetic, fma, scaled
from triton_lab.native.math.whole_numbers import flushed, nextafter, parts

_Function = Callable[..., LaneArithmetic]
# A result rounded to nearest, and a number with the sign of what is missing; NaN counts as nothing.
_Inexact = tuple[LaneArithmetic, LaneArithmetic]

MODES = ("rz", "rd", "ru")


def _ends(result: LaneArithmetic, error: LaneArithmetic, *operands: LaneArithmetic) -> _Inexact:
    """The error of an overflow put in; what comes from an infinite operand is exact."""
    finite = abs(operands[0]).less(math.inf)
    for x in operands[1:]:
        finite = finite & abs(x).less(math.inf)
    return result, finite.where(abs(result).equals(math.inf).where(-result, error), 0.0)


def _sum(a: LaneArithmetic, b: LaneArithmetic) -> _Inexact:
    return _ends(*two_sum(a, b), a, b)


def _difference(a: LaneArithmetic, b: LaneArithmetic) -> _Inexact:
    return _sum(a, -b)


def _brought(x: LaneArithmetic, n: LaneArithmetic) -> LaneArithmetic:
    """``x * 2**n``; zero stays, however great ``n`` is."""
    return x.equals(0.0).where(0.0, scaled(x, x.equals(0.0).where(0, n)))


def _product(a: LaneArithmetic, b: LaneArithmetic) -> _Inexact:
    result = a * b
    (one, m), (other, n) = parts(a), parts(b)
    high, low = two_product(one, other)
    error = (high - _brought(result, -(m + n))) + low
    return _ends(result, (a.equals(0.0) | b.equals(0.0)).where(0.0, error), a, b)


def _quotient(a: LaneArithmetic, b: LaneArithmetic) -> _Inexact:
    result = a / b
    (one, m), (other, n) = parts(a), parts(b)
    rest = fma(-_brought(result, n - m), other, one)
    rest = other.less(0.0).where(-rest, rest)
    result, error = _ends(result, rest, a, b)
    return result, (a.equals(0.0) | b.equals(0.0)).where(0.0, error)


def _reciprocal(a: LaneArithmetic) -> _Inexact:
    return _quotient(a.of(1.0), a)


def _root(a: LaneArithmetic) -> _Inexact:
    result = a.intrinsic("sqrt")
    tiny = a.less(2.0**-500)
    up, square = tiny.where(result * 2.0**300, result), tiny.where(a * 2.0**600, a)
    return _ends(result, fma(-up, up, square), a)


def _fused(a: LaneArithmetic, b: LaneArithmetic, c: LaneArithmetic) -> _Inexact:
    result = fma(a, b, c)
    high, low = two_product(a, b)
    inner, lost = two_sum(high, -result)
    return _ends(result, (inner + c) + (lost + low), a, b, c)


_ARITHMETIC: dict[str, Callable[..., _Inexact]] = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "div": _quotient,
    "rcp": _reciprocal,
    "sqrt": _root,
}


def _directed(nearest: LaneArithmetic, error: LaneArithmetic, mode: str) -> LaneArithmetic:
    """``nearest`` moved to its neighbour where ``mode`` requires it."""
    down, up = error.less(0.0), error.greater(0.0)
    if mode == "rz":
        down, up = down & nearest.greater(0.0), up & nearest.less(0.0)
    if mode != "ru":
        nearest = down.where(nextafter(nearest, nearest.of(-math.inf)), nearest)
    if mode != "rd":
        nearest = up.where(nextafter(nearest, nearest.of(math.inf)), nearest)
    return nearest


def _to_odd(nearest: LaneArithmetic, error: LaneArithmetic) -> LaneArithmetic:
    """float64 cut, with the last bit set if that is inexact, so that the next rounding acts as the only one."""
    bits = nearest.bits()
    inexact = error.differs(0.0) & ~error.isnan() & (bits & 1).equals(0) & abs(nearest).less(math.inf)
    away = (error.bits() ^ nearest.bits()).at_least(0)
    return inexact.where(away.where(bits + 1, bits - 1), bits).as_float()


def _narrowed(exact: LaneArithmetic, mode: str) -> LaneArithmetic:
    """float64, or `_to_odd` of a finer number, as float32."""
    nearest = exact.cast("fptrunc", "float")
    return _directed(nearest, exact - nearest.cast("fpext", "double"), mode)


def _on_double(operation: Callable[..., _Inexact], mode: str) -> _Function:
    return lambda *operands: _directed(*operation(*operands), mode)


def _on_single(operation: Callable[..., _Inexact], mode: str) -> _Function:
    def apply(*operands: LaneArithmetic) -> LaneArithmetic:
        wide = (flushed(x).cast("fpext", "double") for x in operands)
        return flushed(_narrowed(_to_odd(*operation(*wide)), mode))

    return apply


def _fused_single(mode: str, *, flushes: bool) -> _Function:
    def apply(*operands: LaneArithmetic) -> LaneArithmetic:
        a, b, c = ((flushed(x) if flushes else x).cast("fpext", "double") for x in operands)
        found = _narrowed(_to_odd(*_sum(a * b, c)), mode)  # the product is exact
        return flushed(found) if flushes else found

    return apply


def _from_integer(kind: str, signed: bool, target: str, mode: str) -> _Function:
    """The conversion of integers of ``kind`` to ``target``."""

    def apply(x: LaneArithmetic) -> LaneArithmetic:
        double = x.cast("sitofp" if signed else "uitofp", "double")
        if kind == "i32":
            return _narrowed(double, mode) if target == "float" else double
        greatest = (1 << 63) - 1 if signed else (1 << 64) - 1
        capped = double.at_least(float(greatest))
        back = capped.where(0.0, double).cast("fptosi" if signed else "fptoui", kind)
        error = (x - back).cast("sitofp", "double")
        # The greatest float is one more than the greatest integer.
        error = capped.where((x - greatest).cast("sitofp", "double") - 1.0, error)
        return _narrowed(_to_odd(double, error), mode) if target == "float" else _directed(double, error, mode)

    return apply


_INTEGERS = {"int": ("i32", True), "uint": ("i32", False), "ll": ("i64", True), "ull": ("i64", False)}


def _all(mode: str) -> dict[str, _Function]:
    return {
        **{f"__nv_f{name}_{mode}": _on_single(operation, mode) for name, operation in _ARITHMETIC.items()},
        **{f"__nv_d{name}_{mode}": _on_double(operation, mode) for name, operation in _ARITHMETIC.items()},
        f"__nv_fma_{mode}": _on_double(_fused, mode),
        f"__nv_fmaf_{mode}": _fused_single(mode, flushes=True),
        f"__nv_fmaf_ieee_{mode}": _fused_single(mode, flushes=False),
        f"__nv_double2float_{mode}": lambda x: _narrowed(x, mode),
        **{
            f"__nv_{name}2{target}_{mode}": _from_integer(kind, signed, target, mode)
            for name, (kind, signed) in _INTEGERS.items()
            for target in ("float", "double")
        },
    }


# By the symbols of CUDA's library.
FUNCTIONS: dict[str, _Function] = {symbol: function for mode in MODES for symbol, function in _all(mode).items()}
