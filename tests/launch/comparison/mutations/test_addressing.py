"""Wrong masks and strides: found by trying others, where nothing else explains a difference."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import re

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import overlapping, recorded
from tests.wordings import Wording
from triton_lab.launch.comparison.mutations.addressing import addresses


@triton.jit
def tile_in_steps(x_ptr, out_ptr, K, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, ROWS)[:, None], tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, K, ROWS):
        total += tl.load(x_ptr + (start + rows) * stride + columns)
    tl.store(out_ptr + rows * BLOCK + columns, total)


@triton.jit
def rows_in_chunks(x_ptr, out_ptr, n, bound, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + at, mask=at < bound, other=-1.0)
        tl.store(out_ptr + row * n + at, x + 1.0, mask=at < n)


@triton.jit
def exponential_rows(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * n + at, tl.exp(tl.load(x_ptr + row * stride + at, mask=at < n)), mask=at < n)


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


def test_a_stride_is_found_that_goes_on_from_iteration_to_iteration(wording: Wording) -> None:
    x = randn(64, 32)
    launch = recorded(lambda: tile_in_steps[(1,)](x, torch.empty(16, 32), 64, 30, ROWS=16, BLOCK=32))
    right = recorded(lambda: tile_in_steps[(1,)](x, torch.empty(16, 32), 64, 32, ROWS=16, BLOCK=32))
    cause = lab.compare(launch, right).cause
    line = launch.accesses[0].line
    wording(cause.split(" (CPU)")[0], name="BLOCK", line=f"line {line}", right=32, wrong=30, kernel="tile_in_steps")


def test_a_mask_is_found_that_stops_short_in_a_later_chunk(wording: Wording) -> None:
    x = randn(6, 40)
    launch = recorded(lambda: rows_in_chunks[(6,)](x, torch.empty(6, 40), 40, 37, BLOCK=16))
    cause = lab.compare(launch, x + 1).cause
    line = next(one.line for one in launch.accesses if one.kind == "load")
    wording(cause, line=f"line {line}", kernel="rows_in_chunks", rows="6 of 6 rows")


def test_each_row_of_what_was_tried_says_where(wording: Wording) -> None:
    """The mask of the load and that of the store, which is no slip, have a row each; so has each stride."""
    x = randn(6, 40)
    launch = recorded(lambda: rows_in_chunks[(6,)](x, torch.empty(6, 40), 40, 37, BLOCK=16))
    causes = lab.compare(launch, x + 1).causes()
    line = next(one.line for one in launch.accesses if one.kind == "load")
    rows = [row[0] for row in causes.table() if row[0].startswith("every lane inside its ")]
    assert rows and all(re.search(r" \(lines? [\d and]+\)$", row) for row in rows)
    (row,) = [row for row in rows if row.endswith(f"(line {line})") and "row" in row]
    wording(row, line=f"line {line}")
    (tried,) = [text for text in repr(causes).split("\n") if f"with {row}" in text]
    wording(tried, tried=row, kernel="rows_in_chunks", rows="6 of 6 rows")
    x = randn(64, 32)
    other = recorded(lambda: tile_in_steps[(1,)](x, torch.empty(16, 32), 64, 30, ROWS=16, BLOCK=32))
    right = recorded(lambda: tile_in_steps[(1,)](x, torch.empty(16, 32), 64, 32, ROWS=16, BLOCK=32))
    tried = [row[0] for row in lab.compare(other, right).causes().table()]
    assert any("32" in row and row.endswith(f" 30 (x_ptr, line {other.accesses[0].line})") for row in tried)


def test_what_rounding_leaves_is_no_reason_to_look_further() -> None:
    """torch's exponential is another one."""
    x = randn(8, 50) * 20
    launch = recorded(lambda: exponential_rows[(8,)](x, torch.empty(8, 50), 50, 49, BLOCK=64))
    wide = torch.exp(x.double()).float()
    found = lab.compare(launch, torch.nextafter(wide, torch.zeros(()))).causes()
    last = found.experiments[-1]
    assert last.explains and (last.within, last.total) == (400, 400)
    assert last.cause.partition(" of ")[2].startswith("x_ptr") and re.search(r"\b50\b.*\b49\b", last.name)


def test_where_the_addresses_are_right_nothing_is_found() -> None:
    x = randn(6, 40)
    launch = recorded(lambda: rows_in_chunks[(6,)](x, torch.empty(6, 40), 40, 40, BLOCK=16))
    causes = lab.compare(launch, torch.tanh(randn(6, 40) * 3).flip(0)).causes()
    assert not causes.known and causes.experiments
    assert len(list(addresses(launch, None))) < 16


@pytest.mark.parametrize("name", ["a race", "rounding"])
def test_masks_and_strides_are_not_tried_where_the_cause_is_another(name: str) -> None:
    if name == "a race":
        causes = lab.compare(
            recorded(lambda: overlapping[(4,)](torch.zeros(64), BLOCK=32)), torch.full((64,), 3.5)
        ).causes()
    else:
        x = randn(8, 50)
        launch = recorded(lambda: exponential_rows[(8,)](x, torch.empty(8, 50), 50, 50, BLOCK=64))
        causes = lab.compare(launch, torch.exp(x)).causes()
    assert not any("stride" in one.name or "lane" in one.name for one in causes.experiments)
