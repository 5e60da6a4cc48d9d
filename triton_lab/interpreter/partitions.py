"""Partitions of warps: the parts of one program that run side by side, and wait for each other at barriers.

One partition runs at a time, each on a thread of its own, until it waits or ends: so a launch does the same each time.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from triton_lab.interpreter.kernel_errors import Deadlock
from triton_lab.localization import _


class _Stopped(BaseException):
    """The launch is over: another partition has failed, or it was interrupted."""


@dataclass
class _Partition:
    work: Callable[[], Any]
    go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    wait: Deadlock | None = None  # what it waits for, as the error if nothing can end that
    ended: bool = False
    result: Any = None
    error: BaseException | None = None


class Partitions:
    """Runs partitions in turns. ``version`` counts what may end a wait."""

    def __init__(self, version: Callable[[], int]) -> None:
        self._version = version
        self._back = threading.Semaphore(0)
        self._now: _Partition | None = None
        self._stopped = False

    def run(self, works: Sequence[Callable[[], Any]]) -> list[Any]:
        """Do all of the works and return their results. Raises the first error, Deadlock if all that are left wait."""
        partitions = [_Partition(work) for work in works]
        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(self._of, one), daemon=True)
            for one in partitions
        ]
        for thread in threads:
            thread.start()
        try:
            while left := [one for one in partitions if not one.ended]:
                version = self._version()
                for one in left:
                    self._turn(one)
                if self._version() == version and all(one.wait is not None and not one.ended for one in left):
                    raise _deadlock([one.wait for one in left if one.wait is not None])
        finally:
            self._stopped = True
            for one in partitions:
                if not one.ended:
                    one.go.release()
            for thread in threads:  # after an interrupt, none goes on to touch memory
                thread.join()
        return [one.result for one in partitions]

    def wait(self, reason: Deadlock) -> None:
        """Let the others run, since this partition waits."""
        mine = self._now
        assert mine is not None
        mine.wait = reason
        self._back.release()
        mine.go.acquire()
        if self._stopped:
            raise _Stopped
        mine.wait = None

    def check(self) -> None:
        """Called in each iteration of a loop: ends a partition once the launch is over."""
        if self._stopped:
            raise _Stopped

    def _turn(self, one: _Partition) -> None:
        self._now = one
        one.go.release()
        self._back.acquire()
        if one.error is not None:
            raise one.error

    def _of(self, one: _Partition) -> None:
        one.go.acquire()
        try:
            if not self._stopped:
                one.result = one.work()
        except _Stopped:
            return
        except BaseException as error:
            one.error = error
        one.ended = True
        self._back.release()


def _deadlock(waits: Sequence[Deadlock]) -> Deadlock:
    """All partitions wait: what each waits for."""
    first = waits[0]
    if len(waits) == 1:
        return first
    places = [None if wait.op is None else wait.op.location for wait in waits]
    told = "; ".join(
        _("line {line}: {wait}").format(line="?" if place is None else place.line, wait=wait.message)
        for place, wait in zip(places, waits, strict=True)
    )
    every = _("all {count} partitions wait: {waits}").format(count=len(waits), waits=told)
    return Deadlock(every, first.op, first.programs)
