"""Runs the checks of all rules on a recorded launch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab import messages
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_values import with_values
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.ignore_comments import without_ignored
from triton_lab.launch.checks.rule import WholeRule, rules
from triton_lab.launch.checks.silent_rules import SilentRules
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.fix_policy import FixPolicy
from triton_lab.launch.diagnosis.severity import SEVERITIES
from triton_lab.launch.diagnosis.verdict import Gathering, Verdict, reason_of
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import is_cut_short
from triton_lab.localization import _, translated

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

RULES = rules()  # loaded with this module, not in the middle of a launch
FIXES = FixPolicy(
    {kind: rule.repair for kind, rule in RULES.items()},
    frozenset(kind for kind, rule in RULES.items() if rule.unrepaired),
    frozenset(kind for kind, rule in RULES.items() if rule.told_by_fill),
)


def check(launch: Recorded, part: bool = False) -> Verdict:
    """Run all checks: the findings of ``launch``, by severity, then by line, and what could not be checked.

    Graver rules are checked first. For a ``part`` of a launch, rules about the whole launch are left out, and so are
    the `SilentRules` of a launch.
    """
    gathering = Gathering()
    if is_cut_short(launch):
        gathering.left_out(_("everything after that point"), _("the launch was stopped in a loop"))
    silent = SilentRules() if part else SilentRules.of(launch)
    summary = LaunchSummary(launch) if launch.tape is None else Evidence(launch, launch.tape)
    for kind, rule in RULES.items():
        found = gathering.findings
        if kind in silent.kinds and not found:
            continue
        with silent.learning(launch, kind, gathering):
            what = translated(rule.subject)
            if isinstance(rule, WholeRule):
                if not part:
                    gathering.run(what, partial(rule.check, summary, found))
            elif isinstance(summary, Evidence):
                gathering.run(what, partial(rule.check, summary, found))
    summary.close()
    if launch.tape is not None and launch.tape.dropped:
        races, reads = (translated(RULES[kind].subject) for kind in ("race", "uninitialized"))
        gathering.left_out(
            _("{races}, {reads} and aliases after that point").format(races=races, reads=reads), launch.tape.cut
        )
    return Verdict(in_order(completed(launch, gathering)), gathering.unchecked)


def completed(launch: Recorded, gathering: Gathering) -> list[Finding]:
    """The findings, with the values of their lanes and with what follows from these."""
    try:
        known = with_values(launch, gathering.findings)
        return [RULES[one.kind].completed(launch, one) for one in known]
    except Exception as error:
        gathering.left_out(_("the values of the lanes in the findings"), reason_of(error))
        return gathering.findings


def finished(launch: Recorded, findings: Sequence[Finding]) -> list[Finding]:
    """The findings in order: those in one that a reader takes for one, without what other findings supersede, and
    without those that a comment ignores."""
    plan, by_kind = launch.executable.plan, dict[str, list[Finding]]()
    for each in findings:
        by_kind.setdefault(each.kind, []).append(each)
    for kind in [kind for kind in by_kind if by_kind.keys() & RULES[kind].superseded_by]:
        del by_kind[kind]
    joined = [one for kind, some in by_kind.items() for one in RULES[kind].joined(plan, some)]
    return in_order(one_note_a_line(with_causes(without_ignored(launch, joined))))


def with_causes(findings: Sequence[Finding]) -> list[Finding]:
    """The findings; a fault that follows from another finding says that first, and what to do about it."""
    return [replace(one, **_caused(one, findings)) for one in findings]


def _caused(fault: Finding, findings: Sequence[Finding]) -> Mapping[str, Any]:
    """The message and the advice for a fault with a cause; nothing for other findings.

    A mask would only hide the cause, so it is no fix.
    """
    if not fault.stopped or fault.argument is None:
        return {}
    for one in findings:
        # The message describes the first program.
        here = one.argument == fault.argument and np.isin(fault.programs[:1], one.programs).any()
        if here and fault.kind in RULES[one.kind].causes:
            cause = one.message.removesuffix(messages.in_all(one.count, RULES[one.kind].noun(one)))
            text = _("{cause}, so there is a {fault}").format(cause=cause, fault=fault.message)
            return {"message": text, "hint": one.hint, "fix": None}
    return {}


def one_note_a_line(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without notes that explain no wrong result, on a line that has a finding of another kind.

    Where a line has such notes alone, those of the first kind stay.
    """
    lines: dict[object, list[Finding]] = {}
    for one in findings:
        lines.setdefault((one.file, one.line) if one.line is not None else id(one), []).append(one)
    first = {id(one): in_order(some)[0].kind for some in lines.values() for one in some}
    return [one for one in findings if RULES[one.kind].explains or one.kind == first[id(one)]]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by severity, errors first, then those that may explain a wrong result, then by line."""
    return sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), not RULES[f.kind].explains, f.line or 0))


def watchers(launch: Recorded) -> dict[str, Watcher]:
    """What watches ``launch``, which is about to run and too large for a replay, by the names of the watchers."""
    assert launch.tape is not None
    evidence = Evidence(launch, launch.tape)
    found = {name: one for rule in RULES.values() for name, one in rule.watchers(evidence).items()}
    return {name: one for name, one in found.items() if one is not None}
