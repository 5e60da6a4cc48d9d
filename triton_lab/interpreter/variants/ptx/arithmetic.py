"""What PTX instructions on floats do, as functions of arrays of raw bits, to the bit.

``ftz`` reads and makes subnormal float32 as zeros of their sign. Any NaN that float32 arithmetic makes is 0x7fffffff.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.exact_arithmetic import multiply_add, narrowed, to_odd, two_sum
from triton_lab.interpreter.libdevice import directed_rounding
from triton_lab.interpreter.min_max import fmax, fmin
from triton_lab.interpreter.number_conversion import float_to_integer, flushed
from triton_lab.interpreter.variants.ptx.integers import COMPARISONS

Array = NDArray[Any]
Run = Callable[..., Array]

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_MODES = {"rn": "rn", "rz": "rz", "rm": "rd", "rp": "ru"}
_NAN = np.uint32(0x7FFFFFFF)


def single(x: Array) -> Array:
    return x.view(np.float32)


def double(x: Array) -> Array:
    return x.view(np.float64)


def bits_of(x: Array) -> Array:
    """The raw bits of floats, with float32's NaN as the one that a GPU makes."""
    if x.dtype == _F64:
        return x.view(np.uint64)
    found = x.view(np.uint32)
    nan = np.isnan(x)
    return np.where(nan, _NAN, found) if nan.any() else found


def on_single(function: Callable[..., Array], ftz: bool) -> Run:
    """``function`` of float32 arrays as one of bits."""

    def run(*operands: Array) -> Array:
        floats = [single(np.ascontiguousarray(one)) for one in operands]
        if ftz:
            return bits_of(flushed(np.asarray(function(*map(flushed, floats)))))
        return bits_of(np.asarray(function(*floats)))

    return run


def on_double(function: Callable[..., Array]) -> Run:
    return lambda *operands: np.asarray(function(*(double(np.ascontiguousarray(one)) for one in operands))).view(
        np.uint64
    )


def _rounded(function: Callable[..., Array], mode: str) -> Callable[..., Array]:
    """``function``, which gives float64 rounded to odd for float32 operands, rounded to float32."""
    return lambda *operands: narrowed(function(*operands), _F32, mode)


def _exact_sum(a: Array, b: Array) -> Array:
    total, error = two_sum(a.astype(_F64), b.astype(_F64))
    return to_odd(total, np.where(np.isfinite(error), error, 0.0))


def _exact_product(a: Array, b: Array) -> Array:
    return a.astype(_F64) * b.astype(_F64)


def _fused(a: Array, b: Array, c: Array) -> Array:
    return multiply_add(*np.broadcast_arrays(a, b, c))


def _sum_down(a: Array, b: Array) -> Array:
    """`_exact_sum` for rounding down, where a sum that is zero is negative unless both terms are positive."""
    total = _exact_sum(a, b)
    return np.where((total == 0) & (np.signbit(a) | np.signbit(b)), -0.0, total)


def _fused_down(a: Array, b: Array, c: Array) -> Array:
    total = _fused(a, b, c)
    return np.where((total == 0) & ((np.signbit(a) ^ np.signbit(b)) | np.signbit(c)), -0.0, total)


def _zero_down(function: Callable[..., Array], name: str) -> Callable[..., Array]:
    """A sum of float64 that rounds down, with the sign of its zeros."""

    def run(a: Array, b: Array) -> Array:
        total, other = function(a, b), b if name == "add" else -b
        return np.where((total == 0) & (np.signbit(a) | np.signbit(other)), -0.0, total)

    return run


def _minimum_with_sign(a: Array, b: Array) -> Array:
    """``min.xorsign.abs``: the smaller size, with the product of both signs; a number's size beside a NaN."""
    size = fmin(np.abs(a), np.abs(b))
    return np.where(np.signbit(a) ^ np.signbit(b), -size, size)


def _compared(name: str, dtype: str, ftz: bool) -> Run:
    """``setp``: ordered comparisons are false for NaN; those that end in u are true."""
    unordered = name[:-1] in COMPARISONS and name.endswith("u")
    view = single if dtype == "f32" else double

    def run(x: Array, y: Array) -> Array:
        a, b = view(np.ascontiguousarray(x)), view(np.ascontiguousarray(y))
        if ftz:
            a, b = flushed(a), flushed(b)
        nan = np.isnan(a) | np.isnan(b)
        if name in ("nan", "num"):
            return nan if name == "nan" else ~nan
        if unordered:
            return COMPARISONS[name[:-1]](a, b) | nan
        return COMPARISONS[name](a, b) & ~nan

    return run


