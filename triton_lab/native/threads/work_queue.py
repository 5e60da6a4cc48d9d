"""The programs of a launch that have not run yet, and how several threads share them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.localization import _
from triton_lab.native.function_contract import LATE
from triton_lab.native.threads.thread_team import Failed

# Runs a range of programs, with the number to take at a time and the number of threads: see `Built.together`.
Together = Callable[[int, int, int, int], tuple[int, list[Failed]]]

# The seconds of a call. Between calls, Python handles interrupts and reports progress.
CALL_SECONDS = 0.05
# The least seconds of work that a thread takes, since taking costs some tens of nanoseconds; and the number of parts
# per thread in a call, so that all threads end at about the same time.
_TAKEN_SECONDS, _PARTS = 5e-6, 32


class Left:
    """The programs that have not run yet, as ascending ranges of their numbers."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._ranges = sorted(each for each in ranges if each[0] < each[1])
        self.count = sum(end - first for first, end in self._ranges)

    def __bool__(self) -> bool:
        return bool(self._ranges)

    @property
    def first(self) -> tuple[int, int]:
        """The lowest range."""
        return self._ranges[0]

    def become(self, other: Left) -> None:
        """Replace these ranges by those of ``other``."""
        self._ranges, self.count = other._ranges, other.count

    def drop(self, end: int) -> None:
        """Remove the programs below ``end`` from the first range: they have run."""
        first, last = self._ranges[0]
        self._ranges[:1] = [(end, last)] if end < last else []
        self.count -= end - first

    def take(self, first: int, end: int) -> range | NDArray[Any]:
        """Remove and return the programs from ``first`` to ``end - 1``."""
        taken = [range(max(a, first), min(b, end)) for a, b in self._ranges if max(a, first) < min(b, end)]
        pieces = [piece for a, b in self._ranges for piece in ((a, min(b, first)), (max(a, end), b))]
        self.__init__(pieces)  # type: ignore[misc]
        return taken[0] if len(taken) == 1 else np.concatenate([np.arange(r.start, r.stop) for r in taken])


def check(when: int) -> None:
    """Raise KernelError if a guard failed too late."""
    if when == LATE:
        raise KernelError(_("another process or thread changed the kernel's memory while it ran"))


def tell_where(error: BaseException, program: int) -> None:
    """Record in ``error`` that about this program ran, if it has no better place yet."""
    error.kernel_at = getattr(error, "kernel_at", (program, None))  # type: ignore[attr-defined]


def shared(
    call: Together,
    programs: tuple[int, int],
    each: float,
    threads: int,
    told: Callable[[int], None],
) -> tuple[Left, float]:
    """Run ``programs`` on ``threads`` threads, this one included. Returns those that have not run, and the time of one.

    ``each`` is the seconds of a program. If a guard failed, some have not run: those before its program have, and some
    after it. ``told`` is called with the number of programs that have run, counting those before ``programs``. Raises
    KernelError, and what a signal handler raises; no other thread is working by then.
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
