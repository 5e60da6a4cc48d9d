"""How long it takes to compile a kernel for a GPU that is not there, and to show what came out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any

from .figure import AtMost, Figure
from .process import OURS, fresh
from .timing import median_seconds


def measure(quick: bool = False) -> list[Figure]:
    """Seconds and milliseconds, on warm processes."""
    found = fresh("compiled:time_compiling", 0.5 if quick else 2.0, environment=OURS)
    return [
        Figure("vector add to SASS of sm_90", found["sass"], "s", AtMost(2)),
        Figure("the same again, from the cache", found["cached"] * 1e3, "ms", AtMost(20)),
        Figure("attention: all stages beside the source", found["stages"], "s", AtMost(1), "CPU time; compiled before"),
        Figure("transactions of 1,000 programs", found["transactions"], "s", AtMost(1), "CPU time; compiled before"),
        Figure("layout of a 128x128 tensor, as a picture", found["layout"] * 1e3, "ms", AtMost(200), "CPU time"),
    ]


def time_compiling(budget: float) -> dict[str, float]:
    """Median seconds of each."""
    with TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        return _times(budget)


def _times(budget: float) -> dict[str, float]:
    import torch

    import triton_lab as lab
    from triton_lab.examples import example
    from triton_lab.examples.vector_add import add

    def recorded(run: Any) -> Any:
        with lab.record() as launches:
            run()
        return launches[-1]

    def sass(launch: Any) -> Any:
        return launch.compile("sm_90").stages["sass"]

    small = torch.rand(1000)
    sass(recorded(lambda: add(small, small, 64)))  # the process that compiles is there now
    launch = recorded(lambda: add(small, small, 128))
    attention = example("attention_full")
    attending = recorded(lambda: attention.run(**attention.inputs("small", 0, "cpu"))).compile("sm_90")
    many = torch.rand(1000 * 128)
    thousand = recorded(lambda: add(many, many, 128))
    assert thousand.programs == 1000
    compiled = thousand.compile("sm_90")
    blocked = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"

    def anew(one: Any) -> Any:
        """What was compiled, with nothing known of it yet."""
        return replace(one)

    def worked(run: Callable[[], object]) -> float:
        """The processor's seconds: all of it happens in this process."""
        return median_seconds(run, budget=budget, clock=time.process_time)

    start = time.perf_counter()
    sass(launch)
    return {
        "sass": time.perf_counter() - start,
        "cached": median_seconds(lambda: sass(launch), budget=budget),
        "stages": worked(lambda: anew(attending).plot.stages()._repr_mimebundle_()),
        "transactions": worked(lambda: anew(compiled).transactions.counters()),
        "layout": worked(lambda: lab.layout(blocked, shape=(128, 128)).plot()._repr_mimebundle_()),
    }
