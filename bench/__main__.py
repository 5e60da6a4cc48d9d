"""Measures what the subjects measure and prints it: `python -m bench [--only NAME] [--quick] [--json PATH]`."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from .figure import Figure, line
from .machine import describe
from .process import ProcessFailed

SUBJECTS = (
    "importing",
    "launch",
    "lazy",
    "polyhedral",
    "speed",
    "native",
    "threads",
    "recording",
    "first_look",
    "views",
    "comparing",
    "compiled",
    "gluon",
    "keystroke",
)
"""Modules of this package with `measure(quick) -> Iterable[Figure]`, each as soon as it is known."""


def main() -> int:
    """Print the figures of the chosen subjects; the exit status does not depend on them."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Print the speed figures of this machine.")
    parser.add_argument("--only", choices=SUBJECTS, action="append", help="measure this subject (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: seconds instead of minutes, rougher")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures to a file, too")
    options = parser.parse_args()

    print(describe(), flush=True)
    figures: list[Figure] = []
    for subject in options.only or SUBJECTS:
        print(f"\n{subject}", flush=True)
        for figure in _measured(subject, options.quick):
            print(line(figure), flush=True)
            figures.append(figure)
    if options.json:
        rows = [each.as_row() for each in figures]
        options.json.write_text(json.dumps({"machine": describe(), "figures": rows}, indent=2) + "\n")
    return 0


def _measured(subject: str, quick: bool) -> Iterator[Figure]:
    try:
        yield from import_module(f"bench.{subject}").measure(quick=quick)
    except ProcessFailed as failure:  # the other subjects are still worth measuring
        yield Figure(subject, math.nan, "", note=str(failure))


if __name__ == "__main__":
    sys.exit(main())
