"""Work in a process of its own: nothing that it starts is left, with namespaces and without them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from triton_lab.processes import isolation

WAYS = [
    pytest.param(
        True,
        id="namespaces",
        marks=pytest.mark.skipif(not isolation.namespaces_exist(), reason="this machine has no user namespaces"),
    ),
    pytest.param(False, id="descendants"),
]


def contained(work: Callable[[], int], apart: bool, kill_after: float | None = None, **folders: Path) -> int:
    """The exit code of work that was contained by a process made for it, and perhaps ended after some seconds."""
    reading, writing = os.pipe()
    caller = os.fork()
    if caller == 0:
        code = 99
        try:
            isolation.end_with_parent()
            told = lambda child: os.write(writing, b"%d" % child)  # noqa: E731
            code = os.waitstatus_to_exitcode(isolation.contain(work, told, apart=apart, **folders))
        finally:
            os._exit(code & 0xFF)
    os.close(writing)
    child = int(os.read(reading, 32))
    os.close(reading)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(caller, 0)[1])


def daemons(file: Path, then: Callable[[], int]) -> Callable[[], int]:
    """Work that leaves processes in sessions of their own, which write to a file as long as they live."""

    def work() -> int:
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
        return then()

    return work


@pytest.mark.parametrize("apart", WAYS)
@pytest.mark.parametrize("ended", [False, True])
def test_daemons_end_with_the_work(apart: bool, ended: bool, tmp_path: Path) -> None:
    def forever() -> int:
        while True:
            signal.pause()

    file = tmp_path / "alive"
    code = contained(daemons(file, forever if ended else lambda: 5), apart, 1.0 if ended else None)
    assert code == (-signal.SIGKILL & 0xFF if ended else 5)
    size = file.stat().st_size
    time.sleep(0.3)
    assert size == file.stat().st_size > 0


@pytest.mark.parametrize("apart", WAYS)
def test_how_the_work_ended_is_told(apart: bool) -> None:
    assert contained(lambda: 7, apart) == 7
    assert contained(lambda: os.kill(os.getpid(), signal.SIGSEGV) or 0, apart) == -signal.SIGSEGV & 0xFF
    assert contained(lambda: 1 // 0, apart) == 1


@pytest.mark.skipif(not isolation.namespaces_exist(), reason="this machine has no user namespaces")
def test_it_ends_with_the_one_who_waits(tmp_path: Path) -> None:
    file, (reading, writing) = tmp_path / "alive", os.pipe()
    caller = os.fork()
    if caller == 0:
        isolation.contain(daemons(file, lambda: time.sleep(60) or 0), lambda _: os.write(writing, b"x"), apart=True)
        os._exit(0)
    os.read(reading, 1)
    while not file.exists():
        time.sleep(0.01)
    os.kill(caller, signal.SIGKILL)
    os.waitpid(caller, 0)
    time.sleep(0.2)
    size = file.stat().st_size
    time.sleep(0.3)
    assert size == file.stat().st_size


@pytest.mark.skipif(not isolation.namespaces_exist(), reason="this machine has no user namespaces")
def test_in_namespaces_it_sees_its_own_folder_and_processes_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "other").mkdir()
    me = os.getpid()

    def work() -> int:
        os.system(f"umount -l {tmp_path} 2>/dev/null; unshare -Urm umount -l {tmp_path} 2>/dev/null")
        (tmp_path / "mine" / "written").write_text("x")
        seen = [one.name for one in tmp_path.iterdir()]
        try:
            os.kill(me, 0)
        except ProcessLookupError:
            return 0 if seen == ["mine"] else 2
        return 3

    assert contained(work, True, private=tmp_path / "mine", hidden=tmp_path) == 0
    assert (tmp_path / "mine" / "written").exists() and (tmp_path / "other").exists()
