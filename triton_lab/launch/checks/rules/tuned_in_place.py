"""Launches that an autotuner tried on memory that the kernel reads and changes: each trial changed it, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab import messages
from triton_lab.launch.checks.analysis.changed_elements import changed_elements
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import finding, listed
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.localization import N_, _


class TunedInPlaceRule(Rule):
    """An autotuner tried its configurations on memory that the kernel reads and changes."""

    kind = "tuned-in-place"
    severity = WARNING
    subject = N_("what an autotuner changed")
    summary = N_("An autotuner tried its configurations on memory that the kernel reads and changes.")
    why = N_(
        "Before the real launch, the autotuner runs each configuration many times on the same tensors. A kernel that "
        "adds to a tensor, or scales it in place, does so in each of these runs. So the first launch gives a wrong "
        "result. Later launches are right, since the choice is then known."
    )
    remedy = N_(
        "Name the argument in `restore_value=[...]` of `@triton.autotune`: its memory is restored after each trial. "
        "For a tensor of zeros that the kernel adds to, `reset_to_zero=[...]` is cheaper."
    )
    intended = N_("If the tensor is filled again after the first launch, before it is used.")
    blind = N_(
        "Only the launch for which the autotuner made its choice is examined, and only what that launch itself "
        "changes: a trial may change more."
    )
    concerned = Concerned.ALL
    mark = N_("changed by trials of the autotuner")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each argument."""
        tuning = evidence.launch.tuning
        if tuning is None or tuning.earlier or tuning.protected is None:
            return
        tried = sum(not one.failed for one in tuning.tried)
        told = set(tuning.protected)
        for op, lanes in changed_elements(evidence):
            argument = evidence.owner(op)
            if argument is None or argument.name in told:
                continue
            told.add(argument.name)
            yield finding(
                evidence.launch,
                self.kind,
                _(
                    "the autotuner tried {configurations} on {name} before this launch, and the kernel reads {name} "
                    "and changes it"
                ).format(configurations=messages.count(tried, "configuration"), name=argument.name),
                _remedy(argument.name, op.name != "tt.load"),
                op=op,
                argument=argument,
                lanes=listed([lanes]),
                count=len(lanes),
            )


def _remedy(name: str, adds: bool) -> str:
    if adds:
        return _('Write reset_to_zero=["{name}"] in @triton.autotune, or restore_value=["{name}"].').format(name=name)
    return _('Write restore_value=["{name}"] in @triton.autotune.').format(name=name)
