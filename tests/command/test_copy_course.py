"""The course in a folder of the user's: there after one call, as new after the next, never over the user's changes."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

from tests.wordings import Wording
from triton_lab.command import copy_course
from triton_lab.command.main import LANGUAGES
from triton_lab.course.edition import as_file, for_this_python, student
from triton_lab.course.translation import LANGUAGES as TRANSLATIONS
from triton_lab.course.translation import catalogues

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))


def notebook(told: str) -> str:
    """The text of a notebook of one cell."""
    made = {"cells": [{"cell_type": "markdown", "metadata": {}, "source": told}], "metadata": {}}
    return as_file(for_this_python(made)).decode()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of two small notebooks, as installed, which a newer triton-lab may change."""
    folder = tmp_path / "installed"
    folder.mkdir()
    for name in ("00_one.ipynb", "01_two.ipynb"):
        (folder / name).write_text(notebook(f"{name} of 0.1"))
    monkeypatch.setattr(copy_course, "course_folders", lambda: iter([folder]))
    return folder


def names(paths: tuple[Path, ...]) -> list[str]:
    return [path.name for path in paths]


def test_the_whole_course_is_copied_and_nothing_else(tmp_path: Path) -> None:
    done = copy_course.put(tmp_path / "kurs" / "größe", solutions=True)
    assert names(done.added) == NAMES and not done.renewed and not done.kept
    for path in done.added:
        assert (
            json.loads(path.read_text())["cells"] == json.loads((ROOT / "notebooks" / path.name).read_text())["cells"]
        )
    assert sorted(os.listdir(tmp_path / "kurs" / "größe")) == [copy_course.MANIFEST, *NAMES]
    assert copy_course.FIRST in NAMES


def test_a_copy_has_the_metadata_that_jupyterlab_gives_it(tmp_path: Path) -> None:
    """It counts a notebook as changed whose kernel has another name, or another Python."""
    empty = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "?"}})
    NotebookClient(empty).execute()
    for solutions in (True, False):
        first, *_rest = copy_course.put(tmp_path / str(solutions), solutions=solutions).added
        told = json.loads(first.read_text())["metadata"]
        assert told["language_info"] == empty.metadata.language_info
        assert told["kernelspec"]["display_name"] == KernelSpecManager().get_kernel_spec("python3").display_name


def test_doing_it_again_changes_nothing(tmp_path: Path, installed: Path) -> None:
    copy_course.put(tmp_path / "mine")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "mine").iterdir()}
    assert copy_course.put(tmp_path / "mine") == copy_course.Put((), (), ())
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "mine").iterdir()} == times


def test_what_the_user_left_alone_is_renewed_and_what_was_changed_is_kept(tmp_path: Path, installed: Path) -> None:
    mine = tmp_path / "mine"
    copy_course.put(mine)
    (mine / "01_two.ipynb").write_text("my notes")
    for path in installed.iterdir():
        path.write_text(notebook("of 0.2"))
    (installed / "02_three.ipynb").write_text(notebook("of 0.2"))
    done = copy_course.put(mine)
    assert (names(done.added), names(done.renewed), names(done.kept)) == (
        ["02_three.ipynb"],
        ["00_one.ipynb"],
        ["01_two.ipynb"],
    )
    assert (mine / "01_two.ipynb").read_text() == "my notes"
    assert (mine / "00_one.ipynb").read_text() == notebook("of 0.2")
    # It stays so: what was kept is not forgotten to be the user's.
    assert names(copy_course.put(mine).kept) == ["01_two.ipynb"]


def test_a_change_taken_back_is_none(tmp_path: Path, installed: Path) -> None:
    mine = tmp_path / "mine"
    copy_course.put(mine)
    (mine / "00_one.ipynb").write_text("my notes")
    copy_course.put(mine)
    (mine / "00_one.ipynb").write_text(notebook("00_one.ipynb of 0.1"))
    (installed / "00_one.ipynb").write_text(notebook("of 0.2"))
    assert names(copy_course.put(mine).renewed) == ["00_one.ipynb"]


def test_a_notebook_that_was_deleted_is_there_again(tmp_path: Path, installed: Path) -> None:
    copy_course.put(tmp_path / "mine")
    (tmp_path / "mine" / "00_one.ipynb").unlink()
    assert names(copy_course.put(tmp_path / "mine").added) == ["00_one.ipynb"]


@pytest.mark.parametrize("text", ["", "[]", '{"files": []}', '{"files": {"00_one.ipynb": 3}}', "\x00"])
def test_without_a_record_of_what_was_copied_all_that_differs_is_the_users(
    text: str, tmp_path: Path, installed: Path
) -> None:
    mine = tmp_path / "mine"
    copy_course.put(mine)
    (mine / copy_course.MANIFEST).write_text(text)
    (installed / "00_one.ipynb").write_text(notebook("of 0.2"))
    done = copy_course.put(mine)
    assert names(done.kept) == ["00_one.ipynb"] and not done.renewed
    assert (mine / "00_one.ipynb").read_text() == notebook("00_one.ipynb of 0.1")
    # And what is as it should be is known again.
    (installed / "01_two.ipynb").write_text(notebook("of 0.2"))
    assert names(copy_course.put(mine).renewed) == ["01_two.ipynb"]


