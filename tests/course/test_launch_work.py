"""What is right and takes too much: told with what it took and what would do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

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


def added(x: Any, value: float, block: int = 128, twice: bool = False) -> Any:
    out = torch.empty_like(x)
    _add_constant[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), value, BLOCK=block, TWICE=twice)
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
    ("name", "answer", "told"),
    [
        ("add_constant", lambda x, value: added(added(x, value), 0.0), "it takes 2 launches, and 1 would do"),
        ("add_constant", lambda x, value: added(x, value, 64), "the grid has 2 programs; here it must have 1"),
        (
            "add_constant",
            lambda x, value: added(x, value, twice=True),
            "768 bytes of x are loaded, and 384 would do: load each element once, and keep it",
        ),
        ("reverse", reverse, "each access touches 1 element at a time: use blocks of 16 or more"),
        ("total", total, "64 atomic updates of the result, and 4 would do: add up what a program has"),
    ],
    ids=["launched", "programs", "once", "wide", "atomics"],
)
def test_what_takes_too_much_is_told_how_much_would_do(name: str, answer: Callable[..., Any], told: str) -> None:
    assert f"The numbers are right, but {told}" in str(exercise(name).judge(answer))
