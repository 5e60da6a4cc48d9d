"""Slips that people make: the one thing that is off is named, with its line; where nothing is, nothing is named."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import re

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.more_slips import MORE
from tests.launch.comparison.slips import SLIPS, Slip, along, below, normalized, product, randn, softmax_over
from tests.wordings import Wording
from triton_lab.launch.comparison.mutations.experiments import Experiments
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.launch import Launch


def usual(launch: Launch) -> list[Switch]:
    """The likeliest changes of what the launch makes."""
    wrong = [one.name for one in launch.arguments if one.kind == "tensor"]
    return [switch for tier in Experiments(launch, wrong).usual(None) for switch in tier]


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: f"{slip.kind}: {slip.name}")
def test_the_slip_is_named(slip: Slip) -> None:
    launch = recorded(slip.run)
    causes = lab.compare(launch, slip.right).causes()
    named = causes.experiments[-1]
    assert named.removes or named.explains, causes
    assert slip.cause in causes.cause and slip.switch in causes.cause
    assert re.search(r"\(lines? \d", causes.cause)


@pytest.mark.parametrize("slip", MORE, ids=lambda slip: slip.name)
def test_more_slips_are_named_or_none_is(slip: Slip) -> None:
    causes = lab.compare(recorded(slip.run), slip.right).causes()
    assert causes.pair is None
    assert slip.cause in causes.cause and slip.switch in causes.cause
    assert causes.known == bool(slip.cause), causes.cause


def test_what_is_given_and_not_used_is_told(wording: Wording) -> None:
    slip = next(slip for slip in MORE if slip.name == "no scale")
    wording(lab.compare(recorded(slip.run), slip.right).relations[-1], kernel="scores", name="scale")


def right_softmax(x: torch.Tensor) -> None:
    softmax_over[(5,)](x, torch.empty(5, 50), 50, OTHER=float("-inf"), BLOCK=64)


def test_rounding_needs_no_slip() -> None:
    x = randn(5, 50)
    causes = lab.compare(recorded(lambda: right_softmax(x)), torch.softmax(x, 1)).causes()
    assert not any("other=" in one.name for one in causes.experiments)


@pytest.mark.parametrize("wrong", ["of other numbers", "a tenth off", "one element off"])
def test_what_is_wrong_in_another_way_is_laid_to_no_slip(wrong: str) -> None:
    """A right kernel, held against what nothing in it could have made."""
    x = randn(5, 50)
    right = torch.softmax(x, 1)
    expected = {
        "of other numbers": torch.softmax(randn(5, 50, seed=9), 1),
        "a tenth off": right * 1.1,
        "one element off": right + torch.nn.functional.one_hot(torch.tensor([3] * 5), 50) * 0.1,
    }[wrong]
    causes = lab.compare(recorded(lambda: right_softmax(x)), expected).causes()
    assert not causes.known
    assert any("other=" in one.name for one in causes.experiments)


def test_a_slip_in_either_of_two_launches_is_named() -> None:
    x = randn(6, 50) - 9
    off, right = (
        recorded(lambda other=other: softmax_over[(6,)](x, torch.empty(6, 50), 50, OTHER=other, BLOCK=64))
        for other in (0.0, float("-inf"))
    )
    for a, b in ((off, right), (right, off)):
        causes = lab.compare(a, b).causes()
        assert causes.experiments[-1].removes and causes.experiments[-1].name.startswith("other=")


def test_what_would_change_nothing_is_not_tried() -> None:
    """Nothing is masked off, the block is no square, the grid has one axis, and there is no loop."""
    x = randn(4, 64)
    launch = recorded(lambda: softmax_over[(4,)](x, torch.empty(4, 64), 64, OTHER=0.0, BLOCK=64))
    kinds = {switch.cause for switch in usual(launch)}
    assert {kind.split()[1] for kind in kinds} == {"comparison"}


def test_the_line_of_each_slip_is_the_users() -> None:
    """Reductions are written in Triton's library; the reader wants the line that calls them."""
    x = randn(5, 50) + 3
    launch = recorded(lambda: normalized[(5,)](x, torch.empty(5, 50), 50, BLOCK=64))
    first = normalized.starting_line_number
    names = [switch.name for switch in usual(launch)]
    assert f"lanes masked off (line {first + 4}) left out (line {first + 5})" in names
    assert f"other=-inf (line {first + 3})" in names
    # A kernel's constants stand for themselves.
    mask = recorded(lambda: below[(1,)](randn(8, 8), torch.empty(8, 8), WITH=True, N=8))
    assert any(switch.name.startswith("< instead of <= (line") for switch in usual(mask))


def test_each_kind_is_tried_a_few_times_only() -> None:
    @triton.jit
    def many(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), tl.float32)
        for step in tl.static_range(20):
            total += tl.load(x_ptr + step * n + at, mask=at < n, other=0.0)
        tl.store(out_ptr + at, total, mask=at < n)

    launch = recorded(lambda: many[(1,)](randn(20, 50), torch.zeros(50), 50, BLOCK=64))
    assert sum("other=" in switch.name for switch in usual(launch)) == 12


def test_integers_have_no_infinite_other() -> None:
    @triton.jit
    def counted(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n, other=0)
        tl.store(out_ptr, tl.min(x, 0))

    x = torch.arange(5, 15)
    launch = recorded(lambda: counted[(1,)](x, torch.zeros(1, dtype=torch.int64), 10, BLOCK=16))
    causes = lab.compare(launch, torch.tensor([5])).causes()
    assert "lanes masked off" in causes.cause and "left out" in causes.cause
    assert not any("inf" in one.name for one in causes.experiments)


def test_an_exchange_that_goes_out_of_bounds_is_no_cause() -> None:
    """The other way round the kernel leaves its tensors: that is told, and nothing is lost."""
    a, b = randn(64, 32), randn(32, 16)
    launch = recorded(
        lambda: product[(2, 1)](
            a, b, torch.zeros(64, 16), 64, 16, 32, SWAP=False, SHORT=False, ACROSS=0, BM=32, BN=16, BK=16
        )
    )
    causes = lab.compare(launch, torch.sin(a @ b) ** 3).causes()
    assert not causes.known
    assert lab.compare(launch, (a.double() @ b.double()).float()).verdict != "different"


def test_what_would_leave_its_tensors_is_told_in_words(wording: Wording) -> None:
    x = randn(4, 16)
    launch = recorded(lambda: along[(1,)](randn(16, 16), torch.empty(16), AXIS=1, GREATEST=False, N=16))
    assert not lab.compare(launch, x.reshape(-1)[:16]).causes().known
    off = recorded(lambda: softmax_over[(4,)](x, torch.empty(4, 16), 16, OTHER=0.0, BLOCK=32))
    causes = lab.compare(off, torch.softmax(x, 1) * 2).causes()
    line = softmax_over.starting_line_number + 3
    strays = next(one for one in causes.experiments if one.failed and one.name.startswith("<= "))
    wording(strays.told(), name=strays.name, side="softmax_over (CPU)", access="store", line=f"line {line + 2}")
    assert "nan ulp" not in repr(causes)
