"""Speed of whole launches against Triton's own interpreter (TRITON_INTERPRET=1) and torch, and the memory they take."""

from __future__ import annotations

import math
import statistics

from triton_lab.examples import example

from .cases import CASES
from .figure import AtLeast, AtMost, Figure
from .process import OURS, UPSTREAM, ProcessFailed, fresh
from .timing import median_seconds, resident_bytes

GIGABYTE = 1e9


def measure(quick: bool = False) -> list[Figure]:
    """Per case: seconds of ours, of the upstream interpreter and of torch, their ratios, and ours' peak memory."""
    figures: list[Figure] = []
    ratios: list[float] = []
    for name in CASES:
        budget = 0.2 if quick else 2.0
        ours = fresh("speed:time_kernel", name, budget, True, environment=OURS)
        torch_seconds = fresh("speed:time_torch", name, budget, environment=OURS)
        times = f"{ours['seconds'] * 1e3:.3g} ms, torch {torch_seconds * 1e3:.3g} ms"
        try:
            theirs = fresh("speed:time_kernel", name, budget, False, environment=UPSTREAM)["seconds"]
        except ProcessFailed as failure:
            figures.append(Figure(name, math.nan, "times faster", note=f"{times}; upstream: {failure}"))
        else:
            ratios.append(theirs / ours["seconds"])
            note = f"{times}, upstream {theirs * 1e3:.3g} ms"
            figures.append(Figure(name, ratios[-1], "times faster", AtLeast(12), note))
        figures.append(Figure(f"{name}: time over torch's", ours["seconds"] / torch_seconds, "times"))
        memory = ours["bytes"] / GIGABYTE
        figures.append(Figure(f"{name}: peak memory above the imports", memory, "GB", AtMost(1)))
    if ratios:
        mean = statistics.geometric_mean(ratios)
        note = f"over {len(ratios)} of {len(CASES)} cases"
        figures.append(Figure("geometric mean over the upstream interpreter", mean, "times", AtLeast(60), note))
    return figures


def time_kernel(name: str, budget: float, check: bool) -> dict[str, float]:
    """Median seconds of a case's launches on this process's target, and peak bytes above the imports."""
    case = CASES[name]
    page = example(case.example)
    page.run(**page.inputs("small", 0, "cpu"))  # whatever a target imports at its first launch, it has now
    before = resident_bytes()
    inputs = {**page.inputs("bench", 0, "cpu"), **case.options}
    page.run(**inputs)  # compiled now
    seconds = median_seconds(lambda: page.run(**inputs), budget=budget, at_least=1 if budget < 1 else 3)
    peak = resident_bytes(peak=True) - before
    if check:
        page.check_on(**inputs)  # a wrong result would be no result
    return {"seconds": seconds, "bytes": peak}


def time_torch(name: str, budget: float) -> float:
    """Median seconds of the same operation in torch, eager, on the CPU."""
    case = CASES[name]
    inputs = example(case.example).inputs("bench", 0, "cpu")
    case.eager(**inputs)
    return median_seconds(lambda: case.eager(**inputs), budget=budget)
