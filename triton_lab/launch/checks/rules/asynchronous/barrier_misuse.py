"""Barriers that are initialised or counted wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.faults import stopped_by
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_


class BarrierMisuseRule(WholeRule):
    """A barrier is used before it was initialised, initialised twice, or gets too many arrivals."""

    kind = "barrier-misuse"
    severity = ERROR
    subject = N_("misuse of barriers")
    summary = N_("A barrier is used before it was initialised, initialised twice, or gets too many arrivals.")
    why = N_("A GPU then starts to count from an arbitrary value: waits end too early, or never.")
    remedy = N_(
        "Call `mbarrier.init(bar, count)` once, with the number of arrivals in a phase (`expect` is one of them), "
        "and `mbarrier.invalidate(bar)` before the memory is used again."
    )
    intended = N_("Never: the launch stops here.")
    blind = N_("An arrival that comes one phase late is counted in that phase.")
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """At most one finding, for what stopped the launch."""
        return stopped_by(evidence, self.kind)
