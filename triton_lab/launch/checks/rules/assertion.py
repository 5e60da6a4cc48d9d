"""Assertions of the kernel that fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.faults import refusals
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_, ngettext


class AssertionRule(WholeRule):
    """A device assertion fails. The launch stops there."""

    kind = "assertion"
    severity = ERROR
    subject = N_("faults of other programs")
    summary = N_("A device assertion fails.")
    why = N_(
        "A GPU evaluates `tl.device_assert` only if `TRITON_DEBUG=1` is set, and then loses its context. Without it "
        "the kernel goes on with the values that the assertion excludes."
    )
    remedy = N_("Look at the values in the message. Correct the code that computes them, or the condition.")
    intended = N_("Never: the launch stops here. Remove the assertion if it is wrong.")
    blind = N_("Only the values of this launch are tested.")
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for the assertion that stopped the launch, with all programs in which it fails."""
        return refusals(evidence, self.kind, "tt.assert")

    def programs_mark(self, count: int) -> str:
        """The words for programs in which the assertion fails."""
        return ngettext("{count} program breaks the assertion", "{count} programs break the assertion", count)
