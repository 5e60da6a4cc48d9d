"""Comparisons in the kernel whose operator precedence in Python differs from how they look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.backend.source.kernel_source import KernelSource
from triton_lab.backend.source.operator_precedence import places
from triton_lab.launch.checks.analysis.finding_text import named_file
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.localization import N_


class PrecedenceRule(WholeRule):
    """Python groups a comparison differently than it looks."""

    kind = "precedence"
    severity = WARNING
    subject = N_("comparisons that Python groups in an unexpected way")
    summary = N_("Python groups a comparison in an unexpected way: `&` binds more tightly than `<`.")
    why = N_(
        "`i < n & j < m` means `i < (n & j) < m`. Such a mask is true for the wrong lanes, on a GPU as here, and the "
        "compiler does not warn."
    )
    remedy = N_("Put each comparison into parentheses: `(i < n) & (j < m)`.")
    intended = N_("If you intend this grouping. Write the parentheses anyway, for the next reader.")
    blind = N_(
        "Only two cases are reported, which are never intended: such an operator between two comparisons, and a "
        "number combined with a truth value."
    )
    concerned = Concerned.ALL

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each place, except those that the advice of what is ``found`` already names."""
        launch = evidence.launch
        if launch.compiled[0] is None:  # a launch that was loaded from a file, with its findings
            return
        hints = [one.hint for one in found]
        written = KernelSource(launch.compiled[0].fn, launch.executable.plan)
        for place, one in places(written):
            if not any(str(one) in hint for hint in hints):
                yield Finding(
                    self.kind,
                    one.message,
                    one.hint,
                    line=place.line,
                    column=place.column,
                    excerpt=tuple(written.excerpt(place)),
                    kernel=launch.kernel,
                    file=named_file(launch, place.file),
                )
