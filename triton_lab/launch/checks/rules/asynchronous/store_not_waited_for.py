"""Stores by TMA that run when the kernel ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.faults import stopped_by
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_


class StoreNotWaitedForRule(WholeRule):
    """A kernel ends while a store by TMA may still read its shared memory. The launch stops there."""

    kind = "store-not-waited-for"
    severity = ERROR
    subject = N_("stores at the end")
    summary = N_("A kernel ends while a store by TMA may still read its shared memory.")
    why = N_(
        "The next program on the same multiprocessor gets that shared memory and overwrites it, so wrong bytes may "
        "be stored to the tensor."
    )
    remedy = N_("Call `tma.store_wait(0)` before the kernel ends.")
    intended = N_("Never: the launch stops here.")
    blind = N_("A program whose partitions end at different times is checked only once, at its end.")
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """At most one finding, for what stopped the launch."""
        return stopped_by(evidence, self.kind)
