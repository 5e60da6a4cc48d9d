"""Somebody waits while a launch is checked: once that takes a while, they are told, in the midst of it.

The checks breathe now and then, on the thread that runs them. So what is shown meanwhile is made where everything else
is, an interrupt meets both alike, and whoever has nobody waiting pays a look at a variable.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar

sign: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext
"""Shows, while one is inside, that something is being done, if that takes a while; a notebook puts its own here."""

_waiting: ContextVar[tuple[float, Callable[[], None]] | None] = ContextVar("_waiting", default=None)


@contextlib.contextmanager
def waiting(until: float, then: Callable[[], None]) -> Iterator[None]:
    """Where checks inside go on past ``until`` (of `time.monotonic`), ``then`` is called, once."""
    token = _waiting.set((until, then))
    try:
        yield
    finally:
        _waiting.reset(token)


def breathe() -> None:
    """Called by what may take long, many times a second."""
    found = _waiting.get()
    if found is not None and time.monotonic() > found[0]:
        _waiting.set(None)
        found[1]()
