"""Programs of a launch, shared among threads: each takes the next few until none is left or one has failed."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.errors import KernelError
from triton_lab.native import pool
from triton_lab.native.program import LATE, STOPPED

# Runs programs from a number to another one, unless it shall halt: see `Built`.
Call = Callable[[int, int, pool.Halt], tuple[int, tuple[int, int, int]]]


class Left:
    """The programs that have not run yet: ranges of their numbers, ascending."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._ranges = sorted(each for each in ranges if each[0] < each[1])
        self.count = sum(end - first for first, end in self._ranges)

    def __bool__(self) -> bool:
        return bool(self._ranges)

    @property
    def first(self) -> tuple[int, int]:
        """The range of the lowest ones."""
        return self._ranges[0]

    def become(self, other: Left) -> None:
        """What is left is what is left of ``other``."""
        self._ranges, self.count = other._ranges, other.count

    def drop(self, end: int) -> None:
        """Those of the first range below ``end`` have run."""
        first, last = self._ranges[0]
        self._ranges[:1] = [(end, last)] if end < last else []
        self.count -= end - first

    def take(self, first: int, end: int) -> range | NDArray[Any]:
        """Those from ``first`` to ``end - 1``, which are left no longer."""
        taken = [range(max(a, first), min(b, end)) for a, b in self._ranges if max(a, first) < min(b, end)]
        pieces = [piece for a, b in self._ranges for piece in ((a, min(b, first)), (max(a, end), b))]
        self.__init__(pieces)  # type: ignore[misc]
        return taken[0] if len(taken) == 1 else np.concatenate([np.arange(r.start, r.stop) for r in taken])


def check(when: int) -> None:
    """Raises KernelError where a guard failed too late."""
    if when == LATE:
        raise KernelError("the kernel's memory was changed by somebody else while it ran")


def tell_where(error: BaseException, program: int) -> None:
    """Have ``error`` say that this program ran, or one soon after it, if it does not know better."""
    error.kernel_at = getattr(error, "kernel_at", (program, None))  # type: ignore[attr-defined]


def shared(
    call: Call,
    programs: tuple[int, int],
    sizes: tuple[int, int],
    threads: int,
    told: Callable[[int], None] = lambda count: None,
) -> Left:
    """Run ``programs`` on so many threads, this one included; those that have not run.

    ``sizes``: how many a call runs at least, if there are so many, and at most.

    Some have not where a guard failed: those before its program have run then, and some of those behind it. ``told``
    hears on this thread how many have run. Raises KernelError, and what a signal's handler raises; no other thread is
    at work any more by then.
    """
    work = _Work(call, programs, sizes, threads)
    try:
        pool.helpers.ask(threads - 1, work.help)
        work.run(told)
    except BaseException:
        work.halt.set()
        raise
    finally:
        work.finish()
    if work.error is not None:
        raise work.error
    return Left(work.left)


class _Work:
    """What threads share. Locks are plain ones, since an interrupt may leave others taken, conditions and events among
    them; helpers meet no interrupt."""

    def __init__(self, call: Call, programs: tuple[int, int], sizes: tuple[int, int], threads: int) -> None:
        self._call, self._threads = call, threads
        self._least, self._most = sizes
        self._next, self._end = programs
        self._done = programs[0]
        self._lock = threading.Lock()
        self._helping, self._is_over = 0, False
        # Something for each helper that ended.
        self._ended: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._failed: list[tuple[int, int]] = []
        self.halt = pool.Halt()
        self.error: BaseException | None = None

    @property
    def left(self) -> list[tuple[int, int]]:
        """What has not run."""
        return [*self._failed, (self._next, self._end)]

    def run(self, told: Callable[[int], None] = lambda count: None) -> None:
        """Take programs and run them until there are none; ``told`` hears how many have run on all threads."""
        while (taken := self._take()) is not None:
            try:
                came, (guard, when, _) = self._call(*taken, self.halt)
            except KeyboardInterrupt as error:
                tell_where(error, taken[0])
                raise
            with self._lock:
                self._done += came - taken[0]
                if came < taken[1]:
                    self._is_over = True
                    self._failed.append((came, taken[1]))
            if came < taken[1] and guard != STOPPED:
                check(when)
            told(self._done)

    def help(self) -> None:
        """The same on another thread, if it comes in time."""
        with self._lock:
            if self._is_over:
                return
            self._helping += 1
        try:
            self.run()
        except BaseException as error:
            self.error = self.error or error
            self.halt.set()
        finally:
            with self._lock:
                self._helping -= 1
            self._ended.put(None)

    def finish(self) -> None:
        """Wait for all who help, whatever happens meanwhile: they work in the launch's memory."""
        interrupt: BaseException | None = None
        while True:
            try:
                with self._lock:
                    self._is_over = True
                # What an interrupt took from the queue is not missed: who ended is no helper any more.
                while self._helping:
                    with contextlib.suppress(queue.Empty):
                        self._ended.get(timeout=pool.LOOK_SECONDS)
                break
            except BaseException as error:
                self.halt.set()
                interrupt = error
        if interrupt is not None:
            tell_where(interrupt, self._next)
            raise interrupt

    def _take(self) -> tuple[int, int] | None:
        with self._lock:
            if self._is_over or self._next >= self._end or self.halt.is_set():
                return None
            # Fewer and fewer, so that all end at about the same time.
            count = min(self._most, max(self._least, -(-(self._end - self._next) // (4 * self._threads))))
            first = self._next
            self._next = min(self._end, first + count)
            return first, self._next
