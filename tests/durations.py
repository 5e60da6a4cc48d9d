"""The time of each test: a table that orders the files of a run, and limits what `make test` runs.

A second here is one of processor time, of the test and of all processes that it starts, without waiting: it is much
the same on a busy machine and on an idle one. `durations.json` has a line for each file: its number of tests, their
average time, and the functions that take at least `SLOW` seconds: the time of their first case, which may prepare
what the others share, and of each other case.

`python -m pytest -p tests.durations tests/ir` measures the tests that it runs, and `python -m tests.durations` then
updates the lines of those files. Measure with one worker. ``--cases 2`` runs only two cases of each function, for a
table in a third of the time.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_name("durations.json")
MEASURED = ROOT / ".pytest_cache" / "durations.jsonl"  # what was measured since the table was written
SLOW = 0.5
# Of a test in a file that the table lacks: what 1,004 such tests took on average, twice over, since the first of a file
# takes more; in the browser, with a page alone and with a JupyterLab around it, what 114 and 19 of them took.
UNKNOWN, UNKNOWN_PAGE, UNKNOWN_LAB = 0.3, 0.8, 8.0
_TICKS = os.sysconf("SC_CLK_TCK")


def seconds() -> float:
    """Seconds of processors that this process has taken so far, and all that it has started."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system + sum(_below(os.getpid()))


def _below(ours: int) -> Iterator[float]:
    """What each process below one has taken, and those of its own that have ended, as far as it lives itself."""
    parents: dict[int, int] = {}
    taken: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        process = int(path.parent.name)
        parents[process], taken[process] = int(fields[1]), sum(map(int, fields[11:15])) / _TICKS
    for process in parents:
        above, seen = parents[process], {process}
        while above in parents and above != ours and above not in seen:
            seen.add(above)
            above = parents[above]
        if above == ours:
            yield taken[process]


def measured_file() -> Path:
    return Path(os.environ.get("TRITON_LAB_DURATIONS") or MEASURED)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=int, help="measure so many cases of each function (all)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """How many tests a file has is written down too, as not all may run."""
    counts = Counter(item.nodeid.partition("::")[0] for item in items)
    _write(*counts.items())
    most, seen = config.getoption("cases"), Counter[str]()
    if most:
        kept = []
        for item in items:
            seen[family_of(item.nodeid)] += 1
            if seen[family_of(item.nodeid)] <= most:
                kept.append(item)
        items[:] = kept


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = seconds()
    yield
    _write((item.nodeid, round(max(0.0, seconds() - before), 4)))


def _write(*measured: tuple[str, float]) -> None:
    """The seconds of a test, or how many tests a file has."""
    file = measured_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as opened:
        opened.writelines(json.dumps(one) + "\n" for one in measured)


def family_of(test: str) -> str:
    """The function that a test is a case of: ``tests/ir/test_parse.py::test_one``."""
    return test.partition("[")[0]


@dataclass(frozen=True)
class OfFile:
    """What the tests of a file take, in seconds."""

    tests: int
    usual: float  # of a test whose function is not in `slow`
    slow: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # its first case, and each other

    def of(self, family: str, first: bool) -> float:
        """A case of a function of the file, ``test_one`` or ``TestClass::test_one``."""
        if family in self.slow:
            return self.slow[family][0 if first else 1]
        return self.usual


class Durations:
    """What tests take, by their names."""

    def __init__(self, files: Mapping[str, OfFile]) -> None:
        self.files = dict(files)

    @classmethod
    def load(cls, path: Path = TABLE) -> Durations:
        """What was measured; nothing where the file is missing."""
        if not path.exists():
            return cls({})
        found = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            {
                file: OfFile(tests, usual, {name: (first, other) for name, (first, other) in slow.items()})
                for file, (tests, usual, slow) in found.items()
            }
        )

    def save(self, path: Path = TABLE) -> None:
        """One file to a line, so that git shows which have changed."""
        lines = [
            f"{json.dumps(name)}: {json.dumps([of.tests, of.usual, of.slow])}"
            for name, of in sorted(self.files.items())
        ]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

    def of(self, test: str, first: bool) -> float:
        """Seconds of a test, which may be the first of its function that runs."""
        file, _, family = family_of(test).partition("::")
        if file in self.files:
            return self.files[file].of(family, first)
        if file.startswith("tests/browser/"):
            return UNKNOWN_PAGE if file.endswith("_page.py") else UNKNOWN_LAB
        return UNKNOWN

    def each(self, tests: Sequence[str]) -> list[float]:
        """Seconds of each of these tests, run in this order."""
        seen: set[str] = set()
        found = []
        for test in tests:
            family = family_of(test)
            found.append(self.of(test, family not in seen))
            seen.add(family)
        return found


def summed_up(taken: Mapping[str, float]) -> dict[str, OfFile]:
    """The lines of the table for tests and their seconds, in the order in which they ran, and for files and how many
    tests they have, where not all have run."""
    families: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for test, spent in taken.items():
        file, _, family = family_of(test).partition("::")
        if family:
            families[file][family].append(spent)
    found = {}
    for file, functions in families.items():
        slow, rest = {}, []
        for name, all_of_it in functions.items():
            first, others = all_of_it[0], all_of_it[1:]
            other = sum(others) / len(others) if others else 0.0
            if max(first, other) >= SLOW:
                slow[name] = (round(first, 1), round(other, 2))
            else:
                rest += all_of_it
        usual = round(sum(rest) / len(rest), 3) if rest else 0.0
        found[file] = OfFile(int(taken.get(file, sum(map(len, functions.values())))), usual, slow)
    return found


def main(path: Path = TABLE, root: Path = ROOT) -> None:
    """Bring what was measured into the table, and leave out files that there are no more."""
    file = measured_file()
    if not file.exists():
        sys.exit("Nothing was measured since the table was written: run pytest with -p tests.durations first.")
    taken = dict(json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    known = {**Durations.load(path).files, **summed_up(taken)}
    table = Durations({name: of for name, of in known.items() if (root / name).exists()})
    table.save(path)
    file.unlink()
    tests = {name: spent for name, spent in taken.items() if "::" in name}
    print(f"{len(tests):,} tests measured, {sum(tests.values()):,.0f} s; {len(table.files)} files in {path.name}")


if __name__ == "__main__":
    main()


def order(
    tests: Sequence[str],
    durations: Durations,
    *,
    near: Collection[str] = (),
    browser: Collection[str] = (),
    together: Collection[str] = (),
) -> list[int]:
    """Which test comes first, second, ...: by their places in ``tests``; those of a file stay as they are.

    Files that take long come first, so that what is left at the end is short. Before all come those ``near`` to a
    change, and in both parts those that want the ``browser``, which is opened once for them. Those that share what they
    make, ``together``, follow each other, and count as one.
    """
    files = [test.partition("::")[0] for test in tests]
    spent: Counter[str] = Counter()
    for file, seconds in zip(files, durations.each(tests), strict=True):
        spent[file] += seconds
    as_one = sum(spent[file] for file in together)
    for file in together:
        spent[file] = as_one

    def rank(k: int) -> tuple[bool, bool, float, str]:
        return files[k] not in near, files[k] not in browser, -spent[files[k]], files[k]

    return sorted(range(len(tests)), key=rank)
