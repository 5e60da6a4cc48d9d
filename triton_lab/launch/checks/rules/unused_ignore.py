"""Comments that ignore a finding which is not there. `checks/ignore_comments` finds them, after all other checks."""

from __future__ import annotations

from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_


class UnusedIgnoreRule(Rule):
    "A comment ignores a finding that does not occur."

    kind = "unused-ignore"
    severity = NOTE
    subject = N_("comments that ignore findings")
    summary = N_("A comment ignores a finding that does not occur.")
    why = N_("Such a comment was right once. Today it would hide a new mistake of that kind on its line.")
    remedy = N_("Remove the kind from the comment, or the comment.")
    intended = N_(
        "If other sizes need it. `triton-lab check` reports it only if no launch of the kernel in the script does."
    )
    blind = N_("Only comments on lines that run in this launch are read.")
    concerned = Concerned.ALL
    explains = False
    every_launch = True
