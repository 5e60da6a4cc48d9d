"""The checkers are checked: plausible wrong answers are rejected, and differently written right ones accepted."""

from __future__ import annotations

import warnings
from typing import Any

from tests.course.chapters import defined
from triton_lab.course.kinds import Exercise


def is_rejected(one: Exercise, text: str) -> bool:
    """Whether the answer in ``text`` is not taken for right; one that cannot even be defined is not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answer: Any = defined(text, one.name)
        except Exception:
            return True
        return one.judge(answer) is not None
