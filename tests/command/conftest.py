"""The command line, called in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from triton_lab.command.main import triton_lab_command

Call = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a name of several words and letters."""
    folder = tmp_path / "Größe 1"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def call() -> Call:
    """``call("check", "script.py")``: what `triton-lab check script.py` says, and its exit code."""

    def called(*words: str, env: dict[str, str] | None = None) -> Result:
        return CliRunner().invoke(triton_lab_command, list(words), prog_name="triton-lab", env=env)

    return called
