"""Elements that the launch leaves unwritten, and that a trial of the autotuner has written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab import messages
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.checks.analysis.finding_text import element, finding
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.localization import N_, _, translated

_MEND = N_(
    "All configurations must write the same elements. Compute the grid from the configuration, lambda meta: "
    '(triton.cdiv(n, meta["BLOCK"]),), so that each covers all elements.'
)


class TunedLeftoverRule(WholeRule):
    """Elements hold what a configuration wrote that was tried and not chosen."""

    kind = "tuned-leftover"
    severity = WARNING
    subject = N_("elements left by trials of an autotuner")
    summary = N_("Elements hold values of a configuration that the autotuner tried and did not choose.")
    why = N_(
        "The chosen configuration leaves elements unwritten. After the first launch they look right, since a trial "
        "has written them. After the second launch, which needs no trials, they are undefined."
    )
    remedy = N_(
        "Let all configurations write the same elements. A grid that depends on the block is a function of the "
        'configuration: `lambda meta: (triton.cdiv(n, meta["BLOCK"]),)`.'
    )
    intended = N_("If the tensor is a workspace, and each configuration uses another part of it.")
    blind = N_(
        "Trials on a GPU are not recorded, nor are trials after the first second. Another launch may write the rest."
    )
    concerned = Concerned.ALL
    mark = N_("written by a trial of the autotuner only")

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each argument."""
        launch, tuning = evidence.launch, evidence.launch.tuning
        if tuning is None or tuning.earlier or not len(launch.tried_writes) or not evidence.complete:
            return
        writes = evidence.writes()
        left = launch.tried_writes - Ranges.joined(write.bytes() for write in writes)
        for argument in launch.arguments:
            if not argument.itemsize or argument.name in (tuning.protected or ()):
                continue
            op = next((write.op for write in writes if write.owner == argument), None)
            own = left & Ranges.of([argument.storage_address], [argument.storage_address + argument.storage_bytes])
            if not len(own) or op is None:
                continue
            number = own.size // argument.itemsize
            yield finding(
                launch,
                self.kind,
                _(
                    "this launch leaves {elements} of {name} unwritten, the first {first}; another configuration wrote "
                    "them when the autotuner tried it"
                ).format(
                    elements=messages.count(number, "element"),
                    name=argument.name,
                    first=element(argument, int(own.start[0])),
                ),
                translated(_MEND),
                op=op,
                argument=argument,
                count=number,
                where=own,
            )
