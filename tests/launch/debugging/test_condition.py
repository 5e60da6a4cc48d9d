from __future__ import annotations

import numpy as np
import pytest

from triton_lab.launch.debugging.block_expression import ConditionError, read_expression
from triton_lab.launch.debugging.stop_condition import read_condition

REFUSED = [
    "__import__('os').system(k)",
    "acc.__class__",
    "acc.tobytes()",
    "[x for x in acc]",
    "lambda: 1",
    "k if k else 1",
    "'text'",
    "9 ** 9",
    "1 << 99",
    "max(acc, k)",
    "acc.max(axis=0)",
    "k := 3",
    "k; k",
    "",
    "(" * 300,
    "k" + " + k" * 200,
    "-" * 300 + "k",
    "f'{k}'",
    "print(k)",
    "k is k",
    "acc @ acc",
    "\0",
]
KNOWN = {"acc": np.array([[1.0, np.nan], [3.0, 4.0]], np.float32), "k": np.int32(3), "mask": np.array([True, False])}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("k == 3", True),
        ("k * 2 - 1", 5),
        ("acc[1]", [3, 4]),
        ("acc[1, 0:1]", [3]),
        ("acc[:, 0].max()", 3),
        ("max(acc[1])", 4),
        ("isnan(acc).sum()", 1),
        ("not k", False),
        ("k > 1 and mask", True),
        ("1 < k < 3", False),
        ("-k // 2", -2),
        ("k & 1 | 4", 5),
        ("~mask", [False, True]),
        ("acc[1] / 0 == inf", [True, True]),
        ("k > 2 or missing", True),
    ],
)
def test_expressions_mean_what_they_mean_in_numpy(text: str, value: object) -> None:
    assert read_expression(text).value(KNOWN).tolist() == value


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_in_the_language_is_refused(text: str) -> None:
    with pytest.raises(ConditionError):
        read_expression(text)


@pytest.mark.parametrize(
    "text",
    ["missing", "acc[9]", "acc[k, k, k]", "acc[0.5]", "10000000000000000000000 + k", "dtype"],
)
def test_what_cannot_be_computed_says_so(text: str) -> None:
    with pytest.raises(ConditionError):
        read_expression(text).value({**KNOWN, "dtype": "fp32"})


def test_blocks_are_bounded() -> None:
    long = np.zeros(1 << 13)
    with pytest.raises(ConditionError):
        read_expression("a[:, None] + a[None, :]").value({"a": long})


@pytest.mark.parametrize(
    ("text", "states"),
    [("x becomes NaN", [False, True]), ("x becomes 1", [True, False]), ("x > 0", [True, False])],
)
def test_conditions_hold_in_any_lane(text: str, states: list[bool]) -> None:
    condition = read_condition(text)
    assert [condition.state({"x": value}) for value in (np.array([0.0, 1.0]), np.array([0.0, np.nan]))] == states


def test_a_change_is_seen_in_the_bytes() -> None:
    condition = read_condition("x changes")
    assert condition.state({"x": np.array([0.0])}) != condition.state({"x": np.array([-0.0])})
