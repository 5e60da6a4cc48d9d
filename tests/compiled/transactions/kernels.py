"""Kernels with a way of their own to touch memory: what tests here, and `tests/gpu/transactions.py`, count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import triton
import triton.language as tl


@triton.jit
def strided(x, y, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + k, tl.load(x + k * STRIDE))


@triton.jit
def shifted(x, y, by, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + k + by, tl.load(x + k + by))


@triton.jit
def columns(x, y, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Reads rows, and writes them as columns."""
    i, j = tl.arange(0, ROWS)[:, None], tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(y + j * ROWS + i, tl.load(x + i * width + j))


@triton.jit
def gathered(x, at, y, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + k, tl.load(x + tl.load(at + k)))


@triton.jit
def spread(x, y, BLOCK: tl.constexpr):
    """One element for a whole block, and a row for all rows of one."""
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rows = tl.arange(0, 16)[:, None] * 0 + tl.arange(0, 64)[None, :]
    total = tl.sum(tl.load(x + rows))
    tl.store(y + k, tl.load(x + tl.program_id(0)) + total + k * 0)


@triton.jit
def tails(x, y, n, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + k, tl.load(x + k, mask=k < n), mask=k < n)


@triton.jit
def scattered(x, at, y, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y + tl.load(at + k), tl.load(x + k))


@triton.jit
def transposed(x, y, SIZE: tl.constexpr):
    """Through shared memory: loads and stores run along rows, the tile is turned between them."""
    i, j = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    place = tl.program_id(0) * SIZE * SIZE + i * SIZE + j
    tl.store(y + place, tl.trans(tl.load(x + place)))


@triton.jit
def summed(x, y, n, BLOCK: tl.constexpr):
    """A loop, with a load in it that is the same each time, and a reduction."""
    k = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x + tl.program_id(0) * n + start + k, mask=start + k < n, other=0.0)
    tl.store(y + tl.program_id(0), tl.sum(total))


@triton.jit
def product(a, b, c, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    """A loop that is pipelined."""
    i, j = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for k in range(0, DEPTH, SIZE):
        total += tl.dot(tl.load(a + i * DEPTH + k + j), tl.load(b + (k + i) * SIZE + j))
    tl.store(c + i * SIZE + j, total)


@dataclass(frozen=True)
class Case:
    """``run(device)`` launches a kernel once on tensors of its own."""

    name: str
    run: Callable[[str], object]


def _random(count: int, dtype: torch.dtype, device: str, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(count, generator=generator, dtype=torch.float32).to(dtype).to(device)
    return torch.randint(0, 100, (count,), generator=generator, dtype=dtype).to(device)


def _strided(stride: int, dtype: torch.dtype = torch.float32) -> Callable[[str], object]:
    def run(device: str) -> None:
        x = _random(4096 * stride, dtype, device)
        strided[(8,)](x, torch.empty(4096, dtype=dtype, device=device), STRIDE=stride, BLOCK=512)

    return run


def _shifted(device: str) -> None:
    x = _random(4200, torch.float32, device)
    shifted[(8,)](x, torch.zeros(4200, device=device), 3, BLOCK=512)


def _columns(device: str) -> None:
    columns[(8,)](
        _random(64 * 256, torch.float32, device), torch.empty(64 * 256, device=device), 256, ROWS=64, COLUMNS=32
    )


def _gathered(device: str) -> None:
    at = torch.randperm(4096, generator=torch.Generator().manual_seed(1)).to(device)
    gathered[(8,)](_random(4096, torch.float32, device), at, torch.empty(4096, device=device), BLOCK=512)


def _spread(device: str) -> None:
    spread[(8,)](_random(4096, torch.float32, device), torch.empty(4096, device=device), BLOCK=512)


def _tails(device: str) -> None:
    tails[(9,)](_random(4099, torch.float32, device), torch.empty(4099, device=device), 4099, BLOCK=512)


def _scattered(device: str) -> None:
    at = torch.randint(0, 300, (4096,), generator=torch.Generator().manual_seed(2)).to(device)
    scattered[(8,)](_random(4096, torch.float32, device), at, torch.zeros(300, device=device), BLOCK=512)


def _transposed(dtype: torch.dtype) -> Callable[[str], object]:
    def run(device: str) -> None:
        x = _random(8 * 64 * 64, dtype, device)
        transposed[(8,)](x, torch.empty(8 * 64 * 64, dtype=dtype, device=device), SIZE=64)

    return run


def _summed(device: str) -> None:
    summed[(8,)](_random(8 * 1000, torch.float32, device), torch.empty(8, device=device), 1000, BLOCK=256)


def _product(device: str) -> None:
    a, b = _random(64 * 256, torch.float16, device), _random(256 * 64, torch.float16, device, 1)
    product[(1,)](a, b, torch.empty(64 * 64, device=device), SIZE=64, DEPTH=256)


CASES = (
    Case("a stride of 1", _strided(1)),
    Case("a stride of 2", _strided(2)),
    Case("a stride of 4", _strided(4)),
    Case("a stride of 32", _strided(32)),
    Case("misaligned by three elements", _shifted),
    Case("rows read, columns written", _columns),
    Case("a random gather", _gathered),
    Case("one element for many lanes", _spread),
    Case("a masked tail", _tails),
    Case("2 bytes an element", _strided(1, torch.float16)),
    Case("2 bytes, a stride of 2", _strided(2, torch.float16)),
    Case("8 bytes an element", _strided(1, torch.int64)),
    Case("8 bytes, a stride of 2", _strided(2, torch.int64)),
    Case("an atomic scatter", _scattered),
    Case("a turn in shared memory, 4 bytes", _transposed(torch.float32)),
    Case("a turn in shared memory, 2 bytes", _transposed(torch.float16)),
    Case("a turn in shared memory, 1 byte", _transposed(torch.int8)),
    Case("a sum over a loop", _summed),
    Case("a pipelined product", _product),
)
