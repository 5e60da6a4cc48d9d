"""The fault of a wrong answer, searched for as long as it takes to find what a test asks for, and no longer.

A fault says what is wrong first. A search for the cause adds lines behind that, and takes most of the time: seconds of
it where nothing is found. So an answer is judged without one first, then with a short one, and then with a long one:
what is found is tested, not how fast this machine is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from triton_lab.course.answer_fault import AnswerFault
from triton_lab.course.exercise_registry import exercise
from triton_lab.course.trial import answer_cause

SEARCHES = (0.0, 0.5, 20.0)  # seconds


def told_fault(name: str, answer: Any, is_told: Callable[[AnswerFault], bool]) -> AnswerFault | None:
    """The fault of ``answer`` to the exercise ``name``: the first one that ``is_told``, or that of a long search."""
    fault = None
    for seconds in SEARCHES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(answer_cause, "_PATIENCE", seconds)
            if not seconds:
                patch.setattr(answer_cause, "cause_lines", lambda *_: ())
            fault = exercise(name).judge(answer)
        if fault is None or is_told(fault):
            break
    return fault
