"""Where a cause is told that stands in a call of several lines, or where a value gets a further name."""

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
from triton_lab.launch.launch import Launch


@triton.jit
def of_one_batch(x_ptr, out_ptr, length, width, by_batch, by_row, BLOCK: tl.constexpr):
    batch, column = tl.program_id(0), tl.arange(0, BLOCK)
    sum = tl.zeros([BLOCK], tl.float32)
    for row in range(length):
        sum += tl.load(
            x_ptr + batch * by_row + row * by_row + column,  # slip
            mask=column < width,
            other=0.0,
        )
    tl.store(out_ptr + batch * width + column, sum, mask=column < width)


@triton.jit
def nearest(x_ptr, centre_ptr, out_ptr, n, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    least = tl.full([BLOCK], float("inf"), tl.float32)
    found = tl.zeros([BLOCK], tl.int32)
    for number in range(count):
        distance = tl.abs(x - tl.load(centre_ptr + number))
        found = tl.where(distance < least, number, found)
        least = distance  # slip
    tl.store(out_ptr + at, found, mask=at < n)


@triton.jit
def place_of_most(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    most = -float("inf")
    place = 0
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
        greatest = tl.max(x, axis=0)
        here = tl.argmax(x, axis=0)
        if greatest > most:
            most = greatest
            place = here  # slip
    tl.store(out_ptr + tl.program_id(0), place)


def batches() -> tuple[Launch, torch.Tensor]:
    x = randn(3, 5, 11)
    return recorded(lambda: of_one_batch[(3,)](x, torch.zeros(3, 11), 5, 11, *x.stride()[:2], BLOCK=16)), x.sum(1)


def centres() -> tuple[Launch, torch.Tensor]:
    x, centres = randn(60), randn(7, seed=1)
    right = (x[:, None] - centres).abs().argmin(1).int()
    return recorded(lambda: nearest[(2,)](x, centres, torch.zeros(60, dtype=torch.int32), 60, 7, BLOCK=32)), right


def places() -> tuple[Launch, torch.Tensor]:
    x = randn(9, 50)
    right = x.argmax(1).int()
    return recorded(lambda: place_of_most[(9,)](x, torch.zeros(9, dtype=torch.int32), 50, BLOCK=16)), right


@pytest.mark.parametrize(("made", "also"), [(batches, ""), (centres, ""), (places, "here = ")])
def test_the_line_is_that_of_the_name(made: Any, also: str) -> None:
    launch, right = made()
    causes = lab.compare(launch, {"out_ptr": right}).causes()
    lines = dict(enumerate(launch.source.splitlines(), launch.first_line))
    first = re.search(r"\(lines? (\d+)(?: and (\d+))?\)", causes.cause)
    told = set() if first is None else {int(one) for one in first.groups() if one}
    slips = {number for number, text in lines.items() if "# slip" in text or (also and also in text)}
    assert told & slips, causes.cause
    assert causes.known
