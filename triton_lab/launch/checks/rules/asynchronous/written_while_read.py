"""Writes to shared memory that a copy or a product may still read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.faults import stopped_by
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_


class WrittenWhileReadRule(WholeRule):
    """Shared memory is written while a copy or a product may still read it. The launch stops there."""

    kind = "written-while-read"
    severity = ERROR
    subject = N_("writes to memory that is still read")
    summary = N_("Shared memory is written while a copy or a product may still read it.")
    why = N_("On a GPU the store or product may take the new bytes instead of the old ones.")
    remedy = N_(
        "Wait first: `tma.store_wait(n)` for stores by TMA, `warpgroup_mma_wait(n, ...)` for wgmma, the barrier of "
        "`tcgen05_commit` for tcgen05. Or use another buffer, in a ring of buffers."
    )
    intended = N_("Never: the launch stops here.")
    blind = N_(
        'Work ends as late as the waits allow. Under the schedules "eager" and "random:N" some writes come late enough.'
    )
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """At most one finding, for what stopped the launch."""
        return stopped_by(evidence, self.kind)
