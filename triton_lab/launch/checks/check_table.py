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
from triton_lab.localization import N_, _, translated

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

_RACES, _UNINITIALISED = N_("races"), N_("reads of uninitialized memory")
OTHERS = N_("faults of other programs")
MISREAD = N_("comparisons that Python groups in an unexpected way")
_THREADS = N_("lanes of one program that access the same memory")
# The subject of each check, as it is reported when it could not be checked.
_ALONE: tuple[tuple[str, Callable[[Evidence], Iterator[Finding]]], ...] = (
    (N_("overflow of addresses"), int32_overflow.check),
    (N_("overflow of narrow integers"), narrow_overflow.check),
    (N_("NaN and infinity"), non_finite.check),
    (N_("loss of precision"), lost_precision.check),
    (N_("uses of masked-off lanes"), undefined.check),
    (N_("numbers that a store changes"), lossy_store.check),
    (N_("accesses outside a view"), outside_view.check),
    (N_("aliases"), alias.check),
    (N_("idle programs"), idle_program.check),
    (N_("results that are returned and not stored"), lost_result.check),
    (N_("loads that a loop repeats"), loop_invariant_load.check),
    (N_("masks that are always true"), always_true_mask.check),
    (N_("accesses through unknown pointers"), unverified.check),
    (N_("elements of outputs that no program stores to"), unwritten.check),
)


def check(launch: Recorded, faults: bool = True) -> Verdict:
    """Run all checks: the findings of ``launch``, by severity, then by line, and what could not be checked.

    Without ``faults``, the caller reports what stopped the launch.
    """
    gathering = Gathering()
    if faults:
        gathering.run(translated(OTHERS), lambda: fault.check(launch))
    if is_cut_short(launch):
        gathering.left_out(_("everything after that point"), _("the launch was stopped in a loop"))
    if launch.tape is not None:
        _recorded(gathering, Evidence(launch, launch.tape))
    gathering.run(translated(MISREAD), lambda: precedence.check(launch, gathering.findings))
    findings = gathering.findings
    try:
        findings = with_orders(launch, with_values(launch, findings))
    except Exception as error:
        gathering.left_out(_("the values of the lanes in the findings"), reason_of(error))
    return Verdict(in_order(findings), gathering.unchecked)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by severity, errors first, then by line."""
    return sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), f.line or 0))


def _recorded(gathering: Gathering, evidence: Evidence) -> None:
    """Run the checks of the recorded accesses."""
    gathering.run(f"{translated(_RACES)}, {translated(_UNINITIALISED)}", lambda: _together(gathering, evidence))
    for what, one in _ALONE:
        gathering.run(translated(what), partial(one, evidence))
    if evidence.tape.dropped:
        gathering.run(translated(_RACES), lambda: race.met(evidence))
        gathering.left_out(
            _("{races}, {reads} and aliases, from there on").format(
                races=translated(_RACES), reads=translated(_UNINITIALISED)
            ),
            evidence.tape.cut,
        )


def _together(gathering: Gathering, evidence: Evidence) -> tuple[Finding, ...]:
    """Run the checks that share the races: a read that races is not reported as uninitialised."""
    races = race.Races(evidence)
    before = len(gathering.findings)
    gathering.run(translated(_RACES), lambda: race.check(evidence, races))
    gathering.run(translated(_THREADS), lambda: lane_collision.check(evidence, races))
    lines = {(found.line, found.column) for found in gathering.findings[before:]}
    gathering.run(translated(_THREADS), lambda: lane_order.check(evidence, races, lines))
    gathering.run(translated(_UNINITIALISED), lambda: uninitialized.check(evidence, races))
    return ()
