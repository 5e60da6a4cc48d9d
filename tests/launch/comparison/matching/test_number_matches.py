"""What is missing in a line is found by its numbers: a load, a product, a sum of a block, a step in another order."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn
from triton_lab.launch.comparison.experiment_results import Causes

Right = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@triton.jit
def powers(x_ptr, bias_ptr, gate_ptr, y_ptr, n, rate, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    group = row // 2
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    e = tl.where(cols < n, tl.exp(x), 0.0)
    gate = tl.load(gate_ptr + row)
    y = e * tl.sigmoid(e) + 0.0 * (rate + group + gate)
    tl.store(y_ptr + row * n + cols, y, mask=cols < n)


def run(right: Right) -> Causes:
    x, bias = randn(6, 20), randn(3, 20, seed=1)
    gate = randn(6, seed=2) + 3
    launch = recorded(lambda: powers[(6,)](x, bias, gate, torch.zeros(6, 20), 20, 0.3, BLOCK=32))
    return lab.compare(launch, {"y_ptr": right(x, bias.repeat_interleave(2, 0))}).causes()


def gated(e: torch.Tensor) -> torch.Tensor:
    return e * torch.sigmoid(e)


@pytest.mark.parametrize(
    ("right", "said", "line"),
    [
        (lambda x, bias: gated(x.exp() + bias), "tl.load(bias_ptr + group * n + cols)", 7),
        (lambda x, bias: gated(x.exp()) * bias, "tl.load(bias_ptr + group * n + cols)", 9),
        (lambda x, bias: gated(torch.softmax(x, 1)), "e / tl.sum(e)", 7),
        (lambda x, bias: gated(x.exp()) / 0.7, "1 / (1 - rate)", 9),
        (lambda x, bias: gated(x.exp()) + 0.3 * x, "x * rate", 9),
    ],
    ids=["a term before a function", "a factor", "the sum of a block", "a factor of the launch", "a product"],
)
def test_what_is_missing_is_named_with_its_line(right: Right, said: str, line: int) -> None:
    cause = run(right).cause
    first = powers.starting_line_number - 1
    named = {int(n) - first for part in re.findall(r"lines? ([\d and]+)", cause) for n in re.findall(r"\d+", part)}
    assert said in cause or said.replace("x * rate", "rate * x") in cause, cause
    assert line in named


def test_numbers_that_nothing_in_the_kernel_has_are_not_named() -> None:
    assert not run(lambda x, bias: gated(x.exp()) + bias.flip(1).sin()).known


@triton.jit
def shifted_heads(x_ptr, bias_ptr, y_ptr, H, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    kind = tl.program_id(1)
    i = tl.arange(0, BLOCK)
    h, d = i // D, i % D
    at = (row * 3 + kind) * H * D + i
    x = tl.load(x_ptr + at, mask=i < H * D)
    bias = tl.load(bias_ptr + h * D + d, mask=i < H * D)
    tl.store(y_ptr + at, x + bias, mask=i < H * D)


def test_the_address_of_a_load_may_be_a_sum_of_three_products() -> None:
    x, bias = randn(4, 3, 5, 6), randn(3, 5, 6, seed=1)
    launch = recorded(lambda: shifted_heads[(4, 3)](x, bias, torch.zeros_like(x), 5, 6, BLOCK=32))
    cause = lab.compare(launch, {"y_ptr": x + bias}).cause
    # The lane itself is `h * D + d`.
    assert "tl.load(bias_ptr + kind * D * H + i)" in cause or "h * D + kind * D * H" in cause


@triton.jit
def placed(x_ptr, bias_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    at = (a * B + b) * C + c
    x = tl.load(x_ptr + at)
    bias = tl.load(bias_ptr + b * C + c)
    tl.store(y_ptr + at, tl.exp(x + bias))


def test_the_address_of_a_load_may_be_a_sum_of_three_products_of_blocks() -> None:
    x, bias = randn(4, 8, 2), randn(8, 2, 4, seed=1)
    launch = recorded(lambda: placed[(1,)](x, bias, torch.zeros_like(x), A=4, B=8, C=2))
    right = torch.exp(x + bias.permute(2, 0, 1))
    assert re.search(r"tl\.load\(bias_ptr \+ .* \+ .* \+ .*\)", lab.compare(launch, {"y_ptr": right}).cause)
