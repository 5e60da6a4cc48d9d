"""Programs that touch no memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.ir import effects
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.finding_text import LISTED, finding, programs, stretches
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_, _, ngettext, translated

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

_MEND = N_("Start fewer programs: triton.cdiv(number of elements, block size).")
# If no program does anything, a smaller grid is no remedy.
_HELD_BACK = N_("The masks and conditions around all loads and stores are false. Check them.")
_NO_ACCESS = N_(
    "The kernel stores nothing, and a compiler leaves out all that is not stored, loads too. Store the result with "
    "tl.store."
)


class IdleProgramRule(WholeRule):
    """A program accesses no memory."""

    kind = "idle-program"
    severity = NOTE
    subject = N_("idle programs")
    summary = N_("A program accesses no memory.")
    why = N_(
        "Starting a program takes time on a GPU, and an idle program takes the place of another one. Often the grid "
        "was computed for another size or another block."
    )
    remedy = N_(
        "Start `triton.cdiv(n, BLOCK)` programs for n elements. If all programs are idle, the masks and conditions "
        "around all loads and stores are false."
    )
    intended = N_(
        "If the number of programs is fixed, as in a persistent kernel, or with a grid of the largest size that may "
        "occur."
    )
    blind = N_("A launch that was stopped is not examined.")
    concerned = Concerned.ALL
    explains = False

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """At most one finding, about all idle programs."""
        if evidence.complete:
            yield from _findings(evidence.launch, evidence.idle())

    def programs_mark(self, count: int) -> str:
        """The words for idle programs."""
        return ngettext("{count} program touches no memory", "{count} programs touch no memory", count)


def _findings(launch: Recorded, numbers: Ints) -> Iterator[Finding]:
    """The finding about these programs; none if there are no idle ones."""
    if not len(numbers):
        return
    mend = translated(_MEND)
    if len(numbers) == launch.programs:
        operations = list(launch.executable.plan.walk())
        if any(op.name == "tt.print" for op in operations):  # a kernel that only prints
            return
        mend = translated(_HELD_BACK) if any(map(effects.is_access, operations)) else translated(_NO_ACCESS)
    verb = messages.noun(len(numbers), "touches", "touch")
    told, place = programs(launch, numbers), messages.shared_place(numbers.tolist(), launch.grid)
    if place:
        told = _("{programs}, all with {place},").format(programs=told, place=place)
    yield finding(
        launch,
        IdleProgramRule.kind,
        _("{programs} {verb} no memory; the grid has {all}").format(
            programs=told, verb=verb, all=messages.count(launch.programs, "program")
        ),
        mend,
        count=len(numbers),
        programs=numbers[:LISTED],
        extent=stretches(numbers, numbers + 1),
    )
