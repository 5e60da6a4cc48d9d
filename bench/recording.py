"""What it costs to record a launch, and to check all that can be checked, on every benchmark kernel."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable

import torch

import triton_lab
from triton_lab.examples import example

from .cases import CASES
from .figure import AtMost, Figure
from .process import NUMPY, OURS, fresh, threads
from .timing import medians_in_turns


def measure(quick: bool = False) -> Iterable[Figure]:
    """Per case: a recorded run, and one with all its findings, over NumPy's plain run; the latter over a native one."""
    over_native = []
    for name in CASES:
        seconds = fresh("recording:time_case", name, 0.2 if quick else 2.0, environment=OURS | NUMPY | threads(1))
        note = ", ".join(f"{label} {each * 1e3:.3g} ms" for label, each in seconds.items())
        yield Figure(f"{name}: recorded", seconds["recorded"] / seconds["plain"], "times", AtMost(3), note)
        yield Figure(f"{name}: all checks on", seconds["checked"] / seconds["plain"], "times", AtMost(5))
        over_native.append(seconds["checked"] / seconds["native"])
        yield Figure(f"{name}: all checks on, over a native run", over_native[-1], "times", AtMost(5))
    yield Figure(
        "all checks on, over a native run: geometric mean", statistics.geometric_mean(over_native), "times", AtMost(2)
    )


def time_case(name: str, budget: float) -> dict[str, float]:
    """Median seconds of the processor of a case's run: plain, recorded, checked; and unwatched in machine code."""
    torch.set_num_threads(1)
    case = CASES[name]
    page = example(case.example)
    inputs = {**page.inputs("bench", 0, "cpu"), **case.options}

    def plain() -> None:
        page.run(**inputs)

    def recorded() -> None:
        with triton_lab.record():
            plain()

    def checked() -> None:
        with triton_lab.record() as launches:
            plain()
        for launch in launches:
            assert not [each for each in launch.findings if each.severity == "error"]

    def native() -> None:
        with triton_lab.limits(engine="native"):
            plain()

    runs = {"plain": plain, "recorded": recorded, "checked": checked, "native": native}
    for run in runs.values():
        run()  # compiled and imported now
    return medians_in_turns(runs, budget=4 * budget, clock=time.process_time)
