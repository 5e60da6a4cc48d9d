"""The pytest plugin: ``pytest --triton-lab=cpu|check``.

pytest loads it wherever triton-lab is installed, so it imports nothing of torch's or Triton's, and does nothing, until
the option is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from triton_lab.launch.launches import Launches
    from triton_lab.testing.session import Session

MODES = ("cpu", "check")
LEVELS = ("error", "warning", "note", "never")
MARKER = "triton_findings"
_SESSION: pytest.StashKey[Session] = pytest.StashKey()
_OPTIONS = (
    ("--triton-lab-fail-on", "LEVEL", LEVELS, "the least severity of findings that fails a test (default: error)"),
    ("--triton-lab-baseline", "FILE", None, "findings that are known: they fail no test"),
    ("--triton-lab-json", "FILE", None, "write kernels, findings and coverage of kernels to this file"),
)
_MARKERS = (
    f"{MARKER}(*kinds, allow=(), forbid=(), kernel=None, argument=None): findings of these kinds must be there under "
    "--triton-lab=check, and fail nothing; those allowed may be there; those forbidden fail, whatever their severity",
    "triton_unchecked(reason): under --triton-lab=check the launches of this test run, and are not checked",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("triton-lab", "Triton's kernels on the CPU (triton-lab)")
    group.addoption(
        "--triton-lab",
        choices=MODES,
        default=None,
        help="run Triton's kernels on the CPU, and what says device='cuda' too; with `check`, look for races, "
        "accesses out of bounds and the other findings in each launch, and fail the tests that have them",
    )
    for name, metavar, choices, told in _OPTIONS:
        group.addoption(name, metavar=metavar, choices=choices, default=None, help=told)
        parser.addini(_key(name), f"{told}; as {name}", default="")
    group.addoption(
        "--triton-lab-update-baseline",
        action="store_true",
        help="write what is found to the file of --triton-lab-baseline, instead of failing tests for it",
    )
    group.addoption(
        "--triton-lab-cov",
        action="store_true",
        help="which lines, branches and masks of kernels ran: told at the end, and written into coverage.py's data",
    )


def _key(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def option(config: pytest.Config, name: str) -> str:
    """What the command line says, else the ini file; "" for nothing."""
    return str(config.getoption(name) or config.getini(_key(name)) or "")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any conftest may ask whether there is a GPU."""
    told = early_config.known_args_namespace
    if getattr(told, "triton_lab", None) and not getattr(told, "help", False):
        _started(early_config, told.triton_lab)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    mode = config.getoption("--triton-lab")
    if mode is None:
        given = [name for name in ("--triton-lab-update-baseline", "--triton-lab-cov") if config.getoption(name)]
        if given:
            raise pytest.UsageError(f"{given[0]} needs --triton-lab=cpu or --triton-lab=check")
        return
    session = config.stash.get(_SESSION, None) or _started(config, mode)
    session.configure()
    config.pluginmanager.register(session, "triton-lab-session")


def _started(config: pytest.Config, mode: str) -> Session:
    from triton_lab.testing.session import Session

    session = Session(config, mode)
    config.stash[_SESSION] = session
    config.add_cleanup(session.close)
    return session


@pytest.fixture
def triton_launches(request: pytest.FixtureRequest) -> Iterator[Launches]:
    """The launches that this test has made so far, as `triton_lab.record` gives them, whatever --triton-lab says."""
    session: Any = request.config.stash.get(_SESSION, None)
    running = None if session is None else session.launches
    if running is not None:
        yield running
        return
    from triton_lab.launch.record import record

    with record() as launches:
        yield launches
