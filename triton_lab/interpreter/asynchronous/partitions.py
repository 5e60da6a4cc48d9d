"""Partitions of warps: the parts of one program that run side by side, and wait for each other at barriers.

One partition runs at a time, each on a thread of its own, until it waits or ends: so a launch does the same each time.

Each has a clock, a row for each program: what it knows of the others. An arrival at a barrier takes the clock along,
and a wait for the barrier adds it to its own. An access is in order after another if its partition knows of that.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.schedules import LandingSchedule
from triton_lab.interpreter.kernel_errors import Deadlock
from triton_lab.localization import _


class _Stopped(BaseException):
    """The launch is over: another partition has failed, or it was interrupted."""


Array = NDArray[Any]


@dataclass
class _Partition:
    work: Callable[[], Any]
    number: int
    knows: Array
    go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    wait: Deadlock | None = None  # what it waits for, as the error if nothing can end that
    ended: bool = False
    result: Any = None
    error: BaseException | None = None


class Partitions:
    """Runs the partitions of ``programs`` in turns, which ``schedule`` orders.

    ``version`` counts what may end a wait.
    """

    def __init__(self, version: Callable[[], int], programs: Array, schedule: LandingSchedule) -> None:
        self._version = version
        self._programs = programs
        self._schedule = schedule
        self.count = 0
        self._all: list[_Partition] = []
        self._back = threading.Semaphore(0)
        self._now: _Partition | None = None
        self._stopped = False

    def run(self, works: Sequence[Callable[[], Any]]) -> list[Any]:
        """Do all of the works and return their results. Raises the first error, Deadlock if all that are left wait."""
        self.count = len(works)
        partitions = self._all = [_Partition(work, k, self._beginning(k)) for k, work in enumerate(works)]
        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(self._of, one), daemon=True)
            for one in partitions
        ]
        for thread in threads:
            thread.start()
        try:
            while left := [one for one in partitions if not one.ended]:
                version = self._version()
                for one in self._schedule.ordered(left):
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

    @property
    def number(self) -> int:
        """The number of the partition that runs."""
        return 0 if self._now is None else self._now.number

    def clock(self, programs: Array) -> tuple[int, Array]:
        """The number of the partition that runs, and what these programs of it know."""
        assert self._now is not None
        return self._now.number, self._now.knows[self._rows(programs)]

    def epoch(self, partition: int, programs: Array) -> Array:
        """A partition's own entry in its clock, for each program."""
        found: Array = self._all[partition].knows[self._rows(programs), partition]
        return found

    def tick(self, programs: Array) -> None:
        """Advance the clock after an arrival: later work of these programs is not ordered by that arrival."""
        assert self._now is not None
        self._now.knows[self._rows(programs), self._now.number] += 1

    def learn(self, programs: Array, released: Array) -> None:
        """Merge the clocks of the partitions that arrived at a barrier into the clocks of these programs."""
        assert self._now is not None
        rows = self._rows(programs)
        self._now.knows[rows] = np.maximum(self._now.knows[rows], released)

    def _rows(self, programs: Array) -> Array:
        return np.searchsorted(self._programs, programs)

    def _beginning(self, number: int) -> Array:
        knows = np.zeros((len(self._programs), self.count), np.int64)
        knows[:, number] = 1
        return knows

    def pause(self) -> None:
        """Let the others run, without need."""
        self._give_way(None)

    def wait(self, reason: Deadlock) -> None:
        """Let the others run, since this partition waits."""
        self._give_way(reason)

    def _give_way(self, reason: Deadlock | None) -> None:
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
    return Deadlock(every, first.op, first.programs, rule=first.rule, hint=first.hint)
