"""The pytest plugin: ``pytest --triton-lab=cpu|check``.

pytest loads it wherever triton-lab is installed. So it imports neither torch nor Triton, and changes nothing until the
option is given, with one exception: errors of the lab or its backend are shown with the user's lines.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from triton_lab.localization import _
from triton_lab.testing.plugin_options import MARKERS, MODES, NEEDING, OPTIONS, key

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_list import Launches
    from triton_lab.testing.test_session import CheckedSession

_SESSION: pytest.StashKey[CheckedSession] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("triton-lab", _("Triton's kernels on the CPU (triton-lab)"))
    group.addoption(
        "--triton-lab",
        choices=MODES,
        default=None,
        help=(
            _(
                "run Triton kernels on the CPU, also those with device='cuda'; with `check`, check each "
                "launch for races, accesses out of bounds and so on, and fail tests with findings"
            )
        ),
    )
    for name, metavar, choices, told in OPTIONS:
        group.addoption(name, metavar=metavar, choices=choices, default=None, help=told)
        parser.addini(key(name), f"{told}; as {name}", default="")
    group.addoption(
        "--triton-lab-update-baseline",
        action="store_true",
        help=_("write the findings to the file of --triton-lab-baseline, instead of failing tests"),
    )
    group.addoption(
        "--triton-lab-strict",
        action="store_true",
        help=_("with --triton-lab=check, also fail tests with a launch that could not be checked"),
    )
    group.addoption(
        "--triton-lab-cov",
        action="store_true",
        help=_("report which lines, branches and masks of kernels ran, and write them to coverage.py's data"),
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Prepare before any conftest can ask whether there is a GPU."""
    told = early_config.known_args_namespace
    if getattr(told, "triton_lab", None) and not getattr(told, "help", False):
        _started(early_config, told.triton_lab)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    mode = config.getoption("--triton-lab")
    if mode is None:
        given = [name for name in NEEDING if config.getoption(name)]
        if given:
            raise pytest.UsageError(_("{given} needs --triton-lab=cpu or --triton-lab=check").format(given=given[0]))
        return
    session = config.stash.get(_SESSION, None) or _started(config, mode)
    session.configure()
    config.pluginmanager.register(session, "triton-lab-session")


def _started(config: pytest.Config, mode: str) -> CheckedSession:
    from triton_lab.testing.test_session import CheckedSession

    session = CheckedSession(config, mode)
    config.stash[_SESSION] = session
    config.add_cleanup(session.close)
    return session


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, Any]:
    report = yield
    if call.excinfo is not None and report.failed:
        from triton_lab.notebook.cell.excepthook import is_to_be_told

        if is_to_be_told(call.excinfo.value):
            from triton_lab.testing.short_tracebacks import shorten

            shorten(report, call.excinfo, item)
    return report


@pytest.fixture
def triton_launches(request: pytest.FixtureRequest) -> Iterator[Launches]:
    """The launches that this test has made so far, as from `triton_lab.record`, whatever --triton-lab says."""
    session: Any = request.config.stash.get(_SESSION, None)
    running = None if session is None else session.launches
    if running is not None:
        yield running
        return
    from triton_lab.launch.recording.record import record

    with record() as launches:
        yield launches
