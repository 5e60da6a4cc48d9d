"""The cost of a launch itself: repeated, and the first of a new kernel in a warm process."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable

import torch

from triton_lab.examples import all_examples, example
from triton_lab.examples.vector_add import add_kernel

from .figure import AtMost, Figure
from .process import OURS, fresh
from .timing import median_seconds


def measure(quick: bool = False) -> Iterable[Figure]:
    """Milliseconds of a repeated small launch, seconds of first launches (the slowest and the median example)."""
    repeated = fresh("launch:time_repeated", 0.2 if quick else 2.0, environment=OURS)
    yield Figure("repeated launch of a small kernel", repeated * 1e3, "ms", AtMost(3), "8 programs of 128")
    with tempfile.TemporaryDirectory() as cache:  # empty: nothing compiled in an earlier run is found again
        first = fresh("launch:time_first", environment={**OURS, "TRITON_CACHE_DIR": cache})
    ranked = sorted((seconds, name) for name, seconds in first.items())
    for label, (seconds, name) in (("median", ranked[len(ranked) // 2]), ("slowest", ranked[-1])):
        yield Figure(f"first launch of a new kernel, {label} example", seconds, "s", AtMost(0.4), name)


def time_repeated(budget: float) -> float:
    """Median seconds of one launch of a kernel of 8 programs, arguments at hand."""
    x, y, out = (torch.ones(1000) for _ in range(3))

    def launch() -> None:
        add_kernel[(8,)](x, y, out, 1000, BLOCK=128)

    launch()
    return median_seconds(launch, at_most=2000, budget=budget)


def time_first() -> dict[str, float]:
    """Seconds of each example's first run on small inputs, in a process that has launched another kernel before."""
    assert not os.listdir(os.environ["TRITON_CACHE_DIR"])
    warm = example("vector_add")
    warm.check()
    seconds = {}
    for each in all_examples():
        inputs = each.inputs("small", 0, "cpu")
        start = time.perf_counter()
        each.run(**inputs)
        seconds[each.name] = time.perf_counter() - start
    del seconds[warm.name]
    return seconds
