"""Counts the mutants of the examples that `lab.explain` calls odd: ``python -m tests.launch.explanation.mutants``.

Of the mutants with wrong results: how many have a finding (an error or a warning), and how many break a relation. Of
those with right results, how many break one.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import random
import tempfile
import time
from pathlib import Path

import triton_lab as lab
from tests.planted.mutants import Mutant, mutants
from tests.planted.outcomes import limited


def outcome(mutant: Mutant, folder: Path) -> tuple[str, bool, set[str]]:
    """Whether the numbers are ``right``, ``wrong``, or the launch ``refused``; whether there is a finding; the kinds of
    the relations that are broken."""
    result, found, broken = "right", False, set()
    for each in mutant.build(folder).EXAMPLES:
        with lab.record() as launches, contextlib.suppress(lab.KernelError):
            try:
                each.check()
            except AssertionError:
                result = "wrong"
        for launch in launches:
            result = "wrong" if launch.error is not None else result
            explanation = lab.explain(launch)
            broken |= {one.kind for one in explanation.broken}
            found |= any(one.severity in ("error", "warning") for one in explanation.findings)
    return result, found, broken


def main() -> None:
    """Try mutants in a random order, for so many seconds, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=3)
    given = parser.parse_args()
    every = mutants()
    random.Random(given.seed).shuffle(every)
    counts: collections.Counter[str] = collections.Counter()
    kinds: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + given.seconds
    for mutant in every:
        if time.monotonic() > end:
            break
        with tempfile.TemporaryDirectory() as folder:
            try:
                with limited(60):
                    result, found, broken = outcome(mutant, Path(folder))
            except Exception as error:
                counts[f"not run: {type(error).__name__}"] += 1
                continue
        signs = ("finding", found), ("relation", bool(broken))
        counts[f"{result}: {' and '.join(name for name, there in signs if there) or 'nothing'}"] += 1
        kinds.update(broken)
        if broken and result == "right":
            print(f"{mutant.name} is right, but breaks {', '.join(sorted(broken))}", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{count:5} {name}")
    print(dict(kinds))


if __name__ == "__main__":
    main()
