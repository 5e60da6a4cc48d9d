"""Reductions along each axis, scans, norms, sorts and atomics."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from tests.gpu.agreement.case import Case, normal

_FLOATS = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def next_state(a, b, c, d):
    return a * c, c * b + d


@triton.jit
def total(x, o, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    block = tl.load(x + tl.program_id(0) * M * N + i[:, None] * N + j[None, :])
    found = tl.sum(block, AXIS)
    left: tl.constexpr = M if AXIS == 1 else N
    tl.store(o + tl.program_id(0) * left + tl.arange(0, left), found)


@triton.jit
def extremes(x, o, at, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    block = tl.load(x + i[:, None] * N + j[None, :])
    left: tl.constexpr = M if AXIS == 1 else N
    k = tl.arange(0, left)
    tl.store(o + k, tl.max(block, AXIS))
    tl.store(o + left + k, tl.min(block, AXIS))
    tl.store(at + k, tl.argmax(block, AXIS))
    tl.store(at + left + k, tl.argmin(block, AXIS))


@triton.jit
def product_of_rows(x, o, N: tl.constexpr):
    row = tl.program_id(0)
    tl.store(o + row, tl.reduce(tl.load(x + row * N + tl.arange(0, N)), 0, times))


@triton.jit
def log_sum_exp(x, o, n, N: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * n + k, mask=k < n, other=-float("inf"))
    most = tl.max(v, 0)
    tl.store(o + row, tl.log(tl.sum(tl.exp(v - most), 0)) + most)


@triton.jit
def spread(x, o, n, N: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * n + k, mask=k < n, other=0.0)
    mean = tl.sum(v, 0) / n
    d = tl.where(k < n, v - mean, 0.0)
    tl.store(o + row, tl.sqrt(tl.sum(d * d, 0) / (n - 1)))


@triton.jit
def running(x, o, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + at, tl.cumsum(tl.load(x + at), AXIS, reverse=REVERSE))


@triton.jit
def running_product(x, o, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o + at, tl.cumprod(tl.load(x + at), 0))


@triton.jit
def state_space(a, b, o, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    _, found = tl.associative_scan((tl.load(a + at), tl.load(b + at)), 0, next_state)
    tl.store(o + at, found)


@triton.jit
def centred_norm(x, w, b, o, n, N: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, N)
    m = k < n
    v = tl.load(x + row * n + k, mask=m, other=0.0).to(tl.float32)
    d = tl.where(m, v - tl.sum(v, 0) / n, 0.0)
    scale = tl.rsqrt(tl.sum(d * d, 0) / n + 1e-5)
    y = d * scale * tl.load(w + k, mask=m).to(tl.float32) + tl.load(b + k, mask=m).to(tl.float32)
    tl.store(o + row * n + k, y.to(o.dtype.element_ty), mask=m)


@triton.jit
def root_norm(x, w, o, n, N: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * n + k, mask=k < n, other=0.0).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(v * v, 0) / n + 1e-6)
    tl.store(o + row * n + k, (v * scale * tl.load(w + k, mask=k < n)).to(o.dtype.element_ty), mask=k < n)


@triton.jit
def unit_rows(x, o, n, N: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * n + k, mask=k < n, other=0.0)
    tl.store(o + row * n + k, v / tl.maximum(tl.sqrt(tl.sum(v * v, 0)), 1e-12), mask=k < n)


@triton.jit
def warm_softmax(x, o, n, heat, N: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * n + k, mask=k < n, other=-float("inf")).to(tl.float32) / heat
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * n + k, (e / tl.sum(e, 0)).to(o.dtype.element_ty), mask=k < n)


@triton.jit
def log_softmax(x, o, n, N: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * n + k, mask=k < n, other=-float("inf")).to(tl.float32)
    v = v - tl.max(v, 0)
    tl.store(o + row * n + k, (v - tl.log(tl.sum(tl.exp(v), 0))).to(o.dtype.element_ty), mask=k < n)


@triton.jit
def cross_entropy(x, y, o, n, N: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * n + k, mask=k < n, other=-float("inf"))
    most = tl.max(v, 0)
    tl.store(o + row, most + tl.log(tl.sum(tl.exp(v - most), 0)) - tl.load(x + row * n + tl.load(y + row)))


@triton.jit
def quantised(x, o, s, n, N: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * n + k, mask=k < n, other=0.0)
    scale = tl.max(tl.abs(v), 0) / 127.0
    tl.store(s + row, scale)
    tl.store(o + row * n + k, tl.floor(v / scale + 0.5).to(tl.int8), mask=k < n)


@triton.jit
def sorted_rows(x, o, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o + at, tl.sort(tl.load(x + at)))


@triton.jit
def picked(x, at, o, N: tl.constexpr):
    k = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o + k, tl.gather(tl.load(x + k), tl.load(at + k), 0) * 3.0)


@triton.jit
def added(x, o, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(o + k, tl.load(x + k))


@triton.jit
def greatest(x, o, BLOCK: tl.constexpr):
    k = tl.arange(0, BLOCK)
    tl.atomic_max(o + k, tl.load(x + tl.program_id(0) * BLOCK + k))


@triton.jit
def counted(x, o, N: tl.constexpr, BINS: tl.constexpr):
    bins = tl.histogram(tl.load(x + tl.program_id(0) * N + tl.arange(0, N)), BINS)
    tl.atomic_add(o + tl.arange(0, BINS), bins)


def _total(dtype: torch.dtype, axis: int) -> Case:
    def run(device: str) -> None:
        x = normal(16, 32, 64, seed=70 + axis, dtype=dtype).to(device)
        total[(16,)](x, torch.zeros(16, 32 if axis else 64, dtype=dtype, device=device), M=32, N=64, AXIS=axis)

    return Case(f"sum of {str(dtype).removeprefix('torch.')} along axis {axis}", run)


def _extremes(dtype: torch.dtype, axis: int) -> Case:
    def run(device: str) -> None:
        x = normal(32, 64, seed=80, dtype=dtype)
        x[torch.rand(32, 64, generator=torch.Generator().manual_seed(81)) < 0.1] = float("nan")
        left = 32 if axis else 64
        out, at = torch.zeros(2, left, dtype=dtype), torch.zeros(2, left, dtype=torch.int32)
        extremes[(1,)](x.to(device), out.to(device), at.to(device), M=32, N=64, AXIS=axis)

    return Case(f"extremes of {str(dtype).removeprefix('torch.')} with NaN along axis {axis}", run)


def _rows(name: str, kernel: Any, rows: int, n: int, seed: int, *, whole: bool = False, flat: bool = False,
          dtype: torch.dtype = torch.float32, weights: int = 0, more: tuple[Any, ...] = (), scale: float = 1.0,
          ) -> Case:  # fmt: skip
    """A kernel with a program for each row; ``flat``: it leaves a number for each; ``whole``: rows have no tail."""

    def run(device: str) -> None:
        x = (normal(rows, n, seed=seed) * scale).to(dtype).to(device)
        given = [normal(n, seed=seed + 1 + k).to(device) for k in range(weights)]
        out = torch.zeros((rows,) if flat else (rows, n), dtype=dtype, device=device)
        sizes = () if whole else (n,)
        kernel[(rows,)](x, *given, out, *sizes, *more, N=triton.next_power_of_2(n))

    return Case(name, run)


def _running(dtype: torch.dtype, axis: int, reverse: bool) -> Case:
    def run(device: str) -> None:
        x = normal(32, 64, seed=90, dtype=dtype).to(device)
        running[(1,)](x, torch.zeros_like(x), M=32, N=64, AXIS=axis, REVERSE=reverse)

    words = ", reversed" if reverse else ""
    return Case(f"running sum of {str(dtype).removeprefix('torch.')} along axis {axis}{words}", run)


def _states(device: str) -> None:
    a, b = torch.sigmoid(normal(8, 128, seed=91)).to(device), normal(8, 128, seed=92).to(device)
    state_space[(8,)](a, b, torch.zeros_like(b), N=128)


def _entropy(device: str) -> None:
    x, y = normal(32, 100, seed=93).to(device), (torch.arange(32) * 37 % 100).to(device)
    cross_entropy[(32,)](x, y, torch.zeros(32, device=device), 100, N=128)


def _quantised(device: str) -> None:
    x = normal(16, 200, seed=94).to(device)
    out, scales = torch.zeros(16, 200, dtype=torch.int8, device=device), torch.zeros(16, device=device)
    quantised[(16,)](x, out, scales, 200, N=256)


def _picked(device: str) -> None:
    x, at = normal(8, 128, seed=95), torch.randint(0, 128, (8, 128), generator=torch.Generator().manual_seed(96))
    picked[(8,)](x.to(device), at.int().to(device), torch.zeros(8, 128, device=device), N=128)


def _added(device: str) -> None:
    x, start = normal(1024, seed=97) * 1e-39, normal(1024, seed=98) * 1e-39
    added[(4,)](x.to(device), start.to(device), BLOCK=256)


def _greatest(device: str) -> None:
    greatest[(8,)](normal(8, 128, seed=99).to(device), torch.zeros(128, device=device), BLOCK=128)


def _counted(device: str) -> None:
    x = torch.randint(0, 32, (8, 128), generator=torch.Generator().manual_seed(100)).int()
    counted[(8,)](x.to(device), torch.zeros(32, dtype=torch.int32, device=device), N=128, BINS=32)


CASES = [
    *(_total(dtype, axis) for dtype in _FLOATS.values() for axis in (0, 1)),
    *(_extremes(dtype, axis) for dtype in (torch.float32, torch.float16) for axis in (0, 1)),
    _rows("product of rows", product_of_rows, 16, 256, 110, whole=True, flat=True),
    _rows("log of a sum of exponentials", log_sum_exp, 32, 300, 111, flat=True),
    _rows("standard deviation", spread, 32, 300, 112, flat=True),
    *(_running(dtype, axis, reverse) for dtype, axis, reverse in (
        (torch.float32, 1, False), (torch.float32, 0, False), (torch.float16, 0, False), (torch.bfloat16, 1, True),
        (torch.float64, 1, False))),
    _rows("running product", running_product, 8, 128, 113, whole=True),
    Case("states of a linear recurrence", _states),
    _rows("centred norm of float32", centred_norm, 23, 300, 114, weights=2),
    _rows("centred norm of bfloat16", centred_norm, 16, 256, 115, weights=2, dtype=torch.bfloat16),
    _rows("norm by the root of the mean square, float16", root_norm, 16, 500, 116, weights=1, dtype=torch.float16),
    _rows("rows of length one", unit_rows, 16, 300, 117),
    _rows("softmax with a temperature", warm_softmax, 16, 300, 118, more=(0.7,), scale=3),
    _rows("softmax of float16", warm_softmax, 16, 256, 119, more=(1.3,), dtype=torch.float16),
    _rows("log of softmax, bfloat16", log_softmax, 16, 300, 120, dtype=torch.bfloat16),
    Case("cross entropy", _entropy),
    Case("rows quantised to int8", _quantised),
    _rows("sorted rows", sorted_rows, 8, 128, 121, whole=True),
    Case("gather", _picked),
    Case("atomic additions of subnormal numbers", _added),
    Case("atomic maximum", _greatest),
    Case("histogram", _counted),
]  # fmt: skip
