"""The severities of findings: an error is a wrong launch, a warning may be one, and a note is good to know."""

from __future__ import annotations

from collections.abc import Mapping

from triton_lab import messages

# The most severe first.
SEVERITIES = ERROR, WARNING, NOTE = "error", "warning", "note"


def gravest(severities: Mapping[str, int]) -> str | None:
    """The highest severity that occurs in ``severities`` (counts by severity); None if there is none."""
    return next((one for one in SEVERITIES if severities.get(one)), None)


def counted(severities: Mapping[str, int]) -> str:
    """Counts by severity in words, ``1 error, 2 notes``; "" if there are none."""
    return ", ".join(messages.count(severities[one], one) for one in SEVERITIES if severities.get(one))
