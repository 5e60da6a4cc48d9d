"""Comments that ignore a kind which does not exist. `checks/ignore_comments` finds them, after all other checks."""

from __future__ import annotations

from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_


class UnknownIgnoreRule(Rule):
    "A comment ignores a kind of finding that does not exist, or names no kind."

    kind = "unknown-ignore"
    severity = ERROR
    subject = N_("comments that ignore findings")
    summary = N_("A comment ignores a kind of finding that does not exist, or names no kind.")
    why = N_("Such a comment has no effect, although its author expects one.")
    remedy = N_("Write one or more kinds into the brackets: `# triton-lab: ignore[race, alias]`.")
    intended = N_("Never: correct the kind, or remove the comment.")
    blind = N_("Only comments on lines that run in this launch are read.")
    concerned = Concerned.ALL
