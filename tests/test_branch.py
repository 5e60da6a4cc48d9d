"""The files that a branch changes, in repositories made for the test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.branch import changed_files


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
