"""What is shown while a job is elsewhere: its place in the queue, then that it runs."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from triton_lab.messages import count
from triton_lab.remote.queue_position import QueuePosition

# Who shows it: a cell with a sign of work. Where None, standard error does.
listener: Callable[[str], None] | None = None
_NAMES = {"gpu": "shared GPU", "cpu": "shared CPUs"}


@contextlib.contextmanager
def waiting(kernel: str, kind: str) -> Iterator[Callable[[QueuePosition], None]]:
    """What to tell of where the job of ``kernel`` stands; on a terminal the line is gone at the end."""
    show = listener or _Line()
    told = False

    def tell(place: QueuePosition) -> None:
        nonlocal told
        text = words(place, kernel, kind)
        if place.before or told:  # nobody need know of a queue that is empty
            told = True
            show(text)

    try:
        yield tell
    finally:
        if told:
            show("")


def words(place: QueuePosition, kernel: str, kind: str) -> str:
    """The place, in words."""
    if place.before:
        are = "is" if place.before == 1 else "are"
        return f"{kernel} waits for the {_NAMES[kind]}: {count(place.before, 'job')} {are} before it"
    return f"{kernel} runs on the {_NAMES[kind]} ({place.worker})"


class _Line:
    """One line on standard error, written over where that is a terminal, else one for each change."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, text: str) -> None:
        stream = sys.stderr
        if stream is None or text == self._last:  # programs without a console have none
            return
        self._last = text
        if stream.isatty():
            stream.write(f"\r\x1b[2K{text}")
        elif text:
            stream.write(f"{text}\n")
        stream.flush()
