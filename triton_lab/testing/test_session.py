"""A test session under ``--triton-lab``: where launches run, how each is checked, and the report at the end."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from triton_lab.backend.plugin.recorders import recorders
from triton_lab.launch.checks.kind_filter import KindFilter
from triton_lab.launch.diagnosis.finding import Finding, place_of
from triton_lab.launch.diagnosis.severity import SEVERITIES
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.launch_list import Launches, launched_elsewhere
from triton_lab.launch.recording.record import record
from triton_lab.localization import _
from triton_lab.messages import count
from triton_lab.testing import baseline
from triton_lab.testing.expected_findings import fails, failure, missing, wishes
from triton_lab.testing.first_config import first_that_runs
from triton_lab.testing.kernel_summary import LaunchTally, SessionSummary
from triton_lab.testing.plugin_options import LEVELS, make_room_for, option

if TYPE_CHECKING:
    from triton_lab.testing.coverage.coverage_session import Following

_HEARD = "triton_lab"  # the name under which workers of xdist send their results
_KEPT = "into the baseline"


class CheckedSession:
    """A pytest plugin for one session; ``launches`` are those of the running test, if they are checked."""

    def __init__(self, config: pytest.Config, mode: str) -> None:
        self.config = config
        self.mode = mode
        self.launches: Launches | None = None
        self.summary = SessionSummary()
        self.known: dict[str, baseline.KnownFinding] = {}
        self.severities: frozenset[str] = frozenset()
        self._kinds = KindFilter()
        self._unclear = ""  # what is wrong with the markers of the running test
        self._seen = 0
        self._notes: list[str] = []
        self._baseline: Path | None = None
        self._updating = self._strict = False
        self._open = contextlib.ExitStack()
        self._following: Following | None = None
        self._start()

    def _start(self) -> None:
        import torch

        from triton_lab.backend.targets.active_target import target

        self._open.enter_context(mock.patch.dict(os.environ, {"TRITON_DEFAULT_BACKEND": "triton_lab"}))
        if os.environ.pop("TRITON_INTERPRET", "0") != "0":
            self._notes.append("TRITON_INTERPRET is ignored")
        self._open.enter_context(target("cpu"))
        self._open.enter_context(first_that_runs())
        if torch.cuda.is_available():
            self._notes.append(_("GPU tensors are copied to the CPU and back"))
        else:
            from triton_lab.testing.cuda_on_cpu import in_place_of_a_gpu

            self._open.enter_context(in_place_of_a_gpu())
            self._notes.append(_("device 'cuda' uses CPU memory"))
        self._open.enter_context(recorders.listening(LaunchTally(self.summary)))

    def close(self) -> None:
        """Restore the process."""
        self._open.close()

    def configure(self) -> None:
        """Apply the options. Raises UsageError."""
        if self.config.getoption("--triton-lab-cov"):
            from triton_lab.testing.coverage.coverage_session import Following

            self._following = self._open.enter_context(Following())  # from now on, it traces which lines of kernels run
        level = option(self.config, "--triton-lab-fail-on") or LEVELS[0]
        if level not in LEVELS:
            raise pytest.UsageError(
                _("triton_lab_fail_on = {level}: choose one of {levels}").format(
                    level=repr(level), levels=", ".join(LEVELS)
                )
            )
        self._strict = bool(self.config.getoption("--triton-lab-strict"))
        self.severities = frozenset(() if level == "never" else SEVERITIES[: SEVERITIES.index(level) + 1])
        try:
            self._kinds = KindFilter.of(
                *([option(self.config, name)] for name in ("--triton-lab-select", "--triton-lab-ignore"))
            )
        except LookupError as error:
            raise pytest.UsageError(str(error)) from None
        named = option(self.config, "--triton-lab-baseline")
        self._updating = bool(self.config.getoption("--triton-lab-update-baseline"))
        if self._updating and (not named or self.mode != "check"):
            raise pytest.UsageError(
                _("--triton-lab-update-baseline needs --triton-lab=check and --triton-lab-baseline")
            )
        for written in (named if self._updating else "", option(self.config, "--triton-lab-json")):
            if written:
                make_room_for(self.config, written)
        if named:
            self._baseline = Path(self.config.rootpath, named)
            try:
                self.known = baseline.load(self._baseline)
            except baseline.BaselineError as error:
                raise pytest.UsageError(str(error)) from None

    def pytest_report_header(self) -> str:
        import triton

        what = _("each launch is checked") if self.mode == "check" else "launches run"
        return "; ".join([f"triton-lab: {what}, on the CPU, of Triton {triton.__version__}", *self._notes])

    # --- A test ---------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        if self.mode != "check" or item.get_closest_marker("triton_unchecked") is not None:
            return (yield)
        self._unclear = ""
        try:
            wishes(item)
        except pytest.UsageError as error:
            self._unclear = str(error)
        with record() as self.launches:
            self._seen = 0
            try:
                return (yield)
            finally:
                self.launches = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        if self.launches is not None and self._unclear:
            pytest.fail(self._unclear, pytrace=False)
        with self._cut():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        with self._cut():
            return (yield from self._checked(item, "call"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        with self._cut():
            return (yield from self._checked(item, "teardown"))

    @contextlib.contextmanager
    def _cut(self) -> Generator[None]:
        try:
            yield
        except BaseException as error:
            if not self.config.getoption("fulltrace", False):
                from triton_lab.testing.short_tracebacks import cut

                cut(error)
            raise

    def _checked(self, item: pytest.Item, phase: str) -> Generator[None, object, object]:
        try:
            result = yield
        except Exception:
            # The test's own failure comes first; the findings of its launches stand below it.
            for place, found in self._judged(item, phase, raised="")[0]:
                item.add_report_section(phase, "triton-lab", f"{place}: {found}")
            raise
        failing, unmet = self._judged(item, phase)
        if failing or unmet:
            pytest.fail(failure(failing, unmet), pytrace=False)
        return result

    def _judged(
        self, item: pytest.Item, phase: str, raised: str = "raised, and caught by the test"
    ) -> tuple[list[tuple[str, Finding]], list[str]]:
        """The findings that fail the test, of the launches since the last call, and the expected ones that are missing.

        A finding that stopped a launch was already ``raised``, so it is only noted.
        """
        if self.launches is None:
            return [], []
        fresh, self._seen = self.launches[self._seen :], len(self.launches)
        wanted = [] if self._unclear else wishes(item)  # a fixture may have added markers by now
        pairs = [(launch, each) for launch in fresh for each in launch.findings if self._kinds.takes(each.kind)]
        failing = {
            id(each)
            for launch, each in pairs
            if not each.stopped and not self._excuse(each) and fails(each, launch.kernel, wanted, self.severities)
        }
        for launch, each in pairs:
            excused = raised if each.stopped else "" if id(each) in failing else self._excuse(each) or self._meant(each)
            self.summary.finding(launch, each, item.nodeid, excused)
        doubts = [f"{launch.kernel}: {each}" for launch in fresh for each in launch.unchecked]
        self.summary.unchecked.update(doubts)
        launched_elsewhere(self.launches)
        unseen = [f"not checked: {each}" for each in self.launches.unseen]
        self.summary.unchecked.update(unseen)
        self.launches.unseen.clear()
        every = [(launch.kernel, each) for launch in self.launches for each in launch.findings]
        unmet = missing(wanted, every) if phase == "call" else []
        if self._strict:
            unmet += [f"a complete check ({each})" for each in (*unseen, *dict.fromkeys(doubts))]
        return [(self._place(launch, each), each) for launch, each in pairs if id(each) in failing], unmet

    def _excuse(self, found: Finding) -> str:
        if self._updating:
            return _KEPT
        return "known" if found.fingerprint in self.known else ""

    def _meant(self, found: Finding) -> str:
        return "meant" if found.severity in self.severities else ""

    def _place(self, launch: Launch, found: Finding) -> str:
        x, y, z = launch.grid
        file, line = place_of(found, launch.file, launch.first_line)
        return f"{self._relative(file)}:{line}: {launch.kernel}[{x, y, z}]"

    def _relative(self, file: str) -> str:
        with contextlib.suppress(ValueError):
            return str(Path(file).relative_to(self.config.rootpath))
        return file

    # --- The end --------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Run around the tests; pytest-cov ends its measurement after this."""
        try:
            return (yield)
        finally:
            if self._following is not None:
                worker = getattr(self.config, "workerinput", {}).get("workerid", "")
                self._following.write(worker)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output[_HEARD] = json.dumps(self._as_data())

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        """Merge the results of an xdist worker that has ended."""
        told = getattr(node, "workeroutput", {}).get(_HEARD)
        if told:
            data = json.loads(told)
            self.summary.merge(data)
            if self._following is not None:
                self._following.merge(data["coverage"])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        write = terminalreporter.write_line
        terminalreporter.section("triton-lab")
        if self.summary.kernels:
            for line in self.summary.lines(self.mode == "check", self._relative, self.config.getoption("verbose") > 0):
                write(line)
        else:
            write(_("no kernel was launched"))
        self._tell_baseline(write)
        if self._following is not None:
            terminalreporter.section(_("triton-lab: coverage of kernels"))
            for line in self._following.lines(self._relative):
                write(line)
        named = option(self.config, "--triton-lab-json")
        if named:
            Path(self.config.rootpath, named).write_text(json.dumps(self._as_data(), indent=1) + "\n")

    def _as_data(self) -> dict[str, Any]:
        found = self.summary.as_data()
        return found if self._following is None else {**found, "coverage": self._following.as_data()}

    def _tell_baseline(self, write: Any) -> None:
        if self._baseline is None or self.mode != "check":
            return
        name = self._relative(str(self._baseline))
        if not self._updating:
            for line in baseline.lines(self._baseline, name, self.known, self.summary):
                write(line)
            return
        found = [
            each for each in self.summary.by_severity() if each.severity in self.severities and each.excused == _KEPT
        ]
        came, went = baseline.update(self._baseline, self.known, self.summary, found)
        write(
            _("baseline {name}: {findings} added, {findings2} removed").format(
                name=name, findings=count(came, "finding"), findings2=count(went, "finding")
            )
        )
