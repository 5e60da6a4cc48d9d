"""Checks that watch a launch while it runs, if it is too large for a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.rules import (
    int32_overflow,
    lossy_store,
    lost_precision,
    narrow_overflow,
    non_finite,
    undefined,
    uninitialized,
)
from triton_lab.launch.recording.watcher import Watcher

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

# By the name of each watcher in `Launch.watched`.
_CHECKS = {
    "overflow": int32_overflow.watcher,
    "narrow": narrow_overflow.watcher,
    "non-finite": non_finite.watcher,
    "accumulation": lost_precision.watcher,
    "lossy": lossy_store.watcher,
    "turned off": undefined.watcher,
    "uses": uninitialized.watcher,
}


def watchers(launch: Recorded) -> dict[str, Watcher]:
    """The watchers for ``launch``, which is about to run, by the names of their checks."""
    assert launch.tape is not None
    evidence = Evidence(launch, launch.tape)
    found = {name: watcher(evidence) for name, watcher in _CHECKS.items()}
    return {name: one for name, one in found.items() if one is not None}
