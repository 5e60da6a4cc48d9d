"""A process for untrusted cells: forked, with namespaces of its own if the system supports them.

There are three processes. A *guard* watches how much memory the others take, and ends them. In the new namespaces an
*init* is the first process; all others end with it. The third process runs the cells. It sees only the processes that
it starts, no network, and one writable folder of the file system, which is deleted with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from triton_lab.course.judging.process_memory import taken

PROCESSES = 256
_PAUSE = 0.05
_USER, _PID, _NET, _MOUNT, _IPC, _UTS = 0x10000000, 0x20000000, 0x40000000, 0x00020000, 0x08000000, 0x04000000
_PR_DEATH, _PR_DUMPABLE, _PR_NO_PRIVILEGES, _PR_BOUNDING, _PR_REAPER = 1, 4, 38, 24, 36
_SYS_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1
_MS_REC_PRIVATE, _MS_NOSUID_NODEV = 0x4000 | 0x40000, 2 | 4

_libc = ctypes.CDLL(None, use_errno=True)

WITHOUT = (
    "there are no user namespaces here: answers see other processes, files and the network, and what they start may "
    "outlive them; grade in a container"
)
OPEN = "answers can see the machine's processes and write to its files: /proc and mounts cannot be changed here"


@dataclass
class Sandbox:
    """The processes: ``guard`` is the one to wait for; ``limits`` says what is not isolated, "" if all is."""

    guard: int
    end: socket.socket
    _told: int
    limits: str = ""

    def why(self, seconds: float = 5.0) -> str:
        """The reason why it has ended; "" if it is still running after so many seconds."""
        os.set_blocking(self._told, False)
        until, found = time.monotonic() + seconds, b""
        while time.monotonic() < until:
            with contextlib.suppress(BlockingIOError):
                part = os.read(self._told, 4096)
                if not part:
                    break
                found += part
            time.sleep(_PAUSE / 5)
        return found.decode(errors="replace")

    def close(self) -> None:
        """End all of the processes."""
        self.end.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.guard, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.guard, 0)
        end_children()


def start(work: Callable[[socket.socket], None], folder: str, memory: int) -> Sandbox:
    """Fork, and run ``work`` in ``folder`` with one end of a socket; the sandbox has the other."""
    _libc.prctl(_PR_REAPER, 1, 0, 0, 0)  # orphans become children of this process, and can be ended
    mine, theirs = socket.socketpair()
    told, tell = os.pipe()
    closed, close = os.pipe()
    guard = os.fork()
    if guard == 0:
        for one in (mine.fileno(), told, closed):
            os.close(one)
        try:
            _guard(work, theirs, folder, memory, tell, close)
        finally:
            os._exit(1)
    theirs.close()
    os.close(tell)
    os.close(close)
    limits = b""
    while part := os.read(closed, 4096):  # until the cells may begin
        limits += part
    os.close(closed)
    return Sandbox(guard, mine, told, limits.decode())


def undumpable() -> None:
    """Keep other processes of the same user from inspecting this one from now on."""
    _libc.prctl(_PR_DUMPABLE, 0, 0, 0, 0)


def end_children() -> None:
    """End all children of this process."""
    for _ in range(PROCESSES):
        found = [int(one) for one in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
        if not found:
            return
        for one in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(_PAUSE / 5)


def die_with_parent() -> None:
    """Have this process killed when the thread that started it ends, for whatever reason."""
    _libc.prctl(_PR_DEATH, signal.SIGKILL, 0, 0, 0)


def _guard(
    work: Callable[[socket.socket], None], end: socket.socket, folder: str, memory: int, tell: int, close: int
) -> None:
    """Wait for the others, and report how they ended."""
    die_with_parent()
    apart = _unshared()
    if not apart:
        os.write(close, WITHOUT.encode())
    _libc.prctl(_PR_REAPER, 1, 0, 0, 0)
    init = os.fork()
    if init == 0:
        os.close(tell)
        try:
            _init(work, end, folder, memory, apart, close)
        finally:
            os._exit(1)
    end.close()
    os.close(close)
    why = _watched(init, memory)
    with contextlib.suppress(ProcessLookupError):
        os.kill(init, signal.SIGKILL)
    end_children()
    os.write(tell, why.encode())
    os._exit(0)


def _watched(init: int, memory: int) -> str:
    """Wait until the first process has ended or the limits are exceeded; returns the reason."""
    base = taken(os.getpid())[0]
    while True:
        done, status = os.waitpid(init, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            if code < 0:
                return f"its process was ended by signal {-code}"
            if code > 128:
                return f"its process was ended by signal {code - 128}"
            return f"its process ended with {code}"
        size, processes = taken(os.getpid())
        if size - base * processes > memory:
            return f"it took more than the {memory / 2**30:.3g} GB of memory that it may have"
        if processes > PROCESSES:
            return f"it started more than {PROCESSES} processes"
        time.sleep(_PAUSE)


def _init(
    work: Callable[[socket.socket], None], end: socket.socket, folder: str, memory: int, apart: bool, close: int
) -> None:
    """Run as the first process of the namespace: all others end with it, and it ends with that of the cells."""
    die_with_parent()
    if apart and not _mounted(folder, memory):
        os.write(close, OPEN.encode())
    undumpable()
    first = os.fork()
    if first == 0:
        try:
            work(_prepare(end, folder, memory, apart))
        finally:
            os._exit(0)
    end.close()
    os.close(close)
    while True:
        done, status = os.waitpid(-1, 0)
        if done == first:
            code = os.waitstatus_to_exitcode(status)
            if code < 0:
                # The first process of a namespace cannot end by a signal: it reports a signal by an exit code.
                os._exit(128 - code)
            os._exit(code)


def _prepare(end: socket.socket, folder: str, memory: int, apart: bool) -> socket.socket:
    """Set limits, and leave no way out but the socket."""
    os.setsid()
    if not apart:
        die_with_parent()
    os.chdir(folder)
    kept = os.dup2(end.fileno(), 1000)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.closerange(3, 1000)
    os.closerange(1001, 4096)
    end.detach()
    os.environ.update(
        HOME=folder, TMPDIR=folder, IPYTHONDIR=f"{folder}/.ipython", TRITON_CACHE_DIR=f"{folder}/.triton",
        TRITON_LAB_PROGRESS=f"{folder}/progress.json", XDG_CACHE_HOME=f"{folder}/.cache", TRITON_HOME=folder,
    )  # fmt: skip
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, memory),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))
    _libc.prctl(_PR_NO_PRIVILEGES, 1, 0, 0, 0)
    if apart:
        # The limit counts within the namespace. It does not apply to root, whose processes the guard counts.
        resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
        for capability in range(64):
            _libc.prctl(_PR_BOUNDING, capability, 0, 0, 0)
        _libc.capset(struct.pack("<II", 0x20080522, 0), bytes(24))
    return socket.socket(fileno=kept)


def _unshared() -> bool:
    """Give this process's children namespaces of their own from now on; returns whether that worked. The user stays."""
    user, group = os.getuid(), os.getgid()
    if _libc.unshare(_USER | _PID | _NET | _IPC | _UTS) != 0:
        return False
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError:
        return False
    return True


def _mounted(folder: str, memory: int) -> bool:
    """Hide other processes, and allow writing only in ``folder``, which lies in memory; returns whether that worked."""
    if _libc.unshare(_MOUNT) != 0:
        return False
    _mount(b"none", b"/", None, _MS_REC_PRIVATE, None)
    attributes = struct.pack("<QQQQ", _READ_ONLY, 0, 0, 0)
    closed: bool = _libc.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, len(attributes)) == 0
    closed &= _mount(b"tmpfs", folder.encode(), b"tmpfs", _MS_NOSUID_NODEV, f"size={memory},nr_inodes=100000".encode())
    closed &= _mount(b"proc", b"/proc", b"proc", _MS_NOSUID_NODEV, None)
    return closed


def _mount(source: bytes, where: bytes, kind: bytes | None, flags: int, data: bytes | None) -> bool:
    failed: int = _libc.mount(source, where, kind, ctypes.c_ulong(flags), data)
    return not failed
