"""A sample of the hostile nests: each is a scop, or refused in words, at its place and in time."""

from __future__ import annotations

import pytest

from tests.hostile.nest_texts import texts
from tests.hostile.nests import QUESTIONS, tried

# Those without measure are slow where they are hard: here only the small ones, and of the others one in twenty.
SAMPLE = [
    (name, text)
    for number, (name, text) in enumerate(texts(1, 1000))
    if name.startswith("3 ") or (number > 250 and number % 20 == 0)
]


@pytest.mark.parametrize(("number", "name"), [(k, name) for k, (name, _) in enumerate(SAMPLE)])
def test_a_hostile_nest_is_read_or_refused(number: int, name: str) -> None:
    done = tried(name, SAMPLE[number][1], QUESTIONS[number % len(QUESTIONS)])
    assert done.outcome in ("survived", "refused"), done.seen
