"""Times a function, and the memory that it took, within one process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def median_seconds(
    run: Callable[[], object],
    at_least: int = 3,
    at_most: int = 200,
    budget: float = 2.0,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """The median duration of `run` over as many calls as fit in `budget` seconds."""
    return medians_in_turns({"": run}, at_least, at_most, budget, clock)[""]


def medians_in_turns(
    runs: Mapping[str, Callable[[], object]],
    at_least: int = 3,
    at_most: int = 200,
    budget: float = 2.0,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """The median duration of each of `runs`, called in turns: a change of the machine's load meets them all.

    `time.process_time` as the clock counts what the processor did for this process, on all cores together.
    """
    durations: dict[str, list[float]] = {name: [] for name in runs}
    spent, rounds = 0.0, 0
    while rounds < at_least or (rounds < at_most and spent < budget):
        for name, run in runs.items():
            start = clock()
            run()
            durations[name].append(clock() - start)
            spent += durations[name][-1]
        rounds += 1
    return {name: statistics.median(each) for name, each in durations.items()}


def resident_bytes(peak: bool = False) -> int:
    """Memory of this process in RAM: now, or the most since it started.

    From /proc, not getrusage: `ru_maxrss` of a fresh process starts at its parent's peak.
    """
    field = "VmHWM" if peak else "VmRSS"
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}")
