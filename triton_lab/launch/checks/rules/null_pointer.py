"""Accesses through a pointer that is null."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.faults import access_faults
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_, ngettext


class NullPointerRule(WholeRule):
    """A lane accesses memory through a null pointer. The launch stops there."""

    kind = "null-pointer"
    severity = ERROR
    subject = N_("faults of other programs")
    summary = N_("A lane accesses memory through a null pointer.")
    why = N_("Address 0 is never mapped. A GPU stops with an *illegal memory access*, and the process loses its GPU.")
    remedy = N_(
        "Fill all entries of a table of pointers, or mask off the lanes whose pointer is 0. Pass a tensor that has "
        "elements."
    )
    intended = N_("Never: the launch stops here.")
    blind = N_("A pointer that is wrong but not null is another finding, such as `out-of-bounds` or `unverified`.")
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each operation, with the lanes of all programs."""
        return access_faults(evidence, self.kind)

    def programs_mark(self, count: int) -> str:
        """The words for programs with a null pointer."""
        return ngettext("{count} program follows a null pointer", "{count} programs follow null pointers", count)
