"""A class is graded: each notebook by itself, whatever it does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from triton_lab.command.main import triton_lab_command
from triton_lab.course.grading import Grades, Row, grade

RIGHT = "idle_lanes = 24"
CHECK = 'exercise("idle_lanes").check(idle_lanes)'


def notebook(path: Path, *cells: str) -> Path:
    made = [
        {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None} for text in cells
    ]
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def test_each_notebook_gets_what_it_has_earned(tmp_path: Path) -> None:
    """Right; wrong, and with a check that says it is right; one that ends its process, and one that never ends."""
    cheat = 'class exercise:\n    def __init__(self, name): pass\n    def check(self, answer): return "right"'
    files = [
        notebook(tmp_path / "right.ipynb", "raise ValueError('never mind')", RIGHT, CHECK),
        notebook(tmp_path / "wrong.ipynb", cheat, "idle_lanes = 25", CHECK),
        notebook(
            tmp_path / "exits.ipynb", RIGHT, CHECK, "import os; os._exit(3)", 'exercise("grid_of_a_matrix").check(1)'
        ),
    ]
    grades = grade(files)
    assert [(Path(row.file).stem, row.exercise, row.points) for row in grades] == [
        ("right", "idle_lanes", 1),
        ("wrong", "idle_lanes", 0),
        ("exits", "idle_lanes", 1),
        ("exits", "grid_of_a_matrix", 0),
    ]
    assert "25 is not it" in grades[1].message and "ended with 3" in grades[3].message
    (row,) = grade(notebook(tmp_path / "endless.ipynb", "while True: pass", RIGHT, CHECK), seconds=6)
    assert row.points == 0 and "did not end within 6 s" in row.message


def test_a_file_that_is_no_notebook_is_told(tmp_path: Path) -> None:
    (tmp_path / "no.ipynb").write_text("[1]")
    (row,) = grade(tmp_path / "no.ipynb")
    assert row.message == "this is no notebook"
    with pytest.raises(FileNotFoundError, match="gone"):
        grade(tmp_path / "gone.ipynb")


def test_the_table_is_safe_to_open(tmp_path: Path) -> None:
    grades = Grades([Row("=a<b>.ipynb", "relu", 0.0, 2.0, "@sum"), Row("=a<b>.ipynb", "best", 1.5, 2.0, "")])
    grades.to_csv(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text().splitlines()[1:] == [
        "'=a<b>.ipynb,relu,0,2,'@sum",
        "'=a<b>.ipynb,best,1.5,2,",
    ]
    assert "<b>" not in grades._repr_html_() and str(grades).splitlines()[0] == "=a<b>.ipynb  1.5 of 4"


def test_the_command_grades_and_writes_the_table(tmp_path: Path) -> None:
    file = notebook(tmp_path / "empty.ipynb", "1")
    done = CliRunner().invoke(triton_lab_command, ["grade", str(file), "--csv", str(tmp_path / "table.csv")])
    assert done.exit_code == 0 and (tmp_path / "table.csv").exists()
    gone = CliRunner().invoke(triton_lab_command, ["grade", str(tmp_path / "gone.ipynb")])
    assert gone.exit_code == 1 and "no notebook is at" in gone.output
