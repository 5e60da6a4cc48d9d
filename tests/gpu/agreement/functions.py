"""Functions, casts and limits, element by element, on numbers of all kinds."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from tests.gpu.agreement.case import Case, normal, wild

_BLOCK = 256


@triton.jit
def waves(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + k)
    tl.store(o + k, tl.sin(v) * 0.5 + tl.cos(v + v))


@triton.jit
def growth(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + k, tl.exp(tl.load(x + k)))


@triton.jit
def logarithm(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + k, tl.log(tl.abs(tl.load(x + k))))


@triton.jit
def logarithm_of_two(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + k, tl.log2(tl.load(x + k)))


@triton.jit
def power_of_two(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + k, tl.exp2(tl.load(x + k)))


@triton.jit
def roots(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + k)
    tl.store(o + 2 * k, tl.sqrt(v))
    tl.store(o + 2 * k + 1, tl.rsqrt(v))


@triton.jit
def gelu(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + k)
    tl.store(o + k, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)))


@triton.jit
def gelu_slope(x, g, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + k).to(tl.float32)
    t = libdevice.tanh(0.7978845608 * (v + 0.044715 * v * v * v))
    slope = 0.5 * (1.0 + t) + 0.5 * v * (1.0 - t * t) * 0.7978845608 * (1.0 + 3 * 0.044715 * v * v)
    tl.store(o + k, (slope * tl.load(g + k).to(tl.float32)).to(o.dtype.element_ty))


@triton.jit
def tangent(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + k, libdevice.tanh(tl.load(x + k)))


@triton.jit
def near_zero(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + k)
    tl.store(o + 2 * k, libdevice.expm1(v))
    tl.store(o + 2 * k + 1, libdevice.log1p(v))


@triton.jit
def cube_root(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + k, libdevice.cbrt(tl.load(x + k)))


@triton.jit
def log_gamma(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + k, libdevice.lgamma(tl.load(x + k)))


@triton.jit
def power(x, y, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + k, libdevice.pow(tl.load(x + k), tl.load(y + k)))


@triton.jit
def angle(x, y, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + k), tl.load(y + k)
    tl.store(o + 2 * k, libdevice.atan2(a, b))
    tl.store(o + 2 * k + 1, libdevice.hypot(a, b))


@triton.jit
def remainders(x, y, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + k), tl.load(y + k)
    tl.store(o + 2 * k, libdevice.fmod(a, b))
    tl.store(o + 2 * k + 1, a % b)


@triton.jit
def logistic(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + k, tl.sigmoid(tl.load(x + k).to(tl.float32)).to(o.dtype.element_ty))


@triton.jit
def hyperbolic(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + k)
    tl.store(o + k, libdevice.sinh(v) / libdevice.cosh(v) + libdevice.asinh(v))


@triton.jit
def cast(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + k, tl.load(x + k).to(o.dtype.element_ty))


@triton.jit
def limited(x, o, BLOCK: tl.constexpr, LOW: tl.constexpr, HIGH: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + k, tl.clamp(tl.load(x + k), LOW, HIGH))


@triton.jit
def tiny_products(x, y, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + k), tl.load(y + k)
    tl.store(o + 2 * k, a * 1e-30)
    tl.store(o + 2 * k + 1, a / b)


@triton.jit
def adam(p, g, m, v, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    grad = tl.load(g + k)
    first = 0.9 * tl.load(m + k) + 0.1 * grad
    second = 0.999 * tl.load(v + k) + 0.001 * grad * grad
    tl.store(m + k, first)
    tl.store(v + k, second)
    tl.store(o + k, tl.load(p + k) - 0.001 * (first / 0.1) / (tl.sqrt(second / 0.001) + 1e-8))


@triton.jit
def gated(x, y, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + k).to(tl.float32), tl.load(y + k).to(tl.float32)
    tl.store(o + k, (a * tl.sigmoid(a) * b).to(o.dtype.element_ty))


@triton.jit
def rotated(x, o, HALF: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, HALF)
    angle = row * tl.exp2(-13.287712 * k.to(tl.float32) / HALF)
    a, b = tl.load(x + row * 2 * HALF + k), tl.load(x + row * 2 * HALF + HALF + k)
    tl.store(o + row * 2 * HALF + k, a * tl.cos(angle) - b * tl.sin(angle))
    tl.store(o + row * 2 * HALF + HALF + k, a * tl.sin(angle) + b * tl.cos(angle))


def _one(name: str, kernel: Any, x: torch.Tensor, twice: bool = False, dtype: Any = None, **given: Any) -> Case:
    def run(device: str) -> None:
        out = torch.zeros(x.numel() * (2 if twice else 1), dtype=dtype or x.dtype, device=device)
        kernel[(x.numel() // _BLOCK,)](x.to(device), out, BLOCK=_BLOCK, **given)

    return Case(name, run)


def _two(name: str, kernel: Any, x: torch.Tensor, y: torch.Tensor, twice: bool = False, dtype: Any = None) -> Case:
    def run(device: str) -> None:
        out = torch.zeros(x.numel() * (2 if twice else 1), dtype=dtype or x.dtype, device=device)
        kernel[(x.numel() // _BLOCK,)](x.to(device), y.to(device), out, BLOCK=_BLOCK)

    return Case(name, run)


def _adam(device: str) -> None:
    p, g, m = (normal(2048, seed=seed).to(device) for seed in (60, 61, 62))
    v = normal(2048, seed=63).abs().to(device)
    adam[(8,)](p, g, m, v, torch.zeros(2048, device=device), BLOCK=_BLOCK)


def _rotated(device: str) -> None:
    x = normal(64, 128, seed=64).to(device)
    rotated[(64,)](x, torch.zeros_like(x), HALF=64)


_DOUBLE = normal(2048, seed=20).double() * 100
_BYTES = torch.cat([normal(2000, seed=21) * 300, torch.tensor([float("nan"), float("inf"), -1.5, 255.9] * 12)])

CASES = [
    _one("sin and cos of float32", waves, wild(2048, 1)),
    _one("exp of float64", growth, _DOUBLE),
    _one("log of float64", logarithm, _DOUBLE),
    _one("sin and cos of float64", waves, _DOUBLE),
    _one("exp of float32", growth, wild(2048, 2)),
    _one("log of float32", logarithm, wild(2048, 3)),
    _one("log2 of float32", logarithm_of_two, wild(2048, 4)),
    _one("exp2 of float32", power_of_two, wild(2048, 5)),
    _one("sqrt and rsqrt of float32", roots, wild(2048, 6), twice=True),
    _one("gelu by erf", gelu, wild(2048, 7)),
    _two("slope of gelu, bfloat16", gelu_slope, normal(2048, seed=22, dtype=torch.bfloat16),
         normal(2048, seed=23, dtype=torch.bfloat16)),
    _one("tanh of float32", tangent, wild(2048, 8)),
    _one("tanh of float64", tangent, _DOUBLE / 100),
    _one("expm1 and log1p", near_zero, wild(2048, 9), twice=True),
    _one("cbrt", cube_root, wild(2048, 10)),
    _one("lgamma", log_gamma, wild(2048, 11)),
    _two("pow", power, wild(2048, 12), wild(2048, 13)),
    _two("atan2 and hypot", angle, wild(2048, 14), wild(2048, 15), twice=True),
    _two("fmod and %", remainders, wild(2048, 16), wild(2048, 17), twice=True),
    _one("sigmoid of float16", logistic, normal(2048, seed=24, dtype=torch.float16) * 4),
    _one("sinh, cosh and asinh", hyperbolic, wild(2048, 18)),
    _one("float32 to uint8", cast, _BYTES, dtype=torch.uint8),
    _one("float32 to int8", cast, _BYTES, dtype=torch.int8),
    _one("float16 to uint8", cast, _BYTES.half(), dtype=torch.uint8),
    _one("float32 to int32", cast, wild(2048, 19), dtype=torch.int32),
    _one("float32 to fp8 e4m3", cast, wild(2048, 25), dtype=torch.float8_e4m3fn),
    _one("float32 to float16", cast, wild(2048, 26), dtype=torch.float16),
    _one("clamp to -1 and 1", limited, wild(2048, 27), LOW=-1.0, HIGH=1.0),
    _one("clamp of float16 to -0.5 and 0.5", limited, wild(2048, 28).half(), LOW=-0.5, HIGH=0.5),
    _one("clamp to 0 and 6", limited, wild(2048, 29), LOW=0.0, HIGH=6.0),
    _two("tiny products and quotients", tiny_products, wild(2048, 30), wild(2048, 31), twice=True),
    Case("a step of Adam", _adam),
    _two("swiglu, bfloat16", gated, normal(2048, seed=32, dtype=torch.bfloat16),
         normal(2048, seed=33, dtype=torch.bfloat16)),
    Case("rotary positions", _rotated),
]  # fmt: skip
