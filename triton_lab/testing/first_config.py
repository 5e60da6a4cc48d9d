"""What an autotuner chooses while tests run on the CPU.

How long a configuration takes here says nothing of a GPU, and another time another one would be the fastest: what a
test launches, and what is found there, would hang on how busy the machine is.
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
    """Inside, an autotuner takes the first of its configurations that runs, and tries none behind that."""
    from triton.runtime.autotuner import Autotuner

    bench, prune = Autotuner._bench, Autotuner.prune_configs
    ran: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by autotuner, the times of the one that ran

    def pruned(tuner: Any, *arguments: Any, **options: Any) -> Any:
        """What an autotuner asks before it tries: for another key it tries anew."""
        ran.pop(tuner, None)
        return prune(tuner, *arguments, **options)

    def tried(tuner: Any, *arguments: Any, **options: Any) -> Any:
        """The times of a configuration, as its benchmark has them: three, or one of a benchmark of the user's own."""
        if tuner in ran:
            return _unknown(ran[tuner])
        times = bench(tuner, *arguments, **options)
        if math.isfinite(times[0] if isinstance(times, Sequence) else times):
            ran[tuner] = times
        return times

    def forgotten(tuner: Any, key: Any, configs: Any, benchmark: Callable[[], Any]) -> bool:
        """What others have measured is not read from the disk, and these times are not for others."""
        benchmark()
        return False

    with mock.patch.multiple(Autotuner, _bench=tried, prune_configs=pruned, check_disk_cache=forgotten):
        yield


def _unknown(times: Any) -> Any:
    """Times that nobody knows: none is less than one that is known."""
    return [math.nan] * len(times) if isinstance(times, Sequence) else math.nan
