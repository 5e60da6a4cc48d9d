"""All answers of the learners, and what a check says of one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Set
from typing import Any

from tests.course.chapters import answers, defined
from tests.course.learners import (
    right_changes,
    right_row_changes,
    right_rows,  # noqa: F401 - registers its answers
    right_vectors,  # noqa: F401 - registers its answers
    wrong_attention,
    wrong_masks,
    wrong_products,
    wrong_random,
    wrong_rows,
    wrong_scans,
    wrong_sums,
    wrong_types,
    wrong_vectors,
    wrong_views,
)
from tests.course.learners.harmless import HARMLESS
from tests.course.learners.register import FUNCTIONS
from tests.course.learners.slips import Slip, changed
from triton_lab.course.exercise_registry import exercise

_WRONG = (
    wrong_vectors,
    wrong_views,
    wrong_masks,
    wrong_types,
    wrong_rows,
    wrong_scans,
    wrong_products,
    wrong_sums,
    wrong_random,
    wrong_attention,
)
WRONG: dict[str, tuple[Slip, ...]] = {name: slips for module in _WRONG for name, slips in module.WRONG.items()}


RIGHT = right_changes.RIGHT | right_row_changes.RIGHT


def wrong_answers(names: Set[str] = frozenset()) -> Iterator[tuple[str, int, Slip, str]]:
    """(exercise, number, slip, text) of all wrong answers, or of those to ``names``."""
    for name, slips in WRONG.items():
        if not names or name in names:
            right = HARMLESS.get(name, {})
            yield from (
                (name, number, slip, slip.text(answers()[name]))
                for number, slip in enumerate(slips)
                if number not in right
            )


def right_answers(names: Set[str] = frozenset()) -> Iterator[tuple[str, str, Any]]:
    """(exercise, style, text or function) of all right answers, or of those to ``names``."""
    for name, styles in RIGHT.items():
        if not names or name in names:
            yield from ((name, style, changed(answers()[name], changes)) for style, changes in styles)
    for name, numbers in HARMLESS.items():
        if not names or name in names:
            yield from ((name, why, WRONG[name][number].text(answers()[name])) for number, why in numbers.items())
    yield from (one for one in FUNCTIONS if not names or one[0] in names)


def rejected(name: str, answer: Any) -> str | None:
    """What the check says of ``answer``, a text or a function; None where it is taken for right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = defined(answer, name) if isinstance(answer, str) else answer
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        fault = exercise(name).judge(found)
    return None if fault is None else str(fault)
