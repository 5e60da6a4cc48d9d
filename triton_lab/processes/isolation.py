"""Runs work in its own process, and leaves none of its processes behind when it ends.

`contain` forks. If user namespaces are available (`namespaces_exist`), the work gets a PID namespace. A process in it
can neither see nor signal processes outside. When the first process in it ends, the kernel ends all others, whatever
sessions and daemons they have made. The work also gets a mount namespace, in which a folder can be hidden. Without
namespaces, the waiting process adopts orphans (PR_SET_CHILD_SUBREAPER) and ends every descendant; a job may then still
signal processes of its own user.

Only Linux has these calls. The module uses nothing else of the package.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import struct
import time
import traceback
from collections.abc import Callable
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
_NEW_MOUNTS, _NEW_IPC, _NEW_USER, _NEW_PIDS = 0x00020000, 0x08000000, 0x10000000, 0x20000000
_BIND, _RECURSIVE, _PRIVATE, _NO_SUID, _NO_DEVICES, _NO_PROGRAMS = 0x1000, 0x4000, 0x40000, 0x2, 0x4, 0x8
_DEATH_SIGNAL, _CAPABILITY_DROP, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 24, 36, 38
_CAPABILITIES_3 = 0x20080522
_LAST_CAPABILITY = 63
_GONE = 10.0  # seconds that killed processes may take to end
_PAUSE = 0.005


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
        _unshare()
    else:
        _control(_SUBREAPER, 1)
    caller = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _end_with_parent(None if apart else caller)
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


def end_with_parent() -> None:
    """Have the kernel end this process as soon as its parent ends."""
    _end_with_parent(None)


def take_in_orphans() -> None:
    """Become the parent of all descendants whose own parent ends."""
    _control(_SUBREAPER, 1)


def descendants(pid: int) -> list[int]:
    """All processes that the process ``pid`` has started, directly or through others that still live."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name in brackets may hold anything; the parent is the second field after it.
            parent = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(folder.name))
    found, last = [], [pid]
    while last:
        last = [child for parent in last for child in children.get(parent, ())]
        found += last
    return found


def end_descendants(pid: int | None = None, seconds: float = _GONE) -> bool:
    """Kill all descendants of a process (by default of this one, and reap its children). Returns whether all ended in
    time.
    """
    end = time.monotonic() + seconds
    while True:
        if pid is None:
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        found = descendants(os.getpid() if pid is None else pid)
        if not found:
            return True
        for one in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE)


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
        _mount(None, "/", None, _RECURSIVE | _PRIVATE)
        if hidden is not None:
            _hide(hidden, private)
        # A container that masks parts of /proc refuses a new one; the old one then shows processes outside.
        with contextlib.suppress(OSError):
            _mount("proc", "/proc", "proc", _NO_SUID | _NO_DEVICES | _NO_PROGRAMS)
        child = os.fork()
        if child == 0:
            os.close(told)
            _drop_capabilities()
            _leave(work)
        _drop_capabilities()
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
    _mount("none", str(hidden), "tmpfs", _NO_SUID | _NO_DEVICES, "size=64k,mode=700")
    if private is not None and kept is not None:
        private.mkdir(parents=True)
        _mount(f"/proc/self/fd/{kept}", str(private), None, _BIND)
        os.close(kept)


def _unshare() -> None:
    """Enter new namespaces that have the same user and group and no others. The next child is the first
    process there.
    """
    user, group = os.geteuid(), os.getegid()
    _checked(_libc.unshare(_NEW_USER | _NEW_PIDS | _NEW_MOUNTS | _NEW_IPC), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path("/proc/self", name).write_text(text)


def _drop_capabilities() -> None:
    """Give up all rights. In its own namespace a process may do everything, even undo mounts."""
    _control(_NO_NEW_PRIVILEGES, 1)
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_CAPABILITY_DROP, capability, 0, 0, 0)
    header, none = struct.pack("Ii", _CAPABILITIES_3, 0), bytes(24)
    _checked(_libc.capset(ctypes.c_char_p(header), ctypes.c_char_p(none)), "capset")


def _end_with_parent(parent: int | None) -> None:
    _control(_DEATH_SIGNAL, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)  # the parent ended before this call


def _control(option: int, value: int) -> None:
    _checked(_libc.prctl(option, value, 0, 0, 0), "prctl")


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    given = [None if text is None else text.encode() for text in (source, target, kind)]
    _checked(_libc.mount(*given, ctypes.c_ulong(flags), None if options is None else options.encode()), "mount")


def _checked(result: int, call: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
