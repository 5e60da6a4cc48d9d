"""Infinity that was loaded: NaN that arises from it is found; infinity and NaN that are passed on are not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

INFINITY = float("inf")
NAN = float("nan")


@triton.jit
def biased_softmax_kernel(x_ptr, bias_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    inside = lane < n
    x = tl.load(x_ptr + row * n + lane, mask=inside, other=-float("inf"))
    x += tl.load(bias_ptr + row * n + lane, mask=inside, other=0.0)
    largest = tl.max(x, 0)
    if MENDED:
        largest = tl.where(largest == -float("inf"), 0.0, largest)
    weights = tl.exp(x - largest)
    total = tl.sum(weights, 0)
    if MENDED:
        total = tl.where(total == 0.0, 1.0, total)
    tl.store(out_ptr + row * n + lane, weights / total, mask=inside)  # BUG


@plant(biased_softmax_kernel, "non-finite", "out_ptr", {2})
def row_masked_by_an_added_bias(mended: bool) -> None:
    """The bias of row 2 is -inf everywhere: -inf minus -inf."""
    bias = torch.zeros(4, 30)
    bias[1, 10:] = -INFINITY
    bias[2] = -INFINITY
    biased_softmax_kernel[(4,)](torch.ones(4, 30), bias, torch.zeros(4, 30), 30, BLOCK=32, MENDED=mended)


@triton.jit
def weighted_kernel(x_ptr, weight_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, weight = tl.load(x_ptr + offsets), tl.load(weight_ptr + offsets)
    product = tl.where(weight == 0.0, 0.0, x * weight) if MENDED else x * weight
    tl.store(out_ptr + offsets, product)  # BUG


@plant(weighted_kernel, "non-finite", "out_ptr", {1})
def infinity_with_weight_zero(mended: bool) -> None:
    """A weight of 0 does not turn infinity off."""
    x, weight = torch.ones(64), torch.ones(64)
    x[[5, 20]] = INFINITY
    weight[20] = 0.0
    weighted_kernel[(4,)](x, weight, torch.zeros(64), BLOCK=16, MENDED=mended)


@plant(weighted_kernel, "non-finite", "out_ptr", {1})
def infinity_with_weight_zero_beside_nan(mended: bool) -> None:
    """NaN that was loaded into another lane of the program is told apart from the one that arises."""
    x, weight = torch.ones(64), torch.ones(64)
    x[20], x[21], x[50] = INFINITY, NAN, NAN
    weight[20] = 0.0
    weighted_kernel[(4,)](x, weight, torch.zeros(64), BLOCK=16, MENDED=mended)


@triton.jit
def centred_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)
    if MENDED:
        x = tl.minimum(x, 1e30)
    tl.store(out_ptr + row * BLOCK + lane, x - tl.sum(x, 0) / BLOCK)  # BUG


@plant(centred_kernel, "non-finite", "out_ptr", {3})
def mean_of_infinity(mended: bool) -> None:
    """One infinite element makes the mean infinite, and itself NaN."""
    x = torch.ones(4, 16)
    x[3, 2] = INFINITY
    centred_kernel[(4,)](x, torch.zeros(4, 16), BLOCK=16, MENDED=mended)


@triton.jit
def passed_on_kernel(x_ptr, y_ptr, out_ptr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    z = x
    if KIND == "sum":
        z = x + y
    elif KIND == "difference":
        z = y - x
    elif KIND == "product":
        z = x * 2.0
    elif KIND == "quotient":
        z = x / 3.0
    elif KIND == "reciprocal":
        z = 1.0 / x
    elif KIND == "exp":
        z = tl.exp(x)
    elif KIND == "exp2":
        z = tl.exp2(-x)
    elif KIND == "maximum":
        z = tl.maximum(x, y)
    elif KIND == "minimum":
        z = tl.minimum(x, y)
    elif KIND == "where":
        z = tl.where(x > 1e30, y, x)
    elif KIND == "guarded":
        z = tl.where(x == float("inf"), 0.0, x * y)
    elif KIND == "sigmoid":
        z = tl.sigmoid(x)
    elif KIND == "abs":
        z = tl.abs(-x)
    elif KIND == "sqrt":
        z = tl.sqrt(tl.abs(x))
    elif KIND == "narrow":
        z = x.to(tl.float16).to(tl.float32)
    elif KIND == "largest":
        z = tl.zeros((BLOCK,), tl.float32) + tl.max(x, 0)
    elif KIND == "total":
        z = tl.zeros((BLOCK,), tl.float32) + tl.sum(tl.abs(x), 0)
    elif KIND == "running":
        z = tl.cumsum(tl.abs(x), 0)
    elif KIND == "flipped":
        z = tl.flip(x, 0)
    elif KIND == "fma":
        z = tl.fma(x, 2.0, y)
    tl.store(out_ptr + offsets, z)


def passed_on(kind: str, value: float) -> None:
    """What was loaded is passed on, or does not reach the store."""
    x = torch.linspace(1.0, 2.0, 64)
    x[[3, 40]] = value
    passed_on_kernel[(2,)](x, torch.ones(64), torch.zeros(64), KIND=kind, BLOCK=32)


_KINDS = (
    "copy", "sum", "difference", "product", "quotient", "reciprocal", "exp", "exp2", "maximum", "minimum", "where",
    "guarded", "sigmoid", "abs", "sqrt", "narrow", "largest", "total", "running", "flipped", "fma",
)  # fmt: skip


def _named(kind: str, value: float) -> Callable[[], None]:
    named = partial(passed_on, kind, value)
    update_wrapper(named, passed_on)
    named.__name__ = f"{value} through {kind}"  # type: ignore[attr-defined]
    return named


INNOCENTS = [
    _named(kind, value)
    for kind in _KINDS
    for value in (INFINITY, -INFINITY, NAN)
    if kind != "largest" or value == value  # a maximum of NaN gets a note
]
