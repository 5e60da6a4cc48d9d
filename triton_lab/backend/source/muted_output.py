"""Mutes what Triton prints while it reads a kernel again for our own purposes: the user has seen it before."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

_lock = threading.Lock()
# The threads that are muted, and the filters put before standard output and standard error for them.
_silent: set[int] = set()
_before: list[_Sieve] = []


class _Sieve:
    """A stream that drops what muted threads write to it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return len(text) if threading.get_ident() in _silent else int(self.stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """Inside, prints and warnings of this thread are dropped: lines of ``tl.static_print`` do not appear twice."""
    thread = threading.get_ident()
    with _lock:
        if not _silent:
            _before[:] = _Sieve(sys.stdout), _Sieve(sys.stderr)
            sys.stdout, sys.stderr = _before
        inner = thread in _silent
        _silent.add(thread)
    try:
        yield
    finally:
        with _lock:
            if not inner:
                _silent.discard(thread)
            if not _silent:
                out, errors = _before
                # Other code may have replaced the stream in the meantime.
                sys.stdout = out.stream if sys.stdout is out else sys.stdout
                sys.stderr = errors.stream if sys.stderr is errors else sys.stderr
