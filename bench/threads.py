"""Launches of the native engine on several threads, against one thread and against torch on as many.

Seconds are those on the wall, medians of runs in turns; only an idle machine gives figures that mean something. It
takes two to three minutes, most of them for starting a process for each case.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterable

import torch

import triton_lab as lab
from triton_lab.examples import example

from .cases import CASES, every_case
from .figure import AtMost, Figure
from .process import OURS, fresh
from .timing import medians_in_turns


def measure(quick: bool = False) -> Iterable[Figure]:
    """Per case: how many times faster two threads are than one, and how long they take over torch's two."""
    many = len(os.sched_getaffinity(0))
    counts = sorted({1, 2, many} if many > 1 else {1, 2})
    over_torch: dict[str, float] = {}
    for name in every_case():
        # The mean is of the seven: the others are there to be looked at.
        budget = 0.2 if quick or name not in CASES else 1.5
        took = fresh("threads:time_threads", name, counts, budget, environment=OURS)
        seconds = took["seconds"]
        note = ", ".join(f"{which} {each * 1e3:.3g} ms" for which, each in seconds.items())
        for count in counts[1:]:
            faster = seconds["native 1"] / seconds[f"native {count}"]
            yield Figure(f"{name}: {count} threads", faster, "times faster", None, took["shared"])
        over_torch[name] = seconds["native 2"] / seconds["torch 2"]
        yield Figure(f"{name}: wall time over torch's, 2 threads", over_torch[name], "times", None, note)
    mean = statistics.geometric_mean(over_torch[name] for name in CASES)
    yield Figure("wall time over torch's, 2 threads, geometric mean of the seven", mean, "times", AtMost(1.2))


def time_threads(name: str, counts: list[int], budget: float) -> dict[str, object]:
    """Seconds on the wall of a case's launches by who ran it and on how many threads, and which kernels were shared.

    Of products of fp16, torch's in float32 is timed alone: see `bench.native`.
    """
    from triton_lab.native.runtime import native_launch

    case = every_case()[name]
    page = example(case.example)
    plain = page.inputs("bench", 0, "cpu")
    inputs = {**plain, **case.options}
    wide = {
        key: each.float() if isinstance(each, torch.Tensor) and each.dtype in (torch.float16, torch.bfloat16) else each
        for key, each in plain.items()
    }

    def on(threads: int, run: Callable[[], object]) -> Callable[[], object]:
        def timed() -> object:
            torch.set_num_threads(threads)
            return run()

        return timed

    shared = native_launch.shared
    times = 0

    def counted(*arguments: object) -> object:
        nonlocal times
        times += 1
        return shared(*arguments)  # type: ignore[arg-type]

    with lab.limits(engine="native"):
        runs: dict[str, Callable[[], object]] = {}
        for count in counts:
            runs[f"native {count}"] = on(count, lambda: page.run(**inputs))
            runs[f"torch {count}"] = on(count, lambda: case.eager(**wide))
        for run in runs.values():
            run()
        native_launch.shared = counted  # type: ignore[assignment]
        torch.set_num_threads(2)
        page.check_on(**inputs)  # a wrong result would be no result
        native_launch.shared = shared
        seconds = medians_in_turns(runs, budget=budget * len(runs))
    told = f"{times} launches shared" if times else "on one thread: it is small, or its programs may meet"
    return {"seconds": seconds, "shared": told}
