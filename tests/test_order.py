"""The order of test files."""

from __future__ import annotations

from tests.durations import Durations, OfFile
from tests.order import order

SECONDS = {"a": 1.0, "b": 3.0, "c": 2.0, "d": 0.5, "e": 0.5, "f": 0.8}
TESTS = [f"{name}.py::test_{k}" for name in SECONDS for k in (2, 1)]
DURATIONS = Durations({f"{name}.py": OfFile(2, seconds) for name, seconds in SECONDS.items()})


def ordered(**parts: list[str]) -> str:
    places = order(TESTS, DURATIONS, **{part: [f"{name}.py" for name in names] for part, names in parts.items()})
    assert sorted(places) == list(range(len(TESTS)))
    assert all(TESTS[k].endswith(f"_{2 - n % 2}") for n, k in enumerate(places))  # a file's as they were
    return "".join(TESTS[k][0] for k in places[::2])


def test_what_takes_long_comes_first_and_equals_by_their_names() -> None:
    assert ordered() == "bcafde"


def test_the_browser_is_opened_once() -> None:
    assert ordered(browser=["d", "a"]) == "adbcfe"


def test_what_is_near_a_change_comes_before_all() -> None:
    assert ordered(near=["e", "c", "d"], browser=["d", "a"]) == "dceabf"


def test_what_shares_follows_each_other_and_counts_as_one() -> None:
    assert ordered(together=["d", "e", "f"]) == "bcdefa"
    assert ordered(together=["c", "d", "a"]) == "acdbfe"  # 7 seconds
