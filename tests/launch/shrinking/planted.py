"""Shrinks the planted bugs: ``python -m tests.launch.shrinking.planted [--check] [NAME ...]`` prints a table.

For each bug: the seconds of processor time, the launches, how much smaller the case is, whether the script fails for
the same reason, and whether the mended kernel is clean at the small sizes. With ``--check``, one ``triton-lab check``
runs all scripts, and must find the same kind, argument and line in each. At the end stand the counts and the median.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import triton_lab as lab
from tests.planted.plant import Plant, planted
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch
from triton_lab.launch.shrinking.case_search import ran
from triton_lab.launch.shrinking.failure import reasons
from triton_lab.launch.shrinking.launch_case import LaunchCase
from triton_lab.launch.shrinking.shrunk_launch import ShrunkLaunch

STEPS = 100_000


@dataclass(frozen=True)
class Shrinking:
    """What became of one planted bug; ``refused`` says why it was not shrunk. ``seconds`` are the processor's."""

    plant: Plant
    small: ShrunkLaunch | None
    seconds: float
    refused: str = ""

    @property
    def same(self) -> bool:
        """Whether the small launch has the planted kind, at the planted argument and line."""
        small, plant = self.small, self.plant
        return small is not None and (small.kind, small.argument) == (plant.kind, plant.argument) and (
            small.line in plant.lines
        )  # fmt: skip

    @property
    def twin(self) -> str:
        """What the mended kernel does at the small sizes: "clean", "not run", the kinds found; "" if there is none."""
        if self.small is None or not any(one.name == "MENDED" for one in self.small.launch.arguments):
            return ""
        case = LaunchCase.of(self.small.launch)
        launch = ran(replace(case, values={**case.values, "MENDED": True}), STEPS)
        if launch is None:
            return "not run"
        return " ".join(sorted({one.kind for one in reasons(launch)})) or "clean"


def failing(plant: Plant) -> Launch:
    """The launch of a planted bug that fails."""
    with lab.record() as launches, contextlib.suppress(KernelError):
        plant.run(False)
    return launches[-1]


def shrunk(plant: Plant, seconds: float = 20.0) -> Shrinking:
    """One planted bug, shrunk."""
    launch = failing(plant)
    began = time.process_time()
    try:
        small = lab.shrink(launch, kind=plant.kind, seconds=seconds)
    except (ValueError, lab.CannotReplay) as error:
        return Shrinking(plant, None, time.process_time() - began, str(error))
    return Shrinking(plant, small, time.process_time() - began)


# Runs the scripts that it is given, each as if it were alone; those that stop are told by `check`.
_ALL = """import contextlib, runpy, sys
for script in sys.argv[1:]:
    with contextlib.suppress(BaseException):
        runpy.run_path(script, run_name="__main__")
"""


def checked(found: Sequence[Shrinking]) -> list[Shrinking]:
    """Those whose scripts, run by one ``triton-lab check``, have the planted kind at the same argument and line."""
    with tempfile.TemporaryDirectory() as folder:
        every, scripts = Path(folder) / "every.py", [Path(folder) / f"bug_{k}.py" for k in range(len(found))]
        every.write_text(_ALL)
        for one, script in zip(found, scripts, strict=True):
            assert one.small is not None
            one.small.save(script)
        command = [sys.executable, "-m", "triton_lab", "check", "--format", "json", str(every), *map(str, scripts)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
        findings = json.loads(done.stdout)["findings"]
        return [one for one, script in zip(found, scripts, strict=True) if _is_found(one, script, findings)]


def _is_found(one: Shrinking, script: Path, findings: Sequence[Mapping[str, Any]]) -> bool:
    lines = script.read_text().splitlines()
    return any(
        Path(found["file"]).resolve() == script.resolve()
        and (found["kind"], found["argument"]) == (one.plant.kind, one.plant.argument)
        and (None in one.plant.lines or (found["line"] is not None and "# BUG" in lines[found["line"] - 1]))
        for found in findings
    )


def row(one: Shrinking) -> str:
    if one.small is None:
        return f"{one.plant.kind:18} {one.plant.name:44} refused: {one.refused.splitlines()[0][:110]}"
    told = "same" if one.same else "OTHER"
    script = "script fails" if one.small.script_fails else "SCRIPT DOES NOT FAIL"
    limit = "" if one.small.is_smallest else " limit"
    return (
        f"{one.plant.kind:18} {one.plant.name:44} {one.seconds:6.2f} s {one.small.tries:4} launches  {told}, {script}"
        f"{limit}  twin: {one.twin or '-'}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true", help="give the scripts to triton-lab check")
    options = parser.parse_args(arguments)
    chosen = [one for one in planted() if not options.names or one.name in options.names]
    counts, seconds = Counter[str](), []
    shrunk_ones: list[Shrinking] = []
    for plant in chosen:
        one = shrunk(plant)
        line = row(one)
        print(line, flush=True)
        if one.small is None:
            counts["refused"] += 1
            continue
        counts["shrunk"] += 1
        counts["same reason"] += one.same
        counts["script fails for it"] += one.small.script_fails
        shrunk_ones.append(one)
        counts["twin clean"] += "twin: clean" in line
        counts["with a twin"] += "twin: -" not in line and "twin: not run" not in line
        seconds.append(one.seconds)
    if options.check:
        same = {id(one) for one in checked(shrunk_ones)}
        counts["check finds it"] = len(same)
        for other in (one for one in shrunk_ones if id(one) not in same):
            print(f"check DIFFERS: {other.plant.kind} {other.plant.name}")
    print(dict(counts))
    if seconds:
        print(f"processor time: median {statistics.median(seconds):.2f} s, greatest {max(seconds):.2f} s")


if __name__ == "__main__":
    main()
