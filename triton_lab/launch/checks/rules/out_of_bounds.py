"""Accesses outside of the memory of their tensor, and gathers outside of their block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.faults import access_faults, refusals, stopped_by
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.fix_policy import Repair
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_, ngettext


class OutOfBoundsRule(WholeRule):
    """A lane accesses memory outside of its tensor. The launch stops there."""

    kind = "out-of-bounds"
    severity = ERROR
    subject = N_("faults of other programs")
    summary = N_("A lane accesses memory outside of its tensor.")
    why = N_(
        "A GPU does not check addresses. A load reads other data, and a store changes another tensor. Only an "
        "address that is not mapped stops the kernel, with an *illegal memory access* that names no line."
    )
    remedy = N_(
        "Mask off the lanes that have no element: `mask=offsets < n`. If the offsets themselves are wrong, correct "
        "them: the message names the element that the lane touches."
    )
    intended = N_("Never: the launch stops here, and the rest of its output is missing.")
    blind = N_(
        "An access inside the storage of its tensor is in bounds, even if it touches the wrong element. Only the "
        "sizes of this launch are tested."
    )
    concerned = Concerned.ONE
    repair = Repair.MASK

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each operation, with the lanes of all programs."""
        yield from refusals(evidence, self.kind, "tt.gather")
        yield from access_faults(evidence, self.kind)
        yield from stopped_by(evidence, self.kind)

    def programs_mark(self, count: int) -> str:
        """The words for programs whose gather leaves its block."""
        return ngettext("{count} program is out of bounds", "{count} programs are out of bounds", count)
