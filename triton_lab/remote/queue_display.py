"""Shows the state of a remote job: its place in the queue, then that it runs."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from triton_lab.localization import N_, _, translated
from triton_lab.messages import count
from triton_lab.remote.queue_position import QueuePosition

# The function that shows it, set by a cell with a progress display; None: standard error.
listener: Callable[[str], None] | None = None
_NAMES = {"gpu": N_("shared GPU"), "cpu": N_("shared CPUs")}


@contextlib.contextmanager
def waiting(kernel: str, kind: str) -> Iterator[Callable[[QueuePosition], None]]:
    """Yields a function that shows the position of the job of ``kernel``; a terminal's line is cleared at the end."""
    show = listener or _Line()
    told = False

    def tell(place: QueuePosition) -> None:
        nonlocal told
        text = words(place, kernel, kind)
        if place.before or told:  # an empty queue is not worth showing
            told = True
            show(text)

    try:
        yield tell
    finally:
        if told:
            show("")


def words(place: QueuePosition, kernel: str, kind: str) -> str:
    """The position in words."""
    if place.before:
        are = "is" if place.before == 1 else "are"
        return _("{kernel} waits for the {machine}: {jobs} {are} before it").format(
            kernel=kernel, machine=translated(_NAMES[kind]), jobs=count(place.before, "job"), are=are
        )
    return _("{kernel} runs on the {machine} ({worker})").format(
        kernel=kernel, machine=translated(_NAMES[kind]), worker=place.worker
    )


class _Line:
    """One line on standard error: overwritten on a terminal, else a new line for each change."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, text: str) -> None:
        stream = sys.stderr
        if stream is None or text == self._last:  # programs without a console have no stderr
            return
        self._last = text
        if stream.isatty():
            stream.write(f"\r\x1b[2K{text}")
        elif text:
            stream.write(f"{text}\n")
        stream.flush()
