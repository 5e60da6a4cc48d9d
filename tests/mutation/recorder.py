"""What a file of tests runs, test by test: a plugin of pytest that writes it as JSON to ``MUTATION_RECORD``.

``tests``: the seconds of each that passes; ``lines``: file of the package -> line -> the places in ``tests`` of the
quickest that run it; ``failed``: the tests (or files that cannot be read) that fail. What runs while a module is
imported or a shared fixture is set up belongs to whichever test was first, or to none: the order in which tests are
tried follows from all this, what becomes of a change does not.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

# So many of one file's tests say enough about one line.
_KEPT = 100
PACKAGE = str(Path.cwd() / "triton_lab") + os.sep


class _Monitor:
    """Lines by `sys.monitoring`: each costs once a test."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()
        self._package = PACKAGE  # lines still run when the globals of this module are gone
        monitoring = sys.monitoring  # type: ignore[attr-defined]
        self.restart = monitoring.restart_events
        self._once = monitoring.DISABLE
        tool = next(number for number in range(6) if monitoring.get_tool(number) is None)
        monitoring.use_tool_id(tool, "mutation")
        monitoring.register_callback(tool, monitoring.events.LINE, self._line)
        monitoring.set_events(tool, monitoring.events.LINE)

    def _line(self, code: CodeType, line: int) -> Any:
        if code.co_filename.startswith(self._package):
            self.lines.add((code.co_filename, line))
        return self._once

    def begin(self, _test: str) -> None:
        self.lines.clear()
        self.restart()

    def end(self) -> set[tuple[str, int]]:
        return set(self.lines)


class _Coverage:
    """The same by coverage.py, before Python 3.12."""

    def __init__(self) -> None:
        import coverage

        self._coverage = coverage.Coverage(data_file=None, config_file=False, source=["triton_lab"])
        self._coverage.start()

    def begin(self, test: str) -> None:
        self._test = test
        self._coverage.switch_context(test)

    def end(self) -> set[tuple[str, int]]:
        self._coverage.switch_context("")
        data = self._coverage.get_data()
        data.set_query_context(self._test)
        return {(path, line) for path in data.measured_files() for line in data.lines(path) or ()}


class Recorder:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.passed: set[str] = set()
        self.failed: dict[str, None] = {}
        self.runs: dict[tuple[str, int], set[str]] = defaultdict(set)
        self.watch = _Monitor() if sys.version_info >= (3, 12) else _Coverage()
        self.start = time.perf_counter()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.watch.begin(item.nodeid)
        try:
            return (yield)
        finally:
            for place in self.watch.end():
                self.runs[place].add(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed[report.nodeid] = None
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = None

    def pytest_unconfigure(self) -> None:
        tests = {test: self.seconds[test] for test in self.seconds if test in self.passed and test not in self.failed}
        place = {test: number for number, test in enumerate(tests)}
        lines: dict[str, dict[int, list[int]]] = defaultdict(dict)
        for (path, line), ran in self.runs.items():
            quickest = sorted((test for test in ran if test in place), key=tests.__getitem__)[:_KEPT]
            if quickest:
                name = Path(path).relative_to(Path(PACKAGE).parent).as_posix()
                lines[name][line] = [place[test] for test in quickest]
        said = {"tests": tests, "lines": lines, "failed": list(self.failed)}
        Path(os.environ["MUTATION_RECORD"]).write_text(json.dumps(said), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(), "mutation-recorder")
