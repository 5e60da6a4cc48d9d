"""What it costs to record a launch, and to check all that can be checked, on every benchmark kernel."""

from __future__ import annotations

from collections.abc import Iterable

import triton_lab
from triton_lab.examples import example

from .cases import CASES
from .figure import AtMost, Figure
from .process import NUMPY, OURS, fresh
from .timing import medians_in_turns


def measure(quick: bool = False) -> Iterable[Figure]:
    """Per case: the time of a recorded run, and of one with all its findings, over NumPy's plain run."""
    for name in CASES:
        seconds = fresh("recording:time_case", name, 0.2 if quick else 2.0, environment=OURS | NUMPY)
        note = ", ".join(f"{label} {each * 1e3:.3g} ms" for label, each in seconds.items())
        yield Figure(f"{name}: recorded", seconds["recorded"] / seconds["plain"], "times", AtMost(3), note)
        yield Figure(f"{name}: all checks on", seconds["checked"] / seconds["plain"], "times", AtMost(5))


def time_case(name: str, budget: float) -> dict[str, float]:
    """Median seconds of a case's run: plain, recorded, and recorded with every finding asked for."""
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

    runs = {"plain": plain, "recorded": recorded, "checked": checked}
    for run in runs.values():
        run()  # compiled and imported now
    return medians_in_turns(runs, budget=3 * budget)
