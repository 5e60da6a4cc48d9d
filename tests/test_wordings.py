"""Wordings in files: the comparison, and the writing of the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import wordings
from tests.wordings import Changed, Wording, Wordings, template

A, B = "tests/ir/test_a.py", "tests/test_b.py"


def test_facts_stand_by_their_names_and_must_be_there() -> None:
    assert template("x[3] of x, 13 in all: 3", {"name": "x", "at": 3}) == "{name}[{at}] of {name}, 13 in all: {at}"
    assert template("1 of 1,000", {"one": 1, "all": "1,000"}) == "{one} of {all}"
    assert template(r"\d of {name}", {}) == r"\d of {name}"
    with pytest.raises(AssertionError):
        template("13 in all", {"at": 3})


def test_what_is_saved_is_loaded_and_each_wording_stands_once(tmp_path: Path) -> None:
    known = {
        (A, "test_one"): "a sentence\n\n  with a line",
        (A, "test_one 2"): "another",
        (B, "test_two"): "a sentence\n\n  with a line",
    }
    Wordings(known).save(tmp_path)
    assert Wordings.load(tmp_path).known == known
    text = "".join(path.read_text("utf-8") for path in sorted(tmp_path.iterdir()))
    assert text.count("a sentence") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ir.txt", "tests.txt"]
    Wordings({(A, "test_one"): "b"}).save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["ir.txt"]


def test_another_wording_is_shown_with_the_one_before() -> None:
    known = Wordings({(A, "test_one"): "before"})
    known.check((A, "test_one"), "before")
    with pytest.raises(Changed) as caught:
        known.check((A, "test_one"), "after")
    assert str(caught.value).splitlines()[:2] == ["- before", "+ after"] and A in str(caught.value)
    with pytest.raises(Changed):
        known.check((A, "test_two"), "before")


def test_all_cases_of_a_function_share_a_wording(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordings, "_written", written := Wordings({}))
    for name in "xy":
        said = Wording(f"{A}::test_one[{name}]")
        said(f"no {name} here  ", name=name)
        said(ValueError("and more"))
        said(f"of {name} alone", name)
    assert written.known == {(A, "test_one"): "no {name} here", (A, "test_one 2"): "and more"} | {
        (A, f"test_one {name}"): f"of {name} alone" for name in "xy"
    }
    with pytest.raises(ValueError, match="fact"):
        Wording(f"{A}::test_one[z]")("no z here")
    monkeypatch.setattr(wordings, "_written", None)
    monkeypatch.setattr(wordings, "_known", written)
    Wording(f"{A}::test_one[z]")("no z here", name="z")
    with pytest.raises(Changed):
        Wording(f"{A}::test_one[z]")("no z here")


def test_the_files_have_what_tests_ask_for_and_no_other() -> None:
    assert {file for file, _ in Wordings.load().known} == set(wordings.users())
