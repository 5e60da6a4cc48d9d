"""Kernels with the slips that people make, each off by one thing that is known, and what they should make."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl


@dataclass(frozen=True)
class Slip:
    """``run`` launches the kernel that is off by ``kind``, ``right`` is what it should have made. The sentence about
    the cause has to say ``cause``, and ``switch`` is what has to remove it."""

    kind: str
    name: str
    cause: str
    switch: str
    run: Callable[[], Any]
    right: torch.Tensor


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# --- Masked-off lanes ---------------------------------------------------------------------------------


@triton.jit
def softmax_over(x_ptr, out_ptr, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=OTHER)
    powers = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * n + at, powers / tl.sum(powers, 0), mask=at < n)


@triton.jit
def least_over(x_ptr, out_ptr, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.min(tl.load(x_ptr + row * n + at, mask=at < n, other=OTHER), 0))


@triton.jit
def total_over(x_ptr, out_ptr, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.sum(tl.load(x_ptr + row * n + at, mask=at < n, other=OTHER), 0))


def others() -> Iterator[Slip]:
    for n, block in ((50, 64), (100, 128)):
        x = randn(7, n, seed=n)
        cases: list[tuple[Any, torch.Tensor, tuple[int, ...], float, str, torch.Tensor]] = [
            (softmax_over, x - 9, (7, n), 0.0, "other=-inf", torch.softmax(x - 9, 1)),
            (least_over, x + 9, (7,), 0.0, "other=inf", (x + 9).min(1).values),
            (total_over, x, (7,), 1.0, "other=0", x.sum(1)),
        ]
        for kernel, given, shape, other, switch, right in cases:
            yield Slip(
                "other", f"{kernel.fn.__name__} {n} of {block} lanes", "the values of masked-off lanes", switch,
                lambda k=kernel, g=given, s=shape, o=other, n=n, b=block: k[(7,)](
                    g, torch.empty(s), n, OTHER=o, BLOCK=b
                ),
                right,
            )  # fmt: skip


@triton.jit
def normalized(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    apart = x - tl.sum(x, 0) / n
    variance = tl.sum(apart * apart, 0) / n
    tl.store(out_ptr + row * n + at, apart / tl.sqrt(variance + 1e-5), mask=at < n)


@triton.jit
def powers_total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(tl.exp(x), 0))


def left_out() -> Iterator[Slip]:
    for n, block in ((50, 64), (100, 128), (7, 8)):
        x = randn(5, n, seed=n) + 3
        yield Slip(
            "masked-off lanes", f"a variance of {n} in {block} lanes", "masked-off lanes", "left out",
            lambda x=x, n=n, b=block: normalized[(5,)](x, torch.empty(5, n), n, BLOCK=b),
            torch.nn.functional.layer_norm(x, (n,)),
        )  # fmt: skip
        yield Slip(
            "masked-off lanes", f"powers of {n} in {block} lanes", "masked-off lanes", "",
            lambda x=x, n=n, b=block: powers_total[(5,)](x, torch.empty(5), n, BLOCK=b),
            torch.exp(x).sum(1),
        )  # fmt: skip


# --- Axes ---------------------------------------------------------------------------------------------


@triton.jit
def along(x_ptr, out_ptr, AXIS: tl.constexpr, GREATEST: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + i[None, :])
    if GREATEST:
        tl.store(out_ptr + i, tl.max(x, AXIS))
    else:
        tl.store(out_ptr + i, tl.sum(x, AXIS))


def axes() -> Iterator[Slip]:
    for n in (8, 16, 32):
        x = randn(n, n, seed=n)
        for greatest, right in ((True, x.max(1).values), (False, x.sum(1))):
            yield Slip(
                "axis", f"the {'greatest' if greatest else 'sum'} of {n} x {n}", "the axis of a reduction", "axis=1",
                lambda x=x, n=n, g=greatest: along[(1,)](x, torch.empty(n), AXIS=0, GREATEST=g, N=n), right,
            )  # fmt: skip


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, M, N, K, SWAP: tl.constexpr, SHORT: tl.constexpr, ACROSS: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(1 if SWAP else 0) * BM + tl.arange(0, BM)
    n = tl.program_id(0 if SWAP else 1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(K // BK if SHORT else tl.cdiv(K, BK)):
        k = step * BK + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        if ACROSS == 1:
            b = tl.load(b_ptr + k[:, None] + n[None, :] * N, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        else:
            b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total += tl.dot(a, b, input_precision="ieee")
    inside = (m[:, None] < M) & (n[None, :] < N)
    if ACROSS == 2:
        tl.store(c_ptr + m[:, None] + n[None, :] * N, total, mask=inside)
    else:
        tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=inside)


def multiplied(
    kind: str, name: str, cause: str, switch: str, k: int, n: int = 64, swap: bool = False, short: bool = False,
    across: int = 0,
) -> Slip:  # fmt: skip
    a, b = randn(64, k, seed=k), randn(k, n, seed=k + 1)
    return Slip(
        kind, name, cause, switch,
        lambda: product[(64 // 32, n // 16)](
            a, b, torch.zeros(64, n), 64, n, k, SWAP=swap, SHORT=short, ACROSS=across, BM=32, BN=16, BK=16
        ),
        (a.double() @ b.double()).float(),
    )  # fmt: skip


def program_ids() -> Iterator[Slip]:
    """A loop of one step, and one of some, the last of which is cut; how many steps makes no difference."""
    for k in (16, 72):
        yield multiplied(
            "program ids", f"a product over {k}", "the axes of the program ids", "program_id(0) and program_id(1)", k,
            swap=True,
        )  # fmt: skip


def across() -> Iterator[Slip]:
    for which, noun in ((1, "loaded"), (2, "stored")):
        for seed in (0, 1, 2):
            n = 64
            a, b = randn(64, 64, seed=seed), randn(64, n, seed=seed + 7)
            yield Slip(
                "across", f"{'bc'[which - 1]} is {noun} across, {seed}",
                f"which of its axes {'bc'[which - 1]}_ptr is {noun} along", "exchanged",
                lambda a=a, b=b, w=which: product[(2, 4)](
                    a, b, torch.zeros(64, 64), 64, 64, 64, SWAP=False, SHORT=False, ACROSS=w, BM=32, BN=16, BK=16
                ),
                (a.double() @ b.double()).float(),
            )  # fmt: skip


# --- Loops and arithmetic -----------------------------------------------------------------------------


def loops() -> Iterator[Slip]:
    """A single step, which is cut by all but one number, and by half; and two steps, which stand for any number: only
    the time of each trial grows with it."""
    for k in (17, 24, 40):
        yield multiplied(
            "loop", f"{k // 16} steps over {k}", "a loop that ends an iteration early", "more", k, short=True
        )


@triton.jit
def below(x_ptr, out_ptr, WITH: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i * N + j)
    kept = tl.where(j <= i, x, 0.0) if WITH else tl.where(j < i, x, 0.0)
    tl.store(out_ptr + i * N + j, kept)


def comparisons() -> Iterator[Slip]:
    for n in (8, 16, 32):
        x = randn(n, n, seed=n)
        for both in (True, False):
            yield Slip(
                "comparison", f"a triangle of {n} {'with' if both else 'without'} its diagonal", "a comparison",
                "< instead of <=" if both else "<= instead of <",
                lambda x=x, n=n, w=both: below[(1,)](x, torch.empty(n, n), WITH=w, N=n),
                torch.tril(x, -1 if both else 0),
            )  # fmt: skip


@triton.jit
def entropy(x_ptr, out_ptr, n, TWO: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=float("-inf"))
    powers = tl.exp2(x - tl.max(x, 0)) if TWO else tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * n + at, powers / tl.sum(powers, 0), mask=at < n)


def bases() -> Iterator[Slip]:
    for n in (20, 40, 60):
        x = randn(4, n, seed=n)
        for two in (True, False):
            yield Slip(
                "base", f"softmax of {n} with {'exp2' if two else 'exp'}", "the base of a power",
                "exp instead of exp2" if two else "exp2 instead of exp",
                lambda x=x, n=n, t=two: entropy[(4,)](x, torch.empty(4, n), n, TWO=t, BLOCK=64),
                torch.softmax(x if two else x * math.log(2), 1),
            )  # fmt: skip


@triton.jit
def centred(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    tl.store(out_ptr + row * n + at, x - tl.sum(x, 0) / BLOCK, mask=at < n)


def divisors() -> Iterator[Slip]:
    for n, block in ((20, 32), (40, 64), (60, 64), (100, 128), (5, 8), (120, 128)):
        x = randn(4, n, seed=n) + 2
        yield Slip(
            "divisor", f"a mean of {n} in {block} lanes", "a wrong number", "n instead of BLOCK",
            lambda x=x, n=n, b=block: centred[(4,)](x, torch.empty(4, n), n, BLOCK=b),
            x - x.mean(1, keepdim=True),
        )  # fmt: skip


SLIPS = [
    slip
    for kind in (others, left_out, axes, program_ids, across, loops, comparisons, bases, divisors)
    for slip in kind()
]
