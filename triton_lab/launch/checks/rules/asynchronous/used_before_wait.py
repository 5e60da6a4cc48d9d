"""Use of what a copy or a product has not finished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.faults import stopped_by
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_


class UsedBeforeWaitRule(WholeRule):
    """Shared memory, or an accumulator, is used before the work on it was waited for. The launch stops there."""

    kind = "used-before-wait"
    severity = ERROR
    subject = N_("uses before a wait")
    summary = N_("Shared memory, or an accumulator, is used before the work on it was waited for.")
    why = N_(
        "On a GPU the copy or product may still run: then the kernel reads old bytes, or some of the new ones. "
        "Usually this happens only in some runs."
    )
    remedy = N_(
        "Wait before the use: `async_copy.wait_group(n)` with the number of groups that may be left, "
        "`mbarrier.wait(bar, phase)` with the phase of this use, `warpgroup_mma_wait(0, ...)` or `tcgen05_commit` "
        "with a wait for its barrier. Commit copies before you wait for their group."
    )
    intended = N_("Never: the launch stops here.")
    blind = N_(
        'Work ends as late as the waits allow. Under the schedules "eager" and "random:N" some uses come late enough.'
    )
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """At most one finding, for what stopped the launch."""
        return stopped_by(evidence, self.kind)
