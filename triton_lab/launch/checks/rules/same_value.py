"""Stores of several programs to one element, all of the same value, which nothing orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.race.racing_access import conflict_of_parts, overlap, racing_accesses
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.localization import N_, _, translated

_MEND = N_(
    "This is correct only if all programs compute the same bits and the GPU stores an "
    "aligned element as a whole. Neither is guaranteed. Let one program store it (with a "
    "mask, or an if on tl.program_id)."
)


class SameValueRule(Rule):
    """Several programs store the same value to one element."""

    kind = "same-value"
    severity = WARNING
    subject = N_("races")
    summary = N_("Several programs store the same value to one element.")
    why = N_(
        "This is a race that is right only by chance: every program must compute the same bits, and the GPU must "
        "store an element as a whole. Besides, the same work and the same memory traffic are spent several times."
    )
    remedy = N_(
        "Let one program store it, with a mask or an `if` on `tl.program_id`. If the programs were meant to store to "
        "different elements, correct the offsets or the grid."
    )
    intended = N_("If many programs set one flag or one constant, and the program that reads it waits for the launch.")
    blind = N_("Values are compared in this launch. With other data the same stores may differ, which is a `race`.")
    concerned = Concerned.SEVERAL
    by_luck = True
    superseded_by = ("unused-grid-axis",)
    mark = N_("stored by several programs")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each store."""
        for each in evidence.once(racing_accesses):
            if each.same:
                remedy = overlap(each, evidence) or translated(_MEND)
                yield each.finding(evidence, self.kind, _("the same value, in no defined order"), remedy)
        yield from conflict_of_parts(evidence, self.kind, translated(_MEND))
