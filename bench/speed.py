"""Speed of every example on NumPy's engine against Triton's own interpreter (TRITON_INTERPRET=1) and torch, and memory.

Seconds are the processor's, with one thread: a busy machine spoils them less than those of a clock on the wall.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterable

import torch

from triton_lab.examples import example

from .cases import every_case
from .figure import AtLeast, AtMost, Figure
from .process import NUMPY, OURS, UPSTREAM, ProcessFailed, fresh
from .timing import median_seconds, resident_bytes

GIGABYTE = 1e9
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def measure(quick: bool = False) -> Iterable[Figure]:
    """Per case: seconds of ours, of the upstream interpreter and of torch, their ratios, and ours' peak memory."""
    ratios: list[float] = []
    cases = every_case()
    for name in cases:
        budget = 0.2 if quick else 2.0
        ours = fresh("speed:time_kernel", name, budget, True, environment=OURS | NUMPY | ONE_THREAD)
        torch_seconds = fresh("speed:time_torch", name, budget, environment=OURS | ONE_THREAD)
        times = f"{ours['seconds'] * 1e3:.3g} ms, torch {torch_seconds * 1e3:.3g} ms"
        try:
            theirs = fresh("speed:time_kernel", name, budget, False, environment=UPSTREAM | ONE_THREAD)["seconds"]
        except ProcessFailed as failure:
            yield Figure(name, math.nan, "times faster", note=f"{times}; upstream: {failure}")
        else:
            ratios.append(theirs / ours["seconds"])
            note = f"{times}, upstream {theirs * 1e3:.3g} ms"
            yield Figure(name, ratios[-1], "times faster", AtLeast(40), note)
        yield Figure(f"{name}: time over torch's", ours["seconds"] / torch_seconds, "times", AtMost(25))
        memory = ours["bytes"] / GIGABYTE
        yield Figure(f"{name}: peak memory above the imports", memory, "GB", AtMost(1))
    if ratios:
        mean = statistics.geometric_mean(ratios)
        note = f"over {len(ratios)} of {len(cases)} cases"
        yield Figure("geometric mean over the upstream interpreter", mean, "times", AtLeast(60), note)


def _use_one_thread() -> None:
    """As `ONE_THREAD` says to NumPy."""
    torch.set_num_threads(1)


def time_kernel(name: str, budget: float, check: bool) -> dict[str, float]:
    """Median seconds of a case's launches on this process's target, and peak bytes above the imports."""
    _use_one_thread()
    case = every_case()[name]
    page = example(case.example)
    page.run(**page.inputs("small", 0, "cpu"), **case.options)  # what a target imports at its first launch, it has now
    before = resident_bytes()
    inputs = {**page.inputs("bench", 0, "cpu"), **case.options}
    if check:
        page.run(**inputs)  # compiled now; upstream has nothing to compile, and takes long
    seconds = median_seconds(
        lambda: page.run(**inputs), budget=budget, at_least=1 if budget < 1 else 3, clock=time.process_time
    )
    peak = resident_bytes(peak=True) - before
    if check:
        page.check_on(**inputs)  # a wrong result would be no result
    return {"seconds": seconds, "bytes": peak}


def time_torch(name: str, budget: float) -> float:
    """Median seconds of the same operation in torch, eager, on the CPU."""
    _use_one_thread()
    case = every_case()[name]
    inputs = example(case.example).inputs("bench", 0, "cpu")
    case.eager(**inputs)
    return median_seconds(lambda: case.eager(**inputs), budget=budget, clock=time.process_time)
