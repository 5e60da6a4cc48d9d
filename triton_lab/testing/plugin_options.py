"""The options and markers of the pytest plugin, with their help."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_lab.localization import _

MODES = ("cpu", "check")
LEVELS = ("error", "warning", "note", "never")
MARKER = "triton_findings"
OPTIONS = (
    ("--triton-lab-fail-on", "LEVEL", LEVELS, "the lowest severity of a finding that fails a test (default: error)"),
    ("--triton-lab-select", "KINDS", None, "report KINDS alone (race,overflow)"),
    ("--triton-lab-ignore", "KINDS", None, "leave KINDS out"),
    ("--triton-lab-baseline", "FILE", None, "a file of known findings, which fail no test"),
    ("--triton-lab-json", "FILE", None, "write kernels, findings and coverage of kernels to this file"),
)
# Options that mean nothing without --triton-lab.
NEEDING = ("--triton-lab-update-baseline", "--triton-lab-strict", "--triton-lab-cov")
MARKERS = (
    (
        f"{MARKER}(*kinds, allow=(), forbid=(), kernel=None, argument=None): under --triton-lab=check, findings "
        "of these kinds are expected and fail no test; those in `allow` may occur; those in `forbid` fail, "
        "whatever their severity"
    ),
    "triton_unchecked(reason): under --triton-lab=check, the launches of this test run without checks",
)


def key(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def option(config: pytest.Config, name: str) -> str:
    """The value from the command line, else from the ini file; "" for none."""
    return str(config.getoption(name) or config.getini(key(name)) or "")


def make_room_for(config: pytest.Config, name: str) -> None:
    """Create the folder of a file that is written at the end. Raises UsageError."""
    path = Path(config.rootpath, name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(
            _("{path} cannot be written: {strerror}: {filename}").format(
                path=path, strerror=error.strerror, filename=error.filename
            )
        ) from None
