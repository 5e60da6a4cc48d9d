"""A progress bar in the terminal for launches that take a while."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, TextIO

from triton_lab.messages import to_go

Progress = Callable[[int, int], None]

# The seconds before a bar appears. It is drawn at most ten times a second.
PATIENCE = 1.0
_PAUSE = 0.1
_WIDTH = 30


def bar(name: str, told: Progress | None) -> AbstractContextManager[Progress | None]:
    """The function to report the progress of a launch of kernel ``name`` to.

    That is ``told`` itself if it is given; else a `Bar` on the terminal, erased at the end; None without a terminal.
    """
    return contextlib.nullcontext(told) if told is not None or not _is_terminal(sys.stderr) else _drawn(name)


@contextlib.contextmanager
def _drawn(name: str) -> Iterator[Progress]:
    drawn = Bar(name, sys.stderr)
    try:
        yield drawn
    finally:
        drawn.close()


def _is_terminal(stream: Any) -> bool:
    # Programs without a console have no stderr.
    return stream is not None and stream.isatty()


class Bar:
    """A bar, called with the numbers of programs that have run and of all programs."""

    def __init__(self, name: str, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._due = self._start + PATIENCE
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        now = self._clock()
        if now < self._due:
            return
        self._due, self._drawn = now + _PAUSE, True
        filled = _WIDTH * done // max(1, total)
        drawn = f"[{'#' * filled}{'.' * (_WIDTH - filled)}]"
        self._stream.write(f"\r\x1b[2K{self._name} {drawn} {to_go(done, total, now - self._start)}")
        self._stream.flush()

    def close(self) -> None:
        """Erase the bar."""
        if self._drawn:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
