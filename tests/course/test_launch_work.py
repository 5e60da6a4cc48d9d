"""What is right and takes too much: told with what it took and what would do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from tests.wordings import Wording
from triton_lab.course.exercise_registry import exercise


@triton.jit
def _add_constant(x_ptr, out_ptr, n, value, BLOCK: tl.constexpr, TWICE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    if TWICE:
        x = (x + tl.load(x_ptr + i, mask=i < n, other=0.0)) / 2
    tl.store(out_ptr + i, x + value, mask=i < n)


@triton.jit
def _lane_by_lane(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + tl.zeros_like(i), tl.load(x_ptr + i, mask=i < n, other=0.0), mask=i < n)


@triton.jit
def _one_by_one(x_ptr, out_ptr, n):
    i = n - 1 - tl.program_id(0)
    tl.store(out_ptr + tl.program_id(0), tl.load(x_ptr + i))


@triton.jit
def _doubled(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)


def added(x: Any, value: float, twice: bool = False) -> Any:
    out = torch.empty_like(x)
    _add_constant[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), value, BLOCK=128, TWICE=twice)
    return out


def doubled(x: Any) -> Any:
    out = torch.empty_like(x)
    _doubled[(2,)](x, out, x.numel(), BLOCK=64)
    return out


def total(x: Any) -> Any:
    out = torch.zeros(1)
    _lane_by_lane[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


def reverse(x: Any) -> Any:
    out = torch.empty_like(x)
    _one_by_one[(x.numel(),)](x, out, x.numel())
    return out


@pytest.mark.parametrize(
    ("name", "answer", "numbers"),
    [
        ("add_constant", lambda x, value: added(added(x, value), 0.0), {"found": "2 launches", "most": 1}),
        ("double_by_four", doubled, {"found": 2, "asked": 4}),
        (
            "add_constant",
            lambda x, value: added(x, value, twice=True),
            {"found": 768, "most": 384},
        ),
        ("reverse", reverse, {"found": 1, "least": 16}),
        ("total", total, {"found": 64, "most": 16}),
    ],
    ids=["launched", "programs", "once", "wide", "atomics"],
)
def test_what_takes_too_much_is_told_how_much_is_enough(
    name: str, answer: Callable[..., Any], numbers: dict[str, Any], request: pytest.FixtureRequest, wording: Wording
) -> None:
    fault = exercise(name).judge(answer)
    assert fault is not None
    wording(fault.message, request.node.callspec.id, **numbers)
