"""The fault of wrong numbers with all that is known about it: the reason, a finding behind it, the cases, a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triton_lab.course.answer_difference import Unlike, converted
from triton_lab.course.answer_fault import AnswerFault
from triton_lab.course.attempt import Placed
from triton_lab.course.trial import answer_cause
from triton_lab.course.trial.case_pattern import pattern_line
from triton_lab.course.trial.case_run import CaseRun, finding_text, raced
from triton_lab.ir import effects
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.comparison.compare import compare
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


def explained(run: CaseRun, others: Sequence[CaseRun]) -> AnswerFault:
    """The fault of ``run``, whose numbers are wrong, with its reason; ``others`` are the runs of the other cases."""
    assert run.unlike is not None
    return replace(run.unlike.fault, picture=_picture(run.unlike), lines=tuple(_lines(run, run.unlike, others)))


def with_pattern(fault: AnswerFault, run: CaseRun, others: Sequence[CaseRun]) -> AnswerFault:
    """The ``fault`` of ``run`` with a line on the cases that are wrong like it."""
    pattern = pattern_line(run, others)
    return replace(fault, lines=(*fault.lines, pattern)) if pattern else fault


def _lines(run: CaseRun, unlike: Unlike, others: Sequence[CaseRun]) -> list[str]:
    found = converted(run.launches, unlike.placed) if unlike.launch is None else answer_cause.cause_lines(run, others)
    if found:
        race = raced(run, lambda launch, finding: finding.kind == "race")
        return [*([] if race is None else [race.message]), *found]
    if run.asked.changes and any(isinstance(one, Placed) for one in run.attempt.given) and not run.changed():
        return [_("It returns a new tensor. Change {names} instead.").format(names=", ".join(run.asked.changes))]
    finding = raced(run, lambda launch, finding: launch is unlike.launch and descends(launch, unlike.argument, finding))
    if finding is not None:
        return [finding.message]
    pattern = pattern_line(run, others)
    return [*_beside(unlike), *([pattern] if pattern else [])]


def _beside(unlike: Unlike) -> list[str]:
    """A line with a finding that may explain wrong values, of an operation from which these are computed; or none."""
    if unlike.launch is None:
        return []
    for one in unlike.launch.findings:
        if rules()[one.kind].explains and one.op is not None and descends(unlike.launch, unlike.argument, one):
            return [_("Odd: {finding}").format(finding=finding_text(one))]
    return []


def descends(launch: Launch, argument: str | None, finding: Finding) -> bool:
    """Whether what ``launch`` writes to ``argument`` is computed from the operation that ``finding`` is about.

    A finding about the argument itself is, and so is one whose operation is not known.
    """
    if finding.argument == argument or finding.op is None:
        return True
    plan = launch.executable.plan
    flow = Flow.of(plan)
    writes = [op for op in plan.walk() if effects.writes(op) and _owner(launch, op.index) in (argument, None)]
    start = {Value(flow.function_of[op.index], operand) for op in writes for operand in op.operands}
    makers = {flow.maker[value].index for value in flow.behind(start) if value in flow.maker}
    return finding.op in makers | {op.index for op in writes}


def _owner(launch: Launch, op: int) -> str | None:
    owner = launch.owner_of(op)
    return None if owner is None else owner.name


def _picture(unlike: Unlike) -> Any:
    """The result beside the expected one, or the programs that stored it."""
    launch, argument = unlike.launch, unlike.argument
    if launch is None or argument is None:
        return launch
    if launch.argument(argument).shape == tuple(unlike.wanted.shape):
        try:
            # The experiments stay folded behind the button.
            return compare(launch, {argument: unlike.wanted}, seconds=1.0).plot(tries=False)
        except Exception:  # the picture is an extra: the words already say what is wrong
            return launch
    return launch.plot.tiling(argument, unlike.program)
