"""Work in a process of its own: nothing that it starts is left, with namespaces and without them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from triton_lab.processes import isolation

NAMESPACES = isolation.namespaces_exist()
WAYS = [
    pytest.param(
        True, id="namespaces", marks=pytest.mark.skipif(not NAMESPACES, reason="this machine has no user namespaces")
    ),
    pytest.param(False, id="descendants"),
]

# What contains the work has one thread and was started for it, as `contain` asks. Prints the id of the child, and
# exits with the work's code, or with 128 and the signal that ended it.
CONTAINED = """
import os, signal, sys, time
from pathlib import Path
from triton_lab.processes import isolation, linux

apart, file = sys.argv[1] == "True", Path(sys.argv[2])

def daemons():
    # Processes in sessions of their own, which write to a file as long as they live.
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                while True:
                    with file.open("a") as out:
                        out.write("x")
                    time.sleep(0.02)
            os._exit(0)
    while not file.exists():
        time.sleep(0.01)

def forever():
    while True:
        signal.pause()

{work}

linux.end_with_parent()
code = os.waitstatus_to_exitcode(
    isolation.contain(work, lambda child: print(child, flush=True), apart=apart, **{folders})
)
os._exit(code if code >= 0 else 128 - code)
"""


def started(work: str, apart: bool, file: Path, folders: str = "{}") -> subprocess.Popen[str]:
    """A process that contains the work: the text of the function ``work``, or of what it returns."""
    work = work if work.startswith("def") else f"work = lambda: {work}"
    text = CONTAINED.replace("{work}", work).replace("{folders}", folders)
    return subprocess.Popen([sys.executable, "-c", text, str(apart), str(file)], stdout=subprocess.PIPE, text=True)


def contained(work: str, apart: bool, file: Path, kill_after: float | None = None, folders: str = "{}") -> int:
    """The exit code of the work, which was perhaps ended after some seconds."""
    with started(work, apart, file, folders) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        if kill_after is not None:
            time.sleep(kill_after)
            os.kill(child, signal.SIGKILL)
        return process.wait()


@pytest.mark.parametrize("apart", WAYS)
@pytest.mark.parametrize("ended", [False, True])
def test_daemons_end_with_the_work(apart: bool, ended: bool, tmp_path: Path) -> None:
    file = tmp_path / "alive"
    code = contained("daemons() or forever()" if ended else "daemons() or 5", apart, file, 1.0 if ended else None)
    assert code == (128 + signal.SIGKILL if ended else 5)
    size = file.stat().st_size
    time.sleep(0.3)
    assert size == file.stat().st_size > 0


@pytest.mark.parametrize("apart", WAYS)
@pytest.mark.parametrize(
    ("work", "code"),
    [("7", 7), ("os.kill(os.getpid(), signal.SIGSEGV) or 0", 128 + signal.SIGSEGV), ("1 // 0", 1)],
)
def test_how_the_work_ended_is_told(apart: bool, work: str, code: int, tmp_path: Path) -> None:
    assert contained(work, apart, tmp_path) == code


@pytest.mark.skipif(not NAMESPACES, reason="this machine has no user namespaces")
def test_it_ends_with_the_one_who_waits(tmp_path: Path) -> None:
    file = tmp_path / "alive"
    with started("daemons() or forever()", True, file) as caller:
        while not file.exists():
            time.sleep(0.01)
        caller.kill()
    time.sleep(0.2)
    size = file.stat().st_size
    time.sleep(0.3)
    assert size == file.stat().st_size


@pytest.mark.skipif(not NAMESPACES, reason="this machine has no user namespaces")
def test_in_namespaces_it_sees_its_own_folder_and_processes_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "other").mkdir()
    work = f"""def work():
    os.system("umount -l {tmp_path} 2>/dev/null; unshare -Urm umount -l {tmp_path} 2>/dev/null")
    (file / "mine" / "written").write_text("x")
    seen = [one.name for one in file.iterdir()]
    try:
        os.kill({os.getpid()}, 0)
    except ProcessLookupError:
        return 0 if seen == ["mine"] else 2
    return 3
"""
    folders = "{'private': file / 'mine', 'hidden': file}"
    assert contained(work, True, tmp_path, folders=folders) == 0
    assert (tmp_path / "mine" / "written").exists() and (tmp_path / "other").exists()
