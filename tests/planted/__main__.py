"""Counts what becomes of the mutants of the examples: ``python -m tests.planted --sample 200 --seed 1``.

Printed are a line for each mutant, a table of mistakes and outcomes (`tests.planted.outcomes`) for the mistakes that
decide where memory is touched and one for those that decide values alone (`tests.planted.decisions`), and the share
that the checks find by page. With ``--causes``: what `lab.compare` names for those whose numbers are wrong, and whether
the line that it names first is the mutant's.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import random
import re
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import triton_lab
from tests.planted.decisions import PLACES, VALUES
from tests.planted.mutants import Mutant, mutants
from tests.planted.outcomes import COUNTED, FOUND, NOTED, OUTCOMES, limited, outcome, run
from triton_lab.launch.comparison.launch_results import of_launch

Table = Mapping[str, "collections.Counter[str]"]


def causes(mutant: Mutant, folder: Path) -> str:
    """Whether `compare` names the line of a mutant whose numbers are wrong; how, and in how many seconds."""
    line = int(mutant.name.split(":")[1])
    original = {each.name: each for each in importlib.import_module(f"triton_lab.examples.{mutant.page}").EXAMPLES}
    for each in mutant.build(folder).EXAMPLES:
        with limited(180):
            right, end = run(original[each.name])
            launches, mutated = run(each)
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


def printed(title: str, table: Table, ways: Iterable[str], shares: bool = True) -> None:
    """The table, with the share of what is found among all that could be, without and with notes."""
    ways = [way for way in ways if any(row[way] for row in table.values())]
    print(f"\n{title:30}", *(f"{way:>14}" for way in ways), *([f"{'share':>8}", f"{'+ notes':>8}"] if shares else []))
    total = sum(table.values(), start=collections.Counter[str]())
    for name, row in (*sorted(table.items()), ("all", total)):
        counted = sum(row[way] for way in COUNTED)
        parts = [sum(row[way] for way in found) / counted for found in (FOUND, NOTED)] if counted and shares else []
        print(f"{name:30}", *(f"{row[way]:14,}" for way in ways), *(f"{part:8.0%}" for part in parts))


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
    tables: dict[str, dict[str, collections.Counter[str]]] = collections.defaultdict(
        lambda: collections.defaultdict(collections.Counter)
    )
    with tempfile.TemporaryDirectory() as folder:
        for mutant in chosen:
            if given.causes:
                try:
                    told = causes(mutant, Path(folder))
                except Exception as error:
                    told = f"fault {type(error).__name__}: {error}"
                tables["causes"][mutant.mistake][told.split()[0]] += 1
            else:
                became = outcome(mutant, Path(folder))
                told = f"{mutant.decides}: {became}"
                tables[mutant.decides][mutant.mistake][became.word] += 1
                if mutant.decides == PLACES:
                    tables["pages"][mutant.page][became.word] += 1
            print(f"{mutant.name}: {told}", flush=True)
    if given.causes:
        ways = sorted({way for row in tables["causes"].values() for way in row})
        printed("mistake", tables["causes"], ways, shares=False)
        return
    printed("mistake in places", tables[PLACES], OUTCOMES)
    printed("places, by page", tables["pages"], OUTCOMES)
    printed("mistake in values", tables[VALUES], OUTCOMES)


if __name__ == "__main__":
    main()
