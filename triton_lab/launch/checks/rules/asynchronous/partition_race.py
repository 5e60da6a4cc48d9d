"""Accesses of two partitions without an order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.faults import stopped_by
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_


class PartitionRaceRule(WholeRule):
    "Two partitions of warps use the same shared memory, and no barrier orders the accesses."

    kind = "partition-race"
    severity = ERROR
    subject = N_("races of partitions")
    summary = N_("Two partitions of warps use the same shared memory, and no barrier orders the accesses.")
    why = N_(
        "Partitions run at the same time on a GPU, each at its own speed: one may overwrite data that the other has "
        "not read yet."
    )
    remedy = N_(
        "Let the first partition arrive at a barrier when it is done, and let the other wait for that phase before "
        "its access."
    )
    intended = N_("Never: the launch stops here.")
    blind = N_("Only accesses of shared and tensor memory are compared, not those of tensors.")
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """At most one finding, for what stopped the launch."""
        return stopped_by(evidence, self.kind)
