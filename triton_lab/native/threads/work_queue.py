"""Programs of a launch that have not run yet, and how several threads share them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.native.function_contract import LATE
from triton_lab.native.threads.thread_team import Failed

# Runs programs from a number to another one, so many at a time, on so many threads: see `Built.together`.
Together = Callable[[int, int, int, int], tuple[int, list[Failed]]]

# Python hears of interrupts, and tells of progress, between calls of so many seconds.
CALL_SECONDS = 0.05
# A thread takes programs for so many seconds at least, since taking costs some tens of nanoseconds; and so small a part
# of a call at most, so that all end at about the same time.
_TAKEN_SECONDS, _PARTS = 5e-6, 32


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
    call: Together,
    programs: tuple[int, int],
    each: float,
    threads: int,
    told: Callable[[int], None],
) -> tuple[Left, float]:
    """Run ``programs`` on so many threads, this one included; those that have not run, and what one took.

    ``each`` is how many seconds a program takes. Some have not run where a guard failed: those before its program have
    run then, and some of those behind it. ``told`` hears how many have run, with those before the first of these.
    Raises KernelError, and what a signal's handler raises; no other thread is at work any more by then.
    """
    first, end = programs
    failed: list[Failed] = []
    ran = first
    while first < end and not failed:
        until = min(end, first + max(threads, int(CALL_SECONDS * threads / each)))
        step = max(1, math.ceil(_TAKEN_SECONDS / each), (until - first) // (_PARTS * threads))
        start = time.perf_counter()
        following, failed = call(first, until, step, threads)
        for stopped in failed:
            check(stopped.why[1])
        count = following - first - sum(stopped.until - stopped.came for stopped in failed)
        each = (time.perf_counter() - start) * threads / max(1, count)
        first, ran = following, ran + count
        told(ran)
    return Left([*((stopped.came, stopped.until) for stopped in failed), (first, end)]), each
