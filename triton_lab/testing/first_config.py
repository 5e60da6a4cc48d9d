"""Fixes an autotuner's choice while tests run on the CPU.

The time of a configuration here says nothing of a GPU, and the fastest one would vary: what a test launches, and its
findings, would depend on how busy the machine is.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator, Sequence
from typing import Any
from unittest import mock
from weakref import WeakKeyDictionary


@contextlib.contextmanager
def first_that_runs() -> Generator[None]:
    """Make autotuners inside take the first of their configurations that runs, and try none after it."""
    from triton.runtime.autotuner import Autotuner

    bench, prune = Autotuner._bench, Autotuner.prune_configs
    ran: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by autotuner, the times of the configuration that ran

    def pruned(tuner: Any, *arguments: Any, **options: Any) -> Any:
        """Forget the previous choice: an autotuner calls this before it tries, also for another key."""
        ran.pop(tuner, None)
        return prune(tuner, *arguments, **options)

    def tried(tuner: Any, *arguments: Any, **options: Any) -> Any:
        """The times of a configuration as its benchmark gives them: three, or one from the user's own benchmark."""
        if tuner in ran:
            return _unknown(ran[tuner])
        times = bench(tuner, *arguments, **options)
        if math.isfinite(times[0] if isinstance(times, Sequence) else times):
            ran[tuner] = times
        return times

    def forgotten(tuner: Any, key: Any, configs: Any, benchmark: Callable[[], Any]) -> bool:
        """Ignore the cache on disk: it has times measured elsewhere, and must not get these."""
        benchmark()
        return False

    with mock.patch.multiple(Autotuner, _bench=tried, prune_configs=pruned, check_disk_cache=forgotten):
        yield


def _unknown(times: Any) -> Any:
    """NaN for each time that is not measured: it is never less than a measured time."""
    return [math.nan] * len(times) if isinstance(times, Sequence) else math.nan
