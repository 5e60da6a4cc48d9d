"""`triton-lab lab` and `triton-lab course`: JupyterLab on the course, with everything in place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import triton_lab
from tests.command.conftest import Call
from tests.wordings import Wording
from triton_lab.command import copy_course, open_lab

OPENED = f"--LabApp.default_url=/lab/tree/{copy_course.FIRST}"


class Started(Exception):
    """In the place of a JupyterLab."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines of what was to take the place of this process."""
    lines: list[list[str]] = []

    def execv(path: str, words: list[str]) -> None:
        assert path == sys.executable
        lines.append(words)
        raise Started

    monkeypatch.setattr(open_lab.os, "execv", execv)
    monkeypatch.setattr(open_lab.os, "geteuid", lambda: 1000)
    return lines


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], []),
        (["--no-browser", "--port", "8889"], ["--no-browser", "--port", "8889"]),
        (["empty"], ["empty"]),
        (["kurs"], ["--ServerApp.root_dir=kurs", OPENED]),
        (["--port=1", "kurs", "--ip=x"], ["--port=1", "--ip=x", "--ServerApp.root_dir=kurs", OPENED]),
        ([f"kurs/{copy_course.FIRST}"], [f"kurs/{copy_course.FIRST}"]),
    ],
)
def test_jupyterlab_is_started_with_its_own_arguments(
    words: list[str], expected: list[str], folder: Path, call: Call, started: list[list[str]]
) -> None:
    (folder / "empty").mkdir()
    copy_course.put(folder / "kurs")
    assert isinstance(call("lab", *words).exception, Started)
    assert started == [[sys.executable, "-m", "jupyterlab", *expected]]


def test_in_a_course_its_first_notebook_opens(folder: Path, started: list[list[str]], call: Call) -> None:
    copy_course.put(folder)
    call("lab", "--no-browser")
    assert started[0][3:] == ["--no-browser", "--ServerApp.root_dir=.", OPENED]


def test_as_root_jupyterlab_is_told_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_lab.os, "geteuid", lambda: 0)
    assert open_lab.arranged(["--no-browser"]) == ["--allow-root", "--no-browser"]
    assert open_lab.arranged(["--allow-root"]) == ["--allow-root"]


def test_without_jupyterlab_it_is_told_what_to_install(
    call: Call, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_lab.importlib.util, "find_spec", lambda name: None)
    done = call("lab")
    assert done.exit_code == 1 and not started
    assert "JupyterLab" in done.stderr and "pip install 'jupyterlab" in done.stderr


def test_the_course_is_listed_and_copied(folder: Path, call: Call, wording: Wording) -> None:
    listed = call("course", "--list")
    assert listed.exit_code == 0 and len(listed.stdout.splitlines()) == len(copy_course.notebooks())
    assert "00_first_kernel.ipynb" in listed.stdout and "Your first kernel" in listed.stdout
    assert os.listdir(folder) == []
    done = call("course", "kurs")
    assert done.exit_code == 0 and "new          kurs/00_first_kernel.ipynb" in done.stdout
    assert "triton-lab lab kurs" in done.stdout
    (folder / "kurs" / copy_course.FIRST).write_text("my notes")
    again = call("course", "kurs")
    assert again.exit_code == 0 and again.stdout.splitlines() == [f"yours, kept  kurs/{copy_course.FIRST}"]
    call("course", "other")
    wording(call("course", "other").stdout, folder="other", version=triton_lab.__version__)


def test_a_translation_that_cannot_be_made_is_told(folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "babel"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "babel", None)
    done = call("course", "kurs", "--language", "zh")
    assert done.exit_code == 1 and "babel" in done.stderr


def test_a_course_that_cannot_be_copied_is_told(folder: Path, call: Call) -> None:
    (folder / "file").write_text("")
    done = call("course", "file")
    assert done.exit_code == 1 and ": File exists" in done.stderr
    assert call("course").exit_code == 2


def test_the_command_is_light_until_something_is_asked_for() -> None:
    """Help and completion must not wait for torch, and a script's own imports come first where it has any."""
    code = (
        "import sys; from triton_lab.command.main import main; sys.argv = ['triton-lab', '--help']\n"
        "try: main()\nexcept SystemExit: print(sorted({'torch', 'triton', 'numpy', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]" and "doctor" in done.stdout


def test_what_reports_findings_does_without_torch() -> None:
    """The process of `triton-lab check` waits for that of the script, which imports torch itself."""
    code = "import sys, triton_lab.command.console_report as report; report.rules(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
