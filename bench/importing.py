"""What `import triton` costs more since this project is installed as a plugin."""

from __future__ import annotations

import importlib.metadata
import math
import statistics
import time
from typing import Any

from .figure import AtMost, Figure
from .process import fresh

PLUGIN = "triton_lab"
GROUP = "triton.backends"


def measure(quick: bool = False) -> list[Figure]:
    """Milliseconds of `import triton` in fresh processes that see the plugin, less those that do not."""
    name = "import triton, more with the plugin"
    if PLUGIN not in importlib.metadata.entry_points(group=GROUP).names:
        return [Figure(name, math.nan, "ms", AtMost(30), "the plugin is not installed")]
    seen: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(3 if quick else 11):
        for visible in seen:  # in turns, so that a change of the machine's load meets both
            seen[visible].append(fresh("importing:time_import", visible, environment={}) * 1e3)
    bare = statistics.median(seen[False])
    return [Figure(name, statistics.median(seen[True]) - bare, "ms", AtMost(30), f"without it {bare:.4g} ms")]


def time_import(visible: bool) -> float:
    """Seconds of `import triton`, the plugin's entry point hidden or not."""
    everything = importlib.metadata.entry_points

    def entry_points(**selection: Any) -> importlib.metadata.EntryPoints:
        plugins: Any = everything(**{"group": GROUP, **selection})
        return importlib.metadata.EntryPoints(each for each in plugins if visible or each.name != PLUGIN)

    # In both cases, so that both pay for it.
    importlib.metadata.entry_points = entry_points  # type: ignore[assignment]  # one of the original's overloads
    start = time.perf_counter()
    import triton  # noqa: F401  imported to be timed

    return time.perf_counter() - start
