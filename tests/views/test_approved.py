"""Pictures are as somebody has seen and approved them."""

from __future__ import annotations

import pytest

from tests.views.approved import differences, load, record
from tests.views.pictures import PICTURES

TOLD = 30  # lines of a difference


@pytest.fixture(scope="module")
def approved() -> dict[str, list[str]]:
    return load()


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_as_it_was_approved(name: str, approved: dict[str, list[str]]) -> None:
    found = differences(approved.get(name, []), record(PICTURES[name]()))
    rest = [f"... and {len(found) - TOLD} lines more"] if len(found) > TOLD else []
    told = "\n".join([*found[:TOLD], *rest])
    assert not found, f"the picture {name!r} has changed: look at it, then run python -m tests.views.approved\n{told}"


def test_every_record_is_of_a_picture(approved: dict[str, list[str]]) -> None:
    assert list(approved) == list(PICTURES)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (["words (1.00 2.00) 'a'", "b"], ["words (1.01 2.00) 'a'", "b"], []),
        (["a #102030", "b"], ["a #102031", "b"], []),
        (["a 1.00"], ["a 1.05"], ["- a 1.00", "+ a 1.05"]),
        (["a #102030"], ["a #102040"], ["- a #102030", "+ a #102040"]),
        (["a 1.00", "b 3"], ["new", "a 1.00", "b 4"], ["+ new", "- b 3", "+ b 4"]),
    ],
)
def test_what_differs_is_told_line_by_line(before: list[str], after: list[str], found: list[str]) -> None:
    assert differences(before, after) == found
