"""The device functions that Triton's benchmarks call: events, synchronisation, and how often to run."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

from triton_lab.backend.targets.autotuner_trials import noting

_this_thread = threading.local()


def spend(seconds: float) -> None:
    """Record that a launch of this thread took ``seconds``."""
    _this_thread.seconds = spent() + seconds


def spent() -> float:
    """The seconds that all launches of this thread have taken so far."""
    seconds: float = getattr(_this_thread, "seconds", 0.0)
    return seconds


def is_trial() -> bool:
    """Whether an autotuner makes this launch to try a configuration."""
    if "triton.runtime.autotuner" not in sys.modules:
        return False
    triton_s, ours = sys.modules["triton.runtime.autotuner"].Autotuner._bench.__code__, benchmark_once.__code__
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is triton_s or frame.f_code is ours:
            return True
        frame = frame.f_back
    return False


def benchmark_once(kernel_call: Callable[[], Any], *, quantiles: Sequence[float] | None = None, **_: Any) -> Any:
    """The autotuner's benchmark on the CPU target: each configuration runs once.

    Returns milliseconds, without compilation. If the target has changed since the autotuner asked for a benchmark, the
    new target's own benchmark is used.
    """
    from triton.runtime import driver

    benchmark = driver.active.get_benchmarker()
    if benchmark is not benchmark_once:
        return benchmark(kernel_call, quantiles=quantiles)
    before = spent()
    with noting(kernel_call):
        kernel_call()
    milliseconds = (spent() - before) * 1e3
    return [milliseconds] * len(quantiles) if quantiles else milliseconds


class Event:
    """A point in time. The CPU finishes each launch before it returns."""

    def __init__(self, enable_timing: bool = True, **_: Any) -> None:
        self.time = 0.0

    def record(self, stream: Any = None) -> None:
        self.time = time.perf_counter()

    def synchronize(self) -> None:
        """Does nothing: all work is done."""

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from here to ``end``."""
        return (end.time - self.time) * 1e3


class DeviceInterface:
    """The part of ``torch.cuda`` that Triton's testing module uses, for the CPU."""

    Event = Event

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """Does nothing: all work is done."""

    @staticmethod
    def current_device() -> int:
        from triton_lab.backend.identity import DEVICE

        return DEVICE

    @staticmethod
    def current_stream(device: Any = None) -> Any:
        return Stream()

    @staticmethod
    @contextlib.contextmanager
    def stream(stream: Any) -> Iterator[None]:
        yield


class Stream:
    """The only stream."""

    cuda_stream = 0

    def synchronize(self) -> None:
        """Does nothing: all work is done."""

    def wait_stream(self, other: Any) -> None:
        """Does nothing: all work is done."""
