"""A worker's side of the process for jobs: it sends jobs within limits, ends them, and restarts the process."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from triton_lab.localization import _
from triton_lab.processes.descendants import end_descendants
from triton_lab.remote.job import Reply
from triton_lab.remote.job_folders import ScratchFolder, remove
from triton_lab.remote.job_process import FILES
from triton_lab.remote.worker_limits import BESIDE, PRINTED, READY, REQUEST

_START = "import sys; sys.path.append(sys.argv[1]); from triton_lab.remote.job_process import main; main()"
_PACKAGES = str(Path(__file__).parents[2])
_PAUSE = 0.1  # seconds between two checks for cancellation
_KILLED = 10.0  # seconds until a killed job must be gone


class _ServerGone(Exception):
    """The process ended."""


class Server:
    """One process, for one job at a time."""

    def __init__(self, kind: str, apart: bool = True) -> None:
        self.kind, self.apart = kind, apart
        self._scratch = ScratchFolder()
        self._asked, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # In its own process group: a signal to the worker's group does not reach it halfway.
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, _PACKAGES, kind, str(self._scratch.folder), *(["apart"] if apart else [])],
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,
            start_new_session=True,
            pass_fds=(self._scratch.lock,),
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
        theirs.close()
        self._rest = b""

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def perform(
        self, job: bytes, seconds: float, memory: int, unwanted: Callable[[], bool], shared: bytes = b""
    ) -> Reply:
        """Run ``job``, a packed `Job`, for at most ``seconds``, or until ``unwanted`` is true; returns the reply.

        The job's output is passed on unread; only its size is checked.
        """
        folder = self._scratch.new()
        with contextlib.ExitStack() as stack:
            stack.callback(remove, folder)
            # Files without names cannot be replaced by others.
            files = {name: stack.enter_context(tempfile.TemporaryFile()) for name in FILES}
            for name, given in (("job", job), ("shared", shared)):
                files[name].write(given)
                files[name].seek(0)
            why = self._run(folder, [one.fileno() for one in files.values()], seconds, memory, unwanted)
            answer = b""
            if not why:
                why, answer = _written(files["answer"], memory + BESIDE)
            return Reply("", _said(files["said"]), why, answer)

    def _run(
        self, folder: Path, files: Sequence[int], seconds: float, memory: int, unwanted: Callable[[], bool]
    ) -> str:
        """Why the job was ended; empty if it ended well."""
        pid = 0
        try:
            request = json.dumps({"folder": str(folder), "memory": memory}).encode()
            socket.send_fds(self._asked, [request], list(files))
            pid = self._next("pid", READY, unwanted)
            return _end(self._next("status", seconds, unwanted))
        except TimeoutError:
            why = (
                _("the client is gone")
                if unwanted()
                else _("it took more than {seconds} s").format(seconds=f"{seconds:g}")
            )
            if pid and self._ended(pid):
                return why
            self.close()
            return why if pid else _("its process was not ready within {READY} s").format(READY=f"{READY:g}")
        except (OSError, _ServerGone):
            self.close()
            return _("the process for it could not be started: see the worker's log")

    def _ended(self, pid: int) -> bool:
        """Whether the job could be ended, so that this process is ready for the next one."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        try:
            self._next("status", _KILLED, lambda: False)
        except (TimeoutError, OSError, _ServerGone):
            return False
        return True

    def _next(self, what: str, seconds: float, unwanted: Callable[[], bool]) -> int:
        """The next number that the process reports under this name. Raises TimeoutError, also after a cancellation."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                left = deadline - time.monotonic()
                if left <= 0 or unwanted():
                    raise TimeoutError
                if selector.select(min(_PAUSE, left)):
                    piece = os.read(self.process.stdout.fileno(), REQUEST)
                    if not piece or len(self._rest) > REQUEST:
                        raise _ServerGone
                    self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return _number(line, what)

    def close(self) -> None:
        """End the process and its job, and remove their files."""
        end_descendants(self.process.pid)
        self.process.kill()
        self.process.wait()
        self._asked.close()
        if self.process.stdout is not None:
            with contextlib.suppress(OSError):
                self.process.stdout.close()
        self._scratch.close()


def _number(line: bytes, what: str) -> int:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    number = found.get(what) if isinstance(found, dict) else None
    if type(number) is not int:
        raise _ServerGone
    return number


def _written(file: IO[bytes], most: int) -> tuple[str, bytes]:
    """Why there is no answer, or else the job's answer."""
    size = os.fstat(file.fileno()).st_size
    if size > most:
        return _("its answer has {size} MB, but at most {most} MB are allowed").format(
            size=f"{size / 2**20:.0f}", most=f"{most / 2**20:.0f}"
        ), b""
    file.seek(0)
    answer = file.read(size)
    return ("" if answer else _("its process ended without an answer")), answer


def _end(status: int) -> str:
    """How a process failed, in words; empty if it ended well."""
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL:
        return _("the machine ended its process, most likely because memory ran out")
    if code < 0:
        with contextlib.suppress(ValueError):
            return _("its process was ended by {name}").format(name=signal.Signals(-code).name)
    return _("its process ended with code {code}").format(code=code) if code else ""


def _said(file: IO[bytes]) -> str:
    file.seek(0)
    text = file.read(PRINTED + 1)
    told = text[:PRINTED].decode(errors="replace")
    return told if len(text) <= PRINTED else told + _("\n... the output is cut here\n")


_lock = threading.Lock()
_idle: list[Server] = []


@contextlib.contextmanager
def serving(kind: str, apart: bool) -> Iterator[Server]:
    """A process that is ready, or almost, for a job of this kind; it is kept for the next job if it survives.

    ``apart``: its jobs run in namespaces, if the system has them.
    """
    with _lock:
        server = next((one for one in _idle if (one.kind, one.apart) == (kind, apart)), None)
        if server is not None:
            _idle.remove(server)
    if server is None or not server.alive:
        if server is not None:
            server.close()
        server = Server(kind, apart)
    try:
        yield server
    finally:
        with _lock:
            if server.alive:
                _idle.append(server)


@atexit.register
def dismiss_all() -> None:
    """End the waiting processes."""
    with _lock:
        while _idle:
            _idle.pop().close()
