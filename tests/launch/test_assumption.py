"""Assumptions as text: what is read, what is refused, and what holds of a launch."""

from __future__ import annotations

import pytest

from triton_lab.launch.argument import Argument
from triton_lab.launch.assumption import holds, names_of, parsed

ARGUMENTS = (
    Argument("x", "tensor", shape=(4, 5), strides=(5, 1), dtype="float32", itemsize=4),
    Argument("n", "scalar", value=20),
    Argument("BLOCK", "constexpr", value=8),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n >= 1", True),
        ("x.numel() == n", True),
        ("x.stride(0) == x.shape[1]", True),
        ("grid[0] == triton.cdiv(n, BLOCK)", True),
        ("n < max(3, x.shape[0])", False),
        ("m == 1", None),
        ("x in [0, n)", None),
        ("n // (n - n) == 1", None),
    ],
)
def test_a_condition_holds_of_arguments_or_not(text: str, expected: bool | None) -> None:
    assert holds(parsed(text), ARGUMENTS, (3, 1, 1)) is expected


@pytest.mark.parametrize(
    "text",
    ["", "n", "n >= 1.5", "f(n) == 1", "n == 1 == 2", "x[n] == 1", "__import__('os') == 1", "(" * 400, "n" * 600],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="assumption"):
        parsed(text)


def test_a_range_has_both_ends() -> None:
    found = parsed("  index   in [0, n) ")
    assert (found.text, found.subject, found.relation) == ("index in [0, n)", "index", "in")
    assert names_of(found) == {"index", "n"}
