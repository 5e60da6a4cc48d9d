"""Runs work in its own process, and leaves none of its processes behind when it ends.

`contain` forks. Where user namespaces can be had (`namespaces_exist`), the work gets a PID namespace: a process in it
sees and signals none outside, and the kernel ends all of them with the first, whatever sessions and daemons they have
made. It also gets a mount namespace, in which a folder can be hidden. Elsewhere the process that waits takes in the
orphans (PR_SET_CHILD_SUBREAPER) and ends every descendant; a job may then still signal processes of its own user.
Linux alone has these.
"""

from __future__ import annotations

import contextlib
import functools
import os
import struct
import traceback
from collections.abc import Callable
from pathlib import Path

from triton_lab.processes import linux
from triton_lab.processes.descendants import end_descendants


def contain(
    work: Callable[[], int],
    begun: Callable[[int], object],
    *,
    apart: bool,
    private: Path | None = None,
    hidden: Path | None = None,
) -> int:
    """Do ``work`` in a child. Return its status, as from `os.waitpid`, once all that it started is gone.

    The calling process must have one thread and be forked for this alone: it does not leave the namespaces again.
    ``begun`` gets the child's process id, as the caller sees it; killing that process ends the work. ``apart`` says
    whether to use namespaces. In them the folder ``hidden`` is empty, except for the folder ``private`` in it. ``work``
    returns the exit code. The child ends when the caller does. Raises OSError if the kernel refuses.
    """
    reading, writing = os.pipe()
    if apart:
        linux.unshare(linux.NEW_USER | linux.NEW_PIDS | linux.NEW_MOUNTS | linux.NEW_IPC)
    else:
        linux.take_in_orphans()
    caller = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(reading)
        linux.end_with_parent(None if apart else caller)
        if not apart:
            os.close(writing)
            _leave(work)
        _first(work, writing, private, hidden)
    os.close(writing)
    begun(child)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read(4) if apart else b""
    end_descendants()
    return struct.unpack("i", told)[0] if len(told) == 4 else status


@functools.cache
def namespaces_exist() -> bool:
    """Whether processes may be put into namespaces here. Forks a process to find out."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if contain(lambda: 7, lambda _: None, apart=True) == 7 << 8 else 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def _leave(work: Callable[[], int]) -> None:
    """Do ``work``, then end this process."""
    code = 1
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _first(work: Callable[[], int], told: int, private: Path | None, hidden: Path | None) -> None:
    """The first process of a PID namespace: hides the folder, starts the work and waits. All others end with it."""
    try:
        linux.mount(None, "/", None, linux.PRIVATE)
        if hidden is not None:
            _hide(hidden, private)
        # A container that masks parts of /proc refuses a new one; the old one then shows processes outside.
        with contextlib.suppress(OSError):
            linux.mount("proc", "/proc", "proc", linux.NO_SUID | linux.NO_DEVICES | linux.NO_PROGRAMS)
        child = os.fork()
        if child == 0:
            os.close(told)
            linux.drop_capabilities()
            _leave(work)
        linux.drop_capabilities()
        while True:
            ended, status = os.waitpid(-1, 0)
            if ended == child:
                os.write(told, struct.pack("i", status))
                os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _hide(hidden: Path, private: Path | None) -> None:
    kept = None if private is None else os.open(private, os.O_PATH | os.O_DIRECTORY)
    linux.mount("none", str(hidden), "tmpfs", linux.NO_SUID | linux.NO_DEVICES, "size=64k,mode=700")
    if private is not None and kept is not None:
        private.mkdir(parents=True)
        linux.mount(f"/proc/self/fd/{kept}", str(private), None, linux.BIND)
        os.close(kept)
