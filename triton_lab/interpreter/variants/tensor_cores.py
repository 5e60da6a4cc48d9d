"""Dots as an H100 computes them, to the bit, as a variant (see `arithmetic_variants`).

A tensor core adds some products at once to the sum so far. It cuts each of them some bits below the first bit of the
greatest one, adds them, and brings the sum to its own format:

- float16, bfloat16 and tf32 to float32: 16 (tf32: 8) products at once, cut 25 bits below the first; the sum is cut.
- The same to float16: the sum is rounded to nearest.
- fp8 by ``wgmma``: 32 products at once, cut 13 bits below the first; the sum is cut to 14 bits. Without ``wgmma``,
  where a tile has fewer than 64 rows, fp8 is multiplied as float16, every other pair of products first.

tf32 inputs are cut to ten bits of fraction. tf32x3 splits each input into a rounded part and the rest; bf16x3 and
bf16x6 split it into two or three numbers of bfloat16. Dots in full float32 and in float64 are fused multiply-adds, one
after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.exact_arithmetic import multiply_add
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.number_conversion import float_to_float, widen
from triton_lab.interpreter.ops.dot_scaled import scaled_factors
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.variants.arithmetic_variants import Table, ordinary, to_tf32
from triton_lab.ir import Op

Array = NDArray[Any]

_F16, _F32 = np.dtype(np.float16), np.dtype(np.float32)
# Triton's numbers for the inputs' precision.
_TF32, _TF32X3, _IEEE, _BF16X3, _BF16X6 = range(5)
_NONE = -(1 << 14)  # the exponent of zero
_MOST = 1 << 22  # the most products in memory at once


@dataclass(frozen=True)
class TensorCore:
    """``at_once`` products are added at once, and each is cut to ``kept`` bits counted from the greatest term's first.

    ``finish`` brings a sum to the accumulator's format.
    """

    at_once: int
    kept: int
    finish: Callable[[Array], Array]

    def __call__(self, x: Array, y: Array, start: Array) -> Array:
        """``x @ y + start`` over the last two axes, for float32 arrays; a sum of float32, or of float16 as float32."""
        shape = np.broadcast_shapes((*x.shape[:-1], y.shape[-1]), start.shape)
        start = np.broadcast_to(start, shape)
        x, y = (np.broadcast_to(one, (*shape[:-2], *one.shape[-2:])) for one in (x, y))
        if len(shape) == 2:
            return self._sum(x, y, start)
        found = np.empty(shape, _F32)
        rows = max(1, _MOST // int(np.prod((*shape[1:], self.at_once))))
        for first in range(0, len(found), rows):
            part = slice(first, first + rows)
            found[part] = self._sum(x[part], y[part], start[part])
        return found

    def _sum(self, x: Array, y: Array, start: Array) -> Array:
        of_x, of_y = _exponents(x), _exponents(y)
        total = start.astype(np.float64)
        for k in range(0, x.shape[-1], self.at_once):
            part = slice(k, k + self.at_once)
            products = x[..., :, part, None].astype(np.float64) * y[..., None, part, :]
            of_products = of_x[..., :, part, None] + of_y[..., None, part, :] - 1
            greatest = np.maximum(of_products.max(axis=-2), _exponents(total))
            unit = np.ldexp(1.0, np.where(greatest < _NONE // 2, 0, greatest - self.kept))
            with np.errstate(invalid="ignore"):
                whole = np.trunc(products / unit[..., None, :]).sum(axis=-2) + np.trunc(total / unit)
                total = self.finish(whole * unit)
        return total.astype(_F32)


def _exponents(x: Array) -> Array:
    return np.where(x == 0, _NONE, np.frexp(x)[1]).astype(np.int64)


def _to_single(x: Array) -> Array:
    """float64 cut to float32, towards zero; too great numbers become infinite."""
    with np.errstate(over="ignore"):
        near = x.astype(_F32)
    over = (np.abs(near) > np.abs(x)) & np.isfinite(near)
    return np.where(over, np.nextafter(near, _F32.type(0)), near).astype(np.float64)


def _to_half(x: Array) -> Array:
    """float64 rounded to the nearest float16."""
    with np.errstate(over="ignore"):
        return x.astype(_F16).astype(np.float64)


def _to_fourteen_bits(x: Array) -> Array:
    """float64 cut to 14 bits, towards zero."""
    fraction, exponent = np.frexp(x)
    found: Array = np.ldexp(np.trunc(np.ldexp(fraction, 14)), exponent - 14)
    return found


_HALVES, _TF32S = TensorCore(16, 26, _to_single), TensorCore(8, 26, _to_single)
_TO_HALF = TensorCore(16, 26, _to_half)
_BYTES, _BYTES_TO_HALF = TensorCore(32, 14, _to_fourteen_bits), TensorCore(32, 14, _to_half)
_EIGHTS = ("f8E4M3FN", "f8E5M2")


def dots(instructions: frozenset[str]) -> Table:
    """Dots as on the tensor cores of sm_90. ``instructions`` are the mnemonics of PTX with which the kernel's tiles are
    multiplied; they say which unit takes fp8.
    """
    groups = any(one.startswith("wgmma") and (".e4m3" in one or ".e5m2" in one) for one in instructions)

    def dot(frame: Frame, op: Op, a: Value, b: Value, accumulator: Value) -> Value:
        kinds, result = [frame.type(op.operands[k]).element for k in (0, 1)], dtype_of(frame.result_type(op))
        x, y = frame.spread(op, 0, a), frame.spread(op, 1, b)
        start = frame.elements(op, 2, accumulator)
        if kinds[0] == "f64":
            return _one_by_one(x, y, start)
        if result.kind == "i" or kinds[0] not in ("f16", "bf16", "f32", *_EIGHTS):
            return ordinary("tt.dot")(frame, op, a, b, accumulator)  # type: ignore[no-any-return]
        x, y, start = widen(x), widen(y), widen(start)
        if kinds[0] == "f32":
            return _of_singles(op.attributes.get("inputPrecision", _TF32), x, y, start)
        half = result == _F16
        if kinds[0] not in _EIGHTS:
            return (_TO_HALF if half else _HALVES)(x, y, start).astype(result, copy=False)
        if groups:
            return _of_bytes(op, x, y, start, half).astype(result, copy=False)
        order = _pairs_first(x.shape[-1])
        core = _TO_HALF if half else _HALVES
        return core(x[..., order], y[..., order, :], start).astype(result, copy=False)

    def dot_scaled(frame: Frame, op: Op, a: Value, b: Value, accumulator: Value, *scales: Value) -> Value:
        x, y, _ = scaled_factors(frame, op, a, b, *scales)
        start = widen(frame.elements(op, 2, accumulator))
        eights = all(frame.type(op.operands[k]).element in _EIGHTS for k in (0, 1))
        if eights and not any(one.startswith("wgmma") for one in instructions):
            order = _pairs_first(x.shape[-1])
            x, y = x[..., order], y[..., order, :]
        return _HALVES(x, y, start).astype(dtype_of(frame.result_type(op)), copy=False)

    return {"tt.dot": dot, "tt.dot_scaled": dot_scaled}


def _of_bytes(op: Op, x: Array, y: Array, start: Array, half: bool) -> Array:
    """fp8 by ``wgmma``. With a limit of imprecise additions below the depth, each part is added in float32."""
    limit, depth = int(op.attributes.get("maxNumImpreciseAcc", 0)), x.shape[-1]
    if half or limit <= 0 or limit > depth:
        return (_BYTES_TO_HALF if half else _BYTES)(x, y, start)
    total = start
    for k in range(0, depth, max(limit, _BYTES.at_once)):
        part = slice(k, k + max(limit, _BYTES.at_once))
        total = total + _BYTES(x[..., part], y[..., part, :], np.zeros_like(start))
    return total


def _pairs_first(depth: int) -> Array:
    """The order of products if bytes are loaded four at a time and taken in pairs: of 32, first 0, 1, 4, 5, 8, ..."""
    places = np.arange(depth)
    return places[np.lexsort((places, places % 4 >= 2, places // 32))]


def _of_singles(precision: int, x: Array, y: Array, start: Array) -> Array:
    if precision == _IEEE:
        return _one_by_one(x, y, start)
    if precision == _TF32:
        return _TF32S(to_tf32(x, nearest=False), to_tf32(y, nearest=False), start)
    if precision == _TF32X3:
        great = [to_tf32(one) for one in (x, y)]
        small = [to_tf32(one - near, nearest=False) for one, near in zip((x, y), great, strict=True)]
        pairs = [(small[0], great[1]), (great[0], small[1]), (great[0], great[1])]
        return _in_parts(_TF32S, pairs, start)
    a, b = _in_bfloats(x), _in_bfloats(y)
    order = ((1, 0), (0, 1)) if precision == _BF16X3 else ((1, 1), (2, 0), (0, 2), (1, 0), (0, 1))
    return _in_parts(_HALVES, [(a[i], b[j]) for i, j in (*order, (0, 0))], start)


def _in_bfloats(x: Array) -> list[Array]:
    """A float32 as three numbers of bfloat16, each the nearest to what those before it leave."""
    parts = []
    for _ in range(3):
        near = widen(float_to_float(x, np.dtype(ml_dtypes.bfloat16)))
        parts.append(near)
        with np.errstate(invalid="ignore"):
            x = x - near
    return parts


def _in_parts(core: TensorCore, pairs: Sequence[tuple[Array, Array]], start: Array) -> Array:
    """The sum of several products, the greatest last; NaN in the sum of the small ones counts as zero."""
    total = np.zeros(np.broadcast_shapes((*pairs[0][0].shape[:-1], pairs[0][1].shape[-1]), start.shape), _F32)
    for x, y in pairs[:-1]:
        total = core(x, y, total)
    found: Array = core(*pairs[-1], np.where(np.isnan(total), np.float32(0), total)) + start
    return found


def _one_by_one(x: Array, y: Array, start: Array) -> Array:
    """Fused multiply-adds, product after product."""
    total = start
    for k in range(x.shape[-1]):
        a, b, c = np.broadcast_arrays(x[..., :, k, None], y[..., k, None, :], total)
        total = multiply_add(a, b, c).astype(start.dtype)
    return total
