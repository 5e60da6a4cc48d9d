"""Blocks that loops carry: one buffer is enough where a round reads an element only for the same element of the next.

Each kernel reads the old block in one way; where one buffer would mix old and new, the numbers would tell.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from tests.native.harness import both
from triton_lab.native import engine
from triton_lab.native.lowering import kernel_function
from triton_lab.native.runtime import compiled_function

N = 32
BLOCK = 4 * N * N


@triton.jit
def accumulated(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a, b, total = tl.load(x + at), tl.load(w + at), tl.zeros((N, N), tl.float32)
    for _ in range(rounds):
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(out + at, total)


@triton.jit
def scaled_before(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a, b, total = tl.load(x + at), tl.load(w + at), tl.zeros((N, N), tl.float32)
    for i in range(rounds):
        total = tl.dot(a, b, total * (tl.arange(0, N)[:, None] + i).to(tl.float32) / N, input_precision="ieee")
    tl.store(out + at, total)


@triton.jit
def added(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    total = tl.load(x + at)
    for i in range(rounds):
        total = total * 0.5 + tl.load(w + at) * i
    tl.store(out + at, total)


@triton.jit
def factor(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    total, b = tl.load(x + at), tl.load(w + at)
    for _ in range(rounds):
        total = tl.dot(total, b, total, input_precision="ieee")
    tl.store(out + at, total)


@triton.jit
def second_factor(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    total, b = tl.load(x + at), tl.load(w + at)
    for _ in range(rounds):
        total = tl.dot(b, total * 0.5, total, input_precision="ieee")
    tl.store(out + at, total)


@triton.jit
def swapped(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.load(x + at), tl.load(w + at)
    for _ in range(rounds):
        a, b = b, a + 1
    tl.store(out + at, a - 2 * b)


@triton.jit
def read_twice(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.load(x + at), tl.load(w + at)
    for _ in range(rounds):
        a, b = a * 0.5, a + b
    tl.store(out + at, a - 2 * b)


@triton.jit
def turned(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    total = tl.load(x + at)
    for _ in range(rounds):
        total = tl.trans(total) + tl.load(w + at)
    tl.store(out + at, total)


@triton.jit
def spread(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    total, row = tl.load(x + at), tl.load(w + tl.arange(0, N))
    for _ in range(rounds):
        total, row = total + row[None, :], row * 0.5
    tl.store(out + at, total)


@triton.jit
def summed(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    total = tl.load(x + at)
    for _ in range(rounds):
        total = total - tl.sum(total, 1)[:, None] / N
    tl.store(out + at, total)


@triton.jit
def chosen(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    total = tl.load(x + at)
    for i in range(rounds):
        if i % 2 == 1:
            total = tl.trans(total)
        total += tl.load(w + at)
    tl.store(out + at, total)


@triton.jit
def loops_in_loops(x, w, out, rounds, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a, b, total = tl.load(x + at), tl.load(w + at), tl.zeros((N, N), tl.float32)
    for _ in range(rounds):
        for i in range(rounds):
            total = tl.dot(a * (i + 1), b, total, input_precision="ieee")
        total = tl.where(total > 100, 0.0, total)
    tl.store(out + at, total)


IN_PLACE = (accumulated, scaled_before, added)
KERNELS = (*IN_PLACE, factor, second_factor, swapped, read_twice, turned, spread, summed, chosen, loops_in_loops)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_a_round_reads_the_blocks_that_the_last_one_left(kernel: Any, rounds: int) -> None:
    torch.manual_seed(0)
    x, w = torch.randn(N, N), torch.randn(N, N) / N

    def launch() -> torch.Tensor:
        out = torch.zeros(N, N)
        kernel[(1,)](x, w, out, rounds, N)
        return out

    expected, found, handed = both(launch)
    assert not handed
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    assert rounds == 0 or expected.any()


@pytest.mark.parametrize("every", [1, 2])
def test_products_of_bfloat16_start_again_from_what_they_started_with(every: int) -> None:
    """Sums that leave float32 are computed once more, in float64, from the block of the round before."""
    x = torch.full((N, N), 2.0**64, dtype=torch.bfloat16)
    w = torch.full((N, N), 2.0**63, dtype=torch.bfloat16)
    w[torch.arange(N) // every % 2 == 1] *= -1

    def launch() -> torch.Tensor:
        out = torch.zeros(N, N)
        accumulated[(1,)](x, w, out, 3, N)
        return out

    expected, found, _ = both(launch)
    assert torch.equal(expected, found)


@pytest.mark.parametrize("kernel", IN_PLACE, ids=lambda kernel: kernel.__name__)
def test_one_buffer_holds_what_is_only_added_to(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scratch of three blocks at most: the factors and the sum; the kernel whose sums are factors has one more."""
    sizes = []
    own = compiled_function.build

    def noting(plan: Any, signature: Any) -> Any:
        sizes.append(kernel_function.generate(plan, signature).scratch)
        return own(plan, signature)

    monkeypatch.setattr(compiled_function, "build", noting)
    monkeypatch.setattr(engine, "_kernel_of", engine.NativeKernel)
    x, w, out = torch.ones(N, N), torch.ones(N, N), torch.zeros(N, N)
    both(lambda: kernel[(1,)](x, w, out, 3, N))
    assert sizes[-1] < (2 if kernel is added else 4) * BLOCK
    both(lambda: factor[(1,)](x, w, out, 3, N))
    assert sizes[-1] >= 3 * BLOCK


@triton.jit
def strided(x, out, M, N, stride_m, stride_n, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (m < M)[:, None] & (n < N)[None, :]
    found = tl.load(x + m[:, None] * stride_m + n[None, :] * stride_n, mask=inside)
    tl.store(out + m[:, None] * N + n[None, :], found * 2, mask=inside)


def test_blocks_of_any_strides_are_read_without_a_look_at_each_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    """Offsets of a program, times a stride that is known at the launch, stay affine."""
    texts = []
    own = kernel_function.generate
    monkeypatch.setattr(kernel_function, "generate", lambda *given: texts.append(own(*given)) or texts[-1])
    monkeypatch.setattr(compiled_function, "kept", lambda *given: None)
    monkeypatch.setattr(engine, "_kernel_of", engine.NativeKernel)
    wide = torch.randn(50, 141)
    x = wide[:, :70]

    def launch() -> torch.Tensor:
        out = torch.zeros(50, 70)
        strided[(4, 5)](x, out, 50, 70, *x.stride(), BLOCK=16)
        return out

    expected, found, handed = both(launch)
    assert torch.equal(found, expected)
    assert not handed
    assert texts
    assert "masked.gather" not in texts[-1].text
    assert "masked.scatter" not in texts[-1].text
