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
from tests.wordings import Wording
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
    ("made", "label", "facts"),
    [
        (x * 4, "factor", {"factor": 4}),
        (x / 300, "known factor", {"factor": 0.00333, "why": "1 / n", "n": "n is 300"}),
        (x * 8, "known factor", {"factor": 8, "why": "sqrt(BLOCK)", "n": "BLOCK is 64"}),
        (x * 300 / 64, "two known", {"factor": 4.69, "why": "n / BLOCK", "n": "n is 300", "block": "BLOCK is 64"}),
        (x * 5, "programs", {"factor": "times 5", "value": "is 5"}),
        (x * math.log(2), "base", {"factor": 0.693, "log": "ln 2"}),
        (-x, "sign", {}),
        (x + 3, "plus", {"offset": "plus 3"}),
        (x - 0.5, "plus", {"offset": "minus 0.5"}),
        (torch.cat([x[:1], x[:-1]]), "shift", {"distance": "1 element further on"}),
        (torch.cat([x[64:], x[:64]]), "shift", {"distance": "64 elements further back"}),
        (x.flip(0), "reverse", {}),
    ],
)
def test_what_it_is_instead(wording: Wording, made: torch.Tensor, label: str, facts: dict[str, object]) -> None:
    *part, found = said(made, x)
    wording(found, label, name="out_ptr", **facts)
    assert len(part) == (facts.get("distance") == "1 element further on")
    for each in part:
        wording(each, "part", part="out_ptr[1:]")


def test_rows_for_columns(wording: Wording) -> None:
    (transposed,) = said(matrix.t().reshape(12, 20), matrix)
    wording(transposed, name="out_ptr")
    (reverse,) = said(matrix.flip(1), matrix)
    wording(reverse, name="out_ptr", axis="axis 1")


factors = torch.linspace(0.5, 1.5, 12)[:, None]


@pytest.mark.parametrize(
    ("made", "label", "facts"),
    [
        (matrix * factors, "factors", {"line": "row", "low": "0.5", "high": "1.5"}),
        (matrix + factors, "terms", {"line": "row", "low": "0.5", "high": "1.5"}),
        (matrix * torch.linspace(2, 3, 20), "factors", {"line": "column", "low": "2", "high": "3"}),
        (matrix + torch.linspace(2, 3, 20), "terms", {"line": "column", "low": "2", "high": "3"}),
    ],
)
def test_rows_and_columns_with_a_number_of_their_own(
    wording: Wording, made: torch.Tensor, label: str, facts: dict[str, object]
) -> None:
    (found,) = said(made, matrix)
    wording(found, label, name="out_ptr", **facts)


def test_random_rows_have_no_number_of_their_own() -> None:
    assert said(matrix.flip(0) + matrix.flip(1), matrix) == ()


def test_which_part_and_that_nobody_stored_there(wording: Wording) -> None:
    part, untouched = said(x, x, 263)
    wording(part, "part", part="out_ptr[263:]")
    wording(untouched, name="out_ptr")
    wrong = matrix.clone()
    wrong[:, 16:] += torch.arange(48.0).reshape(12, 4) ** 2 + 1
    (part,) = said(wrong, matrix)
    wording(part, "part", part="out_ptr[:, 16:]")
    wrong = matrix.clone()
    wrong[3, ::4] *= torch.arange(2.0, 7.0)
    (part,) = said(wrong, matrix)
    wording(part, "part", part="out_ptr[3, ::4]")


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
    assert not any("the expected result" in told for told in said(made, x))


def test_of_one_element_that_is_off_the_whole_is_not_said() -> None:
    """Twice what was expected, but for one element."""
    assert said(torch.where(torch.arange(300) == 200, 5.0, 2 * x), x) == ()


def test_what_was_stored_and_is_as_it_was_is_not_said_to_be_left_out() -> None:
    """Zeros that were stored to zeros."""
    assert not any("before the launch" in told for told in said(torch.zeros(300), x))


def test_equal_results_and_those_that_rounding_explains_have_none() -> None:
    assert said(x, x) == ()


def test_integers(wording: Wording) -> None:
    whole = torch.arange(1, 301, dtype=torch.int32)
    (times,) = said(whole * 3, whole)
    (plus,) = said(whole + 2, whole)
    wording(times, name="out_ptr", factor=3)
    wording(plus, name="out_ptr", offset="plus 2")


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
