"""Answers from misunderstandings are rejected, and the check names what is wrong."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.course.chapters import answers, defined
from tests.course.misunderstandings import VALUES, WRONG, Replacements
from triton_lab.course.exercise_registry import exercise
from triton_lab.course.trial import answer_cause

CASES = [
    pytest.param(name, reason, replacements, id=f"{name}-{number}")
    for name, found in WRONG.items()
    for number, (reason, replacements) in enumerate(found)
]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time enough for the search for a cause: what it finds is tested, not how fast this machine is."""
    monkeypatch.setattr(answer_cause, "_PATIENCE", 10.0)


@pytest.mark.parametrize(("name", "reason", "replacements"), CASES)
def test_the_check_names_what_is_wrong(name: str, reason: str, replacements: Replacements) -> None:
    text = answers()[name]
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fault = exercise(name).judge(defined(text, name))
    assert fault is not None and reason in str(fault)


@pytest.mark.parametrize(("name", "reason", "value"), [(name, *one) for name, found in VALUES.items() for one in found])
def test_the_check_explains_a_wrong_value(name: str, reason: str, value: Any) -> None:
    fault = exercise(name).judge(value)
    assert fault is not None and reason in str(fault)


def test_there_are_at_least_ten_for_each_exercise_that_is_a_kernel() -> None:
    assert all(len(found) >= 10 for found in WRONG.values())
