"""The student edition goes through nbgrader as it is: released, graded, and given back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.preloading import offer_kernel
from triton_lab.course.edition import marked, source_of, student

ROOT = Path(__file__).parents[2]
CHAPTER = "00_first_kernel"
# What a grade needs of the chapter: the imports, then two exercises with a kernel and one with a number.
EXERCISES = ("add_constant", "scale_and_shift", "idle_lanes")


def run(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder / "ipython")}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    environment["JUPYTER_PATH"] = str(folder / "share")
    environment.pop("TRITON_LAB_PROGRESS", None)  # each student has a file of their own
    ended = subprocess.run(
        warm.command("-m", "nbgrader", *arguments, modules=warm.KERNEL),
        cwd=folder, env=environment, capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stderr


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def sources(notebook: dict[str, Any]) -> list[str]:
    return [source_of(cell) for cell in notebook["cells"]]


def excerpt() -> dict[str, Any]:
    """The chapter's imports, one cell with a picture, its exercises of above, and their checks."""
    notebook = read(ROOT / "notebooks" / f"{CHAPTER}.ipynb")
    cells = notebook["cells"]
    asked = [
        k for k, cell in enumerate(cells) if any(f'exercise("{name}").check(' in source_of(cell) for name in EXERCISES)
    ]
    answers = [next(k for k in range(check, 0, -1) if "BEGIN SOLUTION" in source_of(cells[k])) for check in asked]
    codes = [k for k, cell in enumerate(cells) if cell["cell_type"] == "code"]
    picture = next(k for k in codes if any("data" in output for output in cells[k]["outputs"]))
    before = [k for k in codes if k < picture and k not in (*asked, *answers)]
    notebook["cells"] = [cells[k] for k in sorted({*before, picture, *asked, *answers})]
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of nbgrader's: a release, and what two students made of it, graded and with feedback."""
    folder = tmp_path_factory.mktemp("course")
    offer_kernel(folder / "share")
    (folder / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "triton"\n')
    teachers = folder / "teachers" / f"{CHAPTER}.ipynb"
    teachers.parent.mkdir()
    teachers.write_text(json.dumps(excerpt()))
    student(teachers, folder / "source" / "first")
    run(folder, "generate_assignment", "first", "--ClearOutput.enabled=False")
    for who in ("right", "nothing"):
        handed = read(folder / "release" / "first" / f"{CHAPTER}.ipynb")
        if who == "right":
            for cell, solved in zip(handed["cells"], sources(excerpt()), strict=True):
                cell["source"] = solved.replace(".check(idle_lanes)", ".check(0)")  # a locked cell
        file = folder / "submitted" / who / "first" / f"{CHAPTER}.ipynb"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(handed))
    (folder / "autograde.log").write_text(run(folder, "autograde", "first", "--Execute.timeout=300"))
    run(folder, "generate_feedback", "first")
    return folder


@pytest.mark.slow
def test_the_release_has_our_stubs_and_the_pictures(course: Path) -> None:
    made, released = (read(course / kind / "first" / f"{CHAPTER}.ipynb") for kind in ("source", "release"))
    assert sources(made) == sources(released)
    text = "\n".join(sources(released))
    assert text.count("To do: ") >= len(EXERCISES) and "YOUR CODE HERE" not in text and "def add_constant(" in text
    shown = [[bool(cell.get("outputs")) for cell in notebook["cells"]] for notebook in (made, released)]
    assert shown[0] == shown[1] and any(shown[1])


@pytest.mark.slow
def test_right_answers_have_all_points_and_stubs_none(course: Path) -> None:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "triton") as gradebook:
        found = {one.student_id: (one.score, one.max_score) for one in gradebook.assignment_submissions("first")}
    most = float(sum(cell["metadata"].get("nbgrader", {}).get("points", 0) for cell in marked(excerpt())["cells"]))
    assert found == {"right": (most, most), "nothing": (0.0, most)} and most >= len(EXERCISES)
    assert "cannot be converted" not in (course / "autograde.log").read_text(), "a check's word is no number of points"


@pytest.mark.slow
def test_feedback_says_what_is_to_be_done(course: Path) -> None:
    told = {who: (course / "feedback" / who / "first" / f"{CHAPTER}.html").read_text() for who in ("right", "nothing")}
    solved = "<b>Solved:</b> Add a constant"
    assert solved in told["right"] and solved not in told["nothing"]
    assert "To do: " in told["nothing"]


def test_the_teachers_edition_may_be_the_source_too() -> None:
    """nbgrader's own stubs then stand where solutions stood, within the signature and the launcher."""
    from nbformat import reads
    from nbgrader.preprocessors import CheckCellMetadata, ClearSolutions

    notebook = reads(json.dumps(marked(excerpt(), CHAPTER)), as_version=4)
    notebook, resources = ClearSolutions().preprocess(notebook, {})
    CheckCellMetadata().preprocess(notebook, resources)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert text.count("YOUR CODE HERE") >= len(EXERCISES)
    assert "def add_constant(" in text and "SOLUTION" not in text