_WHOLE: dict[str, Callable[..., Array]] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def _to_integer(mode: str, target: str, source: str, ftz: bool) -> Run:
    view = single if source == "f32" else double
    kind = np.dtype(("i" if target[0] == "s" else "u") + str(int(target[1:]) // 8))

    def run(x: Array) -> Array:
        floats = view(np.ascontiguousarray(x))
        whole = _WHOLE[mode](flushed(floats) if ftz else floats)
        return float_to_integer(whole, kind).view(f"u{kind.itemsize}")

    return run


def _from_integer(target: str, source: str, mode: str) -> Run:
    kind = ("i" if source[0] == "s" else "u") + str(int(source[1:]) // 8)

    def run(x: Array) -> Array:
        whole = np.ascontiguousarray(x).view(kind)
        if mode == "rn":
            near: Array = whole.astype(_F32 if target == "f32" else _F64)
            return near.view(f"u{near.dtype.itemsize}")
        function = directed_rounding.to_float(kind, _F32 if target == "f32" else _F64, _MODES[mode])
        found: Array = function(whole)
        return found.view(f"u{found.dtype.itemsize}")

    return run


def _made() -> dict[str, Run]:
    found: dict[str, Run] = {}
    for ftz in ("", ".ftz"):
        flush = bool(ftz)
        for mode in _MODES:
            own = _MODES[mode]
            add, fused = (_sum_down, _fused_down) if mode == "rm" else (_exact_sum, _fused)
            found[f"fma.{mode}{ftz}.f32"] = on_single(_rounded(fused, own), flush)
            if mode == "rn":
                continue
            found[f"mul.{mode}{ftz}.f32"] = on_single(_rounded(_exact_product, own), flush)
            found[f"add.{mode}{ftz}.f32"] = on_single(_rounded(add, own), flush)
            found[f"sub.{mode}{ftz}.f32"] = on_single(_rounded(lambda a, b, add=add: add(a, -b), own), flush)
        for rn in ("", ".rn"):
            found[f"add{rn}{ftz}.f32"] = on_single(np.add, flush)
            found[f"sub{rn}{ftz}.f32"] = on_single(np.subtract, flush)
            found[f"mul{rn}{ftz}.f32"] = on_single(np.multiply, flush)
        found[f"div.rn{ftz}.f32"] = on_single(np.divide, flush)
        found[f"rcp.rn{ftz}.f32"] = on_single(lambda a: np.float32(1) / a, flush)
        found[f"sqrt.rn{ftz}.f32"] = on_single(np.sqrt, flush)
        found[f"min{ftz}.f32"], found[f"max{ftz}.f32"] = on_single(fmin, flush), on_single(fmax, flush)
        found[f"min{ftz}.xorsign.abs.f32"] = on_single(_minimum_with_sign, flush)
        found[f"abs{ftz}.f32"], found[f"neg{ftz}.f32"] = on_single(np.abs, flush), on_single(np.negative, flush)
        for mode, whole in _WHOLE.items():
            found[f"cvt.{mode}{ftz}.f32.f32"] = on_single(whole, flush)
            for target in ("s32", "u32", "s64", "u64", "s16", "u16"):
                found[f"cvt.{mode}{ftz}.{target}.f32"] = _to_integer(mode, target, "f32", flush)
        found[f"cvt{ftz}.sat.f32.f32"] = on_single(lambda a: fmin(fmax(a, np.zeros_like(a)), np.ones_like(a)), flush)
        found[f"cvt{ftz}.f64.f32"] = lambda x, f=flush: (
            (flushed(single(x)) if f else single(x)).astype(_F64).view(np.uint64)
        )
        for mode, own in _MODES.items():
            found[f"cvt.{mode}{ftz}.f32.f64"] = lambda x, m=own, f=flush: bits_of(
                (flushed if f else np.asarray)(narrowed(double(x), _F32, m))
            )
        for name in (*COMPARISONS, *(f"{one}u" for one in COMPARISONS), "nan", "num"):
            found[f"setp.{name}{ftz}.f32"] = _compared(name, "f32", flush)
            found[f"setp.{name}.f64"] = _compared(name, "f64", False)
    for rn in ("", ".rn"):
        found |= {f"add{rn}.f64": on_double(np.add), f"sub{rn}.f64": on_double(np.subtract)}
        found[f"mul{rn}.f64"] = on_double(np.multiply)
    found |= {"fma.rn.f64": on_double(_fused), "div.rn.f64": on_double(np.divide), "sqrt.rn.f64": on_double(np.sqrt)}
    found["rcp.rn.f64"] = on_double(lambda a: 1.0 / a)
    for mode in ("rz", "rm", "rp"):
        for name, operation in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("div", "div")):
            function = directed_rounding.FUNCTIONS[f"__nv_d{operation}_{_MODES[mode]}"]
            sums = mode == "rm" and name in ("add", "sub")
            found[f"{name}.{mode}.f64"] = on_double(_zero_down(function, name) if sums else function)
        found[f"fma.{mode}.f64"] = on_double(directed_rounding.FUNCTIONS[f"__nv_fma_{_MODES[mode]}"])
    found |= {"min.f64": on_double(fmin), "max.f64": on_double(fmax)}
    found["abs.f64"] = lambda x: x & np.uint64(0x7FFFFFFFFFFFFFFF)
    found["neg.f64"] = lambda x: x ^ np.uint64(1 << 63)
    for mode, whole in _WHOLE.items():
        found[f"cvt.{mode}.f64.f64"] = on_double(whole)
        for target in ("s32", "u32", "s64", "u64"):
            found[f"cvt.{mode}.{target}.f64"] = _to_integer(mode, target, "f64", False)
    for source in ("s32", "u32", "s64", "u64", "s16", "u16"):
        for mode in _MODES:
            found[f"cvt.{mode}.f32.{source}"] = _from_integer("f32", source, mode)
            found[f"cvt.{mode}.f64.{source}"] = _from_integer("f64", source, mode)
    found["copysign.f32"] = lambda x, y: (y & np.uint32(0x7FFFFFFF)) | (x & np.uint32(0x80000000))
    found["copysign.f64"] = lambda x, y: (y & np.uint64((1 << 63) - 1)) | (x & np.uint64(1 << 63))
    found["testp.infinite.f32"] = lambda x: np.isinf(single(np.ascontiguousarray(x)))
    found["testp.infinite.f64"] = lambda x: np.isinf(double(np.ascontiguousarray(x)))
    return found


FUNCTIONS: dict[str, Run] = _made()
