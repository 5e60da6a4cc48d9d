"""The table of all checks, and `check`, which runs them on a recorded launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_values import with_values
from triton_lab.launch.checks.race.outcomes import with_orders
from triton_lab.launch.checks.rules import (
    alias,
    always_true_mask,
    fault,
    idle_program,
    int32_overflow,
    lane_collision,
    lane_order,
    loop_invariant_load,
    lossy_store,
    lost_precision,
    lost_result,
    narrow_overflow,
    non_finite,
    outside_view,
    precedence,
    race,
    undefined,
    uninitialized,
    unverified,
    unwritten,
)
from triton_lab.launch.diagnosis.finding import SEVERITIES, Finding
from triton_lab.launch.diagnosis.verdict import Gathering, Verdict, reason_of
from triton_lab.launch.replay.replay_run import is_cut_short

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

_RACES, _UNINITIALISED = "races", "reads of uninitialised memory"
OTHERS = "other programs that fail"
MISREAD = "comparisons that Python reads otherwise than they look"
_THREADS = "lanes of one program that meet in memory"
# The subject of each check, as it is reported when it could not be checked.
_ALONE: tuple[tuple[str, Callable[[Evidence], Iterator[Finding]]], ...] = (
    ("overflow of addresses", int32_overflow.check),
    ("overflow of narrow integers", narrow_overflow.check),
    ("NaN and infinity", non_finite.check),
    ("loss of precision", lost_precision.check),
    ("lanes that masks turn off", undefined.check),
    ("numbers that stores change", lossy_store.check),
    ("accesses outside of views", outside_view.check),
    ("aliases", alias.check),
    ("idle programs", idle_program.check),
    ("results that are returned", lost_result.check),
    ("loads that stand still in a loop", loop_invariant_load.check),
    ("masks that are always true", always_true_mask.check),
    ("accesses through unknown pointers", unverified.check),
    ("elements of outputs that nobody stores to", unwritten.check),
)


def check(launch: Recorded, faults: bool = True) -> Verdict:
    """Run all checks: the findings of ``launch``, by severity, then by line, and what could not be checked.

    Without ``faults``, the caller reports what stopped the launch.
    """
    gathering = Gathering()
    if faults:
        gathering.run(OTHERS, lambda: fault.check(launch))
    if is_cut_short(launch):
        gathering.left_out("what it would have done from there on", "the launch was stopped in a loop")
    if launch.tape is not None:
        _recorded(gathering, Evidence(launch, launch.tape))
    gathering.run(MISREAD, lambda: precedence.check(launch, gathering.findings))
    findings = gathering.findings
    try:
        findings = with_orders(launch, with_values(launch, findings))
    except Exception as error:
        gathering.left_out("what the lanes in the findings held", reason_of(error))
    return Verdict(in_order(findings), gathering.unchecked)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by severity, errors first, then by line."""
    return sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), f.line or 0))


def _recorded(gathering: Gathering, evidence: Evidence) -> None:
    """Run the checks of the recorded accesses."""
    gathering.run(f"{_RACES}, {_UNINITIALISED}", lambda: _together(gathering, evidence))
    for what, one in _ALONE:
        gathering.run(what, partial(one, evidence))
    if evidence.tape.dropped:
        gathering.run(_RACES, lambda: race.met(evidence))
        gathering.left_out(f"{_RACES}, {_UNINITIALISED} and aliases, from there on", evidence.tape.cut)


def _together(gathering: Gathering, evidence: Evidence) -> tuple[Finding, ...]:
    """Run the checks that share the races: a read that races is not reported as uninitialised."""
    races = race.Races(evidence)
    before = len(gathering.findings)
    gathering.run(_RACES, lambda: race.check(evidence, races))
    gathering.run(_THREADS, lambda: lane_collision.check(evidence, races))
    lines = {(found.line, found.column) for found in gathering.findings[before:]}
    gathering.run(_THREADS, lambda: lane_order.check(evidence, races, lines))
    gathering.run(_UNINITIALISED, lambda: uninitialized.check(evidence, races))
    return ()
