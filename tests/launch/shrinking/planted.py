"""Shrinks the planted bugs: ``python -m tests.launch.shrinking.planted [--check] [NAME ...]`` prints a table.

For each bug: the seconds of processor time, the launches, how much smaller the case is, whether the script fails for
the same reason, and whether the mended kernel is clean at the small sizes. With ``--check``, each script is also given
to ``triton-lab check``, which must find the same kind at the same line. At the end stand the counts and the median.
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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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


def checked(small: ShrunkLaunch, kind: str) -> tuple[bool, str]:
    """Whether ``triton-lab check`` finds this kind in the saved script, at the line of the bug; and that line."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bug.py"
        small.save(script)
        command = [sys.executable, "-m", "triton_lab", "check", "--format", "json", str(script)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        lines = script.read_text().splitlines()
    found = [one for one in json.loads(done.stdout)["findings"] if one["kind"] == kind]
    where = {one["line"] for one in found}
    texts = {lines[line - 1].strip() for line in where if line}
    return bool(found), " | ".join(sorted(texts))


def row(one: Shrinking, check: bool) -> str:
    if one.small is None:
        return f"{one.plant.kind:18} {one.plant.name:44} refused: {one.refused.splitlines()[0][:110]}"
    told = "same" if one.same else "OTHER"
    script = "script fails" if one.small.script_fails else "SCRIPT DOES NOT FAIL"
    limit = "" if one.small.is_smallest else " limit"
    more = ""
    if check:
        found, text = checked(one.small, one.plant.kind)
        more = f" check {'finds it' if found and ('# BUG' in text or None in one.plant.lines) else 'DIFFERS'}"
    return (
        f"{one.plant.kind:18} {one.plant.name:44} {one.seconds:6.2f} s {one.small.tries:4} launches  {told}, {script}"
        f"{limit}{more}  twin: {one.twin or '-'}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true", help="give each script to triton-lab check")
    options = parser.parse_args(arguments)
    chosen = [one for one in planted() if not options.names or one.name in options.names]
    counts, seconds = Counter[str](), []
    for plant in chosen:
        one = shrunk(plant)
        line = row(one, options.check)
        print(line, flush=True)
        if one.small is None:
            counts["refused"] += 1
            continue
        counts["shrunk"] += 1
        counts["same reason"] += one.same
        counts["script fails for it"] += one.small.script_fails
        counts["check finds it"] += "check finds it" in line
        counts["twin clean"] += "twin: clean" in line
        counts["with a twin"] += "twin: -" not in line and "twin: not run" not in line
        seconds.append(one.seconds)
    print(dict(counts))
    if seconds:
        print(f"processor time: median {statistics.median(seconds):.2f} s, greatest {max(seconds):.2f} s")


if __name__ == "__main__":
    main()
