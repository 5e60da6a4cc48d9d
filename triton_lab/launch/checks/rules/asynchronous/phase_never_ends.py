"""Waits for a phase of a barrier that never ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.faults import stopped_by
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_


class PhaseNeverEndsRule(WholeRule):
    """A wait for a barrier's phase has no end. The launch stops there."""

    kind = "phase-never-ends"
    severity = ERROR
    subject = N_("waits without end")
    summary = N_("A wait for a barrier's phase has no end.")
    why = N_("A GPU hangs: the kernel never ends, and the process must be killed.")
    remedy = N_(
        "Compare what the phase expects with what arrives: the count of `init` with each `arrive`, and the bytes of "
        "`expect` with those of the loads. Check the phase: it starts at 0 and changes with each use of the barrier."
    )
    intended = N_("Never: the launch stops here.")
    blind = N_("Only the schedule of this launch is tested. Another schedule may behave differently.")
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """At most one finding, for what stopped the launch."""
        return stopped_by(evidence, self.kind)
