"""A sample of the learners' answers: the wrong ones are rejected with the reason, the right ones accepted.

`python -m tests.course.learners` tries all of them.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from tests.course.learners.harmless import HARMLESS
from tests.course.learners.right_rows import three_pass_softmax
from tests.course.learners.slips import CLASSES, Slip
from tests.course.learners.trial import WRONG, rejected, right_answers, wrong_answers
from triton_lab.course.trial import answer_cause

QUICK = {"add_constant", "reverse", "copy_any", "take", "average", "row_sum", "bands", "total", "add_at", "merge"}


def spread(count: int) -> list[Any]:
    """``count`` wrong answers to quick exercises, of as many classes as there are."""
    by_class: dict[str, list[Any]] = {about: [] for about in CLASSES}
    for name, number, slip, text in wrong_answers(QUICK):
        by_class[slip.about].append(pytest.param(name, slip, text, id=f"{name}-{number}"))
    turns = (kind[turn] for turn in range(count) for kind in by_class.values() if turn < len(kind))
    return list(islice(turns, count))


@pytest.mark.parametrize(("name", "slip", "text"), spread(20))
def test_a_wrong_answer_is_rejected_with_its_reason(
    name: str, slip: Slip, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_cause, "_PATIENCE", 20.0)
    message = rejected(name, text)
    assert message is not None and slip.explained(message), message


@pytest.mark.parametrize(("name", "style", "answer"), list(right_answers(QUICK))[::3])
def test_a_right_answer_in_another_style_is_accepted(name: str, style: str, answer: Any) -> None:
    assert rejected(name, answer) is None


def test_three_passes_over_a_row_are_accepted() -> None:
    assert rejected("softmax", three_pass_softmax) is None


def test_all_answers_can_be_made() -> None:
    """Each change fits the teacher's answer, and changes it."""
    assert len(list(wrong_answers())) >= 500 and len(list(right_answers())) >= 100
    assert {slip.about for slips in WRONG.values() for slip in slips} == set(CLASSES)
    assert all(number < len(WRONG[name]) for name, numbers in HARMLESS.items() for number in numbers)
