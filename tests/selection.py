"""Selects the tests that a change can break, within a budget: ``pytest -p tests.selection``, which `make test` runs.

A test is run if it reaches a file that this branch changes (`tests/reach.py`), the nearest first.
If these tests take longer than the budget, one case of each function is run, and other cases while there is time,
from the nearest outwards. Without changes, the same holds for all tests. The numbers of tests left out, by kind,
stand before pytest's last line.
"""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import reach
from tests.durations import Durations, family_of

# Seconds of processors, as `tests/durations.json` has them, for two workers together. With 140 a run took 308 s on two
# cores, from a fresh clone: 616 s of processors. Tests take about 1.3 times what the table has, as workers compile and
# import anew; the rest, 434, is installing (120 and what waits), collecting (80), lint and types (100). With 100 it is
# 564 s, so 4:42.
BUDGET = 100.0
UNMEASURED = 0.15  # the part of it for tests of files that the table lacks, unless they are near to a change
NEAR = 1  # so many steps away is a test that is run before those that are quick
_CHANGE = pytest.StashKey["Change"]()
_LINES = pytest.StashKey[list[str]]()


@dataclass(frozen=True)
class Change:
    """What is changed on this branch: how many files, None if that is not known; how far it is to the test files."""

    files: int | None
    near: dict[str, int]

    @classmethod
    def here(cls) -> Change:
        files = changed_files(reach.ROOT)
        return cls(None if files is None else len(files), reach.distances(files) if files else {})


@dataclass(frozen=True)
class Choice:
    """Which of a run's tests are run, by their places in it, and why the others are not."""

    kept: tuple[int, ...]
    tests: int
    unreached: int = 0
    cases: int = 0  # left out, as another case of the same function is run
    functions: int = 0  # left out altogether, as they take long
    seconds: float = 0.0

    def lines(self, changed: int | None) -> Iterator[str]:
        """What a run says of itself, where so many files were changed; None: nothing to compare with."""
        if len(self.kept) == self.tests:
            yield f"all {self.tests:,} tests"
            return
        yield f"{len(self.kept):,} of {self.tests:,} tests; make test-all runs all"
        if changed is None:
            yield "no main branch to compare with"
        elif not changed:
            yield "no file differs from the main branch"
        else:
            yield f"files that differ from the main branch: {changed:,}"
        for many, why in (
            (self.unreached, "that no changed file reaches"),
            (self.cases, "of functions that another case stands for"),
            (self.functions, "of functions that take too long for this run"),
        ):
            if many:
                yield f"left out: {many:,} {why}"


def choose(tests: Sequence[str], near: Mapping[str, int] | None, durations: Durations, budget: float) -> Choice:
    """What to run of ``tests``. ``near`` has the files that a change reaches, with how far it is; None: no change."""
    reached = [k for k, test in enumerate(tests) if near is None or _file(test) in near]
    seconds = durations.each([tests[k] for k in reached])
    if near is not None and sum(seconds) <= budget:
        return Choice(tuple(reached), len(tests), len(tests) - len(reached), seconds=sum(seconds))
    taken = dict(zip(reached, seconds, strict=True))
    families: dict[str, list[int]] = defaultdict(list)
    for k in reached:
        families[family_of(tests[k])].append(k)

    def far(k: int) -> int:
        return near[_file(tests[k])] if near is not None else NEAR + 1

    # One case of each function: what is near, then what is quick.
    firsts = sorted((some[0] for some in families.values()), key=lambda k: (min(far(k), NEAR + 1), taken[k], k))
    kept: set[int] = set()
    spent = guessed = 0.0
    for k in firsts:
        new = far(k) > NEAR and _file(tests[k]) not in durations.files
        if spent + taken[k] <= budget and not (new and guessed + taken[k] > UNMEASURED * budget):
            kept.add(k)
            spent += taken[k]
            guessed += new * taken[k]
    # The other cases of what is reached by a change, the nearest first.
    others = [k for some in families.values() if some[0] in kept for k in some[1:]] if near is not None else []
    for k in sorted(others, key=lambda k: (far(k), k)):
        if spent + taken[k] <= budget:
            kept.add(k)
            spent += taken[k]
    without = [k for some in families.values() if some[0] not in kept for k in some]
    return Choice(
        tuple(sorted(kept)),
        len(tests),
        unreached=len(tests) - len(reached),
        cases=len(reached) - len(kept) - len(without),
        functions=len(without),
        seconds=spent,
    )


def _file(test: str) -> str:
    return test.partition("::")[0]


def distances(config: pytest.Config) -> Mapping[str, int]:
    """How far the change of this branch is from the test files that it reaches, if tests are selected by it."""
    return config.stash[_CHANGE].near if _CHANGE in config.stash else {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--budget", type=float, default=BUDGET, help="select tests for so many seconds of processors (%(default)s)"
    )


def pytest_configure(config: pytest.Config) -> None:
    """The imports are read once: workers are told."""
    given = getattr(config, "workerinput", None)
    config.stash[_CHANGE] = Change(*given["selection"]) if given else Change.here()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    change = node.config.stash[_CHANGE]
    node.workerinput["selection"] = (change.files, change.near)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    change = config.stash[_CHANGE]
    near = change.near if change.files else None
    choice = choose([item.nodeid for item in items], near, Durations.load(), config.getoption("budget"))
    config.stash[_LINES] = list(choice.lines(change.files))
    kept = set(choice.kept)
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for k, item in enumerate(items) if k not in kept])
        items[:] = [items[k] for k in choice.kept]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A change that reaches no test breaks none."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.stash[_CHANGE].files:
        session.exitstatus = pytest.ExitCode.OK
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["selection"] = session.config.stash.get(_LINES, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    output = getattr(node, "workeroutput", None) or {}  # none where a worker died
    if output.get("selection"):
        node.config.stash[_LINES] = output["selection"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if lines := terminalreporter.config.stash.get(_LINES, []):
        terminalreporter.section("selection")
        for line in lines:
            terminalreporter.line(line)


MAIN = ("origin/main", "main")


def changed_files(root: Path) -> frozenset[str] | None:
    """The files, relative to ``root``, that were changed, added or removed since the merge base with the first of
    `MAIN` that exists, whether committed or not; those that git ignores are left out. On the main branch itself that
    leaves what is not committed yet. None where there is no git, or no main branch to compare with."""
    for main in MAIN:
        base = _git(root, "merge-base", "HEAD", main)
        if base:
            differing = _git(root, "diff", "--name-only", "--no-renames", "--relative", "-z", base.strip())
            added = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
            if differing is None or added is None:
                return None
            return frozenset(name for name in (differing + added).split("\0") if name)
    return None


def _git(root: Path, *arguments: str) -> str | None:
    """What git prints; None where it is missing or refuses."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
