"""Accesses of two proxies without a fence between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.faults import stopped_by
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_


class MissingFenceRule(WholeRule):
    "A program and TMA (or the tensor core) use the same shared memory, and there is no fence between the two"

    "accesses."

    kind = "missing-fence"
    severity = ERROR
    subject = N_("missing fences")
    summary = N_(
        "A program and TMA (or the tensor core) use the same shared memory, and there is no fence between the two "
        "accesses."
    )
    why = N_(
        "TMA and the tensor core reach shared memory by another path (the async proxy) than a program's own loads "
        "and stores, and the two are not in order by themselves."
    )
    remedy = N_(
        "Call `fence_async_shared()` after the program's own stores and before TMA or wgmma reads them, and after "
        "its own loads and before TMA writes there again. Where partitions hand a buffer over, fence before "
        "`mbarrier.arrive`."
    )
    intended = N_("Never: the launch stops here.")
    blind = N_("Fences that the GPU's compiler inserts are not known here.")
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """At most one finding, for what stopped the launch."""
        return stopped_by(evidence, self.kind)
