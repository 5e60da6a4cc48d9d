"""Progress outlives kernels, and nobody's is lost where several write."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.hostile import progress as hostile
from tests.hostile.outcome import Try
from tests.wordings import Wording
from triton_lab.course import NotSolved, ProgressNotKept, ProgressSetAside, exercise, progress, progress_file
from triton_lab.course.exercise_registry import exercises
from triton_lab.course.feedback import Hint
from triton_lab.course.progress_store import note


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITON_LAB_PROGRESS", str(tmp_path / "progress.json"))
    return tmp_path / "progress.json"


def test_what_was_solved_stays_solved(file: Path, wording: Wording) -> None:
    one = exercise("idle_lanes")
    with wording.raises(NotSolved):
        one.check(3)
    assert progress().solved == 0
    assert "Chapter 00: 1 of 5" in str(one.check(24))
    with pytest.raises(NotSolved):
        one.check(25)
    assert progress().chapters["00"] == (1, 5)
    assert json.loads(file.read_text())["exercises"]["idle_lanes"] == {"solved": True, "tries": 3}


def test_a_number_in_quotes_is_told_as_such(file: Path, wording: Wording) -> None:
    with wording.raises(NotSolved):
        exercise("idle_lanes").check("24")
    with wording.raises(NotSolved):
        exercise("grid_of_a_matrix").check("(32, 11)")


def test_what_is_wrong_is_told_in_lines_that_end_between_words(file: Path) -> None:
    with pytest.raises(NotSolved) as told:
        exercise("grid_of_a_matrix").check((11, 32))
    lines = told.value._render_traceback_()
    assert len(lines) > 1 and lines[0].startswith("\x1b[31mNot solved yet\x1b[39m: ") and "(11, 32)" in lines[0]
    assert max(len(line.replace("\x1b[31m", "").replace("\x1b[39m", "")) for line in lines) <= 88
    assert " ".join(lines).split() == f"\x1b[31mNot solved yet\x1b[39m: {told.value}".split(), "no word is broken"


def test_hints_go_on_and_end_with_the_last(file: Path, wording: Wording) -> None:
    one = exercise("add_constant")
    assert [one.hint().number for _ in range(5)] == [1, 2, 3, 3, 3]
    wording(one.hint(), number=3)


def test_nobodys_note_is_lost(file: Path) -> None:
    names = [one.name for one in exercises()][:24]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: note(name, solved=True), names))
    assert progress().solved == len(names)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_two_notebooks_that_write_at_once_lose_nothing(file: Path) -> None:
    code = "import sys; from triton_lab.course.progress_store import note; [note(name, True) for name in sys.argv[1:]]"
    names = [one.name for one in exercises()][:30]
    both = [subprocess.Popen([sys.executable, "-c", code, *names[start::2]]) for start in (0, 1)]
    assert [one.wait() for one in both] == [0, 0]
    assert progress().solved == len(names)


def test_a_folder_without_locks_has_one_beside_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def as_on_nfs(handle: int, how: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flock(handle, how)

    flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", as_on_nfs)
    assert note("relu", solved=True).solved == 1


def test_a_file_that_another_program_holds_is_waited_for_and_not_written(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_file, "_SECONDS", 0.05)
    handle = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.warns(ProgressNotKept):
            note("relu", solved=True)
    finally:
        os.close(handle)
    assert not file.exists()


@pytest.mark.parametrize("damage", list(hostile.representative()), ids=lambda damage: damage.name)
def test_a_damaged_file_is_set_aside_and_what_can_be_read_goes_on(damage: hostile.Damage, tmp_path: Path) -> None:
    assert hostile.outcome(damage, tmp_path) == Try(damage.name, "survived")


@pytest.mark.parametrize("damage", list(hostile.random_ones(7))[:60], ids=lambda damage: damage.name)
def test_damage_at_any_place_loses_nothing_that_stands_before_it(damage: hostile.Damage, tmp_path: Path) -> None:
    assert hostile.outcome(damage, tmp_path) == Try(damage.name, "survived")


def test_what_was_set_aside_is_told_where_the_answer_was_checked(file: Path) -> None:
    file.write_text("[]")
    assert progress().solved == 0
    assert file.read_text() == "[]", "who looks changes nothing"
    with pytest.warns(ProgressSetAside, match="progress-damaged-1.json") as told:
        exercise("idle_lanes").check(24)
    assert [one.filename for one in told] == [__file__]
    assert file.with_name("progress-damaged-1.json").read_text() == "[]"
    file.write_text("{")
    with pytest.warns(ProgressSetAside, match="progress-damaged-2.json"):
        exercise("idle_lanes").hint()
    assert file.with_name("progress-damaged-1.json").read_text() == "[]", "no name is taken twice"


def test_an_empty_file_is_no_progress_and_no_damage(file: Path) -> None:
    file.write_text("\n")
    assert note("relu", solved=True).solved == 1
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_link_stays_one_and_a_device_stays_where_it_is(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.symlink_to(file.with_name("elsewhere.json"))
    assert note("relu", solved=True).solved == 1
    assert file.is_symlink() and progress().solved == 1
    file.unlink()
    file.symlink_to(file.name)  # a circle
    with pytest.warns(ProgressNotKept):
        note("relu", solved=True)
    monkeypatch.setenv("TRITON_LAB_PROGRESS", os.devnull)
    with pytest.warns(ProgressNotKept):
        assert note("relu", solved=True).solved == 1
    assert Path(os.devnull).is_char_device()


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
        assert repr(one).startswith(f"{one.title}: exercise({one.name!r}).check({one.name}) ")
        assert not any(hint in repr(one) for hint in one.hints)
