"""The condition that is told holds at all wrong elements and at no right ones, and is the one that was planted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from triton_lab.course.exercise_registry import exercise
from triton_lab.launch.reference.wrong_condition import ConditionTerm, fitted

CONDITIONS = [
    ("x < 0", lambda x, y: x < 0, ("x < 0",)),
    ("x > y", lambda x, y: x > y, ("x > y",)),
    ("(x < 0) & (y > 0)", lambda x, y: (x < 0) & (y > 0), ("x < 0", "y > 0")),
    ("x == tl.floor(x)", lambda x, y: x == x.floor(), ("x is a whole number",)),
    ("(x == tl.floor(x)) & (x > y)", lambda x, y: (x == x.floor()) & (x > y), ("x > y", "x is a whole number")),
    ("x > 1.3", lambda x, y: x > 1.3, ("x >= 1.5",)),
]


@triton.jit
def planted(x_ptr, y_ptr, out_ptr, n, WRONG: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    y = tl.load(y_ptr + i, mask=mask)
    if WRONG == 0:
        value = x + y + tl.where(x < 0, 1.0, 0.0)
    elif WRONG == 1:
        value = x + y + tl.where(x > y, 1.0, 0.0)
    elif WRONG == 2:
        value = x + y + tl.where((x < 0) & (y > 0), 1.0, 0.0)
    elif WRONG == 3:
        value = x + y + tl.where(x == tl.floor(x), 1.0, 0.0)
    elif WRONG == 4:
        value = x + y + tl.where((x == tl.floor(x)) & (x > y), 1.0, 0.0)
    else:
        value = x + y + tl.where(x > 1.3, 1.0, 0.0)
    tl.store(out_ptr + i, value, mask=mask)


@triton.jit
def outer(x_ptr, y_ptr, out_ptr, m, n, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(x_ptr + i, mask=i < m)
    y = tl.load(y_ptr + j, mask=j < n)
    product = tl.maximum(x, 0)[:, None] * tl.maximum(y, 0)[None, :]
    tl.store(out_ptr + i[:, None] * n + j[None, :], product, mask=(i < m)[:, None] & (j < n)[None, :])


@triton.jit
def half_of_sum(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n)
    b = tl.load(b_ptr + i, mask=i < n)
    tl.store(out_ptr + i, a // 2 + b // 2, mask=i < n)


@triton.jit
def lower(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)[:, None]
    cols = tl.arange(0, BLOCK)[None, :]
    inside = (rows < n) & (cols < n)
    x = tl.load(x_ptr + rows * n + cols, mask=inside)
    tl.store(out_ptr + rows * n + cols, tl.where(rows > cols, x, 0.0), mask=inside)


@triton.jit
def largest(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    tl.store(out_ptr + row, tl.max(x, axis=0))


def quarters(*shape: int, seed: int) -> torch.Tensor:
    return torch.randint(-12, 13, shape, generator=torch.Generator().manual_seed(seed)) / 4


def of_planted(number: int, size: int = 90) -> lab.Launch:
    x, y = quarters(size, seed=1), quarters(size, seed=2)
    return recorded(lambda: planted[(3,)](x, y, torch.zeros(size), size, WRONG=number, BLOCK=32))


@pytest.mark.parametrize(("number", "told"), list(enumerate(one[2] for one in CONDITIONS)))
def test_the_planted_condition_is_told(number: int, told: tuple[str, ...]) -> None:
    launch = of_planted(number)
    found = lab.compare(launch, lambda x_ptr, y_ptr, **_: x_ptr + y_ptr).wrong_where
    assert found is not None and set(found.conditions) == set(told)
    # It counts the lanes of the launch and of three more orders of its inputs.
    x, y = quarters(90, seed=1), quarters(90, seed=2)
    assert found.wrong + found.right == 4 * 90
    assert found.wrong >= int(CONDITIONS[number][1](x, y).sum())


def test_values_along_other_axes_are_told() -> None:
    x, y = quarters(19, seed=3) + 0.1, quarters(41, seed=4) + 0.1
    launch = recorded(lambda: outer[(2, 2)](x, y, torch.zeros(19, 41), 19, 41, BM=16, BN=32))
    found = lab.compare(launch, lambda x_ptr, y_ptr, **_: {"out_ptr": (x_ptr[:, None] * y_ptr).relu()}).wrong_where
    assert found is not None and found.conditions == ("x < 0", "y < 0")


def test_odd_whole_numbers_are_told() -> None:
    a, b = (torch.randint(0, 256, (99,), dtype=torch.uint8, generator=torch.Generator().manual_seed(k)) for k in (1, 2))
    launch = recorded(lambda: half_of_sum[(2,)](a, b, torch.zeros(99, dtype=torch.uint8), 99, BLOCK=64))

    def half(a_ptr: Any, b_ptr: Any, **_: Any) -> Any:
        return {"out_ptr": ((a_ptr.int() + b_ptr.int()) // 2).to(torch.uint8)}

    found = lab.compare(launch, half).wrong_where
    assert found is not None and found.conditions == ("a is odd", "b is odd")
    assert found.wrong + found.right == 4 * 99  # an error of 1 is one, however great the number


def test_indices_are_told_without_a_function_too() -> None:
    x = quarters(30, 30, seed=5) + 0.1
    launch = recorded(lambda: lower[(1,)](x, torch.zeros(30, 30), 30, BLOCK=32))
    for expected in (lambda x_ptr, **_: {"out_ptr": x_ptr.tril()}, {"out_ptr": x.tril()}):
        found = lab.compare(launch, expected).wrong_where
        assert found is not None and found.conditions == ("rows == cols",)


def test_what_all_lanes_of_a_reduction_have_is_told() -> None:
    x = quarters(24, 5, seed=6) - 0.6
    launch = recorded(lambda: largest[(24,)](x, torch.zeros(24), 5, BLOCK=8))
    found = lab.compare(launch, lambda x_ptr, **_: {"out_ptr": x_ptr.amax(1)}).wrong_where
    assert found is not None and found.conditions == ("x < 0 in all lanes",)


def test_nothing_is_told_by_chance() -> None:
    launch = of_planted(0)
    some = torch.randperm(90, generator=torch.Generator().manual_seed(7))[:20]
    expected = torch.as_tensor(np.array(lab.compare(launch, launch)["out_ptr"].a))
    expected[some] += 1
    assert lab.compare(launch, {"out_ptr": expected}).wrong_where is None
    generator = np.random.default_rng(8)
    for _unused in range(50):
        terms = [ConditionTerm(name, generator.standard_normal(12), 0) for name in "abcdef"]
        assert fitted("out", terms, [], np.arange(12) < 1) is None


def test_nothing_is_told_where_wrong_elements_were_not_stored() -> None:
    x, y = quarters(90, seed=1), quarters(90, seed=2)
    launch = recorded(lambda: planted[(2,)](x, y, torch.zeros(90), 90, WRONG=0, BLOCK=32))
    assert lab.compare(launch, lambda x_ptr, y_ptr, **_: x_ptr + y_ptr).wrong_where is None


def test_an_exercise_tells_it() -> None:
    def average(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(a)
        half_of_sum[(triton.cdiv(a.numel(), 64),)](a, b, out, a.numel(), BLOCK=64)
        return out

    feedback = exercise("average").judge(average)
    assert feedback is not None
    assert any("out_ptr" in line and "a is odd" in line and "b is odd" in line for line in feedback.lines)
