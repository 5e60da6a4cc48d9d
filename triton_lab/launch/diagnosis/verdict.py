"""What is known of a launch after all checks: what they found, and what nobody could check."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from triton_lab.interpreter.kernel_errors import from_signal
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.recording.snapshot import CannotReplay

# Where this is set in the environment, faults of ours are raised instead of told: for the tests.
RAISE = "TRITON_LAB_RAISE"
_PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True)
class Unchecked:
    """``what`` (in words that can be listed: ``races``) was not checked, because of ``why``."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"not checked: {self.what}: {self.why}"


@dataclass(frozen=True)
class Verdict:
    """``findings``, errors first, and what was left ``unchecked``, one for each reason."""

    findings: list[Finding]
    unchecked: list[Unchecked]


class Gathering:
    """Runs checks one by one; one that fails takes nothing from the others."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._unchecked: dict[str, list[str]] = {}

    def run(self, what: str, check: Callable[[], Iterable[Finding]]) -> None:
        """Keep what ``check`` finds; where it fails, what it had found until then, and that it failed."""
        try:
            for found in check():
                self.findings.append(found)
        except Exception as error:
            self.left_out(what, reason_of(error))

    def left_out(self, what: str, why: str) -> None:
        """``what`` was not checked."""
        known = self._unchecked.setdefault(why, [])
        if what not in known:
            known.append(what)

    @property
    def unchecked(self) -> list[Unchecked]:
        """One for each reason, so that each is told once."""
        return [Unchecked(", ".join(whats), why) for why, whats in self._unchecked.items()]


def reason_of(error: Exception) -> str:
    """Why something was not checked: what a launch that cannot be run again says, or else `excuse`."""
    return str(error) if isinstance(error, CannotReplay) else excuse(error)


def excuse(error: Exception) -> str:
    """What to say of ``error``, which we did not expect, where everything else must go on.

    Raises it where the environment asks for that, and where a signal's handler raised it (a timeout).
    """
    if os.environ.get(RAISE) or from_signal(error):
        raise error
    if isinstance(error, MemoryError):
        return f"this took more memory than there is{f' ({error})' if str(error) else ''}"
    return (
        f"{type(error).__name__}: {error}{_place(error)}; a fault of triton-lab's, not of the kernel: please report it"
    )


def _place(error: Exception) -> str:
    """Where in the package it was raised."""
    own = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(_PACKAGE)
    ]
    return f" (in {Path(own[-1].filename).relative_to(_PACKAGE)}, line {own[-1].lineno})" if own else ""
