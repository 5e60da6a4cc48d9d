"""What PTX instructions on float16, bfloat16 and fp8 do, alone or two in a register, as functions of raw bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.exact_arithmetic import to_odd, two_sum
from triton_lab.interpreter.min_max import fmax, fmin, maximum, minimum
from triton_lab.interpreter.number_conversion import float_to_float, widen
from triton_lab.interpreter.variants.ptx.arithmetic import bits_of
from triton_lab.interpreter.variants.ptx.integers import COMPARISONS

Array = NDArray[Any]
Run = Callable[..., Array]

_HALVES = {"f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
_EIGHTHS = {"e4m3": np.dtype(ml_dtypes.float8_e4m3fn), "e5m2": np.dtype(ml_dtypes.float8_e5m2)}


def _fused(a: Array, b: Array, c: Array) -> Array:
    """float64, rounded to odd, so that rounding it to 16 bits rounds once; the product of such operands is exact."""
    total, error = two_sum(a.astype(np.float64) * b, c.astype(np.float64))
    return to_odd(total, np.where(np.isfinite(error), error, 0.0))


def _positive(x: Array) -> Array:
    """``relu``: NaN stays."""
    return np.where(x <= 0, x.dtype.type(0), x)


def _of_halves(function: Callable[..., Array], dtype: np.dtype[Any]) -> Run:
    """``function`` of float32 arrays as one of the bits of ``dtype``."""

    def run(*operands: Array) -> Array:
        found = function(*(widen(np.ascontiguousarray(one).view(dtype)) for one in operands))
        return float_to_float(np.asarray(found), dtype).view(np.uint16)

    return run


def _of_pairs(run: Run) -> Run:
    """``run``, which takes 16 bits, for the lower and the upper half of 32."""

    def both(*operands: Array) -> Array:
        low = run(*(one.astype(np.uint16) for one in operands))
        high = run(*((one >> np.uint32(16)).astype(np.uint16) for one in operands))
        return _joined(high, low)

    return both


def _joined(high: Array, low: Array) -> Array:
    wide = np.dtype(f"u{2 * low.dtype.itemsize}")
    found: Array = high.astype(wide) << wide.type(8 * low.dtype.itemsize) | low.astype(wide)
    return found


def _from_single(dtype: np.dtype[Any], towards_zero: bool = False, relu: bool = False, saturates: bool = False) -> Run:
    def run(x: Array) -> Array:
        floats = np.ascontiguousarray(x).view(np.float32)
        if relu:
            floats = _positive(floats)
        if saturates and dtype.itemsize == 2:
            limit = np.float32(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
            floats = np.clip(floats, -limit, limit)
        return float_to_float(floats, dtype, towards_zero).view(f"u{dtype.itemsize}")

    return run


def _to_single(dtype: np.dtype[Any]) -> Run:
    def run(x: Array) -> Array:
        floats = widen(np.ascontiguousarray(x).view(dtype))
        raw: Array = floats.view(np.uint32)
        return bits_of(floats) if dtype == np.float16 else raw  # bfloat16 is shifted, whatever it is

    return run


def _eighths_to_halves(dtype: np.dtype[Any]) -> Run:
    def run(x: Array) -> Array:
        parts = (x.astype(np.uint8), (x >> np.uint16(8)).astype(np.uint8))
        low, high = (float_to_float(widen(part.view(dtype)), _HALVES["f16"]).view(np.uint16) for part in parts)
        return _joined(high, low)

    return run


def _halves_to_eighths(dtype: np.dtype[Any]) -> Run:
    def run(x: Array) -> Array:
        parts = (x.astype(np.uint16), (x >> np.uint32(16)).astype(np.uint16))
        low, high = (float_to_float(part.view(np.float16), dtype).view(np.uint8) for part in parts)
        return _joined(high, low)

    return run


def _compared(name: str, dtype: np.dtype[Any]) -> Run:
    return lambda x, y: COMPARISONS[name](*(widen(np.ascontiguousarray(one).view(dtype)) for one in (x, y)))


def _made() -> dict[str, Run]:
    found: dict[str, Run] = {}
    for kind, dtype in _HALVES.items():
        own: dict[str, Run] = {
            "min": _of_halves(fmin, dtype),
            "max": _of_halves(fmax, dtype),
            "min.NaN": _of_halves(minimum, dtype),
            "max.NaN": _of_halves(maximum, dtype),
            "fma.rn": _of_halves(_fused, dtype),
            "fma.rn.relu": _of_halves(lambda a, b, c: _positive(_fused(a, b, c)), dtype),
            "neg": _of_halves(np.negative, dtype),
            "abs": _of_halves(np.abs, dtype),
        }
        for name, function in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply)):
            own[name] = own[f"{name}.rn"] = _of_halves(function, dtype)
        for name, run in own.items():
            found[f"{name}.{kind}"], found[f"{name}.{kind}x2"] = run, _of_pairs(run)
        for name in ("eq", "lt", "le", "gt", "ge"):
            found[f"setp.{name}.{kind}"] = _compared(name, dtype)
        found[f"cvt.f32.{kind}"] = _to_single(dtype)
        for mode in ("rn", "rz"):
            for extra, options in (
                ("", {}),
                (".relu", {"relu": True}),
                (".satfinite", {"saturates": True}),
                (".relu.satfinite", {"relu": True, "saturates": True}),
            ):
                one = _from_single(dtype, mode == "rz", **options)
                found[f"cvt.{mode}{extra}.{kind}.f32"] = one
                found[f"cvt.{mode}{extra}.{kind}x2.f32"] = lambda x, y, f=one: _joined(f(x), f(y))
    for kind, dtype in _EIGHTHS.items():
        one = _from_single(dtype)
        found[f"cvt.rn.satfinite.{kind}x2.f32"] = lambda x, y, f=one: _joined(f(x), f(y))
        found[f"cvt.rn.satfinite.{kind}x2.f16x2"] = _halves_to_eighths(dtype)
        found[f"cvt.rn.f16x2.{kind}x2"] = _eighths_to_halves(dtype)
    return found


FUNCTIONS: dict[str, Run] = _made()
