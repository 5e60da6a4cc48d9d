"""A line at the bottom of a terminal that says what a script is doing, without disturbing the script's own output."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from triton_lab import messages
from triton_lab.command.launch_listener import ListeningProcess
from triton_lab.localization import _
from triton_lab.notebook.cell.progress_line import stage_of

PATIENCE, PAUSE = 0.5, 0.2  # seconds before the line appears, and between two changes of it
_WIPE = "\r\x1b[2K"


class Status:
    """The status line, which is drawn only at the beginning of a line, never into the script's output."""

    def __init__(self, stream: TextIO, text: Callable[[], str], faint: bool = True) -> None:
        self._stream, self._text = stream, text
        self._style = ("\x1b[2m", "\x1b[22m") if faint else ("", "")
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._drawn, self._free = "", True
        self._process = os.getpid()

    def watch(self) -> None:
        """Draw the line after a while, and keep it up to date until the end."""
        pause = PATIENCE
        while not self._ended.wait(pause):
            self.draw()
            pause = PAUSE

    def draw(self) -> None:
        from rich.cells import set_cell_size

        text = self._text()
        with self._lock:
            if self._free and not self._ended.is_set() and text != self._drawn:
                room = _width(self._stream) - 1  # a full line would begin another one
                begin, end = self._style
                self._stream.write(f"{_WIPE}{begin}{set_cell_size(text, min(room, len(text)))}{end}")
                self._stream.flush()
                self._drawn = text

    def wipe(self) -> None:
        if self._drawn:
            self._stream.write(_WIPE)
            self._stream.flush()
            self._drawn = ""

    def end(self) -> None:
        with self._lock:
            self._ended.set()
            self.wipe()

    def passing(self, write: Callable[[str], int], text: str) -> int:
        """Let the script write ``text``."""
        if os.getpid() != self._process:  # a fork has no line, and no thread to release its lock
            return write(text)
        with self._lock:
            self.wipe()
            written = write(text)
            self._free = text.endswith("\n") if text else self._free
            return written


class SharedStream:
    """A stream to the terminal with the status line, which is erased before anything is written."""

    def __init__(self, stream: Any, status: Status) -> None:
        self._stream, self._status = stream, status

    def write(self, text: str) -> int:
        return self._status.passing(self._stream.write, text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


@contextmanager
def status(here: ListeningProcess, faint: bool = True) -> Iterator[None]:
    """Show, in a terminal, how many launches there were and what is being done inside; elsewhere do nothing."""
    if not _is_shown():
        yield
        return
    from triton_lab.backend.plugin import launcher

    progress = _Progress()
    thread = threading.get_ident()

    def text() -> str:
        launches = messages.count(here.ended, "launch", "launches")
        stage = stage_of(sys._current_frames().get(thread)).replace("the cell", "the script")
        return " · ".join(filter(None, (launches, here.running, progress.text() or stage)))

    line = Status(sys.stderr, text, faint)
    before = sys.stdout, sys.stderr, launcher.progress
    if sys.stdout.isatty():
        sys.stdout = SharedStream(sys.stdout, line)
    sys.stderr = SharedStream(sys.stderr, line)
    launcher.progress = progress
    threading.Thread(target=line.watch, name="triton-lab-status", daemon=True).start()
    try:
        yield
    finally:
        line.end()
        sys.stdout, sys.stderr, launcher.progress = before


@contextmanager
def drawing(faint: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Show which card is drawn; the yielded function is called with the number of drawn cards and of all."""
    said = ""
    line = Status(sys.stderr, lambda: said, faint)

    def tell(done: int, total: int) -> None:
        nonlocal said
        said = (
            _("Drawing card {done} of {total}").format(done=done + 1, total=total)
            if done < total
            else "Writing the page"
        )
        if _is_shown():
            line.draw()

    try:
        yield tell
    finally:
        line.end()


def _is_shown() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class _Progress:
    """The progress of the running launch; a launch calls it with the number of programs that have run, and of all."""

    def __init__(self) -> None:
        self._done = self._total = 0
        self._start = 0.0

    def __call__(self, done: int, total: int) -> None:
        if not self._done or done < self._done:  # another launch
            self._start = time.monotonic()
        self._done, self._total = done, total

    def text(self) -> str:
        """The progress in words: ``3,000 of 8,000 programs, 2 s to go``; "" between launches."""
        if not 0 < self._done < self._total:
            return ""
        return messages.to_go(self._done, self._total, time.monotonic() - self._start)
