"""A class is graded: each notebook by itself, whatever it does."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.hostile import notebooks
from tests.hostile.notebooks import CHECKS, check, notebook
from tests.wordings import Wording
from triton_lab import localization
from triton_lab.command.main import triton_lab_command
from triton_lab.course.answer_fault import AnswerFault
from triton_lab.course.feedback import NotSolved
from triton_lab.course.grading import GradeRow, Grades, grade
from triton_lab.course.progress_store import Progress
from triton_lab.course.released_exercises import handed_in

RIGHT, CHECK = "idle_lanes = 24", check("idle_lanes")


def written(path: Path, *cells: str) -> Path:
    path.write_text(notebook(*cells), encoding="utf-8")
    return path


def test_each_notebook_gets_what_it_has_earned(tmp_path: Path, wording: Wording) -> None:
    """All of a chapter right; wrong, with a check that says it is right; ended by itself; never ended."""
    notebooks.honest(tmp_path / "00_honest.ipynb")
    cheat = 'class exercise:\n    def __init__(self, name): pass\n    def check(self, answer): return "right"'
    files = [
        tmp_path / "00_honest.ipynb",
        written(tmp_path / "00_wrong.ipynb", cheat, "idle_lanes = 25", CHECK),
        written(tmp_path / "00_exits.ipynb", RIGHT, CHECK, "import os; os._exit(3)", check("relu")),
    ]
    lines: list[str] = []
    grades = grade(files, told=lines.append)
    points = {(Path(row.file).stem, row.exercise): row.points for row in grades}
    assert [points["00_honest", name] for name in CHECKS] == [1] * 5
    assert [points["00_wrong", name] for name in CHECKS] == [0] * 5
    assert [points["00_exits", name] for name in CHECKS] == [0, 0, 0, 0, 1]
    told = {(Path(row.file).stem, row.exercise): row.message for row in grades}
    assert told["00_wrong", "idle_lanes"].startswith("25 ") and "no check" in told["00_wrong", "relu"]
    assert "exit code 3" in told["00_exits", "relu"] and "no check" in told["00_exits", "add_constant"]
    ended = [line for line in lines if line.startswith("[")]
    assert len(ended) == 3 and any("00_honest.ipynb: 5 of 5" in line for line in ended)
    row = grade(written(tmp_path / "00_endless.ipynb", "while True: pass", RIGHT, CHECK), seconds=6, told=None)[-1]
    assert row.points == 0
    wording(row.message, seconds="6 s")


@pytest.mark.slow
def test_cells_see_no_secret_of_the_grader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    look = "import os\nidle_lanes = sorted(os.environ)\nhere = open('/proc/self/environ').read()\n"
    file = written(tmp_path / "00_look.ipynb", look, "idle_lanes += ['secret'] * ('secret' in here)", CHECK)
    row = grade(file, told=None)[-1]
    assert "PATH" in row.message and "secret" not in row.message and "TOKEN" not in row.message


@pytest.mark.slow
def test_what_is_forged_earns_nothing(tmp_path: Path) -> None:
    """Some of the hostile notebooks, of each kind; `python -m tests.hostile notebooks` tries all."""
    names = (
        "the judge of all kinds",
        "a message that says solved",
        "launches of another exercise",
        "torch, and a kernel that copies",
        "torch, and a kernel that touches",
        "a copy where none is allowed",
        "types that no message has",
        "50 GB of numbers",
    )
    some = {one.name: one for one in notebooks.corpus()}
    bad = [one for one in notebooks.graded([some[name] for name in names if name in some]) if one.outcome == "wrong"]
    assert bad == []


@pytest.mark.parametrize(
    ("held", "label"),
    [
        (b"[1]", "list"),
        (b'{"cells": "\xff"}', "UTF-8"),
        (b"[" * 100_000, "deep"),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', "source"),
        (b'{"cells": {}}', "cells"),
    ],
    ids=["list", "utf-8", "deep", "source", "cells"],
)
def test_a_file_that_is_no_notebook_is_told(tmp_path: Path, held: bytes, label: str, wording: Wording) -> None:
    (tmp_path / "no.ipynb").write_bytes(held)
    (row,) = grade(tmp_path / "no.ipynb", told=None)
    wording(row.message, label)
    (tmp_path / "00_no.ipynb").write_bytes(held)
    rows = grade(tmp_path / "00_no.ipynb", told=None)
    assert [(row.exercise, row.points, row.possible) for row in rows] == [(name, 0, 1) for name in CHECKS]


def test_a_path_without_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder.ipynb").mkdir()
    notebooks.os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "dangling.ipynb").symlink_to("nowhere")
    rows = grade([tmp_path / f"{name}.ipynb" for name in ("folder", "pipe", "dangling")], told=None)
    assert len(rows) == 3 and all(row.message for row in rows)
    with pytest.raises(FileNotFoundError, match="gone"):
        grade(tmp_path / "gone.ipynb")


def test_the_exercises_are_those_of_the_chapter(tmp_path: Path) -> None:
    """By the file's name; else by the checks; else by a release. A notebook without any is a row, too."""
    by_name = handed_in(written(tmp_path / "ada-07_reductions.ipynb", "1"))
    assert "softmax" in [one.name for one in by_name.count] and not by_name.broken
    by_checks = handed_in(written(tmp_path / "mine.ipynb", CHECK))
    assert [one.name for one in by_checks.count] == list(CHECKS)
    released = written(tmp_path / "released.ipynb", CHECK, check("softmax"))
    of_release = handed_in(written(tmp_path / "07_mine.ipynb", "1"), released)
    assert [one.name for one in of_release.count] == ["idle_lanes", "softmax"]
    (row,) = grade(written(tmp_path / "empty.ipynb", "1"), told=None)
    assert (row.points, row.possible) == (0, 0) and "nothing to grade" in row.message


