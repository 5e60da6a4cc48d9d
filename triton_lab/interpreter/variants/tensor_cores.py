"""Dots as an H100 computes them, as a variant (see `arithmetic_variants`). For float16 and float32 they equalled an
H100's to the bit.

A tensor core adds some products at once to the sum so far. It cuts each of them to 25 bits below the first bit of the
greatest one, adds them, and cuts the sum to float32; nothing is rounded. Of tf32 inputs it reads ten bits of fraction.
Dots in full float32 are fused multiply-adds, one after another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.exact_arithmetic import multiply_add, narrowed
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.number_conversion import widen
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.variants.arithmetic_variants import Table, ordinary, to_tf32
from triton_lab.ir import Op

Array = NDArray[Any]

_F32 = np.dtype(np.float32)
_TF32, _IEEE = 0, 2  # Triton's numbers for the inputs' precision
_AT_ONCE = {"f16": 16, "bf16": 16, "f32": 8}  # products that are added at once
_KEPT = 26  # bits, counted from the greatest term's first one
_NONE = -(1 << 14)  # the exponent of zero
_MOST = 1 << 22  # the most products in memory at once


def _dot(frame: Frame, op: Op, a: Value, b: Value, accumulator: Value) -> Value:
    kind = frame.type(op.operands[0]).element
    precision = op.attributes.get("inputPrecision", _TF32)
    if (
        dtype_of(frame.result_type(op)) != _F32
        or kind not in _AT_ONCE
        or (kind == "f32" and precision not in (_TF32, _IEEE))
    ):
        return ordinary("tt.dot")(frame, op, a, b, accumulator)  # type: ignore[no-any-return]
    x, y = widen(frame.spread(op, 0, a)), widen(frame.spread(op, 1, b))
    start = frame.elements(op, 2, accumulator)
    shape = np.broadcast_shapes((*x.shape[:-1], y.shape[-1]), start.shape)
    start = np.broadcast_to(start, shape)
    if kind == "f32" and precision == _IEEE:
        return _one_by_one(x, y, start)
    if kind == "f32":
        x, y = to_tf32(x, nearest=False), to_tf32(y, nearest=False)
    x, y = (np.broadcast_to(one, (*shape[:-2], *one.shape[-2:])) for one in (x, y))
    found = np.empty(shape, _F32)
    rows = max(1, _MOST // int(np.prod((*shape[1:], _AT_ONCE[kind]))))
    for first in range(0, len(found), rows):
        part = slice(first, first + rows)
        found[part] = tensor_core(x[part], y[part], start[part], _AT_ONCE[kind])
    return found


def _one_by_one(x: Array, y: Array, start: Array) -> Array:
    total = start
    for k in range(x.shape[-1]):
        a, b, c = np.broadcast_arrays(x[..., :, k, None], y[..., k, None, :], total)
        total = narrowed(multiply_add(a, b, c), _F32, "rn")
    return total


def tensor_core(x: Array, y: Array, start: Array, at_once: int) -> Array:
    """``x @ y + start`` of float32 over the last two axes, adding ``at_once`` products at a time."""
    of_x, of_y = _exponents(x), _exponents(y)
    total = start.astype(np.float64)
    for k in range(0, x.shape[-1], at_once):
        part = slice(k, k + at_once)
        products = x[..., :, part, None].astype(np.float64) * y[..., None, part, :]
        of_products = of_x[..., :, part, None] + of_y[..., None, part, :] - 1
        greatest = np.maximum(of_products.max(axis=-2), _exponents(total))
        unit = np.ldexp(1.0, np.where(greatest < _NONE // 2, 0, greatest - _KEPT))
        whole = np.trunc(products / unit[..., None, :]).sum(axis=-2) + np.trunc(total / unit)
        total = _cut(whole * unit).astype(np.float64)
    return total.astype(_F32)


def _exponents(x: Array) -> Array:
    return np.where(x == 0, _NONE, np.frexp(x)[1]).astype(np.int64)


def _cut(x: Array) -> Array:
    """float64 as float32, rounded towards zero; too great numbers become infinite."""
    near = x.astype(_F32)
    over = (np.abs(near) > np.abs(x)) & np.isfinite(near)
    return np.where(over, np.nextafter(near, _F32.type(0)), near)


DOTS: Table = {"tt.dot": _dot}
