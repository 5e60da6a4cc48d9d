"""Kernels that are off by two things at once: each slip is a constexpr that turns it on, and its lines are marked.

Tests try the last two slips of each kernel. ``python -m tests.launch.comparison.two_slips`` tries all pairs,
and prints those of which a slip is not named.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn
from triton_lab.launch.comparison.experiment_results import Causes, Half

LONG = 180.0  # seconds: other processes may keep this one from its work


@dataclass(frozen=True)
class Two:
    """``run`` launches ``kernel`` with ``slips`` on, and ``right`` is what it should have made.

    Of each slip one of its ``causes`` has to be named, with one of the lines that are marked with it. ``adjacent``: the
    second slip is listed next to the first.
    """

    kernel: Any
    slips: tuple[str, str]
    causes: tuple[tuple[str, ...], tuple[str, ...]]
    run: Callable[[], Any]
    right: torch.Tensor
    adjacent: bool

    @property
    def name(self) -> str:
        return f"{self.kernel.fn.__name__}: {self.slips[0]} and {self.slips[1]}"

    def lines(self, slip: str) -> list[int]:
        """The lines that are marked with ``slip``, as the editor counts."""
        lines, first = inspect.getsourcelines(self.kernel.fn)
        return [first + k for k, line in enumerate(lines) if "# " in line and slip in line.split("# ")[1].split()]


def twos(
    kernel: Any, right: torch.Tensor, run: Callable[..., Any], left_out: tuple[tuple[str, str], ...] = (), **slips: Any
) -> Iterator[Two]:
    """All pairs of ``slips``; ``run`` takes which are on. Those ``left_out`` are one slip, or none, if both are on."""
    for one, two in combinations(slips, 2):
        if (one, two) not in left_out:
            on = {slip: slip in (one, two) for slip in slips}
            causes = tuple((each,) if isinstance(each, str) else each for each in (slips[one], slips[two]))
            adjacent = (one, two) in pairwise(slips)
            yield Two(kernel, (one, two), (causes[0], causes[1]), lambda on=on: run(**on), right, adjacent)


MASK = ("the mask", "a comparison")
OTHER = ("the values of masked-off lanes", "masked-off lanes that take part in a reduction")
BASE = "the base of a power or logarithm"
OPERATOR = "an operator"


@triton.jit
def softmax(
    x_ptr, out_ptr, n, stride, OTHER: tl.constexpr, BASE: tl.constexpr, MASK: tl.constexpr, STRIDE: tl.constexpr,
    QUOTIENT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    where = x_ptr + row * (stride - 1 if STRIDE else stride) + at  # STRIDE
    x = tl.load(where, mask=at < n, other=0.0 if OTHER else float("-inf"))  # OTHER STRIDE
    x = x - tl.max(x, 0)  # OTHER
    powers = tl.exp2(x) if BASE else tl.exp(x)  # BASE
    total = tl.sum(powers, 0)  # OTHER
    y = total / powers if QUOTIENT else powers / total  # QUOTIENT
    tl.store(out_ptr + row * n + at, y, mask=at < (n - 5 if MASK else n))  # MASK


def softmaxes() -> Iterator[Two]:
    x = randn(7, 50) - 3
    yield from twos(
        softmax, torch.softmax(x, 1), lambda **on: softmax[(7,)](x, torch.zeros(7, 50), 50, 50, **on, BLOCK=64),
        OTHER=OTHER, BASE=BASE, MASK=MASK, STRIDE="the stride of x_ptr",
        QUOTIENT=("the order of operands", "an operator"),
    )  # fmt: skip


@triton.jit
def layer_norm(
    x_ptr, w_ptr, b_ptr, out_ptr, n, eps, MEAN: tl.constexpr, PADDED: tl.constexpr, MASK: tl.constexpr,
    ROOT: tl.constexpr, SIGN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)  # PADDED
    mean = tl.sum(x, 0) / (BLOCK if MEAN else n)  # MEAN
    apart = x - mean if PADDED else tl.where(at < n, x - mean, 0.0)
    variance = tl.sum(apart * apart, 0) / n  # PADDED
    root = tl.sqrt(variance + eps) if ROOT else tl.rsqrt(variance + eps)  # ROOT
    w, b = tl.load(w_ptr + at, mask=at < n), tl.load(b_ptr + at, mask=at < n)
    y = apart * root * w - b if SIGN else apart * root * w + b  # SIGN ROOT
    tl.store(out_ptr + row * n + at, y, mask=at < (n - 4 if MASK else n))  # MASK


def layer_norms() -> Iterator[Two]:
    x, w, b = randn(6, 100) + 2, randn(100, seed=1), randn(100, seed=2)
    yield from twos(
        layer_norm, torch.nn.functional.layer_norm(x, (100,), w, b),
        lambda **on: layer_norm[(6,)](x, w, b, torch.zeros(6, 100), 100, 1e-5, **on, BLOCK=128),
        MEAN="a wrong number", PADDED="masked-off lanes", MASK=MASK, ROOT=("the function called", OPERATOR),
        SIGN=OPERATOR,
    )  # fmt: skip


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, SWAP: tl.constexpr, SHORT: tl.constexpr, LOADED: tl.constexpr, STORED: tl.constexpr,
    START: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(1 if SWAP else 0) * BM + tl.arange(0, BM)  # SWAP
    n = tl.program_id(0 if SWAP else 1) * BN + tl.arange(0, BN)  # SWAP
    total = tl.full((BM, BN), 1.0 if START else 0.0, tl.float32)  # START
    for step in range(K // BK if SHORT else tl.cdiv(K, BK)):  # SHORT START
        k = step * BK + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        where = k[:, None] + n[None, :] * N if LOADED else k[:, None] * N + n[None, :]
        b = tl.load(b_ptr + where, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)  # LOADED
        total += tl.dot(a, b, input_precision="ieee")
    inside = (m[:, None] < M) & (n[None, :] < N)
    to = m[:, None] + n[None, :] * N if STORED else m[:, None] * N + n[None, :]
    tl.store(c_ptr + to, total, mask=inside)  # STORED


def matmuls() -> Iterator[Two]:
    a, b = randn(64, 40), randn(40, 64, seed=1)
    left, other = randn(64, 64, seed=2), randn(64, 64, seed=3)
    ids = "the axes of the program ids"
    yield from twos(
        matmul, (a.double() @ b.double()).float(),
        lambda **on: matmul[(2, 4)](
            a, b, torch.zeros(64, 64), 64, 64, 40, **on, LOADED=False, STORED=False, BM=32, BN=16, BK=16
        ),
        SWAP=ids, SHORT="a loop that ends an iteration early", START="the start value of an accumulator",
    )  # fmt: skip
    yield from twos(
        matmul, (left.double() @ other.double()).float(),
        lambda **on: matmul[(2, 4)](
            left, other, torch.zeros(64, 64), 64, 64, 64, **on, SHORT=False, BM=32, BN=16, BK=16
        ),
        SWAP=(ids, "a program id along"), LOADED="which of its axes b_ptr", STORED="which of its axes c_ptr",
        START="the start value of an accumulator",
    )  # fmt: skip


@triton.jit
def added(
    x_ptr, y_ptr, out_ptr, n, MASK: tl.constexpr, SIGN: tl.constexpr, WHERE: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at, mask=at < n), tl.load(y_ptr + at, mask=at < n)
    total = x - y if SIGN else x + y  # SIGN
    kept = tl.where(total > 0, total * 0.1, total) if WHERE else tl.where(total > 0, total, total * 0.1)  # WHERE
    tl.store(out_ptr + at, kept, mask=at < (n - 10 if MASK else n))  # MASK


def additions() -> Iterator[Two]:
    x, y = randn(300), randn(300, seed=1)
    yield from twos(
        added, torch.nn.functional.leaky_relu(x + y, 0.1),
        lambda **on: added[(5,)](x, y, torch.zeros(300), 300, **on, BLOCK=64),
        MASK=MASK, SIGN=OPERATOR, WHERE=("a comparison", "the order of operands"),
    )  # fmt: skip


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, STRICT: tl.constexpr, SCALE: tl.constexpr, BASE: tl.constexpr,
    ACROSS: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    head, i, d = tl.program_id(0), tl.arange(0, N), tl.arange(0, D)
    at = head * N * D + i[:, None] * D + d[None, :]
    q, k, v = tl.load(q_ptr + at), tl.load(k_ptr + at), tl.load(v_ptr + at)  # SCALE
    other = k if ACROSS else tl.trans(k)
    scores = tl.dot(q, other, input_precision="ieee")  # SCALE ACROSS
    scores = scores if SCALE else scores * scale
    seen = (i[None, :] < i[:, None]) | (i[None, :] == 0) if STRICT else i[None, :] <= i[:, None]  # STRICT
    scores = tl.where(seen, scores, float("-inf"))
    scores = scores - tl.max(scores, 1)[:, None]
    powers = tl.exp2(scores) if BASE else tl.exp(scores)  # BASE
    powers = powers / tl.sum(powers, 1)[:, None]
    tl.store(out_ptr + at, tl.dot(powers, v, input_precision="ieee"))


def attentions() -> Iterator[Two]:
    q, k, v = (randn(3, 16, 16, seed=seed) for seed in (0, 1, 2))
    right = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True).float()
    yield from twos(
        attention, right, lambda **on: attention[(3,)](q, k, v, torch.zeros(3, 16, 16), 0.25, **on, N=16, D=16),
        STRICT="a comparison", SCALE="a missing factor", BASE=BASE,
        ACROSS="an operand of tl.dot that is transposed",
    )  # fmt: skip


@triton.jit
def reduced(x_ptr, out_ptr, n, AXIS: tl.constexpr, LEAST: tl.constexpr, MEAN: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i * N + j)
    x = tl.minimum(x, 0.25) if LEAST else tl.maximum(x, 0.25)  # LEAST
    total = tl.sum(x, 0 if AXIS else 1)  # AXIS
    mean = total / (n if MEAN else N)  # MEAN
    tl.store(out_ptr + tl.arange(0, N), mean)


def reductions() -> Iterator[Two]:
    x = randn(32, 32)
    yield from twos(
        reduced, torch.clamp(x, min=0.25).mean(1), lambda **on: reduced[(1,)](x, torch.zeros(32), 30, **on, N=32),
        AXIS="the axis of a reduction", LEAST=OPERATOR, MEAN=("a wrong number", "a wrong value"),
    )  # fmt: skip


@triton.jit
def transposed(
    x_ptr, out_ptr, scale, n, ALONG: tl.constexpr, SCALE: tl.constexpr, EDGE: tl.constexpr, SWAP: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]  # SWAP
    j = tl.program_id(0 if SWAP else 1) * BLOCK + tl.arange(0, BLOCK)[None, :]  # SWAP
    inside = (i < n) & (j < n)
    x = tl.load(x_ptr + i * n + j, mask=inside)  # ALONG SCALE
    x = x if SCALE else x * scale
    to = out_ptr + i * n + j if ALONG else out_ptr + j * n + i
    tl.store(to, x, mask=(i < n - 3) & (j < n - 3) if EDGE else inside)  # ALONG EDGE SCALE


def transposes() -> Iterator[Two]:
    x = randn(40, 40)
    yield from twos(
        transposed, (x * 3).t().contiguous(),
        lambda **on: transposed[(3, 3)](x, torch.zeros(40, 40), 3.0, 40, **on, BLOCK=16),
        ALONG="which of its axes", SCALE="a missing factor", EDGE=MASK, SWAP="a program id along",
    )  # fmt: skip


@triton.jit
def convolved(
    x_ptr, w_ptr, out_ptr, n, TAP: tl.constexpr, SHIFT: tl.constexpr, SIGN: tl.constexpr, MASK: tl.constexpr,
    TAPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for tap in range(TAPS - 1 if TAP else TAPS):  # TAP
        from_ = at + tap - (1 if SHIFT else 2)  # SHIFT
        x = tl.load(x_ptr + from_, mask=(from_ >= 0) & (from_ < n), other=0.0)
        w = tl.load(w_ptr + tap)
        total = total - x * w if SIGN else total + x * w  # SIGN
    tl.store(out_ptr + at, total, mask=at < (n - 6 if MASK else n))  # MASK


def convolutions() -> Iterator[Two]:
    x, w = randn(200), randn(5, seed=1)
    right = torch.nn.functional.conv1d(x[None, None].double(), w[None, None].double(), padding=2)[0, 0].float()
    yield from twos(
        convolved, right, lambda **on: convolved[(4,)](x, w, torch.zeros(200), 200, **on, TAPS=5, BLOCK=64),
        TAP="a loop that ends an iteration early", SHIFT="a wrong number", SIGN=OPERATOR, MASK=MASK,
    )  # fmt: skip


@triton.jit
def dropped(
    x_ptr, r_ptr, out_ptr, n, p, WHERE: tl.constexpr, TIMES: tl.constexpr, MASK: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, r = tl.load(x_ptr + at, mask=at < n), tl.load(r_ptr + at, mask=at < n)
    more = x * (1 - p) if TIMES else x / (1 - p)  # TIMES
    kept = tl.where(r > p, 0.0, more) if WHERE else tl.where(r > p, more, 0.0)  # WHERE
    tl.store(out_ptr + at, kept, mask=at < (n - 9 if MASK else n))  # MASK


def dropouts() -> Iterator[Two]:
    x, r = randn(250), torch.rand(250, generator=torch.Generator().manual_seed(3))
    yield from twos(
        dropped, torch.where(r > 0.3, x / 0.7, 0.0),
        lambda **on: dropped[(4,)](x, r, torch.zeros(250), 250, 0.3, **on, BLOCK=64),
        WHERE=("a comparison", "the order of operands"), TIMES=OPERATOR, MASK=MASK,
    )  # fmt: skip


@triton.jit
def gelu(x_ptr, out_ptr, n, SIGN: tl.constexpr, ROOT: tl.constexpr, MASK: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    part = x * 1.4142135623730951 if ROOT else x / 1.4142135623730951  # ROOT
    y = 0.5 * x * (1 - tl.erf(part)) if SIGN else 0.5 * x * (1 + tl.erf(part))  # SIGN
    tl.store(out_ptr + at, y, mask=at < (n - 7 if MASK else n))  # MASK


def gelus() -> Iterator[Two]:
    x = randn(250)
    right = torch.nn.functional.gelu(x.double()).float()
    yield from twos(
        gelu, right, lambda **on: gelu[(4,)](x, torch.zeros(250), 250, **on, BLOCK=64),
        SIGN=OPERATOR, ROOT=OPERATOR, MASK=MASK,
    )  # fmt: skip


@triton.jit
def rotated(x_ptr, t_ptr, out_ptr, n, NAME: tl.constexpr, SIGN: tl.constexpr, MASK: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    a = tl.load(x_ptr + row * 2 * n + at, mask=at < n)
    b = tl.load(x_ptr + row * 2 * n + n + at, mask=at < n)
    t = tl.load(t_ptr + row * n + at, mask=at < n)
    cosine = tl.sin(t) if NAME else tl.cos(t)  # NAME
    turned = a * cosine + b * tl.sin(t) if SIGN else a * cosine - b * tl.sin(t)  # SIGN NAME
    tl.store(out_ptr + row * n + at, turned, mask=at < (n - 3 if MASK else n))  # MASK


def rotations() -> Iterator[Two]:
    x, t = randn(5, 40), randn(5, 20, seed=1)
    right = (x[:, :20].double() * torch.cos(t.double()) - x[:, 20:].double() * torch.sin(t.double())).float()
    yield from twos(
        rotated, right, lambda **on: rotated[(5,)](x, t, torch.zeros(5, 20), 20, **on, BLOCK=32),
        NAME="the function called", SIGN=OPERATOR, MASK=MASK,
    )  # fmt: skip


@triton.jit
def cross_entropy(
    x_ptr, y_ptr, out_ptr, n, OTHER: tl.constexpr, LOG: tl.constexpr, ORDER: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0 if OTHER else float("-inf"))  # OTHER
    most = tl.max(x, 0)
    total = tl.sum(tl.exp(x - most), 0)  # OTHER
    log = tl.log2(total) if LOG else tl.log(total)  # LOG
    aim = tl.load(x_ptr + row * n + tl.load(y_ptr + row))
    tl.store(out_ptr + row, aim - (most + log) if ORDER else (most + log) - aim)  # ORDER


def entropies() -> Iterator[Two]:
    x, y = randn(12, 50), torch.arange(12) * 3 % 50
    yield from twos(
        cross_entropy, torch.nn.functional.cross_entropy(x, y, reduction="none"),
        lambda **on: cross_entropy[(12,)](x, y, torch.zeros(12), 50, **on, BLOCK=64),
        OTHER=OTHER, LOG=BASE, ORDER="the order of operands",
    )  # fmt: skip


@triton.jit
def totals(x_ptr, out_ptr, K, n, STAYS: tl.constexpr, FORGETS: tl.constexpr, MASK: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    where = x_ptr + at
    for _ in range(K):
        x = tl.load(where, mask=at < n, other=0.0)  # STAYS
        total = x * x if FORGETS else total + x * x  # FORGETS
        where += 0 if STAYS else n
    tl.store(out_ptr + at, total, mask=at < (n - 6 if MASK else n))  # MASK


def sums() -> Iterator[Two]:
    x = randn(8, 64)
    yield from twos(
        totals, (x.double() ** 2).sum(0).float(),
        lambda **on: totals[(2,)](x, torch.zeros(64), 8, 64, **on, BLOCK=32),
        STAYS="a pointer that a loop does not advance", FORGETS="a loop that overwrites", MASK=MASK,
    )  # fmt: skip


MAKERS = (
    softmaxes, layer_norms, matmuls, additions, attentions, reductions, transposes, convolutions, dropouts, gelus,
    rotations, entropies, sums,
)  # fmt: skip
TWOS = [two for maker in MAKERS for two in maker()]


def names(half: Half, two: Two, which: int) -> bool:
    """Whether ``half`` is one of the two slips, on one of its lines."""
    text = f"{half.cause} {half.name}"
    return any(cause in half.cause for cause in two.causes[which]) and any(
        re.search(rf"\b{line}\b", text) for line in two.lines(two.slips[which])
    )


def named(causes: Causes, two: Two) -> bool:
    """Whether both slips are what `causes` found."""
    if not causes.known or causes.pair is None:
        return False
    one, other = causes.pair.halves
    return any(names(a, two, 0) and names(b, two, 1) for a, b in ((one, other), (other, one)))


def main() -> None:
    missed = 0
    for two in TWOS:
        causes = lab.compare(recorded(two.run), two.right).causes(LONG)
        if not named(causes, two):
            missed += 1
            print(f"{two.name}: {causes.cause}")
    print(f"{len(TWOS) - missed} of {len(TWOS)} pairs are named")


if __name__ == "__main__":
    main()
