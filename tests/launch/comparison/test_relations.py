"""What a wrong result is instead of what was expected, in a sentence that holds for every element it speaks of."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn
from triton_lab.launch.comparison.relations import _slice


@triton.jit
def copied(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


def said(made: torch.Tensor, expected: torch.Tensor, n: int | None = None) -> tuple[str, ...]:
    """Of a launch that left ``made``, the first ``n`` elements of it, in zeros."""
    n = made.numel() if n is None else n
    out = torch.zeros(made.shape, dtype=made.dtype)
    launch = recorded(lambda: copied[(triton.cdiv(made.numel(), 64),)](made.contiguous(), out, n, BLOCK=64))
    comparison = lab.compare(launch, expected)
    assert all(line in comparison.text() for line in comparison.relations)
    assert all(line in comparison.plot().lines() for line in comparison.relations)
    return comparison.relations


x = randn(300)
matrix = randn(12, 20)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (x * 4, "out_ptr is what was expected times 4"),
        (x / 300, "out_ptr is what was expected times 0.00333 (1 / n, where n is 300)"),
        (x * 8, "out_ptr is what was expected times 8 (sqrt(BLOCK), where BLOCK is 64)"),
        (
            x * 300 / 64,
            "out_ptr is what was expected times 4.69 (n / BLOCK, where n is 300 and BLOCK is 64)",
        ),
        (x * 5, "out_ptr is what was expected times 5 (the number of programs, where the number of programs is 5)"),
        (x * math.log(2), "out_ptr is what was expected times 0.693 (ln 2: a power or logarithm of the other base)"),
        (-x, "out_ptr is what was expected with the other sign"),
        (x + 3, "out_ptr is what was expected plus 3 throughout"),
        (x - 0.5, "out_ptr is what was expected minus 0.5 throughout"),
        (torch.cat([x[:1], x[:-1]]), "out_ptr is what was expected 1 element further on"),
        (torch.cat([x[64:], x[:64]]), "out_ptr is what was expected 64 elements further back"),
        (x.flip(0), "out_ptr is what was expected backwards"),
    ],
)
def test_what_it_is_instead(made: torch.Tensor, told: str) -> None:
    *part, found = said(made, x)
    assert found == told
    assert part == (["what differs is out_ptr[1:]"] if "1 element " in told else [])


def test_rows_for_columns() -> None:
    assert said(matrix.t().reshape(12, 20), matrix) == (
        "out_ptr is what was expected transposed: its rows are columns",
    )
    assert said(matrix.flip(1), matrix) == ("out_ptr is what was expected backwards along axis 1",)


def test_which_part_and_that_nobody_stored_there() -> None:
    untouched = "those of out_ptr that differ hold what they held before the launch"
    assert said(x, x, 263) == ("what differs is out_ptr[263:]", untouched)
    wrong = matrix.clone()
    wrong[:, 16:] += torch.arange(4.0) ** 2 + 1
    assert said(wrong, matrix) == ("what differs is out_ptr[:, 16:]",)
    wrong = matrix.clone()
    wrong[3, ::4] *= torch.arange(2.0, 7.0)
    assert said(wrong, matrix) == ("what differs is out_ptr[3, ::4]",)


@pytest.mark.parametrize(
    "made",
    [
        x + randn(300, seed=5),
        torch.where(torch.arange(300) == 7, x + 1, x),  # one element: anything may be said of it
        torch.where(torch.arange(300) % 150 == 7, x * 2, x),
        torch.where(torch.arange(300) == 200, torch.nan, 2 * x),
        torch.zeros(300) + 7,
    ],
)
def test_of_what_has_no_relation_nothing_is_said(made: torch.Tensor) -> None:
    assert not any("what was expected" in told for told in said(made, x))


def test_of_one_element_that_is_off_the_whole_is_not_said() -> None:
    """Twice what was expected, but for one element."""
    assert said(torch.where(torch.arange(300) == 200, 5.0, 2 * x), x) == ()


def test_what_was_stored_and_is_as_it_was_is_not_said_to_be_left_out() -> None:
    """Zeros that were stored to zeros."""
    assert not any("before the launch" in told for told in said(torch.zeros(300), x))


def test_equal_results_and_those_that_rounding_explains_have_none() -> None:
    assert said(x, x) == ()


def test_integers() -> None:
    whole = torch.arange(1, 301, dtype=torch.int32)
    assert said(whole * 3, whole) == ("out_ptr is what was expected times 3",)
    assert said(whole + 2, whole) == ("out_ptr is what was expected plus 2 throughout",)


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 40), st.data())
def test_a_slice_selects_just_these(extent: int, data: st.DataObject) -> None:
    found = np.array(sorted(data.draw(st.sets(st.integers(0, extent - 1), min_size=1))))
    text = _slice(found, extent)
    steps = set(np.diff(found).tolist())
    if text is None:
        assert len(steps) > 1
    else:
        picked = eval(f"np.arange({extent})[{text}]", {"np": np})
        assert np.array_equal(np.atleast_1d(picked), found)
