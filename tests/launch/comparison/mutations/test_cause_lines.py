"""Where a cause is told to be: at a helper and its call, and near the results where several changes do the same."""

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
from tests.launch.comparison.slips import randn
from triton_lab.launch.comparison.experiment_results import Causes
from triton_lab.launch.comparison.mutations.ir_query import split_at_lines
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.launch import Launch

X, Y = randn(4, 23), randn(4, 23, seed=1)


@triton.jit
def softplus(x):
    return tl.log(1.0 + tl.exp(x)) / 2.0


@triton.jit
def square(x):
    return x * x


@triton.jit
def of_one(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    y = tl.load(y_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + at, softplus(x) + y, mask=inside)


@triton.jit
def of_two(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.load(y_ptr + at, mask=inside, other=0.0)
    first = square(x)
    tl.store(out_ptr + at, first - square(x), mask=inside)  # slip


def compared(kernel: Any, right: torch.Tensor) -> tuple[Launch, Causes]:
    """What is told of a kernel with one result for each element."""
    launch = recorded(lambda: kernel[(4,)](X, Y, torch.zeros(4, 23), 23, BLOCK=32))
    return launch, lab.compare(launch, {"out_ptr": right}).causes()


def line(launch: Launch, part: str) -> int:
    """The line, as the editor counts, whose text has a part."""
    return launch.first_line + next(k for k, text in enumerate(launch.source.splitlines()) if part in text)


def test_a_helper_is_told_with_its_call() -> None:
    """What is wrong in a function that one line calls may be wrong there as well."""
    launch, causes = compared(of_one, torch.nn.functional.softplus(X) + Y)
    scope, call = KernelScope(launch, ["out_ptr"]), line(launch, "softplus(x)")
    inner = [op for op in scope.ops if op.index in scope.helpers]
    told = {tuple(split_at_lines(scope.where(op))[1]) for op in inner}
    assert told == {(softplus.starting_line_number + 2, call)} and len(inner) > 2
    assert f"(line {call})" in causes.cause, causes.cause


def test_what_is_wrong_in_one_of_two_calls_is_told_at_the_call() -> None:
    launch, causes = compared(of_two, X * X - Y * Y)
    assert f"(line {line(launch, '# slip')})" in causes.cause, causes.cause


@pytest.mark.parametrize("ending", [" (line 3)", " (lines 3 and 7)", " (line 3, called on line 7)"])
def test_lines_are_found_at_the_end_of_a_title(ending: str) -> None:
    numbers = list(map(int, re.findall(r"\d", ending)))
    assert split_at_lines(f"f(x (line 2)){ending}") == ("f(x (line 2))", numbers)


@triton.jit
def product(x_ptr, y_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    there = tl.program_id(0) * n + at
    x = tl.load(x_ptr + there, mask=at < n, other=0.0)
    y = tl.load(y_ptr + there, mask=at < n, other=0.0)
    z = tl.load(y_ptr + there, mask=at < n, other=0.0)
    beyond = tl.load(x_ptr + there, mask=at < m, other=0.0)
    tl.store(out_ptr + there, x * y * z + 0.0 * beyond, mask=at < n)


def test_of_many_equal_changes_the_nearest_to_the_results_are_told() -> None:
    """Each of three loads may have had the mask."""
    launch = recorded(lambda: product[(4,)](X, Y, torch.zeros(4, 23), 23, 17, BLOCK=32))
    right = torch.where(torch.arange(23) < 17, X * Y * Y, 0.0)
    causes = lab.compare(launch, {"out_ptr": right}).causes()
    told = [int(one) for one in re.findall(r"\(line (\d+)\)", causes.cause)]
    assert causes.known and len(told) == 2, causes.cause
    assert told[0] > told[1] and told[0] >= line(launch, "z = "), causes.cause


@triton.jit
def row_sum(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + column, mask=column < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


def test_a_stride_that_is_not_passed_is_found() -> None:
    x = randn(17, 9).t()
    launch = recorded(lambda: row_sum[(9,)](x, torch.zeros(9), 17, x.stride(0), BLOCK=32))
    causes = lab.compare(launch, {"out_ptr": x.sum(1)}).causes()
    assert "column * x_ptr.stride(1)" in causes.cause and f"(line {line(launch, 'x = ')})" in causes.cause


@triton.jit
def softmax(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    x = tl.load(x_ptr + at, mask=inside, other=-1000.0)
    shifted = x * 2.0  # keeps
    greatest = tl.max(shifted, axis=0)  # keeps
    part = tl.exp(x - greatest)
    tl.store(out_ptr + at, part / tl.sum(part, axis=0), mask=inside)


@triton.jit
def less_a_sum(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + at, tl.exp(x - tl.sum(x, axis=0)), mask=inside)


def test_a_sum_before_an_exponential_is_no_greatest_number() -> None:
    launch = recorded(lambda: less_a_sum[(4,)](X, Y, torch.zeros(4, 23), 23, BLOCK=32))
    assert not KernelScope(launch, ["out_ptr"]).stabilising


def test_what_only_keeps_numbers_small_is_known() -> None:
    launch = recorded(lambda: softmax[(4,)](X, Y, torch.zeros(4, 23), 23, BLOCK=32))
    scope = KernelScope(launch, ["out_ptr"])
    found = {one.line for op in scope.ops if op.index in scope.stabilising and (one := scope.line(op)) is not None}
    keeps = [k for k, text in enumerate(launch.source.splitlines()) if "# keeps" in text]
    assert found == {launch.first_line + k for k in keeps}


@triton.jit
def turned_tiles(x_ptr, y_ptr, M, N, B: tl.constexpr):
    m, n = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    tile = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=(m < M)[:, None] & (n < N)[None, :], other=0.0)
    tl.store(y_ptr + n[:, None] * M + m[None, :], tile, mask=(n < N)[:, None] & (m < M)[None, :])


def test_a_block_that_is_not_transposed_is_found() -> None:
    x = randn(20, 37)
    launch = recorded(lambda: turned_tiles[(2, 3)](x, torch.zeros(37, 20), 20, 37, B=16))
    named = [one for one in lab.compare(launch, {"y_ptr": x.t()}).causes().experiments if one.names_it]
    assert split_at_lines(named[0].name) == ("tile transposed", [line(launch, "tl.store(y_ptr")])
