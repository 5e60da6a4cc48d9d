"""Somebody waits while a launch is checked: once that takes a while, they are told, in the midst of it; and it has to
be over some time.

The checks breathe now and then, on the thread that runs them. So what is shown meanwhile is made where everything else
is, an interrupt meets both alike, and whoever has nobody waiting pays a look at a variable.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar

from triton_lab.launch.recording.snapshot import CannotReplay

LATE = "it took too long"

sign: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext
"""Shows, while one is inside, that something is being done, if that takes a while; a notebook puts its own here."""

_waiting: ContextVar[tuple[float, Callable[[], None]] | None] = ContextVar("_waiting", default=None)


_until: ContextVar[float] = ContextVar("_until", default=math.inf)


class TookTooLong(CannotReplay):
    """What was asked of a launch was given up after a while."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """What is asked of a launch inside takes about so long at most, and then raises TookTooLong."""
    token = _until.set(min(_until.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _until.reset(token)


def is_late() -> bool:
    """Whether the time is over."""
    return time.monotonic() > _until.get()


@contextlib.contextmanager
def waiting(until: float, then: Callable[[], None]) -> Iterator[None]:
    """Where checks inside go on past ``until`` (of `time.monotonic`), ``then`` is called, once."""
    token = _waiting.set((until, then))
    try:
        yield
    finally:
        _waiting.reset(token)


def breathe() -> None:
    """Called by what may take long, many times a second. Raises TookTooLong."""
    if is_late():
        raise TookTooLong(LATE)
    found = _waiting.get()
    if found is not None and time.monotonic() > found[0]:
        _waiting.set(None)
        found[1]()
