"""Kernels with what is odd in them, if anything is, and the kind of the relation that it breaks."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@dataclass(frozen=True)
class Odd:
    """``run`` makes one launch. ``kind`` is the relation in question; ``broken``: whether it does not hold."""

    name: str
    kind: str
    broken: bool
    run: Callable[[], Any]


@triton.jit
def softmax(x_ptr, y_ptr, n, OTHER: tl.constexpr, BY_MAX: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=OTHER)
    e = tl.exp(x - tl.max(x, axis=0))
    total = tl.max(e, axis=0) if BY_MAX else tl.sum(e, axis=0)
    tl.store(y_ptr + row * n + at, e / total, mask=at < n)


@triton.jit
def normalised(x_ptr, y_ptr, n, eps, HOW: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    mean = tl.sum(x, axis=0) / (BLOCK if HOW == "block" else n)
    centred = x - mean if HOW == "unmasked" else tl.where(at < n, x - mean, 0.0)
    var = tl.sum(centred * centred, axis=0) / n
    tl.store(y_ptr + row * n + at, centred * (1 / tl.sqrt(var + eps)), mask=at < n)


@triton.jit
def chunks(x_ptr, y_ptr, n, FROM: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(FROM, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    tl.store(y_ptr + row, tl.sum(total, axis=0))


@triton.jit
def greatest(x_ptr, y_ptr, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=OTHER)
    tl.store(y_ptr + row, tl.max(x, axis=0))


@triton.jit
def added(x_ptr, y_ptr, o_ptr, n, last, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.minimum(at, last), mask=at < n)
    y = tl.load(y_ptr + at, mask=at < n)
    tl.store(o_ptr + at, x + y, mask=at < n)


@triton.jit
def transposed(x_ptr, o_ptr, N, last, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    j = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    mask = (i < N) & (j < N)
    x = tl.load(x_ptr + j * N + tl.minimum(i, last), mask=mask)
    tl.store(o_ptr + i * N + j, x, mask=mask)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, END, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, END, B):
        k = start + tl.arange(0, B)
        a = tl.load(a_ptr + i[:, None] * K + k[None, :], mask=(i[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + j[None, :], mask=(k[:, None] < K) & (j[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    tl.store(c_ptr + i[:, None] * N + j[None, :], acc, mask=(i[:, None] < M) & (j[None, :] < N))


@triton.jit
def unused(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    y = tl.load(y_ptr + at, mask=at < n)  # noqa: F841 (this is what is odd)
    tl.store(o_ptr + at, x + x, mask=at < n)


@triton.jit
def doubled(x_ptr, y_ptr, s_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(s_ptr, tl.sum(tl.load(x_ptr + at, mask=at < n, other=0.0), axis=0))
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


MINUS = -float("inf")


def _rows(kernel: Any, *given: Any, columns: bool = True) -> Callable[[], Any]:
    def run() -> None:
        y = torch.empty(9, 50) if columns else torch.empty(9)
        kernel[(9,)](randn(9, 50) - (0 if columns else 5), y, 50, *given)

    return run


def odds() -> list[Odd]:
    def sums(grid: int) -> Callable[[], Any]:
        return lambda: added[(4,)](randn(200), randn(200), torch.empty(200), 200, grid, BLOCK=64)

    def turned(last: int) -> Callable[[], Any]:
        return lambda: transposed[(3, 3)](randn(40, 40), torch.empty(40, 40), 40, last, B=16)

    def multiplied(end: int) -> Callable[[], Any]:
        return lambda: product[(3, 2)](randn(40, 50), randn(50, 30, seed=1), torch.empty(40, 30), 40, 30, 50, end, B=16)

    return [
        Odd("softmax", "sums to 1", False, _rows(softmax, MINUS, False, 64)),
        Odd("softmax over zeros", "sums to 1", True, _rows(softmax, 0.0, False, 64)),
        Odd("softmax over zeros", "masked lanes", True, _rows(softmax, 0.0, False, 64)),
        Odd("softmax by the greatest", "sums to 1", True, _rows(softmax, MINUS, True, 64)),
        Odd("normalised", "mean 0, variance 1", False, _rows(normalised, 1e-5, "right", 64)),
        Odd("normalised by the block", "mean 0, variance 1", True, _rows(normalised, 1e-5, "block", 64)),
        Odd("normalised, unmasked", "masked lanes", True, _rows(normalised, 1e-5, "unmasked", 64)),
        Odd("normalised, unmasked", "mean 0, variance 1", True, _rows(normalised, 1e-5, "unmasked", 64)),
        Odd("sums of chunks", "sum of parts", False, _rows(chunks, 0, 16, columns=False)),
        Odd("greatest", "extreme of parts", False, _rows(greatest, MINUS, 64, columns=False)),
        Odd("greatest and zeros", "masked lanes", True, _rows(greatest, 0.0, 64, columns=False)),
        Odd("added", "element order", False, sums(1000)),
        Odd("added, the end held", "element order", True, sums(150)),
        Odd("transposed", "element order", False, turned(1000)),
        Odd("transposed", "same elements", False, turned(1000)),
        Odd("transposed, the end held", "element order", True, turned(30)),
        Odd("transposed, the end held", "same elements", True, turned(30)),
        Odd("product", "product", False, multiplied(50)),
        Odd("product, a step short", "product", True, multiplied(48)),
        Odd(
            "unused",
            "arguments have effects",
            True,
            lambda: unused[(4,)](randn(200), randn(200), torch.empty(200), 200, BLOCK=64),
        ),
    ]