def test_a_link_is_not_written_through(tmp_path: Path, installed: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (tmp_path / "elsewhere").write_text("my notes")
    (mine / "00_one.ipynb").symlink_to(tmp_path / "elsewhere")
    (mine / "01_two.ipynb").symlink_to(tmp_path / "nowhere")
    assert names(copy_course.put(mine).kept) == ["00_one.ipynb", "01_two.ipynb"]
    assert (tmp_path / "elsewhere").read_text() == "my notes" and not (tmp_path / "nowhere").exists()


def test_others_may_read_what_was_copied(tmp_path: Path, installed: Path) -> None:
    before = os.umask(0o022)
    try:
        done = copy_course.put(tmp_path / "mine")
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in done.added} == {0o644}


def test_a_folder_that_cannot_be_one_is_told(tmp_path: Path, installed: Path, wording: Wording) -> None:
    (tmp_path / "file").write_text("")
    with wording.raises(OSError, folder=tmp_path / "file", reason="File exists"):
        copy_course.put(tmp_path / "file")
    with pytest.raises(OSError, match="Not a directory"):
        copy_course.put(tmp_path / "file" / "below")


def test_the_chinese_edition_is_copied_and_the_folder_stays_chinese(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    assert names(copy_course.put(mine, "zh").added) == NAMES
    title = "你的第一个核函数"
    assert (
        copy_course.title(mine / copy_course.FIRST)
        == copy_course.title(ROOT / "notebooks" / copy_course.FIRST, "zh")
        == title
    )
    assert copy_course.put(mine) == copy_course.Put((), (), ())
    back = copy_course.put(mine, "en")
    assert names(back.renewed) == [path.name for path in catalogues(ROOT / "notebooks", "zh")] and not back.kept
    assert copy_course.put(mine) == copy_course.Put((), (), ())


def test_exercises_are_to_be_solved_unless_solutions_are_asked_for(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    assert names(copy_course.put(mine).added) == NAMES
    expected = [path.read_bytes() for path in student(ROOT / "notebooks", tmp_path / "student")]
    assert [(mine / name).read_bytes() for name in NAMES] == expected
    assert not any("BEGIN SOLUTION" in (mine / name).read_text() for name in NAMES)
    assert copy_course.put(mine) == copy_course.Put((), (), ())
    answered = mine / NAMES[0]
    answered.write_text(answered.read_text() + " ")
    done = copy_course.put(mine, solutions=True)
    assert names(done.kept) == NAMES[:1] and names(done.renewed) == NAMES[1:], "nobody's answers are written over"
    assert (mine / NAMES[1]).read_bytes() == (ROOT / "notebooks" / NAMES[1]).read_bytes()


def test_a_folder_with_solutions_stays_so(tmp_path: Path) -> None:
    copy_course.put(tmp_path, solutions=True)
    assert copy_course.put(tmp_path) == copy_course.Put((), (), ())
    done = copy_course.put(tmp_path, solutions=False)
    assert names(done.renewed) == NAMES and "BEGIN SOLUTION" not in (tmp_path / NAMES[0]).read_text()


def test_a_chapter_in_chinese_may_lack_solutions_too(tmp_path: Path) -> None:
    copy_course.put(tmp_path, "zh", solutions=False)
    first = (tmp_path / NAMES[0]).read_text()
    assert "BEGIN SOLUTION" not in first and any("\u4e00" <= letter <= "\u9fff" for letter in first)
    assert copy_course.put(tmp_path) == copy_course.Put((), (), ())


def test_a_language_without_a_translation_is_told(tmp_path: Path, installed: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no translation into 'zh'"):
        copy_course.put(tmp_path / "mine", "zh")
    (tmp_path / "mine" / copy_course.MANIFEST).write_text('{"files": {}, "language": "../.."}')
    with pytest.raises(FileNotFoundError, match=r"no translation into '\.\./\.\.'"):
        copy_course.put(tmp_path / "mine")


def test_what_a_language_is_called_is_known_to_the_command() -> None:
    assert set(LANGUAGES.choices) == {copy_course.ENGLISH, *TRANSLATIONS}


def test_an_installation_without_notebooks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_course, "course_folders", lambda: iter([tmp_path / "nowhere"]))
    with pytest.raises(FileNotFoundError, match="Install it again"):
        copy_course.put(tmp_path / "mine")


def test_every_notebook_has_a_title(installed: Path) -> None:
    found = [copy_course.title(ROOT / "notebooks" / name) for name in NAMES]
    assert len(set(found)) == len(NAMES) and all(len(each) > 5 for each in found)
    path = installed / "00_one.ipynb"
    path.write_text(json.dumps({"cells": [{"source": ["no heading"]}], "metadata": {}}))
    assert copy_course.title(path) == "00_one"
