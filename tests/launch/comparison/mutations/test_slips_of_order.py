"""Steps in the wrong order, and values that a kernel has and does not use, are named at their lines.

Lines count from the ``def``.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn


@triton.jit
def gated(x_ptr, z_ptr, d_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, z, d = tl.load(x_ptr + i), tl.load(z_ptr + i), tl.load(d_ptr + i)
    tl.store(out_ptr + i, x * z * tl.sigmoid(z) + d)


@triton.jit
def bell(x_ptr, out_ptr, width, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x * x / 2.0 * width * width)


@triton.jit
def kept_late(x_ptr, z_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i) + tl.load(z_ptr + i)
    tl.store(out_ptr + i, tl.where(x > 0, x, 0.0))


@triton.jit
def kept_early(x_ptr, z_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    x = tl.where(x > 0, x, 0.0)
    tl.store(out_ptr + i, x + tl.load(z_ptr + i))


@triton.jit
def shifted(x_ptr, bias_ptr, out_ptr, scale, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, bias = tl.load(x_ptr + i), tl.load(bias_ptr + i)
    tl.store(out_ptr + i, x + bias * scale)


@triton.jit
def bins_of(x_ptr, out_ptr, bins, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.floor(x).to(tl.int32) * bins)


@triton.jit
def narrow_products(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + i)
    tl.store(out_ptr + row, tl.sum(x * tl.load(y_ptr + i), axis=0))


@triton.jit
def from_nothing(x_ptr, start_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    h = tl.zeros([BLOCK], dtype=tl.float32)
    for t in range(0, n):
        h = 0.5 * h + tl.load(x_ptr + (row * n + t) * BLOCK + i)
        tl.store(out_ptr + (row * n + t) * BLOCK + i, h)


@triton.jit
def one_momentum(m_ptr, g_ptr, out_ptr, one, other, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    m, g = tl.load(m_ptr + i), tl.load(g_ptr + i)
    mix = one * m + (1 - one) * g
    tl.store(out_ptr + i, tl.where(mix > 0, 1.0, -1.0))
    tl.store(m_ptr + i, mix)


@triton.jit
def last_sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    base = 0
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + row * n + start + tl.arange(0, BLOCK))
        tl.store(out_ptr + row * n + start + tl.arange(0, BLOCK), base + tl.cumsum(x, axis=0))
        base = tl.sum(x, axis=0)


@triton.jit
def taps(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for k in tl.static_range(3):
        at = tl.minimum(i + k, n - 1)
        total += (k + 1) * tl.load(x_ptr + at)
    tl.store(out_ptr + i, total, mask=i < n)


@triton.jit
def ranks(x_ptr, order_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    rank = tl.sum((x[None, :] < x[:, None]).to(tl.int32), axis=1)
    tl.store(order_ptr + i, rank)


@triton.jit
def parts_of(x_ptr, out_ptr, n, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    part, i = tl.program_id(0), tl.arange(0, BLOCK)
    size = n // PARTS
    inside = (i < size) & (part * size + i < n)
    tl.store(out_ptr + part, tl.sum(tl.load(x_ptr + part * size + i, mask=inside, other=0.0), axis=0))


@triton.jit
def least_of(key_ptr, x_ptr, low_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_max(low_ptr + tl.load(key_ptr + i), tl.load(x_ptr + i))


@triton.jit
def counted(key_ptr, count_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, 2 * x, mask=i < n)
    tl.atomic_add(count_ptr + tl.load(key_ptr + i), x + 1.0)


X, Z, D = randn(64), randn(64, seed=1), randn(64, seed=2)
ROWS = randn(4, 48)
START = randn(4, 16, seed=3)
BYTES = torch.randint(-128, 128, (9, 32), generator=torch.Generator().manual_seed(4), dtype=torch.int8)
WHOLE = torch.randint(-9, 9, (5, 48), generator=torch.Generator().manual_seed(5), dtype=torch.int32)


def decayed() -> torch.Tensor:
    h, found = START.clone(), []
    for t in range(3):
        h = 0.5 * h + ROWS.reshape(4, 3, 16)[:, t]
        found.append(h)
    return torch.stack(found, 1)


def held(i: torch.Tensor) -> torch.Tensor:
    return sum((k + 1) * X[(i + k + 1).clamp(max=49)] for k in range(3))  # type: ignore[return-value]


KEYS = torch.arange(128, dtype=torch.int32) % 16


def grouped(x: torch.Tensor, keys: torch.Tensor, how: str, start: float) -> torch.Tensor:
    return torch.full((16,), start).scatter_reduce(0, keys.long(), x, how)


CASES: list[tuple[Any, Callable[[], object], dict[str, torch.Tensor], str, int]] = [
    (gated, lambda: gated[(1,)](X, Z, D, X * 0, 64, BLOCK=64), {"out_ptr": (X + D) * Z * Z.sigmoid()}, "order", 4),
    (bell, lambda: bell[(1,)](X, X * 0, 1.7, BLOCK=64), {"out_ptr": X * X / (2 * 1.7 * 1.7)}, "order", 4),
    (kept_late, lambda: kept_late[(1,)](X, Z, X * 0, BLOCK=64), {"out_ptr": X.clamp(min=0) + Z}, "order", 4),
    (kept_early, lambda: kept_early[(1,)](X, Z, X * 0, BLOCK=64), {"out_ptr": (X + Z).clamp(min=0)}, "order", 5),
    (shifted, lambda: shifted[(1,)](X, Z, X * 0, 2.5, BLOCK=64), {"out_ptr": X * 2.5 + Z}, "order", 4),
    (
        bins_of,
        lambda: bins_of[(1,)](X, torch.zeros(64, dtype=torch.int32), 10, BLOCK=64),
        {"out_ptr": (X * 10).floor().int()},
        "order",
        4,
    ),
    (
        narrow_products,
        lambda: narrow_products[(9,)](BYTES, BYTES[0], torch.zeros(9, dtype=torch.int32), BLOCK=32),
        {"out_ptr": (BYTES.int() * BYTES[0].int()).sum(1).int()},
        "cast",
        4,
    ),
    (
        from_nothing,
        lambda: from_nothing[(4,)](ROWS, START, torch.zeros(4, 3, 16), 3, BLOCK=16),
        {"out_ptr": decayed()},
        "tl.load(start_ptr + row * BLOCK + i)",
        3,
    ),
    (
        one_momentum,
        lambda: one_momentum[(1,)](Z.clone(), X, X * 0, 0.9, 0.7, BLOCK=64),
        {"m_ptr": 0.7 * Z + 0.3 * X, "out_ptr": torch.where(0.9 * Z + 0.1 * X > 0, 1.0, -1.0)},
        "mix made with other instead of one",
        6,
    ),
    (
        last_sums,
        lambda: last_sums[(5,)](WHOLE, torch.zeros(5, 48, dtype=torch.int32), 48, BLOCK=16),
        {"out_ptr": WHOLE.cumsum(1).int()},
        "base added up",
        7,
    ),
    (taps, lambda: taps[(1,)](X, torch.zeros(50), 50, BLOCK=64), {"out_ptr": held(torch.arange(50))}, "+ 1", 5),
    (
        ranks,
        lambda: ranks[(1,)](X, torch.zeros(64, dtype=torch.int32), BLOCK=64),
        {"order_ptr": X.argsort().int()},
        "rank and i exchanged",
        5,
    ),
    (
        least_of,
        lambda: least_of[(4,)](KEYS, randn(128, seed=6), torch.full((16,), 9.0), BLOCK=32),
        {"low_ptr": grouped(randn(128, seed=6), KEYS, "amin", 9.0)},
        "atomic min instead of max",
        3,
    ),
    (
        counted,
        lambda: counted[(4,)](KEYS, torch.zeros(16), randn(128, seed=6), torch.zeros(128), 101, BLOCK=32),
        {"count_ptr": grouped(randn(128, seed=6)[:101] + 1, KEYS[:101], "sum", 0.0)},
        "the mask i < n",
        5,
    ),
    (
        parts_of,
        lambda: parts_of[(4,)](X, torch.zeros(4), 63, PARTS=4, BLOCK=16),
        {"out_ptr": torch.cat([X[:63], torch.zeros(1)]).reshape(4, 16).sum(1)},
        "tl.cdiv",
        3,
    ),
]


@pytest.mark.parametrize(
    ("kernel", "run", "right", "said", "line"), CASES, ids=lambda one: getattr(one, "__name__", "")
)
def test_it_is_named_at_its_line(kernel, run, right, said: str, line: int) -> None:
    cause = lab.compare(recorded(run), right).causes().cause
    first = kernel.starting_line_number
    named = {int(n) - first for part in re.findall(r"lines? ([\d and]+)", cause) for n in re.findall(r"\d+", part)}
    assert said in cause
    assert line in named


@triton.jit
def momentum(m_ptr, g_ptr, beta, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(m_ptr + i, beta * tl.load(m_ptr + i) + (1 - beta) * tl.load(g_ptr + i))


def test_a_number_that_is_passed_is_rounded() -> None:
    """``1 - 0.999`` has few digits left of float32's 0.999: what torch computes with Python's is as right."""
    launch = recorded(lambda: momentum[(1,)](Z * 0, X, 0.999, BLOCK=64))
    found = lab.compare(launch, {"m_ptr": (0.001 * X.double()).float()})
    assert found["m_ptr"].count > 32 and found.verdict != "different"
    assert lab.compare(launch, {"m_ptr": (0.00101 * X.double()).float()}).verdict == "different"
