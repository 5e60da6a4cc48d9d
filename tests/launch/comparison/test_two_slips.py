"""Two slips at once: both are named, each with its line, where neither alone explains what went wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.launched_slips import LAUNCHED, Launched
from tests.launch.comparison.slips import randn, total_over
from tests.launch.comparison.two_slips import LONG, TWOS, Two, added, named, softmax
from tests.wordings import Wording
from triton_lab.launch.comparison import root_cause

# Other values in scope, and factors that a launch passes, are tried alone, and not beside a second mistake.
ALONE = pytest.mark.xfail(strict=True, reason="the search does not try these values in pairs")
TRIED_ALONE = ("STRICT and SCALE", "SCALE and BASE", "LEAST and MEAN")


@pytest.mark.parametrize(
    "two",
    [
        pytest.param(two, marks=[ALONE] if any(name in two.name for name in TRIED_ALONE) else [])
        for two in {two.kernel: two for two in TWOS if two.adjacent}.values()
    ],
    ids=lambda two: two.name,
)
def test_both_are_named(two: Two) -> None:
    causes = lab.compare(recorded(two.run), two.right).causes(LONG)
    assert named(causes, two) and causes.pair is not None, causes.cause
    one, other = causes.pair.halves
    assert one.cause in causes.cause and other.cause in causes.cause
    assert causes.pair.found is not None and causes.pair.found.names_it


# Each slip of a kernel with one of its launch.
@pytest.mark.parametrize("pair", LAUNCHED[::4], ids=lambda pair: pair.name)
def test_both_are_named_where_one_is_the_launchs(pair: Launched) -> None:
    causes = lab.compare(recorded(pair.run), pair.right).causes(LONG)
    assert causes.pair is not None, causes
    said = [half.cause for half in causes.pair.halves]
    fits = [[any(cause in text for cause in each) for text in said] for each in pair.causes]
    assert (fits[0][0] and fits[1][1]) or (fits[0][1] and fits[1][0]), causes.cause


def wrong_sum(**on: bool) -> None:
    x, y = randn(300), randn(300, seed=1)
    off = dict.fromkeys(("MASK", "SIGN", "WHERE"), False)
    added[(5,)](x, y, torch.zeros(300), 300, **{**off, **on}, BLOCK=64)


def test_what_each_does_alone_is_said(wording: Wording) -> None:
    """The mask leaves out the last ten, where the sign is wrong, too: with the sign right they are still missing."""
    right = torch.nn.functional.leaky_relu(randn(300) + randn(300, seed=1), 0.1)
    causes = lab.compare(recorded(lambda: wrong_sum(MASK=True, SIGN=True)), right).causes(LONG)
    wording(causes.cause.rpartition("; ")[2], first="out_ptr[:290]", second="nothing")
    pair = causes.pair
    assert pair is not None and pair.halves[0].cause == "an operator"
    assert (pair.halves[0].mends, pair.halves[1].mends) == (290, 0)


def test_one_slip_is_one() -> None:
    right = torch.nn.functional.leaky_relu(randn(300) + randn(300, seed=1), 0.1)
    causes = lab.compare(recorded(lambda: wrong_sum(SIGN=True)), right).causes(LONG)
    assert causes.pairs == () and causes.experiments[-1].cause == "an operator"


@pytest.mark.parametrize("two", TWOS[::12], ids=lambda two: two.name)
@pytest.mark.parametrize("how", ["other numbers", "a tenth off", "a third slip"])
def test_nothing_is_named_where_two_do_not_explain_it(two: Two, how: str) -> None:
    noise = torch.randn(two.right.shape, generator=torch.Generator().manual_seed(9))
    ways: dict[str, Callable[[], torch.Tensor]] = {
        "other numbers": lambda: noise,
        "a tenth off": lambda: two.right * 1.1 + 0.3,
        "a third slip": lambda: torch.sin(two.right * 3),
    }
    causes = lab.compare(recorded(two.run), ways[how]()).causes(0.3)
    assert not causes.known, causes.cause
    # Two at once are tried only if there is time for every single change.
    assert all(pair.found is None and pair.tried <= pair.of for pair in causes.pairs)
    assert all(row[-1] != "removes the difference" for row in causes.table())


def test_how_many_pairs_were_tried_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    x = randn(7, 50)
    off = dict.fromkeys(("OTHER", "BASE", "MASK", "STRIDE", "QUOTIENT"), False)

    def run() -> None:
        softmax[(7,)](x, torch.zeros(7, 50), 50, 50, **off, BLOCK=64)

    comparison = lab.compare(recorded(run), randn(7, 50, seed=4))
    monkeypatch.setattr(root_cause, "PAIRS", 0.0)
    (pairs,) = comparison.causes().pairs
    assert pairs.tried == 0 and pairs.of > 100
    row = comparison.causes().table()[-1]
    assert f"0 of {pairs.of:,} pairs" in row[0] and row[1:] == ("softmax (CPU)", "", "", "no")
    assert "causes(seconds=60)" in repr(comparison.causes())
    (every,) = comparison.causes(LONG).pairs
    assert every.tried == every.of == pairs.of
    assert "causes(seconds=60)" not in repr(comparison.causes())


def test_of_a_few_numbers_no_two_are_named() -> None:
    """One number comes right by chance if enough is tried."""
    x = torch.arange(5, 15)

    launch = recorded(lambda: total_over[(1,)](x, torch.zeros(1, dtype=torch.int64), 10, OTHER=1, BLOCK=16))
    causes = lab.compare(launch, torch.tensor([7])).causes(LONG)
    assert not causes.known and all(pair.of == 0 for pair in causes.pairs)
