"""What no program has stored is laid to the grid, a loop or a mask, as the record has it, and not to what is stored."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn
from triton_lab.launch.comparison.stored_elements import StoreCoverage


@triton.jit
def negated_blocks(x_ptr, out_ptr, n, STRIDE: tl.constexpr, EACH: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * STRIDE
    for start in range(first, first + EACH * BLOCK, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, -tl.load(x_ptr + i, mask=i < n), mask=i < n)


def launched(programs: int, stride: int = 64, each: int = 1) -> tuple[Any, torch.Tensor]:
    x = randn(1001)

    def run() -> None:
        negated_blocks[(programs,)](x, torch.full_like(x, 9.0), 1001, STRIDE=stride, EACH=each, BLOCK=64)

    return recorded(run), -x


@pytest.mark.parametrize(
    ("programs", "stride", "each", "untouched", "needed"),
    [
        (4, 64, 1, True, 16),
        (4, 128, 2, True, 8),
        (4, 128, 1, True, 16),  # with gaps: as many more programs, though they would leave gaps, too
        (4, 32, 1, True, None),  # programs store over each other
        (40, 64, 1, False, None),  # nothing is wrong
    ],
)
def test_what_the_record_knows(programs: int, stride: int, each: int, untouched: bool, needed: int | None) -> None:
    launch, right = launched(programs, stride, each)
    coverage = StoreCoverage.of(launch)
    plain = lab.compare(launch, {"out_ptr": right}).arguments
    assert coverage.untouched(plain) is untouched
    assert coverage.needed(plain) == needed
    assert coverage.leaves_some is untouched
    assert coverage.repeats_some is (stride < each * 64)


def test_what_is_stored_wrong_is_not_left_out() -> None:
    launch, right = launched(4)
    coverage, plain = StoreCoverage.of(launch), lab.compare(launch, {"out_ptr": right * 2}).arguments
    assert not coverage.untouched(plain) and coverage.needed(plain) is None


def test_too_few_programs_are_named_first_and_fast() -> None:
    launch, right = launched(4)
    causes = lab.compare(launch, {"out_ptr": right}).causes()
    assert "the grid (16,) instead of (4,)" in causes.cause and "either" not in causes.cause


def test_gaps_are_laid_to_the_kernel() -> None:
    launch, right = launched(16, 128)
    causes = lab.compare(launch, {"out_ptr": right}).causes()
    assert causes.known and "the grid" not in causes.cause and "line" in causes.cause


def test_a_longer_step_between_programs_needs_fewer_of_them() -> None:
    launch, right = launched(4, 128, 2)
    assert "the grid (8,) instead of (4,)" in lab.compare(launch, {"out_ptr": right}).causes().cause
