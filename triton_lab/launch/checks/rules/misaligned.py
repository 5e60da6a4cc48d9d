"""Accesses at an address that is not a multiple of the element's size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.faults import access_faults
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_


class MisalignedRule(WholeRule):
    """A lane accesses an address that is not a multiple of the element's size. The launch stops there."""

    kind = "misaligned"
    severity = ERROR
    subject = N_("faults of other programs")
    summary = N_("A lane accesses an address that is not a multiple of the element's size.")
    why = N_("A GPU stops with a *misaligned address*: it accesses elements only at multiples of their size.")
    remedy = N_("Count offsets in elements, not in bytes. Start views of bytes at a multiple of the element's size.")
    intended = N_("Never: the launch stops here.")
    blind = N_(
        "A wrong `tl.multiple_of` hint and a descriptor not aligned to 16 bytes are other errors. An access that is "
        "aligned for its elements may still be too little aligned for a wide instruction. That is slow, not wrong."
    )
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each operation, with the lanes of all programs."""
        return access_faults(evidence, self.kind)
