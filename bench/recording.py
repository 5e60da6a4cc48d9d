"""What it costs to record a launch, and to check all that can be checked, on every benchmark kernel."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable

import torch

import triton_lab
from triton_lab.examples import example

from .cases import CASES
from .figure import AtMost, Figure
from .process import NUMPY, OURS, fresh, threads
from .timing import medians_in_turns


def measure(quick: bool = False) -> Iterable[Figure]:
    """Per case: a recorded run, and one with all its findings, over an unwatched one: on NumPy and in machine code."""
    checked = []
    for name in CASES:
        seconds = fresh("recording:time_case", name, 0.2 if quick else 2.0, environment=OURS | NUMPY | threads(1))
        for engine in ("NumPy", "machine code"):
            taken = {run: seconds[f"{run} {engine}"] for run in ("plain", "recorded", "checked")}
            note = ", ".join(f"{run} {each * 1e3:.3g} ms" for run, each in taken.items())
            yield Figure(f"{name}: recorded, {engine}", taken["recorded"] / taken["plain"], "times", AtMost(3), note)
            yield Figure(f"{name}: all checks on, {engine}", taken["checked"] / taken["plain"], "times", AtMost(5))
        checked.append(seconds["checked machine code"] / seconds["plain machine code"])
    yield Figure("all checks on, machine code: geometric mean", statistics.geometric_mean(checked), "times", AtMost(2))


def time_case(name: str, budget: float) -> dict[str, float]:
    """Median seconds of the processor of a case's run on each engine: plain, recorded, checked."""
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

    def native(run: Callable[[], None]) -> Callable[[], None]:
        def timed() -> None:
            with triton_lab.limits(engine="native"):
                run()

        return timed

    kinds = (plain, recorded, checked)
    runs = {f"{run.__name__} NumPy": run for run in kinds}
    runs |= {f"{run.__name__} machine code": native(run) for run in kinds}
    for run in runs.values():
        run()  # compiled and imported now
        run()  # whether programs are apart, which machine code needs to know, is known after the first
    return medians_in_turns(runs, budget=6 * budget, clock=time.process_time)
