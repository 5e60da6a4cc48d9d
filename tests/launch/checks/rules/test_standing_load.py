"""Loads that stand still while their mask goes on, and those that are meant to."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording
from triton_lab.launch.diagnosis.finding import Finding


@triton.jit
def standing_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + lane, mask=start + lane < n, other=0.0)
    tl.store(out_ptr, tl.sum(total))


@triton.jit
def one_each_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Each iteration picks another lane."""
    lane = tl.arange(0, BLOCK)
    for k in range(0, n):
        tl.store(out_ptr + k, tl.sum(tl.load(x_ptr + lane, mask=lane == k, other=0.0)))


@triton.jit
def first_only_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """What is needed once is loaded once."""
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + lane, mask=(lane < n) & (start == 0), other=0.0)
    tl.store(out_ptr, tl.sum(total))


@triton.jit
def same_mask_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A weight that each iteration asks for, under a mask that stands as well."""
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + lane, mask=lane < n, other=0.0) * start
    tl.store(out_ptr, tl.sum(total))


@triton.jit
def followed_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The offset goes on by way of a variable."""
    lane = tl.arange(0, BLOCK)
    total, at = tl.zeros((BLOCK,), tl.float32), lane
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + at, mask=start + lane < n, other=0.0)
        at += BLOCK
    tl.store(out_ptr, tl.sum(total))


def standing(kernel: Any, n: int = 100) -> list[Finding]:
    with triton_lab.record() as launches:
        kernel[(1,)](torch.ones(128), torch.zeros(128), n, BLOCK=32)
    return [found for found in launches[0].findings if found.kind == "standing-load"]


def test_it_says_how_often(wording: Wording) -> None:
    (found,) = standing(standing_kernel)
    assert found.severity == "note" and found.argument == "x_ptr" and found.programs.tolist() == [0]
    wording(found.message, program="program (0, 0, 0)", name="x_ptr", iterations="4 iterations")
    assert not standing(standing_kernel, 32), "one iteration"


@pytest.mark.parametrize("kernel", [one_each_kernel, first_only_kernel, same_mask_kernel, followed_kernel])
def test_what_is_meant_is_left_in_peace(kernel: Any) -> None:
    assert not standing(kernel)
