"""NaN among values that are compared: what a maximum, a minimum, or its index makes of it."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

NAN = float("nan")


@triton.jit
def best_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)
    if MENDED:
        x = tl.where(x == x, x, -float("inf"))
    tl.store(out_ptr + row, tl.argmax(x, 0))  # BUG


@plant(best_kernel, "nan-comparison", None, {1, 3})
def index_of_the_largest(mended: bool) -> None:
    """The index depends on the order in which threads compare."""
    x = torch.randn(4, 16)
    x[1, 3], x[3, 0] = NAN, NAN
    best_kernel[(4,)](x, torch.zeros(4, dtype=torch.int32), BLOCK=16, MENDED=mended)


@triton.jit
def worst_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane) * tl.load(y_ptr + row * BLOCK + lane)
    if MENDED:
        x = tl.where(x == x, x, 0.0)
    tl.store(out_ptr + row, tl.argmin(x, 0))  # BUG


@plant(worst_kernel, "nan-comparison", None, {2})
def index_of_infinity_times_zero(mended: bool) -> None:
    """The NaN arises in the kernel, and only an integer is stored."""
    x, y = torch.rand(4, 16) + 1, torch.ones(4, 16)
    x[2, 5], y[2, 5] = float("inf"), 0.0
    worst_kernel[(4,)](x, y, torch.zeros(4, dtype=torch.int32), BLOCK=16, MENDED=mended)


@triton.jit
def largest_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)
    if MENDED:
        x = tl.where(x == x, x, 0.0)
    tl.store(out_ptr + row, tl.max(x, 0))  # BUG


@plant(largest_kernel, "nan-comparison", None, {0})
def largest_number_beside_nan(mended: bool) -> None:
    """torch gives NaN, a GPU the largest number."""
    x = torch.randn(4, 16)
    x[0, 7] = NAN
    largest_kernel[(4,)](x, torch.zeros(4), BLOCK=16, MENDED=mended)


@triton.jit
def _propagating(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def reduced_kernel(x_ptr, out_ptr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)
    y = tl.sum(x, 0)
    if KIND == "xor":
        y = tl.xor_sum(x.to(tl.int32, bitcast=True), 0).to(tl.float32)
    elif KIND == "propagated":
        y = tl.reduce(x, 0, _propagating)
    elif KIND == "replaced":
        y = tl.max(tl.where(x != x, 0.0, x), 0)
    elif KIND == "index of numbers":
        y = tl.argmax(tl.where(x != x, 0.0, x), 0).to(tl.float32)
    elif KIND == "index of integers":
        y = tl.argmax(x.to(tl.int32, bitcast=True), 0).to(tl.float32)
    elif KIND == "tested":
        y = tl.max((x != x).to(tl.int32), 0).to(tl.float32)
    elif KIND == "elementwise":
        y = tl.sum(tl.maximum(x, 0.0), 0)
    tl.store(out_ptr + row, y)


_KINDS = ("sum", "xor", "propagated", "replaced", "index of numbers", "index of integers", "tested", "elementwise")


def _innocent(kind: str, value: float) -> Callable[[], None]:
    def run() -> None:
        x = torch.rand(4, 16)
        x[1, 3] = value
        reduced_kernel[(4,)](x, torch.zeros(4), KIND=kind, BLOCK=16)

    run.__name__ = f"{kind} beside {value}"
    return run


INNOCENTS = [_innocent(kind, value) for kind in _KINDS for value in (NAN, float("inf"), 1.0)]
