"""Progress outlives kernels, and nobody's is lost where several write."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from triton_lab.course import NotSolved, ProgressNotKept, exercise, progress
from triton_lab.course.notes import note
from triton_lab.course.registry import exercises
from triton_lab.course.shown import Hint


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITON_LAB_PROGRESS", str(tmp_path / "progress.json"))
    return tmp_path / "progress.json"


def test_what_was_solved_stays_solved(file: Path) -> None:
    one = exercise("idle_lanes")
    with pytest.raises(NotSolved, match="Lanes without work · 3 is not it"):
        one.check(3)
    assert progress().solved == 0
    assert "Chapter 00: 1 of 5" in str(one.check(24))
    with pytest.raises(NotSolved):
        one.check(25)
    assert progress().chapters["00"] == (1, 5)
    assert json.loads(file.read_text())["exercises"]["idle_lanes"] == {"solved": True, "tries": 3}


def test_a_number_in_quotes_is_told_as_such(file: Path) -> None:
    with pytest.raises(NotSolved, match="This is str, and a number, without quotes, is asked for"):
        exercise("idle_lanes").check("24")
    with pytest.raises(NotSolved, match="This is str, and a tuple is asked for"):
        exercise("grid_of_a_matrix").check("(32, 11)")


def test_what_is_wrong_is_told_in_lines_that_end_between_words(file: Path) -> None:
    with pytest.raises(NotSolved) as told:
        exercise("grid_of_a_matrix").check((11, 32))
    lines = told.value._render_traceback_()
    assert len(lines) > 1 and lines[0].startswith(
        "\x1b[31mNot solved yet\x1b[39m: How many programs? · (11, 32) is not it"
    )
    assert max(len(line.replace("\x1b[31m", "").replace("\x1b[39m", "")) for line in lines) <= 88
    assert " ".join(lines).split() == f"\x1b[31mNot solved yet\x1b[39m: {told.value}".split(), "no word is broken"


def test_hints_go_on_and_end_with_the_last(file: Path) -> None:
    one = exercise("add_constant")
    assert [one.hint().number for _ in range(5)] == [1, 2, 3, 3, 3]
    assert str(one.hint()).endswith("That was the last one.")


def test_nobodys_note_is_lost(file: Path) -> None:
    names = [one.name for one in exercises()][:24]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: note(name, solved=True), names))
    assert progress().solved == len(names)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("text", ["", "[]", '{"exercises": [1]}', '{"exercises": {"relu": 3}}', "\x00"])
def test_a_damaged_file_is_no_progress_and_no_error(file: Path, text: str) -> None:
    file.write_text(text)
    assert progress().solved == 0
    assert note("relu", solved=True).solved == 1


def test_where_nothing_can_be_written_answers_are_checked_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_LAB_PROGRESS", str(tmp_path / "gone" / "progress.json"))
    with pytest.warns(ProgressNotKept) as told:
        assert "Solved" in str(exercise("idle_lanes").check(24))
    assert {one.filename for one in told} == {__file__}, "where the answer was checked"


def test_what_is_shown_is_escaped_and_says_how_far(file: Path) -> None:
    assert "Solved:" in exercise("idle_lanes").check(24)._repr_html_()
    assert 'aria-label="chapter 00"' in progress("00")._repr_html_()
    assert "a &lt; b" in Hint("a < b", 1, 2)._repr_html_()


def test_an_exercise_that_is_looked_at_gives_no_hint_away() -> None:
    for one in exercises():
        assert repr(one) == f"{one.title}: exercise({one.name!r}).check({one.name}) judges your answer, .hint() helps"
        assert not any(hint in repr(one) for hint in one.hints)
