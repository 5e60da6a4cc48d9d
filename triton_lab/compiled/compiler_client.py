"""Sends requests to the compiling process, within a time and a memory limit, even if that process dies.

A process that has imported Triton is kept for the next request; with several targets at once, two are kept.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from triton_lab.compiled.compiler_process import FOLDER
from triton_lab.compiled.front_end import Request
from triton_lab.localization import _

SECONDS, MAX_BYTES = 120.0, 8 << 30  # the default limits
MOST = 2  # processes that are kept for the next request
_PAUSE = 0.1  # seconds between two looks at `stop`
_PACKAGES = str(Path(__file__).parents[2])
_START = "import sys; sys.path.append(sys.argv[1]); from triton_lab.compiled.compiler_process import main; main()"
_PREFIXES = ("TRITON_", "AMDGCN_", "LLVM_", "MLIR_", "PTXAS_", "NVPTX_", "DISABLE_")
_ELSEWHERE = ("TRITON_LAB_", "TRITON_CACHE_", "TRITON_HOME", "TRITON_DEFAULT_BACKEND")


@dataclass
class CompileOutcome:
    """The outcome of a request: the stages that were reached, with the seconds of each.

    ``told`` holds the final facts of a success, ``failure`` the reason otherwise. ``said`` is what compilers printed.
    """

    stages: dict[str, str | bytes] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=dict)
    failure: str = ""
    said: str = ""


class _Gone(Exception):
    """The process ended."""


def environment() -> dict[str, str]:
    """The variables that Triton and its compilers read. If they change, a new process is needed."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(_PREFIXES) and not name.startswith(_ELSEWHERE)
    }


def ask(
    request: Request, seconds: float, memory: int, stop: threading.Event, *, dump: str = "", generic: str = ""
) -> CompileOutcome:
    """The outcome of ``request``. It fails after so many seconds, above so many bytes, and on ``stop``.

    With ``dump``, a file's name, that file receives what each MLIR pass did, and there are no stages. With ``generic``,
    the name of a file with a list of modules in JSON, the stages are these modules in generic form, by their numbers.
    """
    line = json.dumps(
        {
            "module": request.module,
            "target": [request.target.backend, request.target.arch, request.target.lanes],
            "options": json.loads(request.options),
            "language": request.language,
            "memory": memory,
            "dump": dump,
            "generic": generic,
            "disassembled": request.disassembled,
        }
    )
    for child in iter(_taken, None):
        outcome = CompileOutcome()
        try:
            child.ask(line, outcome, seconds, stop)
        except _Gone:
            # A waiting process may have ended just before this request.
            if not child.begun and child.used:
                _dismiss(child)
                continue
            outcome.failure = child.end()
        except TimeoutError:
            child.kill()
            outcome.failure = (
                _("it was interrupted")
                if stop.is_set()
                else _("it took more than {seconds} s").format(seconds=f"{seconds:g}")
            )
        except BaseException:  # after an interrupt of the cell, the answer has no reader
            _dismiss(child)
            raise
        outcome.said = child.said()
        _give_back(child)
        return outcome
    raise AssertionError("there is always another process")


class Child:
    """A process that compiles."""

    def __init__(self) -> None:
        self.environment = environment()
        self.used = self.begun = False
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        # The process and its compilers write temporary files here; the folder is removed however it ends. No
        # TemporaryDirectory: a fork of this process would remove it, too.
        self._folder = tempfile.mkdtemp(prefix=FOLDER)
        # In its own process group: an interrupt of the notebook does not reach it, and ptxas ends with it.
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, _PACKAGES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,
            # Files in the notebook's folder must not be imported as modules.
            env={**os.environ, "PYTHONSAFEPATH": "1", "TMPDIR": self._folder},
        )
        self._rest = b""

    def ask(self, line: str, outcome: CompileOutcome, seconds: float, stop: threading.Event) -> None:
        """Send ``line`` and fill ``outcome``. Raises TimeoutError, and _Gone if the process ends."""
        self.begun = False
        self._said.truncate(0)
        self._said.seek(0)
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise _Gone from None
        for answer in self._answers(time.monotonic() + seconds, stop):
            if "stage" in answer:
                name = answer["stage"]
                outcome.seconds[name] = answer["seconds"]
                outcome.stages[name] = answer["text"] if "text" in answer else base64.b64decode(answer["base64"])
            elif "begun" in answer:
                self.begun = True
            else:
                outcome.failure = answer.pop("failed", "")
                outcome.told = answer
                self.used = True
                return

    def _answers(self, deadline: float, stop: threading.Event) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while True:
                while b"\n" in self._rest:
                    line, _, self._rest = self._rest.partition(b"\n")
                    yield json.loads(line)
                left = deadline - time.monotonic()
                if left <= 0 or stop.is_set():
                    raise TimeoutError
                if not selector.select(min(_PAUSE, left)):
                    continue
                piece = os.read(self.process.stdout.fileno(), 1 << 20)
                if not piece:
                    raise _Gone
                self._rest += piece

    def said(self) -> str:
        """What was printed since the last request."""
        size = self._said.seek(0, os.SEEK_END)
        # Messages come before the dump of a module and after it.
        self._said.seek(0)
        text = self._said.read(1 << 20)
        if size > 1 << 21:
            self._said.seek(size - (1 << 20))
            text += b"\n" + self._said.read()
        return text.decode(errors="replace")

    def end(self) -> str:
        """How the process ended by itself, in words."""
        code = self.process.wait()
        if code < 0:
            with contextlib.suppress(ValueError):
                return _("the compiler was ended by {name}").format(name=signal.Signals(-code).name)
        return _("the compiler ended with code {code}").format(code=code)

    def kill(self) -> None:
        """End the process and everything it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout, self._said):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)


_lock = threading.Lock()
_idle: list[Child] = []


def _taken() -> Child:
    """A waiting process, or a new one."""
    with _lock:
        wanted = environment()
        while _idle:
            child = _idle.pop()
            if child.alive and child.environment == wanted:
                return child
            _dismiss(child)
    return Child()


def _give_back(child: Child) -> None:
    with _lock:
        if child.alive and len(_idle) < MOST:
            _idle.append(child)
        else:
            _dismiss(child)


def _dismiss(child: Child) -> None:
    child.kill()
    child.close()


@atexit.register
def dismiss_all() -> None:
    """End the waiting processes: at Python's exit, or for a test."""
    with _lock:
        while _idle:
            _dismiss(_idle.pop())


def _forget_all() -> None:
    """In a forked process: forget the processes, which are its parent's."""
    _idle.clear()


os.register_at_fork(after_in_child=_forget_all)