def test_the_table_is_safe_to_open(tmp_path: Path) -> None:
    grades = Grades(
        [
            GradeRow("=a<b>.ipynb", "relu", 0.0, 2.0, "@sum"),
            GradeRow("=a<b>.ipynb", "best", 1.5, 2.0, ""),
            GradeRow("b.ipynb", "best", 0.0, 2.0, "\x1b[31mred\x1b[0m\n\t=cmd\udc80"),
            GradeRow("b.ipynb", "relu", 0.0, 2.0, " \t=1+1"),
        ]
    )
    grades.to_csv(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as opened:
        rows = list(csv.reader(opened))[1:]
    assert rows[0] == ["'=a<b>.ipynb", "relu", "0", "2", "'@sum"]
    assert rows[1] == ["'=a<b>.ipynb", "best", "1.5", "2", ""]
    assert rows[2][-1] == "red /  =cmd\ufffd" and rows[3][-1] == "'  =1+1"
    assert "<b>" not in grades._repr_html_() and str(grades).splitlines()[0] == "=a<b>.ipynb  1.5 of 4"
    assert "\x1b" not in str(grades)


def test_the_table_and_the_progress_are_in_the_chosen_language() -> None:
    grades = Grades([GradeRow("a.ipynb", "relu", 1.0, 2.0, "")])
    assert localization.use("zh_CN")
    try:
        told, shown, progress = str(grades), grades._repr_html_(), Progress({"00": (1, 5)})._repr_html_()
        refused = NotSolved("relu", AnswerFault("no"))._render_traceback_()[0]
    finally:
        localization.use("en")
    assert " of " not in told + shown + progress and "Points" not in shown and "chapter" not in progress
    assert refused.startswith("\x1b[31m") and "Not solved" not in refused and "relu" in refused


def test_the_command_grades_and_writes_the_table(tmp_path: Path) -> None:
    file = written(tmp_path / "empty.ipynb", "1")
    done = CliRunner().invoke(triton_lab_command, ["grade", str(file), "--csv", str(tmp_path / "table.csv")])
    assert done.exit_code == 0 and (tmp_path / "table.csv").exists() and "[1/1]" in done.stderr
    gone = CliRunner().invoke(triton_lab_command, ["grade", str(tmp_path / "gone.ipynb")])
    assert gone.exit_code == 1 and "gone.ipynb" in gone.output
