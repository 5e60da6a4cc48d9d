"""Which tests a run selects, and what it reports about the others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import selection
from tests.durations import UNKNOWN, Durations, OfFile
from tests.selection import Choice, changed_files, choose

# Three files: cases of one second each but for a function that takes 20.
TESTS = [
    *("tests/near.py::f[1]", "tests/near.py::f[2]", "tests/near.py::g"),
    *("tests/mid.py::f[1]", "tests/mid.py::f[2]", "tests/mid.py::f[3]"),
    *("tests/mid.py::long[1]", "tests/mid.py::long[2]"),
    *("tests/far.py::f[1]", "tests/far.py::f[2]"),
]  # fmt: skip
DURATIONS = Durations(
    {
        "tests/near.py": OfFile(3, 1.0),
        "tests/mid.py": OfFile(5, 1.0, {"long": (20.0, 2.0)}),
        "tests/far.py": OfFile(2, 1.0),
    }
)
NEAR = {"tests/near.py": 0, "tests/mid.py": 3}


def names(choice: Choice) -> list[str]:
    return [TESTS[k].removeprefix("tests/").replace(".py::", " ") for k in choice.kept]


def test_all_that_a_change_reaches_is_run_if_there_is_time() -> None:
    choice = choose(TESTS, NEAR, DURATIONS, 28)
    assert names(choice) == [test.removeprefix("tests/").replace(".py::", " ") for test in TESTS[:8]]
    assert (choice.unreached, choice.cases, choice.functions, choice.seconds) == (2, 0, 0, 28)


def test_with_less_time_one_case_stands_for_a_function_that_is_far() -> None:
    choice = choose(TESTS, NEAR, DURATIONS, 25)
    assert names(choice) == ["near f[1]", "near f[2]", "near g", "mid f[1]", "mid f[2]", "mid long[1]"]
    assert (choice.unreached, choice.cases, choice.functions, choice.seconds) == (2, 2, 0, 25)


def test_what_takes_longest_is_left_out_first_but_not_what_is_near() -> None:
    assert names(choose(TESTS, NEAR, DURATIONS, 5)) == ["near f[1]", "near f[2]", "near g", "mid f[1]", "mid f[2]"]
    near = {"tests/mid.py": selection.NEAR, "tests/far.py": 4}
    assert names(choose(TESTS, near, DURATIONS, 21)) == ["mid f[1]", "mid long[1]"]
    choice = choose(TESTS, near, DURATIONS, 3)
    assert names(choice) == ["mid f[1]", "mid f[2]", "far f[1]"]
    assert (choice.unreached, choice.cases, choice.functions) == (3, 2, 2)


def test_without_a_change_one_case_of_each_function_is_run_however_much_time_there_is() -> None:
    choice = choose(TESTS, None, DURATIONS, 1000)
    assert names(choice) == ["near f[1]", "near g", "mid f[1]", "mid long[1]", "far f[1]"]
    assert (choice.unreached, choice.cases, choice.functions) == (0, 5, 0)
    assert names(choose(TESTS, None, DURATIONS, 6)) == ["near f[1]", "near g", "mid f[1]", "far f[1]"]


def test_files_that_were_never_measured_take_a_part_of_the_time_unless_they_are_near() -> None:
    tests = [f"tests/new.py::f{k}" for k in range(100)]
    every = [*TESTS, *tests]
    choice = choose(every, None, DURATIONS, 60)
    new = [k for k in choice.kept if k >= len(TESTS)]
    assert len(new) == int(selection.UNMEASURED * 60 / UNKNOWN) < 100 == len(tests)
    near = choose(every, {"tests/new.py": selection.NEAR}, DURATIONS, 1000)
    assert len(near.kept) == len(tests)


def test_a_choice_is_the_same_each_time() -> None:
    assert choose(TESTS, NEAR, DURATIONS, 23) == choose(list(TESTS), dict(NEAR), DURATIONS, 23)


@pytest.mark.parametrize(
    ("choice", "changed", "said"),
    [
        (Choice((0, 1), 2), 3, ["all 2"]),
        (Choice((0,) * 1204, 14071, 12867), 3, ["1,204 of 14,071", ": 3", "12,867"]),
        (Choice((0,), 9, 0, 5, 3), 0, ["1 of 9", "no file", "5", "3"]),
        (Choice((0,), 9, 0, 8, 0), None, ["1 of 9", "no main branch", "8"]),
    ],
)
def test_a_run_says_how_many_it_left_out(choice: Choice, changed: int | None, said: list[str]) -> None:
    lines = list(choice.lines(changed))
    assert len(lines) == len(said) and all(part in line for part, line in zip(said, lines, strict=True)), lines
    assert ("make test-all" in lines[0]) == (len(choice.kept) < choice.tests)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two files of tests in a repository without a change."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    source = "import pytest\n@pytest.mark.parametrize('k', range(4))\ndef test_cases(k): pass\ndef test_one(): pass\n"
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(source, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    return tmp_path


@pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "2", "--dist", "loadfile"]])
def test_a_run_selects_alike_in_all_workers_and_says_so_before_its_closing_line(
    project: Path, workers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(project / "none"))  # the imports of all files need not be read
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    command = [sys.executable, "-m", "pytest", "-p", "tests.selection", "-p", "no:cacheprovider", *workers]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    (count,) = (line for line in lines if "make test-all" in line)
    assert count.startswith("4 of 10 tests")
    assert lines[lines.index(count) + 1] == [*Choice((), 10).lines(None)][1]
    assert lines.index(count) > next(k for k, line in enumerate(lines) if "selection" in line)
    assert " in " in lines[-1] and lines[-1].startswith("=")


class Repository:
    """A repository with one commit on ``main``, which has ``a.py``, ``b.py`` and ``.gitignore``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit(**{"a.py": "1", "b.py": "1", ".gitignore": "*.log\n"})

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *arguments], cwd=self.folder, check=True, capture_output=True)

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def commit(self, **files: str) -> None:
        self.write(**files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # as a hook of git sets them
        monkeypatch.delenv(name, raising=False)
    return Repository(tmp_path)


def test_main_differs_from_itself_by_what_is_not_committed(repository: Repository) -> None:
    assert changed_files(repository.folder) == frozenset()
    repository.commit(**{"c.py": "1"})
    assert changed_files(repository.folder) == frozenset()
    repository.write(**{"a.py": "2", "new.py": "1", "run.log": "1"})
    assert changed_files(repository.folder) == {"a.py", "new.py"}


def test_a_branch_differs_by_its_commits_from_where_it_left_main(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit(**{"a.py": "2", "ü b.py": "1"})
    repository.git("rm", "--quiet", "b.py")
    repository.git("checkout", "--quiet", "main", "--force")
    repository.commit(**{"later.py": "1"})  # on main, since
    repository.git("checkout", "--quiet", "topic")
    repository.git("rm", "--quiet", "b.py")
    assert changed_files(repository.folder) == {"a.py", "ü b.py", "b.py"}


def test_the_main_branch_of_origin_comes_first(repository: Repository) -> None:
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repository.commit(**{"a.py": "2"})  # on main, not pushed yet
    assert changed_files(repository.folder) == {"a.py"}


def test_without_a_main_branch_nothing_is_known(tmp_path: Path, repository: Repository) -> None:
    repository.git("branch", "--move", "main", "other")
    assert changed_files(repository.folder) is None


def test_without_git_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert changed_files(tmp_path) is None
