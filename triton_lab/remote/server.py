"""A worker's side of the process that does its jobs: asked within limits, ended whatever it does, and made anew."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from triton_lab.remote.child import PRINTED, READY
from triton_lab.remote.job import Answer, Ended

_START = "import sys; sys.path.append(sys.argv[1]); from triton_lab.remote.child import main; main()"
_PACKAGES = str(Path(__file__).parents[2])
_PAUSE = 0.1  # seconds after which it is asked again whether somebody wants it to stop
_KILLED = 10.0  # and that a job may take to be gone


class _ServerGone(Exception):
    """The process ended."""


class Server:
    """One process, for one job at a time."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        # A group of its own: what ends the worker's does not leave it half done.
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, _PACKAGES, kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
        self._rest = b""

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def perform(
        self, job: bytes, seconds: float, memory: int, unwanted: Callable[[], bool], shared: bytes | None = None
    ) -> Answer:
        """What becomes of ``job``, a `Job` pickled; it is ended after so many seconds, and when ``unwanted``."""
        with tempfile.TemporaryDirectory(prefix="triton-lab-job-") as folder:
            (Path(folder) / "job").write_bytes(job)
            if shared is not None:
                (Path(folder) / "shared").write_bytes(shared)
            why = self._run(folder, seconds, memory, unwanted)
            file = Path(folder) / "answer"
            answer = Answer(failure=Ended(why)) if why or not file.exists() else pickle.loads(file.read_bytes())
            return replace(answer, printed=_said(Path(folder) / "said"))

    def _run(self, folder: str, seconds: float, memory: int, unwanted: Callable[[], bool]) -> str:
        """Why it was ended; empty where it ended well."""
        assert self.process.stdin is not None
        pid = 0
        try:
            self.process.stdin.write(json.dumps({"folder": folder, "memory": memory}).encode() + b"\n")
            self.process.stdin.flush()
            pid = self._next(READY, unwanted)["pid"]
            return _end(self._next(seconds, unwanted)["status"])
        except TimeoutError:
            why = "nobody waits for it any more" if unwanted() else f"it took more than {seconds:g} s"
            if pid and self._ended(pid):
                return why
            self.close(pid)
            return why if pid else f"its process was not ready within {READY:g} s"
        except (OSError, _ServerGone):
            self.close(pid)
            return "the process for it could not be kept: look into the log of the worker"

    def _ended(self, pid: int) -> bool:
        """Whether the job could be ended, and this is ready for the next one."""
        _kill(pid)
        try:
            self._next(_KILLED, lambda: False)
        except (TimeoutError, OSError, _ServerGone):
            return False
        return True

    def _next(self, seconds: float, unwanted: Callable[[], bool]) -> dict[str, Any]:
        """What it tells next. Raises TimeoutError, also for what is unwanted."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                left = deadline - time.monotonic()
                if left <= 0 or unwanted():
                    raise TimeoutError
                if selector.select(min(_PAUSE, left)):
                    piece = os.read(self.process.stdout.fileno(), 1 << 16)
                    if not piece:
                        raise _ServerGone
                    self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self, pid: int = 0) -> None:
        """End it, and the job that it does."""
        _kill(pid)
        _kill(self.process.pid)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _kill(pid: int) -> None:
    """End a process, and those in its group once it has one."""
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            if pid:
                end(pid, signal.SIGKILL)


def _end(status: int) -> str:
    """In words, how a process ended that should have ended well; empty if it did."""
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL:
        return "the machine ended its process, most likely because memory ran out"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"its process was ended by {signal.Signals(-code).name}"
    return f"its process ended with code {code}" if code else ""


def _said(file: Path) -> str:
    with contextlib.suppress(OSError), file.open("rb") as stream:
        text = stream.read(PRINTED + 1)
        told = text[:PRINTED].decode(errors="replace")
        return told if len(text) <= PRINTED else told + "\n... what it printed is cut here\n"
    return ""


_lock = threading.Lock()
_idle: list[Server] = []


@contextlib.contextmanager
def serving(kind: str) -> Iterator[Server]:
    """A process that is ready for a job of this kind, or is getting ready; kept for the next one if it lives."""
    with _lock:
        server = next((one for one in _idle if one.kind == kind), None)
        if server is not None:
            _idle.remove(server)
    if server is None or not server.alive:
        if server is not None:
            server.close()
        server = Server(kind)
    try:
        yield server
    finally:
        with _lock:
            if server.alive:
                _idle.append(server)


@atexit.register
def dismiss_all() -> None:
    """End those that wait."""
    with _lock:
        while _idle:
            _idle.pop().close()
