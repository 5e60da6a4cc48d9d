"""The chapters as handed to students: all runs but the checks, and each check says what to do."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.course.chapters import FOLDER, chapter_files, notebook
from triton_lab.course.edition import checked, marked, source_of, stripped
from triton_lab.course.exercise_registry import exercise, exercises

CHAPTERS = chapter_files()
each_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
MENDED = {"15_clinic", "16_clinic_two"}  # what is handed out there is broken, and not a stub

# What nbgrader's schema of a cell's metadata has, in its version 3: beside these no key is allowed.
NBGRADER = {
    "schema_version": int,
    "grade": bool,
    "locked": bool,
    "solution": bool,
    "task": bool,
    "grade_id": str,
    "points": (int, float),
    "cell_type": str,
}


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("handed-out")
    environment = os.environ | {"TRITON_LAB_PROGRESS": str(folder / "progress.json")}
    run = subprocess.run(
        warm.command("-m", "tests.course.handed_out", modules=warm.LAUNCH),
        cwd=FOLDER.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[dict[str, Any]]] = json.loads(run.stdout.splitlines()[-1])
    return found


@each_chapter
def test_exactly_the_checks_fail_and_say_what_to_do(handed_out: dict[str, list[dict[str, Any]]], path: Path) -> None:
    cells = handed_out[path.stem]
    # A cell that draws the learner's own kernel says the same as its check, for as long as that is not written.
    wrong = [one for one in cells if one["kind"] and not one["exercise"] and "To do: " not in one["message"]]
    assert wrong == []
    for one in cells:
        if one["exercise"]:
            assert one["kind"] == "NotSolved", one
            assert one["message"].startswith(exercise(one["exercise"]).title + " · ")
            assert ("To do: " in one["message"]) != (path.stem in MENDED), one


def test_there_are_at_least_64_exercises_and_three_to_a_chapter() -> None:
    assert len(exercises()) >= 64
    for path in CHAPTERS:
        assert 3 <= sum(one.chapter == path.stem[:2] for one in exercises()) <= 12


@each_chapter
def test_no_line_of_a_solution_is_handed_out(path: Path) -> None:
    teachers, students = notebook(path), stripped(notebook(path), path.stem)
    for cell, handed in zip(teachers["cells"], students["cells"], strict=True):
        text = source_of(cell)
        if cell["cell_type"] != "code" or "BEGIN SOLUTION" not in text:
            continue
        solution = text.split("BEGIN SOLUTION")[1].split("END SOLUTION")[0].split("# INSTEAD")[0].split("\n")[1:-1]
        left = source_of(handed).split("\n")
        assert "SOLUTION" not in source_of(handed) and "INSTEAD" not in source_of(handed)
        assert [line for line in solution if line.strip() and line in left] == []


@each_chapter
def test_no_stored_output_is_handed_out_that_was_made_with_an_answer(path: Path) -> None:
    stored = json.loads(path.with_suffix(".ipynb").read_text(encoding="utf-8"))
    names = "|".join(one.name for one in exercises() if one.chapter == path.stem[:2])
    shown = [source_of(cell) for cell in stripped(stored, path.stem)["cells"] if cell.get("outputs")]
    assert shown and [text for text in shown if re.search(rf"\b({names})[(,]|progress\(", text)] == []


@each_chapter
def test_cells_bear_what_nbgrader_asks_for(path: Path) -> None:
    names = []
    for edition in (marked(notebook(path), path.stem), stripped(notebook(path), path.stem)):
        ids = []
        for cell in edition["cells"]:
            told = cell["metadata"].get("nbgrader")
            if told is not None:
                assert all(isinstance(value, NBGRADER[key]) for key, value in told.items())
                assert told["schema_version"] == 3 and told.get("points", 0) >= 0
                assert re.fullmatch(r"[a-zA-Z0-9_\-]+", told["grade_id"])
                assert {"schema_version", "grade", "locked", "solution"} <= set(told)
                ids.append(told["grade_id"])
                assert told["grade"] == (checked(source_of(cell)) is not None) == ("points" in told) == told["locked"]
        assert len(set(ids)) == len(ids)
        names.append(ids)
    teachers, students = names
    # nbgrader would put its own stub in the place of all of ours.
    assert students == [one for one in teachers if one.endswith("-check")] and students
