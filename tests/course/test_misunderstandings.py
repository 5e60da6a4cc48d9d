"""Answers from misunderstandings are rejected, and the check names what is wrong."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.course.chapters import answers, defined
from tests.course.misunderstandings import VALUES, WRONG, Replacements
from tests.course.told_fault import told_fault
from triton_lab.course.exercise_registry import exercise

CASES = [
    pytest.param(name, reason, replacements, id=f"{name}-{number}")
    for name, found in WRONG.items()
    for number, (reason, replacements) in enumerate(found)
]


@pytest.mark.parametrize(("name", "reason", "replacements"), CASES)
def test_the_check_names_what_is_wrong(name: str, reason: str, replacements: Replacements) -> None:
    text = answers()[name]
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fault = told_fault(name, defined(text, name), lambda fault: reason in str(fault))
    assert fault is not None and reason in str(fault)


@pytest.mark.parametrize(("name", "reason", "value"), [(name, *one) for name, found in VALUES.items() for one in found])
def test_the_check_explains_a_wrong_value(name: str, reason: str, value: Any) -> None:
    fault = exercise(name).judge(value)
    assert fault is not None and reason in str(fault)


def test_there_are_at_least_ten_for_each_exercise_that_is_a_kernel() -> None:
    assert all(len(found) >= 10 for found in WRONG.values())
