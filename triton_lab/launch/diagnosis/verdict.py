"""`Verdict`: the result of all checks of a launch: findings, and what could not be checked."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from triton_lab.interpreter.kernel_errors import from_signal
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _

# If this environment variable is set, triton-lab's own faults are raised instead of reported: for the tests.
RAISE = "TRITON_LAB_RAISE"
_PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True)
class Unchecked:
    """``what`` (a phrase for a list, such as ``races``) was not checked, for the reason ``why``."""

    what: str
    why: str

    def __str__(self) -> str:
        return _("not checked: {what}: {why}").format(what=self.what, why=self.why)


@dataclass(frozen=True)
class Verdict:
    """``findings``, errors first, and what is ``unchecked``, one entry for each reason."""

    findings: list[Finding]
    unchecked: list[Unchecked]


class Gathering:
    """Runs checks one by one; if one fails, the others still run."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._unchecked: dict[str, list[str]] = {}

    def run(self, what: str, check: Callable[[], Iterable[Finding]]) -> None:
        """Add the findings of ``check``; if it fails, add those before that, and note that it failed."""
        try:
            for found in check():
                self.findings.append(found)
        except Exception as error:
            self.left_out(what, reason_of(error))

    def left_out(self, what: str, why: str) -> None:
        """Note that ``what`` was not checked."""
        known = self._unchecked.setdefault(why, [])
        if what not in known:
            known.append(what)

    @property
    def unchecked(self) -> list[Unchecked]:
        """One `Unchecked` for each reason, so that each reason is reported once."""
        return [Unchecked(", ".join(whats), why) for why, whats in self._unchecked.items()]


def reason_of(error: Exception) -> str:
    """Why something was not checked: the text of CannotReplay, or `excuse` for other errors."""
    return str(error) if isinstance(error, CannotReplay) else excuse(error)


def excuse(error: Exception) -> str:
    """The text for an unexpected ``error`` that must not stop the rest.

    Raises the error if the environment variable `RAISE` is set, or if a signal's handler raised it (a timeout).
    """
    if os.environ.get(RAISE) or from_signal(error):
        raise error
    if isinstance(error, MemoryError):
        return _("this needed more memory than the machine has{more}").format(more=f" ({error})" if str(error) else "")
    return _("{name}: {error}{place}; this is an error in triton-lab, not in the kernel: please report it").format(
        name=type(error).__name__, error=error, place=_place(error)
    )


def _place(error: Exception) -> str:
    """The place in the package where ``error`` was raised."""
    own = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(_PACKAGE)
    ]
    return (
        _(" (in {relative_to}, line {lineno})").format(
            relative_to=Path(own[-1].filename).relative_to(_PACKAGE), lineno=own[-1].lineno
        )
        if own
        else ""
    )
