"""The command line: called in this process, or in one of its own where it runs a script, which becomes a fork of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests import warm
from triton_lab.command.main import triton_lab_command

Call = Callable[..., Any]


@dataclass(frozen=True)
class Done:
    """What a command said, and its exit code."""

    exit_code: int
    stdout: str
    stderr: str


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

    def called(*words: str, env: dict[str, str] | None = None) -> Any:
        if words[0] in ("check", "run"):
            return _of_its_own(words, env or {})
        return CliRunner().invoke(triton_lab_command, list(words), prog_name="triton-lab", env=env)

    return called


def _of_its_own(words: tuple[str, ...], env: dict[str, str]) -> Done:
    done = subprocess.run(
        warm.command("-m", "triton_lab", *words, modules=warm.LAUNCH),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **env},
    )
    return Done(done.returncode, done.stdout, done.stderr)
