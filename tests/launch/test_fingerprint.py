"""A finding's fingerprint: the same while code around it changes, another one for another finding."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.launch.diagnosis.finding import Finding

LINE = "    x = tl.load(x_ptr + offsets, mask=mask)"
FOUND = Finding(
    "uninitialized",
    "program (0, 0, 0) loads x_ptr[0], which was never written",
    "Make the tensor with torch.zeros.",
    line=11,
    column=8,
    argument="x_ptr",
    count=1000,
    excerpt=(LINE, "        ^^^"),
    kernel="add",
)


@given(st.integers(1, 10_000), st.integers(0, 200), st.integers(1, 10**6), st.text(), st.text())
def test_it_does_not_rest_on_what_changes_with_other_code_or_data(
    line: int, column: int, count: int, message: str, file: str
) -> None:
    moved = replace(FOUND, line=line, column=column, count=count, message=message, file=file)
    assert moved.fingerprint == FOUND.fingerprint


@given(st.text(" \t"), st.text(" \t"))
def test_it_does_not_rest_on_how_the_line_is_spaced(before: str, after: str) -> None:
    assert replace(FOUND, excerpt=(before + LINE.strip() + after,)).fingerprint == FOUND.fingerprint


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "out-of-bounds"},
        {"kernel": "add_all"},
        {"argument": "y_ptr"},
        {"argument": None},
        {"excerpt": ("    x = tl.load(x_ptr + offset, mask=mask)",)},
        {"excerpt": ()},
    ],
)
def test_another_finding_has_another(other: dict[str, object]) -> None:
    assert replace(FOUND, **other).fingerprint != FOUND.fingerprint


def test_it_is_the_same_in_every_process() -> None:
    # Baselines are committed: what is written there must mean the same on every machine and in every version.
    assert FOUND.fingerprint == "f2a8f7f31de01283"
    assert Finding("alias", "", "").fingerprint == "5142b3b7b1672ef8"
