"""The trial of planted differences: nine kinds of causes, and that at least 95 % of them are named right."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.gpu.causes import CASES, SAID, Case, Outcome, table, tried


def test_there_are_sixty_and_at_least_six_for_each_cause() -> None:
    counts = Counter(case.cause for case in CASES)
    assert len(CASES) >= 60 and set(counts) == set(SAID) and min(counts.values()) >= 6


@pytest.mark.parametrize("cause", SAID)
def test_planted_differences_are_named_with_the_interpreter_in_the_gpus_place(cause: str) -> None:
    outcomes = [tried(case, "cpu") for case in CASES if case.cause == cause]
    wrong = [(one.case.name, one.verdict, one.said) for one in outcomes if not one.right]
    assert not wrong


@pytest.mark.gpu
def test_planted_differences_are_named_on_a_gpu() -> None:
    outcomes = [tried(case, "gpu") for case in CASES]
    print(table(outcomes, "here"))
    assert sum(one.right for one in outcomes) >= 0.95 * len(CASES)


def test_another_cause_before_the_planted_one_is_not_right() -> None:
    case = Case("wrong mask", "it", lambda: None)
    assert Outcome(case, "different", "the mask on line 3: so").right
    assert not Outcome(case, "different", "the stride: so; the mask on line 3").right
    assert not Outcome(case, "", "the mask").right and not Outcome(case, "different", "no cause").right
