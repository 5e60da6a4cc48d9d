"""Try hostile inputs and count what became of them: ``make hostile`` or ``python -m tests.hostile [SUBJECT ...]``.

Prints a line for each subject, and each input that was wrong or hung. The exit code is 1 if there was one.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections import Counter

from tests import hostile
from tests.hostile.outcome import OUTCOMES, Outcome


def subjects() -> list[str]:
    """The modules of this folder that have inputs."""
    names = [module.name for module in pkgutil.iter_modules(hostile.__path__) if module.name != "__main__"]
    return [name for name in names if hasattr(importlib.import_module(f"tests.hostile.{name}"), "tries")]


def count(subject: str, seed: int) -> Counter[Outcome]:
    """The outcomes of one subject's inputs; what is wrong or hung is printed at once."""
    counts: Counter[Outcome] = Counter()
    for one in importlib.import_module(f"tests.hostile.{subject}").tries(seed):
        counts[one.outcome] += 1
        if one.outcome in ("wrong", "hung"):
            print(f"{subject}: {one.name}: {one.outcome}: {one.seen}", flush=True)
    return counts


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("subjects", nargs="*", help="which subjects to try; all by default")
    parser.add_argument("--seed", type=int, default=0, help="of the inputs that are made at random")
    options = parser.parse_args(arguments)
    failed = False
    for subject in options.subjects or subjects():
        counts = count(subject, options.seed)
        failed |= bool(counts["wrong"] or counts["hung"])
        told = ", ".join(f"{outcome} {counts[outcome]}" for outcome in OUTCOMES)
        print(f"{subject}: {counts.total()} inputs: {told}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
