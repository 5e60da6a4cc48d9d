"""More slips that people make, one of each kind; of those that no run can tell the cause is "": none may be named."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import triton
import triton.language as tl

from tests.launch.comparison.slips import Slip, randn

F = torch.nn.functional


def one(name: str, cause: str, switch: str, run: Callable[[], Any], right: torch.Tensor) -> Slip:
    return Slip(name, name, cause, switch, run, right)


# --- Dots and attention -------------------------------------------------------------------------------


@triton.jit
def scores(q_ptr, k_ptr, out_ptr, scale, HOW: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    q, k = tl.load(q_ptr + i * N + j), tl.load(k_ptr + i * N + j)
    if HOW == "no trans":
        s = tl.dot(q, k, input_precision="ieee") * scale
    elif HOW == "swapped":
        s = tl.dot(tl.trans(k), q, input_precision="ieee") * scale
    elif HOW == "no scale":
        s = tl.dot(q, tl.trans(k), input_precision="ieee")
    else:
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    if HOW == "wrong axis":
        s = tl.exp(s - tl.max(s, 0)[None, :])
        s = s / tl.sum(s, 0)[None, :]
    tl.store(out_ptr + i * N + j, s)


def dots() -> Iterator[Slip]:
    q, k = randn(16, 16), randn(16, 16, seed=1)
    s = (q.double() @ k.double().t()) * 0.3
    for how, cause, switch, right in (
        ("no trans", "which of its axes k_ptr", "the strides of k_ptr exchanged", s),
        ("swapped", "the order of the operands of tl.dot", "exchanged", (q.double() @ k.double().t()) * 0.3),
        ("no scale", "a missing factor", "s multiplied by scale", s),
        ("wrong axis", "the axis of reductions", "along the other axis", torch.softmax(s, 1)),
    ):
        yield one(
            how, cause, switch, lambda how=how: scores[(1,)](q, k, torch.zeros(16, 16), 0.3, HOW=how, N=16),
            right.float(),
        )  # fmt: skip


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_m, stride_k, HOW: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = (tl.program_id(0) if HOW == "pid_m for pid_n" else tl.program_id(1)) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_at = a_ptr + m[:, None] * stride_m + k[None, :] * stride_k
    b_at = b_ptr + k[:, None] * N + n[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        if HOW == "= for +=":
            total = tl.dot(tl.load(a_at), tl.load(b_at), input_precision="ieee")
        else:
            total += tl.dot(tl.load(a_at), tl.load(b_at), input_precision="ieee")
        a_at += BK * stride_k
        if HOW != "pointer that stays":
            b_at += BK * N
    wide = N if HOW == "N for M in the mask" else M
    tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=(m[:, None] < wide) & (n[None, :] < N))


def products() -> Iterator[Slip]:
    sizes = {"pid_m for pid_n": (32, 64), "M and N in the wrong order": (32, 64)}
    for how, cause, switch in (
        ("pid_m for pid_n", "a program id along another axis", "program_id(1) instead of program_id(0)"),
        ("= for +=", "a loop that overwrites", "total added up"),
        ("pointer that stays", "a pointer that a loop does not advance", "b_ptr a block further"),
        ("N for M in the mask", "a wrong value", "M instead of N"),
        ("floored grid", "the number of programs", "the grid (4, 2) instead of (3, 2)"),
        ("M and N in the wrong order", "the order of the arguments", "M and N exchanged"),
        ("a and b in the wrong order", "the order of the", "exchanged"),
    ):
        m, n = sizes.get(how, (64, 32))
        grid = (3, 2) if how == "floored grid" else (m // 16, n // 16)
        a, b = randn(m, 48), randn(48, n, seed=1)
        given, counts = (a, b), (n, m) if how == "M and N in the wrong order" else (m, n)
        k = 48
        if how == "a and b in the wrong order":
            a, b, grid, counts, k = randn(32, 32), randn(32, 32, seed=1), (2, 2), (32, 32), 32
            given, n, m = (b, a), 32, 32
        yield one(
            how, cause, switch,
            lambda how=how, grid=grid, given=given, counts=counts, m=m, n=n, k=k: product[grid](
                *given, torch.zeros(m, n), *counts, k, k, 1, HOW=how, BM=16, BN=16, BK=16
            ),
            (a.double() @ b.double()).float(),
        )  # fmt: skip


# --- Rows ---------------------------------------------------------------------------------------------


@triton.jit
def rows(x_ptr, out_ptr, n, eps, HOW: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + row * n + at, mask=inside, other=0.0)
    if HOW == "no maximum":
        powers = tl.where(inside, tl.exp(x), 0.0)
        y = powers / tl.sum(powers, 0)
    elif HOW == "n - 1":
        apart = tl.where(inside, x - tl.sum(x, 0) / n, 0.0)
        y = apart / tl.sqrt(tl.sum(apart * apart, 0) / (n - 1) + eps)
    elif HOW == "no eps":
        y = x / tl.sqrt(tl.sum(x * x, 0) / n)
    elif HOW == "sqrt":
        y = x * tl.sqrt(tl.sum(x * x, 0) / n + eps)
    elif HOW == "sum for max":
        y = x - tl.sum(x, 0)
    elif HOW == "no square":
        y = x / tl.sqrt(tl.abs(tl.sum(x, 0)) / n + eps)
    elif HOW == "max for min":
        y = tl.maximum(x, 0.5)
    else:
        y = x
    tl.store(out_ptr + row * n + at, y, mask=inside)


def by_rows() -> Iterator[Slip]:
    x = randn(5, 50)
    rms = x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-5)
    for how, cause, switch, given, right in (
        ("no maximum", "powers that overflow", "the maximum of each row", x * 100, torch.softmax(x * 100, 1)),
        ("n - 1", "a superfluous operation", "only the left side of -", x, F.layer_norm(x, (50,))),
        ("no eps", "a missing epsilon", "eps added", x * 1e-3,
         (x * 1e-3) / torch.sqrt(((x * 1e-3) ** 2).mean(1, keepdim=True) + 1e-5)),
        ("sqrt", "an operator", "/ instead of *", x, rms),
        ("sum for max", "the kind of reduction", "max instead of sum", x + 5,
         x + 5 - (x + 5).max(1, keepdim=True).values),
        ("no square", "a missing function", "squared", x, rms),
        ("max for min", "an operator", "minimum instead of maximum", x, x.clamp(max=0.5)),
    ):  # fmt: skip
        yield one(
            how, cause, switch,
            lambda how=how, given=given: rows[(5,)](given, torch.zeros(5, 50), 50, 1e-5, HOW=how, BLOCK=64), right,
        )  # fmt: skip


@triton.jit
def greatest(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        most = tl.maximum(most, tl.load(x_ptr + row * n + start + tl.arange(0, BLOCK)))
    tl.store(out_ptr + row, tl.max(most, 0))


def starts() -> Iterator[Slip]:
    x = -torch.rand(8, 64, generator=torch.Generator().manual_seed(1)) - 1
    yield one(
        "max from 0", "the start value of an accumulator", "-inf instead of 0",
        lambda: greatest[(8,)](x, torch.zeros(8), 64, BLOCK=16), x.max(1).values,
    )  # fmt: skip


# --- Elements -----------------------------------------------------------------------------------------


@triton.jit
def elements(x_ptr, y_ptr, out_ptr, n, HOW: tl.constexpr, BLOCK: tl.constexpr):
    step = 128 if HOW == "hard-coded block" else BLOCK
    lane = tl.arange(0, BLOCK)
    at = lane if HOW == "no program id" else tl.program_id(0) * step + lane
    inside = at < n
    x, y = tl.load(x_ptr + at, mask=inside), tl.load(y_ptr + at, mask=inside)
    if HOW == "where":
        z = tl.where(x > y, y, x)
    elif HOW == "sign":
        z = x + y * 2
    elif HOW == "sin":
        z = tl.sin(x) * y
    elif HOW == "abs":
        z = tl.sqrt(tl.maximum(x, 0.0)) + y
    elif HOW == "exclusive":
        z = tl.cumsum(x, 0) + y
    else:
        z = x - y * 2
    tl.store(out_ptr + at, z, mask=inside)


def by_elements() -> Iterator[Slip]:
    x, y = randn(300), randn(300, seed=1)
    usual = x - y * 2
    for how, cause, switch, right in (
        ("hard-coded block", ("a wrong number"), "BLOCK instead of 128", usual),
        ("no program id", "a program id that is missing", "program_id(0) * 64 added", usual),
        ("floored grid of elements", "the number of programs", "the grid (5,) instead of (4,)", usual),
        ("where", "a comparison", "< instead of >", torch.maximum(x, y)),
        ("sign", "an operator", "- instead of +", usual),
        ("sin", "the function called", "cos instead of sin", torch.cos(x) * y),
        ("arguments", "the order of the arguments", "x_ptr and y_ptr exchanged", y - x * 2),
        ("abs", "a wrong value", "tl.abs(x) instead of tl.maximum(x, 0)", torch.sqrt(x.abs()) + y),
        (
            "exclusive",
            "a scan that is inclusive",
            "without itself",
            torch.cat([c.cumsum(0) - c for c in x.split(64)]) + y,
        ),
    ):
        grid = (4,) if how == "floored grid of elements" else (5,)
        yield one(
            how, cause, switch,
            lambda how=how, grid=grid: elements[grid](x, y, torch.zeros(300), 300, HOW=how, BLOCK=64), right,
        )  # fmt: skip


# --- Memory and integers ------------------------------------------------------------------------------


@triton.jit
def counted(x_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + tl.load(x_ptr + at, mask=at < n) % BINS, 1, mask=at < n)


@triton.jit
def accumulated(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(out_ptr + at, mask=at < n) + tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def in_place(x_ptr, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(x_ptr + row * n + at, tl.load(x_ptr + row * n + at, mask=at < n) * 2, mask=at < n)
    tl.debug_barrier()
    turned = tl.load(x_ptr + row * n + n - 1 - at, mask=at < n)
    tl.debug_barrier()
    tl.store(x_ptr + row * n + at, turned, mask=at < n)


@triton.jit
def halved(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) // 3, mask=at < n)


@triton.jit
def rounded_early(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x.to(tl.int32).to(tl.float32) * 2.5, mask=at < n)


@triton.jit
def narrow_sum(x_ptr, out_ptr, K, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float16)
    for step in range(K):
        total += tl.load(x_ptr + step * BLOCK + at).to(tl.float16)
    tl.store(out_ptr + at, total.to(tl.float32))


def memories() -> Iterator[Slip]:
    bins = torch.randint(0, 1000, (200,), generator=torch.Generator().manual_seed(0))
    dirty = torch.arange(40) % 7 + 1
    yield one(
        "atomics without zeros", "the contents of out_ptr before the launch", "zeros in out_ptr",
        lambda: counted[(4,)](bins, dirty.clone(), 200, BINS=40, BLOCK=64), torch.bincount(bins % 40, minlength=40),
    )  # fmt: skip
    x = randn(200)
    yield one(
        "a total of the launch before", "the contents of out_ptr before the launch", "zeros in out_ptr",
        lambda: accumulated[(4,)](x, randn(200, seed=3), 200, BLOCK=64), x,
    )  # fmt: skip
    rows_of = randn(6, 40)
    yield one(
        "in place", "a load of x_ptr after it was written", "as it was before the launch",
        lambda: in_place[(6,)](rows_of.clone(), 40, BLOCK=64), rows_of.flip(1),
    )  # fmt: skip
    whole = torch.arange(-100, 100, dtype=torch.int32)
    yield one(
        "// of negatives", "// of negative integers", "// as in Python",
        lambda: halved[(4,)](whole, torch.zeros(200, dtype=torch.int32), 200, BLOCK=64), whole // 3,
    )  # fmt: skip
    yield one(
        "a cast too early",
        "a cast that loses digits",
        "with no cast",
        lambda: rounded_early[(4,)](x * 9, torch.zeros(200), 200, BLOCK=64),
        x * 9 * 2.5,
    )
    many = torch.rand(400, 16, generator=torch.Generator().manual_seed(2))
    yield one(
        "a sum in float16", "rounding", "", lambda: narrow_sum[(1,)](many, torch.zeros(16), 400, BLOCK=16),
        many.double().sum(0).float(),
    )  # fmt: skip


MORE = [slip for kind in (dots, products, by_rows, starts, by_elements, memories) for slip in kind()]
