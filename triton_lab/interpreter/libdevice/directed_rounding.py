"""Arithmetic and conversions with a direction of rounding: ``_rn``, ``_rz``, ``_rd``, ``_ru``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import special_functions
from triton_lab.interpreter.exact_arithmetic import directed, multiply_add, narrowed, to_odd, two_product, two_sum
from triton_lab.interpreter.number_conversion import float_to_integer, flushed
from triton_lab.interpreter.op_registry import bind

Array = NDArray[Any]
Function = Callable[..., Array]

_MODES = ("rn", "rz", "rd", "ru")
_F32 = np.dtype(np.float32)
_F64 = np.dtype(np.float64)
# The function that rounds a float to a whole number in each direction.
_WHOLE: dict[str, np.ufunc] = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}


def _with_ends(result: Array, error: Array, *operands: Array) -> tuple[Array, Array]:
    """The error of an overflow put in; what comes from an infinite operand is exact."""
    finite = functools.reduce(np.logical_and, map(np.isfinite, operands))
    known = np.where(np.isfinite(error), error, 0.0)
    return result, np.where(finite, np.where(np.isinf(result), -result, known), 0.0)


# For each operation on float64: the rounded result, and a number with the sign of its error. It is computed from the
# operands' fractions, where nothing overflows or underflows.


def _add(a: Array, b: Array) -> tuple[Array, Array]:
    return _with_ends(*two_sum(a, b), a, b)


def _subtract(a: Array, b: Array) -> tuple[Array, Array]:
    return _add(a, -b)


def _multiply(a: Array, b: Array) -> tuple[Array, Array]:
    result = a * b
    (one, m), (other, n) = np.frexp(a), np.frexp(b)
    high, low = two_product(one, other)
    return _with_ends(result, (high - np.ldexp(result, -(m + n))) + low, a, b)


def _divide(a: Array, b: Array) -> tuple[Array, Array]:
    result = a / b
    (one, m), (other, n) = np.frexp(a), np.frexp(b)
    rest = multiply_add(-np.ldexp(result, n - m), other, one) * np.sign(b)
    result, error = _with_ends(result, rest, a, b)
    return result, np.where(b == 0, 0.0, error)


def _reciprocal(a: Array) -> tuple[Array, Array]:
    return _divide(np.ones_like(a), a)


def _root(a: Array) -> tuple[Array, Array]:
    root = np.sqrt(a)
    tiny = a < 2.0**-500
    up, square = np.where(tiny, root * 2.0**300, root), np.where(tiny, a * 2.0**600, a)
    return _with_ends(root, multiply_add(-up, up, square), a)


def _fused(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    result = multiply_add(a, b, c)
    (one, m), (other, n) = np.frexp(a), np.frexp(b)
    half = (m + n) // 2  # for each factor, so that none is so great that its error is lost
    high, low = two_product(np.ldexp(one, half), np.ldexp(other, m + n - half))
    inner, inner_error = two_sum(high, -result)
    return _with_ends(result, (inner + c) + (inner_error + low), a, b, c)


_ARITHMETIC: dict[str, Callable[..., tuple[Array, Array]]] = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "div": _divide,
    "rcp": _reciprocal,
    "sqrt": _root,
}


def _on_double(operation: Callable[..., tuple[Array, Array]], mode: str) -> Function:
    def apply(*operands: Array) -> Array:
        return directed(*operation(*operands), mode)

    return apply


def _on_single(operation: Callable[..., tuple[Array, Array]], mode: str) -> Function:
    def apply(*operands: Array) -> Array:
        wide = (flushed(operand).astype(_F64) for operand in operands)
        return flushed(narrowed(to_odd(*operation(*wide)), _F32, mode))

    return apply


def _fused_single(mode: str) -> Function:
    def apply(a: Array, b: Array, c: Array) -> Array:
        return flushed(narrowed(multiply_add(flushed(a), flushed(b), flushed(c)), _F32, mode))

    return apply


def _fused_ieee(mode: str) -> Function:
    """Fused multiply-add that never flushes subnormal numbers, whatever the compiler's options."""
    return lambda a, b, c: narrowed(multiply_add(a, b, c), _F32, mode)


def _to_integer(target: str, mode: str) -> Function:
    dtype = np.dtype(target)

    def apply(x: Array) -> Array:
        whole = _WHOLE[mode](flushed(x) if x.dtype == _F32 else x)
        return float_to_integer(whole, dtype).view(f"i{dtype.itemsize}")

    return apply


def to_float(source: str, target: np.dtype[Any], mode: str) -> Function:
    """Conversion from integers; ``source`` says how to read their bits."""

    def apply(x: Array) -> Array:
        whole = x.view(source)
        double = whole.astype(_F64)
        if whole.dtype.itemsize < 8:
            return narrowed(double, target, mode) if target == _F32 else double
        error = _integer_error(whole, double)
        return narrowed(to_odd(double, error), target, mode) if target == _F32 else directed(double, error, mode)

    return apply


def _integer_error(whole: Array, double: Array) -> Array:
    """``whole - double``, which is small, in float64."""
    limit = float(np.iinfo(whole.dtype).max)
    capped = double >= limit
    back = np.where(capped, 0, double).astype(whole.dtype)
    # The difference may wrap; at the top, ``double`` exceeds the greatest integer by one.
    rest = (whole - back).view(np.int64).astype(_F64)
    top = (whole - np.iinfo(whole.dtype).max).view(np.int64).astype(_F64) - 1.0
    return np.where(capped, top, rest)


_INTEGERS = {"int": "i4", "uint": "u4", "ll": "i8", "ull": "u8"}

FUNCTIONS: dict[str, Function] = {"__nv_frsqrt_rn": special_functions.rsqrt}
for _mode in _MODES:
    for _name, _operation in _ARITHMETIC.items():
        bind(FUNCTIONS, f"__nv_f{_name}_{_mode}", _on_single(_operation, _mode))
        bind(FUNCTIONS, f"__nv_d{_name}_{_mode}", _on_double(_operation, _mode))
    bind(FUNCTIONS, f"__nv_fma_{_mode}", _on_double(_fused, _mode))
    bind(FUNCTIONS, f"__nv_fmaf_{_mode}", _fused_single(_mode))
    bind(FUNCTIONS, f"__nv_fmaf_ieee_{_mode}", _fused_ieee(_mode))
    bind(FUNCTIONS, f"__nv_double2float_{_mode}", lambda x, mode=_mode: narrowed(x, _F32, mode))
    for _name, _integer in _INTEGERS.items():
        bind(FUNCTIONS, f"__nv_float2{_name}_{_mode}", _to_integer(_integer, _mode))
        bind(FUNCTIONS, f"__nv_double2{_name}_{_mode}", _to_integer(_integer, _mode))
        bind(FUNCTIONS, f"__nv_{_name}2float_{_mode}", to_float(_integer, _F32, _mode))
        bind(FUNCTIONS, f"__nv_{_name}2double_{_mode}", to_float(_integer, _F64, _mode))
