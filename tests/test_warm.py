"""A fork that begins with torch imported behaves like any other Python."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import warm

SAID = "import os, sys; print(sys.argv, os.environ['SAID'], os.getcwd(), sys.stdin.read(), __name__)\n"


@pytest.fixture
def both(tmp_path: Path) -> Callable[..., list[tuple[int, str, str]]]:
    """How Python and a fork end with the same arguments, and what they say; of an error the last line."""

    def ended(*arguments: str) -> list[tuple[int, str, str]]:
        commands = [sys.executable, *arguments], warm.command(*arguments)
        settings = {
            "capture_output": True,
            "text": True,
            "cwd": tmp_path,
            "env": {**os.environ, "SAID": "ü"},
            "input": "in",
        }
        done = [subprocess.run(command, check=False, **settings) for command in commands]
        return [(one.returncode, one.stdout, one.stderr.strip().split("\n")[-1]) for one in done]

    return ended


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "sys.exit(3)",
        "sys.exit('no more')",
        "1 / 0",
        "os.abort()",
        "os.kill(os.getpid(), 9)",
        "raise KeyboardInterrupt",
    ],
)
def test_it_ends_as_python_does(both: Callable[..., list[tuple[int, str, str]]], ending: str) -> None:
    python, fork = both("-c", SAID + ending, "a", "-b")
    assert fork == python


def test_files_and_modules_run_as_in_python(both: Callable[..., list[tuple[int, str, str]]], tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("x = 5")
    (tmp_path / "script.py").write_text(SAID + "import beside; print(beside.x, __file__)")
    for arguments in (["script.py", "a"], ["-m", "script", "a"]):
        python, fork = both(*arguments)
        assert fork == python and python[0] == 0


def test_torch_is_there_from_the_start() -> None:
    asked = "import sys; print('torch' in sys.modules, 'triton' in sys.modules)"
    assert subprocess.run(warm.command("-c", asked), capture_output=True, text=True).stdout == "True False\n"


def test_who_started_it_takes_it_along_when_killed() -> None:
    code = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)"
    with subprocess.Popen(warm.command("-c", code), stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout is not None
        fork = Path("/proc", asking.stdout.readline().strip())
        assert fork.exists()
        asking.kill()
    end = time.monotonic() + 30
    while fork.exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not fork.exists()
