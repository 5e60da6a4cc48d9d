"""The options and markers of the pytest plugin, with their help."""

from __future__ import annotations

import pytest

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
