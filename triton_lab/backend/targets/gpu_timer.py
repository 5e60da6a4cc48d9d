"""Measures a kernel's time on a GPU with the GPU's own events.

The launch itself is timed once, as it comes. If more time may be spent, its kernel runs again as in a benchmark: after
a warm-up, with the second-level cache flushed before each run, and on copies of its arguments' earlier contents, which
are restored each time. So a kernel that adds to its own output does the same work in each run, and the user's data do
not change.
"""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from triton_lab import messages
from triton_lab.backend.compiler import TARGET
from triton_lab.localization import _

# For the repetitions of one launch: the seconds that they may take, and their greatest and least number.
SECONDS = 0.1
MOST, LEAST = 200, 3
# The seconds for all launches of a record.
IN_ALL = 2.0
_COLD = 10  # a first run that takes longer than this many times the seconds is the only one
_WARM_UP = 4  # one warm-up run for each so many runs
_LOW, _HIGH = 0.2, 0.8


@dataclass(frozen=True)
class Time:
    """A kernel's time on a GPU, in seconds by its own clock.

    ``median`` of ``runs``; the middle three fifths lie between ``low`` and ``high``. A single run is the launch itself,
    launch costs included. ``compile`` is the time of Triton's compiler, not included; None if the kernel had been
    compiled before. ``device`` is the GPU's name.
    """

    median: float
    low: float
    high: float
    runs: int
    compile: float | None = None
    device: str = ""

    @classmethod
    def of(cls, seconds: Sequence[float], device: str = "") -> Time:
        """The time from single runs.

        >>> lab.Time.of([3e-6, 1e-6, 2e-6])
        Time(median=2e-06, low=1e-06, high=3e-06, runs=3, compile=None, device='')
        >>> print(lab.Time.of([3e-6, 1e-6, 2e-6]))
        2 µs (1 µs to 3 µs in 3 runs)
        """
        ordered = sorted(seconds)
        last = len(ordered) - 1
        low, high = ordered[math.floor(_LOW * last)], ordered[math.ceil(_HIGH * last)]
        return cls(statistics.median(ordered), low, high, len(ordered), device=device)

    def __str__(self) -> str:
        """The median with its spread, without the compile time."""
        low, high = messages.seconds_text(self.low), messages.seconds_text(self.high)
        several = _("{low} to {high} in {runs}").format(low=low, high=high, runs=messages.count(self.runs, "run"))
        return (
            f"{messages.seconds_text(self.median)} ({several if self.runs > 1 else 'one run, launching it included'})"
        )


class Watched:
    """A GPU's launcher with an event before and after each launch."""

    def __init__(self, launch: Callable[..., None], interface: Any) -> None:
        self._launch, self._interface = launch, interface
        self._events: list[tuple[Any, Any]] = []

    def __call__(self, *arguments: Any) -> None:
        with _between(self._interface, self._events):
            self._launch(*arguments)

    def seconds(self) -> list[float]:
        """The time of each launch; waits until the GPU has finished all of them."""
        self._interface.synchronize()
        return _elapsed(self._events)


def measured(
    work: Callable[[], object], driver: Any, seconds: float = SECONDS, restore: Callable[[], None] = lambda: None
) -> list[float]:
    """The GPU's time for each run of ``work``, in seconds; all together takes about ``seconds`` of the user's time.

    Before each run ``restore`` resets what the last one has changed, and the cache is flushed; neither counts. If
    `LEAST` runs would take longer, there are only one or two runs. Raises what the GPU's driver raises, for example for
    too little memory.
    """
    interface = driver.get_device_interface()
    cache = driver.get_empty_cache_for_benchmark()

    def rounds(count: int) -> tuple[float, list[float]]:
        events: list[tuple[Any, Any]] = []
        start = time.perf_counter()
        for _unused in range(count):
            restore()
            driver.clear_cache(cache)
            with _between(interface, events):
                work()
        interface.synchronize()
        return time.perf_counter() - start, _elapsed(events)

    took, cold = rounds(1)  # this also loads what is loaded lazily: a library of products takes 0.14 s
    if took > _COLD * seconds:
        return cold
    once, warm = rounds(1)
    if once * LEAST > seconds:
        return warm
    count = min(MOST, int(seconds / max(once, seconds / MOST)))
    rounds(max(1, count // _WARM_UP))
    return rounds(count)[1]


@contextlib.contextmanager
def _between(interface: Any, events: list[tuple[Any, Any]]) -> Iterator[None]:
    start, end = (interface.Event(enable_timing=True) for _unused in range(2))
    start.record()
    yield
    end.record()
    events.append((start, end))


def _elapsed(events: Sequence[tuple[Any, Any]]) -> list[float]:
    return [start.elapsed_time(end) * 1e-3 for start, end in events]


def device_name(driver: Any) -> str:
    """The GPU's own name, "" if it has none."""
    name = getattr(driver.get_device_interface(), "get_device_name", None)
    return "" if name is None else str(name())


class Clock:
    """For a record with times: the seconds left for measuring, and, while entered, what is compiled for a GPU."""

    def __init__(self, seconds: float = IN_ALL) -> None:
        self._left = seconds
        self._compiled: dict[Any, float] = {}
        self._before: Any = None

    def __enter__(self) -> Clock:
        from triton import knobs

        self._before, knobs.compilation.listener = knobs.compilation.listener, self._heard
        return self

    def __exit__(self, *_: object) -> None:
        from triton import knobs

        if knobs.compilation.listener == self._heard:  # else a later listener is installed, which calls us
            knobs.compilation.listener = self._before

    def _heard(self, **told: Any) -> None:
        """Called when Triton has compiled a kernel, or found it in its cache."""
        target = told["metadata"]["target"]
        backend = target["backend"] if isinstance(target, Mapping) else target.backend
        if not told["cache_hit"] and backend != TARGET.backend:
            self._compiled[told["src"]] = told["times"].total * 1e-6
        if self._before is not None:
            self._before(**told)

    def room(self) -> float:
        """The seconds that the next launch may be measured for."""
        return max(0.0, min(SECONDS, self._left))

    def noted(self, source: Any, time: Time | None, spent: float) -> Time | None:
        """A launch's time with the compile time of its ``source``. ``spent`` is the time that measuring took."""
        self._left -= spent
        return None if time is None else replace(time, compile=self._compiled.get(source, time.compile))
