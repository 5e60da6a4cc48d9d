"""Counts what becomes of the mutants of the examples: ``python -m tests.planted --sample 200 --seed 1 --causes``.

Without ``--causes``: whether the checks find a mutant, or its numbers alone are wrong. With it, what `lab.compare`
names for those whose numbers are wrong, and whether the line that it names first is the mutant's.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib
import random
import re
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

import triton_lab
from tests.planted.mutants import Mutant, mutants
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.comparison.launch_results import of_launch


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def _run(each: Any) -> tuple[Any, str]:
    """The launches of an example, and whether its numbers are right, wrong, or the mutant was refused."""
    launches: Any = ()
    try:
        with triton_lab.record() as launches:
            each.check()
    except AssertionError:
        return launches, "wrong"
    except KernelError:
        return launches, "stopped"
    except TimeoutError:
        return launches, "endless"
    except Exception as error:
        return launches, f"refused ({type(error).__name__})"
    return launches, "right"


def outcome(mutant: Mutant, folder: Path) -> str:
    """What the checks and the numbers of a mutant say, in a word, with the kinds of findings."""
    kinds: set[str] = set()
    ends: set[str] = set()
    for each in mutant.build(folder).EXAMPLES:
        torch.manual_seed(0)
        with _limited(60):
            launches, end = _run(each)
            ends.add(end)
            kinds |= {
                found.kind
                for launch in launches
                for found in launch.findings
                if found.severity in ("error", "warning") or found.kind == "unverified"
            }
    worst = next((end for end in sorted(ends) if end.startswith("refused")), "")
    worst = worst or next(end for end in ("endless", "stopped", "wrong", "right") if end in ends)
    if worst.startswith("refused"):
        return worst
    if kinds:
        return f"found: {', '.join(sorted(kinds))}" if worst != "right" else f"found, right: {', '.join(sorted(kinds))}"
    return {"right": "harmless", "wrong": "numbers alone"}.get(worst, worst)


def causes(mutant: Mutant, folder: Path) -> str:
    """Whether `compare` names the line of a mutant whose numbers are wrong; how, and in how many seconds."""
    line = int(mutant.name.split(":")[1])
    original = {each.name: each for each in importlib.import_module(f"triton_lab.examples.{mutant.page}").EXAMPLES}
    for each in mutant.build(folder).EXAMPLES:
        with _limited(180):
            right, end = _run(original[each.name])
            launches, mutated = _run(each)
            if mutated != "wrong" or end != "right" or len(right) != len(launches):
                continue
            for good, bad in zip(right, launches, strict=True):
                results = of_launch(good)
                compared = triton_lab.compare(bad, {name: results.arrays[name] for name in results.written})
                if compared.verdict == "different":
                    began = time.monotonic()
                    cause = compared.causes()
                    lines = [int(text) for text in re.findall(r"line (\d+)", cause.cause)]
                    took = time.monotonic() - began
                    how = "unnamed" if not cause.known else "line" if lines[:1] == [line] else "elsewhere"
                    return f"{how} {took:.1f} s {cause.cause[:200]}"
    return "no launch differs"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.planted", description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="so many mutants (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mistake", default="", help="only mistakes whose name has this text")
    parser.add_argument("--causes", action="store_true", help="ask compare for the cause")
    given = parser.parse_args()
    chosen = [mutant for mutant in mutants() if given.mistake in mutant.mistake]
    if given.sample:
        chosen = random.Random(given.seed).sample(chosen, min(given.sample, len(chosen)))
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for mutant in chosen:
            try:
                told = (causes if given.causes else outcome)(mutant, Path(folder))
            except Exception as error:
                told = f"fault {type(error).__name__}: {error}"
            print(f"{mutant.name}: {told}", flush=True)
            table[mutant.mistake][re.split(r"[:( ]", told)[0] if given.causes else told.split(":")[0]] += 1
    ways = sorted({way for row in table.values() for way in row})
    print(f"{'mistake':30}", *(f"{way[:18]:>18}" for way in ways))
    for mistake, row in table.items():
        print(f"{mistake:30}", *(f"{row[way]:18,}" for way in ways))
    print(f"{'all':30}", *(f"{sum(row[way] for row in table.values()):18,}" for way in ways))


if __name__ == "__main__":
    main()
