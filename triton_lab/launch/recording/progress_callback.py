"""A callback during long checks of a launch, and a time limit for them.

The checks call `breathe` many times a second, on their own thread. So the callback's output is made on that thread, an
interrupt stops both, and without a callback the cost is one look at a variable.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar

from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import N_, translated

LATE = N_("it took too long")

sign: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext
"""A context that shows that work is going on, if it takes a while. A notebook replaces it by its own."""

_waiting: ContextVar[tuple[float, Callable[[], None]] | None] = ContextVar("_waiting", default=None)


_until: ContextVar[float] = ContextVar("_until", default=math.inf)


class TookTooLong(CannotReplay):
    """An analysis of a launch was given up because it took too long."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit the analyses inside to about ``seconds``; after that they raise TookTooLong."""
    token = _until.set(min(_until.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _until.reset(token)


def is_late() -> bool:
    """Whether the time limit has passed."""
    return time.monotonic() > _until.get()


def left() -> float:
    """How many seconds are left of the time limit; infinite without one."""
    return _until.get() - time.monotonic()


@contextlib.contextmanager
def waiting(until: float, then: Callable[[], None]) -> Iterator[None]:
    """Call ``then`` once if the checks inside run past ``until`` (of `time.monotonic`)."""
    token = _waiting.set((until, then))
    try:
        yield
    finally:
        _waiting.reset(token)


def breathe() -> None:
    """Check the time; long work calls this many times a second. Raises TookTooLong."""
    if is_late():
        raise TookTooLong(translated(LATE))
    found = _waiting.get()
    if found is not None and time.monotonic() > found[0]:
        _waiting.set(None)
        found[1]()
