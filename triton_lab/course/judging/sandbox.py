"""A process for untrusted cells: forked, with namespaces of its own if the system supports them.

There are three processes. A *guard* watches how much memory the others take, and ends them. In the new namespaces an
*init* is the first process; all others end with it. The third process runs the cells. It sees only the processes that
it starts, no network, and one writable folder of the file system, which is deleted with it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from triton_lab.localization import N_, _, translated
from triton_lab.processes import linux
from triton_lab.processes.descendants import end_descendants, memory_of_descendants

PROCESSES = 256
_PAUSE = 0.05
WITHOUT = N_(
    "there are no user namespaces here: answers can see other processes, files and the network, and "
    "processes that they start may go on running. Grade in a container"
)
OPEN = N_(
    "answers can see the machine's processes and write to its files, because /proc and mounts cannot be changed here"
)


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
        end_descendants()


def start(work: Callable[[socket.socket], None], folder: str, memory: int) -> Sandbox:
    """Fork, and run ``work`` in ``folder`` with one end of a socket; the other is the sandbox's.

    The calling process must have been started for this alone: closing the sandbox ends all of its descendants.
    """
    linux.take_in_orphans()  # what loses its parents becomes a child of ours, and can be ended
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


def _guard(
    work: Callable[[socket.socket], None], end: socket.socket, folder: str, memory: int, tell: int, close: int
) -> None:
    """Wait for the others, and say how they have ended."""
    linux.end_with_parent()
    apart = _unshared()
    if not apart:
        os.write(close, translated(WITHOUT).encode())
    linux.take_in_orphans()
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
    end_descendants()
    os.write(tell, why.encode())
    os._exit(0)


def _watched(init: int, memory: int) -> str:
    """Wait until the first process has ended, or they take too much; how it came."""
    base = memory_of_descendants(os.getpid())[0]
    while True:
        done, status = os.waitpid(init, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            if code < 0:
                return _("its process was ended by signal {value}").format(value=-code)
            if code > 128:
                return _("its process was ended by signal {value}").format(value=code - 128)
            return _("its process ended with exit code {code}").format(code=code)
        size, processes = memory_of_descendants(os.getpid())
        if size - base * processes > memory:
            return _("it took more than the limit of {value} GB of memory").format(value=f"{memory / 2**30:.3g}")
        if processes > PROCESSES:
            return _("it started more than {PROCESSES} processes").format(PROCESSES=PROCESSES)
        time.sleep(_PAUSE)


def _init(
    work: Callable[[socket.socket], None], end: socket.socket, folder: str, memory: int, apart: bool, close: int
) -> None:
    """The first process there: all others end with it, and it with the one that runs the cells."""
    linux.end_with_parent()
    if apart and not _mounted(folder, memory):
        os.write(close, translated(OPEN).encode())
    linux.hide_memory()
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
        linux.end_with_parent()
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
    linux.forbid_new_privileges()
    if apart:
        # The limit counts within the namespace. It does not apply to root, whose processes the guard counts.
        resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
        linux.drop_capabilities()
    return socket.socket(fileno=kept)


def _unshared() -> bool:
    """Whether this process's children have namespaces of their own from now on; it keeps its user."""
    try:
        linux.unshare(linux.NEW_USER | linux.NEW_PIDS | linux.NEW_NETWORK | linux.NEW_IPC | linux.NEW_HOST_NAME)
    except OSError:
        return False
    return True


def _mounted(folder: str, memory: int) -> bool:
    """Whether this process sees no other processes from now on, and can write to memory in ``folder`` alone."""
    try:
        linux.unshare(linux.NEW_MOUNTS)
    except OSError:
        return False  # and nothing is mounted where others see it
    quiet = linux.NO_SUID | linux.NO_DEVICES
    steps: tuple[Callable[[], None], ...] = (
        lambda: linux.mount("none", "/", None, linux.PRIVATE),
        linux.mount_read_only,
        lambda: linux.mount("tmpfs", folder, "tmpfs", quiet, f"size={memory},nr_inodes=100000"),
        lambda: linux.mount("proc", "/proc", "proc", quiet),
    )
    closed = True
    for step in steps:
        try:
            step()
        except OSError:
            closed = False
    return closed
