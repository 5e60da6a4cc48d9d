"""Slips of kinds that no list has: the change at one place is named, and not two that do the same together."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from triton_lab.launch.comparison.comparison_result import Comparison
from triton_lab.launch.launch import Launch


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@triton.jit
def with_bias(x_ptr, bias_ptr, out_ptr, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * N + columns)
    bias = tl.load(bias_ptr + rows)
    tl.store(out_ptr + rows * N + columns, (x + bias) * 2.0)  # SLIP: the bias is that of the columns


@triton.jit
def two_halves(x_ptr, y_ptr, out_ptr, H: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, H)
    x, y = tl.load(x_ptr + row * H + k), tl.load(y_ptr + row * H + k)
    tl.store(out_ptr + row * 2 * H + k, x * y)
    tl.store(out_ptr + row * 2 * H + H + k, x - y)  # SLIP: the halves are exchanged


@triton.jit
def running_softmax(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    top, total, scale = -1e30, 0.0, 1.0
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + row * n + start + k)
        new = tl.maximum(top, tl.max(x, 0))
        scale = tl.exp(top - new)
        total = total + tl.sum(tl.exp(x - new), 0)  # SLIP: the total is not scaled
        top = new
    tl.store(out_ptr + row, tl.log(total) + top + scale * 0.0)


@triton.jit
def clipped(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + k), tl.load(y_ptr + k)
    tl.store(out_ptr + k, tl.where(x < 0.5, x, y) * x)  # SLIP: the last factor is y


@triton.jit
def shares(x_ptr, out_ptr, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows, columns = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, BLOCK)
    inside = (columns < n)[None, :]
    x = tl.load(x_ptr + rows[:, None] * n + columns[None, :], mask=inside, other=0.0)
    x = x * x
    total = tl.sum(x)  # SLIP: of all rows, and not of each
    tl.store(out_ptr + rows[:, None] * n + columns[None, :], x / total, mask=inside)


@triton.jit
def unused(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + k, mask=k < n, other=0.0)
    y = tl.load(y_ptr + k, mask=k < n, other=0.0)  # noqa: F841
    z = x * 2.0
    tl.store(out_ptr + k, z - x, mask=k < n)  # SLIP: y is left out of the launch


@triton.jit
def gate(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + k), tl.load(y_ptr + k)
    tl.store(out_ptr + k, tl.where(x > 0, x + y, 0.0))  # SLIP: the sign of x * y decides


@triton.jit
def either(x_ptr, at_ptr, out_ptr, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    at = tl.load(at_ptr + row)
    if at != 0:  # SLIP: at == 0
        tl.store(out_ptr + row * BLOCK + k, k.to(tl.float32))
        return
    tl.store(out_ptr + row * BLOCK + k, tl.load(x_ptr + row * BLOCK + k) + 1.0)


@triton.jit
def length(x_ptr, out_ptr, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + k)
    tl.store(out_ptr + row, tl.sum(x * x, 0))  # SLIP: its square root


@triton.jit
def in_blocks(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(1, n, BLOCK):  # SLIP: from 0
        inside = k < n - start
        total += tl.load(x_ptr + row * n + k, mask=inside, other=0.0)
        x_ptr += BLOCK
    tl.store(out_ptr + row, tl.sum(total, 0))


@triton.jit
def centred_rows(x_ptr, out_ptr, ROWS: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * N + columns)
    mean = tl.sum(x, axis=0, keep_dims=True) / N  # SLIP: axis=1
    tl.store(out_ptr + rows * N + columns, x - mean)


@triton.jit
def running_total(x_ptr, out_ptr, ROWS: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None], tl.arange(0, N)[None, :]
    total = tl.cumsum(tl.load(x_ptr + rows * N + columns), 0)  # SLIP: along axis 1
    tl.store(out_ptr + rows * N + columns, total)


@triton.jit
def greatest_place(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + k, mask=k < n, other=float("-inf"))
    tl.store(out_ptr + row, tl.argmin(x, 0))  # SLIP: argmax


@triton.jit
def total_in_half(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float16)  # SLIP: float32
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + row * n + start + k, mask=start + k < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(total.to(tl.float32), 0))


@triton.jit
def squares(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + k, mask=k < n, other=0.0)
    tl.store(out_ptr + row, tl.sum((x * x).to(tl.float32), 0))  # SLIP: x is cast first


@triton.jit
def whole_numbers(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + k, mask=k < n, other=0.0)
    tl.store(out_ptr + row * n + k, x.to(tl.int32), mask=k < n)  # SLIP: it is floored


@triton.jit
def both_positive(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + k, mask=k < n, other=0.0)
    y = tl.load(y_ptr + row * n + k, mask=k < n, other=0.0)  # noqa: F841
    tl.store(out_ptr + row * n + k, tl.where(x > 0, x, 0.0), mask=k < n)  # SLIP: and y > 0


@triton.jit
def steps_between(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    one = tl.load(x_ptr + row * n + k, mask=k < n - 1, other=0.0)
    two = tl.load(x_ptr + row * n + k, mask=k < n - 1, other=0.0)  # SLIP: one further on
    tl.store(out_ptr + row * (n - 1) + k, two - one, mask=k < n - 1)


@triton.jit
def leaky(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + k, mask=k < n, other=0.0)
    tl.store(out_ptr + row * n + k, tl.where(x > 0, x, 0.3 * x), mask=k < n)  # SLIP: 0.07


@triton.jit
def kept_scale(x_ptr, out_ptr, n, p, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + k, mask=k < n, other=0.0)
    tl.store(out_ptr + row * n + k, tl.where(x > p * 0, x, 0.0), mask=k < n)  # SLIP: divided by 1 - p


@triton.jit
def blended(x_ptr, y_ptr, out_ptr, n, share, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + k, mask=k < n, other=0.0)
    y = tl.load(y_ptr + row * n + k, mask=k < n, other=0.0)
    double = x * 2
    found = double * share + y * (1 - share)  # SLIP: double and y are exchanged
    tl.store(out_ptr + row * n + k, found, mask=k < n)


@triton.jit
def totals(x_ptr, out_ptr, n, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + k, mask=k < n, other=0.0)
    tl.store(out_ptr + tl.arange(0, WIDE), tl.sum(tl.reshape(x, (BLOCK // WIDE, WIDE)), 0))  # SLIP: added atomically


@triton.jit
def normalizer(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    top, total = -1e30, 0.0
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + row * n + start + k, mask=start + k < n, other=float("-inf"))
        new = tl.maximum(top, tl.max(x, 0))
        total = total + tl.sum(tl.exp(x - new), 0)  # SLIP: the total is not rescaled
        top = new
    tl.store(out_ptr + row, tl.log(total) + top)


X = randn(32, 32)
FLAT, NARROW = X.reshape(-1), X[:, :30].contiguous()
OTHER = randn(32, 30, seed=1)
AT = (torch.arange(32) % 3).int()
CASES = {
    "a bias along the other axis": (
        lambda: with_bias[(1,)](X, X[0] + 1, torch.zeros(32, 32), N=32), 2 * (X + (X[0] + 1)),
    ),
    "two stores exchanged": (
        lambda: two_halves[(32,)](X, X.t().contiguous(), torch.zeros(32, 64), H=32),
        torch.cat([X - X.t(), X * X.t()], 1),
    ),
    "a total that is not scaled": (
        lambda: running_softmax[(32,)](X * 3, torch.zeros(32), 32, BLOCK=8), torch.logsumexp(X * 3, 1),
    ),
    "another variable": (
        lambda: clipped[(4,)](X.reshape(-1)[:256], X.reshape(-1)[256:512], torch.zeros(256), BLOCK=64),
        torch.where(X.reshape(-1)[:256] < 0.5, X.reshape(-1)[:256], X.reshape(-1)[256:512]) * X.reshape(-1)[256:512],
    ),
    "a reduction of all rows": (
        lambda: shares[(8,)](X, torch.zeros(32, 32), 32, ROWS=4, BLOCK=64), X * X / (X * X).sum(1, keepdim=True),
    ),
    "a variable that is not used": (
        lambda: unused[(4,)](FLAT[:256], FLAT[256:512], torch.zeros(256), 250, BLOCK=64),
        torch.nn.functional.pad((2 * FLAT[:256] - FLAT[256:512])[:250], (0, 6)),
    ),
    "a condition on one factor": (
        lambda: gate[(4,)](FLAT[:256], FLAT[256:512], torch.zeros(256), BLOCK=64),
        torch.where(FLAT[:256] * FLAT[256:512] > 0, FLAT[:256] + FLAT[256:512], 0.0),
    ),
    "the condition of a branch": (
        lambda: either[(32,)](X, AT, torch.zeros(32, 32), BLOCK=32),
        torch.where((AT == 0)[:, None], torch.arange(32.0), X + 1),
    ),
    "a root at the end": (lambda: length[(32,)](X, torch.zeros(32), BLOCK=32), X.norm(dim=1)),
    "the mean of columns": (
        lambda: centred_rows[(2,)](X, torch.zeros(32, 32), ROWS=16, N=32), X - X.mean(1, keepdim=True),
    ),
    "a scan along the other axis": (
        lambda: running_total[(2,)](X, torch.zeros(32, 32), ROWS=16, N=32), X.cumsum(1),
    ),
    "the place of the least": (
        lambda: greatest_place[(32,)](NARROW, torch.zeros(32, dtype=torch.int32), 30, BLOCK=32), NARROW.argmax(1).int(),
    ),
    "floored": (
        lambda: whole_numbers[(32,)](NARROW * 9, torch.zeros(32, 30, dtype=torch.int32), 30, BLOCK=32),
        (NARROW * 9).floor().int(),
    ),
    "a condition on two factors": (
        lambda: both_positive[(32,)](NARROW, OTHER, torch.zeros(32, 30), 30, BLOCK=32),
        torch.where((NARROW > 0) & (OTHER > 0), NARROW, 0.0),
    ),
    "an element on": (
        lambda: steps_between[(32,)](NARROW, torch.zeros(32, 29), 30, BLOCK=32), NARROW[:, 1:] - NARROW[:, :-1],
    ),
    "a constant": (
        lambda: leaky[(32,)](NARROW, torch.zeros(32, 30), 30, BLOCK=32), torch.nn.functional.leaky_relu(NARROW, 0.07),
    ),
    "a scale that follows from an argument": (
        lambda: kept_scale[(32,)](NARROW, torch.zeros(32, 30), 30, 0.25, BLOCK=32),
        torch.where(NARROW > 0, NARROW / 0.75, 0.0),
    ),
    "two values on a line": (
        lambda: blended[(32,)](NARROW, OTHER, torch.zeros(32, 30), 30, 0.3, BLOCK=32), OTHER * 0.3 + NARROW * 2 * 0.7,
    ),
    "a store where programs add up": (
        lambda: totals[(4,)](FLAT, torch.zeros(32), 1024, WIDE=32, BLOCK=256), FLAT.reshape(-1, 32).sum(0),
    ),
    "a sum that is not rescaled": (
        lambda: normalizer[(32,)](NARROW * 9, torch.zeros(32), 30, BLOCK=8), torch.logsumexp(NARROW * 9, 1),
    ),
    "the begin of a loop": (lambda: in_blocks[(32,)](NARROW, torch.zeros(32), 30, BLOCK=8), NARROW.sum(1)),
}  # fmt: skip


def marked(launch: Launch) -> int:
    """The line with the slip."""
    return launch.first_line + next(k for k, line in enumerate(launch.source.splitlines()) if "# SLIP" in line)


@pytest.mark.parametrize("name", CASES)
def test_one_change_is_named_at_its_line(name: str) -> None:
    run, right = CASES[name]
    launch = recorded(run)
    causes = lab.compare(launch, right).causes(seconds=60)
    named = causes.experiments[-1]
    assert named.names_it and causes.pair is None
    told = re.findall(r"\(lines? ([\d and]+)\)", causes.cause)
    assert len(told) <= 2 and str(marked(launch)) in " ".join(told).split(), causes.cause
    assert len(causes.table()) == len(causes.experiments) + bool(causes.probed)


def test_nothing_is_named_where_no_change_makes_it_right() -> None:
    launch = recorded(CASES["another variable"][0])
    causes = lab.compare(launch, randn(256, seed=9)).causes(seconds=8)
    assert not causes.known and causes.probed


HALVES = (randn(32, 30, seed=2).abs() * 50).half()


@pytest.mark.parametrize(("kernel", "right"), [(total_in_half, HALVES.float()), (squares, HALVES.float() ** 2)])
def test_a_narrow_type_is_named_at_its_line(kernel: Any, right: torch.Tensor) -> None:
    """The error is rounding, and one cast is where it comes from."""
    launch = recorded(lambda: kernel[(32,)](HALVES, torch.zeros(32), 30, BLOCK=32 if kernel is squares else 16))
    causes = lab.compare(launch, right.sum(1)).causes()
    assert causes.known and f"(line {marked(launch)})" in causes.cause, causes.cause


def test_two_explanations_that_are_equal_are_both_named() -> None:
    """Which of the two is transposed cannot be known from what the kernel makes."""

    @triton.jit
    def transposed(x_ptr, out_ptr, N: tl.constexpr):
        rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
        x = tl.load(x_ptr + rows * N + columns)
        tl.store(out_ptr + rows * N + columns, x)

    causes = lab.compare(recorded(lambda: transposed[(1,)](X, torch.zeros(32, 32), N=32)), X.t().contiguous()).causes()
    named = causes.experiments[-1]
    (rival,) = named.rivals
    assert rival.removes
    assert len(re.findall(r"\(line \d+\)", causes.cause)) == 2


def test_a_kernel_without_arguments_has_nothing_to_compare() -> None:
    @triton.jit
    def idle():
        tl.program_id(0)

    launch = recorded(lambda: idle[(1,)]())
    comparison = Comparison(launch, launch, ("a", "b"), ())
    assert comparison.verdict == "bit-equal" and not comparison.causes().known
