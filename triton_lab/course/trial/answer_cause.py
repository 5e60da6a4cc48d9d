"""Why an answer's numbers are wrong, in lines: the change that makes all cases right, or what is known instead.

A change of the kernel that makes the case at hand right is a reason only if it makes the other cases right as well.
If it does not, the search goes on with the case that refutes it. What holds for one case alone is told as that.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.course.trial.case_pattern import pattern_line
from triton_lab.course.trial.change_check import (
    CheckedCase,
    Confirmation,
    SideOfAll,
    confirmation,
    structure_of,
)
from triton_lab.launch.comparison.argument_difference import Compared, chance_bits
from triton_lab.launch.comparison.experiment import Experiment
from triton_lab.launch.comparison.mutation_search import Search
from triton_lab.launch.comparison.mutations.ir_query import unused
from triton_lab.launch.comparison.number_formats import as_array
from triton_lab.launch.comparison.relations import instead
from triton_lab.launch.comparison.rerun import may_be_rounding
from triton_lab.launch.comparison.time_budget import Effort
from triton_lab.launch.explanation.explanation import explain, told
from triton_lab.launch.recording.progress_callback import TookTooLong, within
from triton_lab.launch.reference.changed_inputs import ReferenceInput
from triton_lab.launch.reference.condition_search import wrong_condition
from triton_lab.launch.reference.dependence_search import wrong_dependence
from triton_lab.localization import _

if TYPE_CHECKING:
    import torch

    from triton_lab.course.trial.case_run import CaseRun
    from triton_lab.launch.comparison.comparison_result import Comparison
    from triton_lab.launch.comparison.experiment_results import Causes

_PATIENCE = 3.0  # seconds for a search of the cause; a second one follows if the first one's result is refuted
_SLOW = 0.5  # seconds: in a case that takes longer, no second search is made


@dataclass(frozen=True)
class _Found:
    """A change, or some that are as likely, and what becomes of all cases with it."""

    changes: tuple[Experiment, ...]
    outcome: Confirmation


def cause_lines(run: CaseRun, others: Sequence[CaseRun]) -> tuple[str, ...]:
    """Lines about why the wrong result of ``run`` is wrong; none if nothing is known.

    ``others`` are the runs of the other cases, right ones and wrong ones.
    """
    unlike = run.unlike
    if unlike is None or unlike.launch is None or unlike.argument is None:
        return ()
    try:
        return tuple(_lines(run, others))
    except Exception:  # the reason is an extra: the words already say what is wrong
        return ()


def _lines(run: CaseRun, others: Sequence[CaseRun]) -> list[str]:
    from triton_lab.launch.comparison.compare import compare

    unlike = run.unlike
    assert unlike is not None and unlike.launch is not None and unlike.argument is not None
    if unlike.launch.argument(unlike.argument).shape != tuple(unlike.wanted.shape):
        return []
    comparison = compare(unlike.launch, {unlike.argument: unlike.wanted}, seconds=1.0)
    causes = comparison.causes(seconds=_PATIENCE)
    odd = instead(comparison[unlike.argument], unlike.launch)
    related = [_("Odd: {relation}.").format(relation=one) for one in odd[:1]]
    idle = unused(unlike.launch)
    if idle:
        names = ", ".join(idle)
        related.append(_("Odd: {kernel} does not use {names}.").format(kernel=unlike.launch.kernel, names=names))
    case = CheckedCase.of(run)
    checked = [one for one in map(CheckedCase.of, others) if one is not None]
    found, why = _why(unlike.argument, causes, case, checked)
    if found:
        return [*related, *why]
    where = _condition(unlike.argument, [one for one in (case, *checked) if one is not None])
    inputs = _dependence(run, comparison)
    if where or inputs or why or related:
        pattern = pattern_line(run, others) if inputs and not where and not why else ""
        return [*where, *inputs, *related, *why, *([pattern] if pattern else [])]
    return [_("Odd: {relation}.").format(relation=told(one)) for one in explain(unlike.launch).broken[:1]]


def _condition(argument: str, cases: Sequence[CheckedCase]) -> list[str]:
    """A line on the values of the kernel where the result is wrong, and nowhere else, in all cases; or none."""
    samples = (one.sample(argument) for one in cases if argument in dict(one.results))
    found = wrong_condition(samples)
    return [] if found is None else [_("Odd: {relation}.").format(relation=found)]


def _dependence(run: CaseRun, comparison: Comparison) -> list[str]:
    """A line on an input's element that decides about a wrong one and must not, or does not and must; or none."""
    unlike, first = run.unlike, comparison.first
    if unlike is None or unlike.argument is None or first is None or len(run.launches) != 1:
        return []
    number = next(number for number, one in enumerate(run.results) if one is unlike.placed)
    inputs = [
        ReferenceInput(name, run.given[name], placed.address, placed.tensor.stride())
        for name, placed in run.attempt.tensors.items()
    ]

    def wanted(changed: Mapping[str, torch.Tensor]) -> NDArray[Any]:
        return as_array(run.asked.expected({**run.attempt.inputs, **run.given, **changed})[number].tensor)

    found = wrong_dependence(comparison.launch, comparison[unlike.argument], first, inputs, wanted)
    return [] if found is None else [_("Odd: {relation}.").format(relation=found)]


def _why(
    argument: str, causes: Causes, case: CheckedCase | None, others: Sequence[CheckedCase]
) -> tuple[bool, list[str]]:
    """The line with the reason why ``argument`` is wrong: that of ``causes`` if it holds in all cases, else that of a
    search in all of them. Before it, whether no case refutes it.
    """
    changes = _changes(causes)
    if causes.known and (not changes or changes[0].switch is None):
        return True, [_("Why: {cause}.").format(cause=causes.cause)]
    if case is None:
        return bool(changes), [_untried(one) for one in changes[:1]]
    ordered = sorted(others, key=lambda one: (not one.is_wrong, one.launch.seconds))
    with within(2 * _PATIENCE):
        outcomes = [(one, confirmation(one.switch, case, ordered)) for one in changes if one.switch is not None]
    found = _agreed([(one, outcome) for one, outcome in outcomes if outcome is not None])
    if found is None or found.outcome.refuted is not None:
        with within(2 * _PATIENCE):
            found = _searched(case, ordered, None if found is None else found.outcome.refuted) or found
    named = [_("Why: {cause}.").format(cause="; ".join(causes.named))] if causes.named else []
    if found is not None:
        return bool(named) or found.outcome.refuted is None, [*named, _in_words(found, others)]
    return bool(named), [*named, *(_near(argument, one) for one in changes[:1] if len(case.results) > 1)]


def _untried(one: Experiment) -> str:
    return _("One change that makes this case right: {cause}, with {change}. It was not tried on all others.").format(
        cause=one.cause, change=one.tried
    )


def _near(argument: str, one: Experiment) -> str:
    """What a change does for the one of several results whose elements are told."""
    text = (
        _("One change that makes {argument} right: with {change}.")
        if one.names_it
        else _("One change that makes most of {argument} right: with {change}.")
    )
    return text.format(argument=argument, change=one.tried)


def _changes(causes: Causes) -> list[Experiment]:
    """The changes that make the case right, or most of it, the likeliest first; those that are as likely follow it."""
    tried = sorted((one for one in causes.experiments if one.names_it or one.helps), key=lambda one: not one.names_it)
    best = [one for one in tried if one.names_it] or tried
    pair = [] if causes.pair is None or causes.pair.found is None else [causes.pair.found]
    return [*best[:1], *(best[0].rivals if best else ()), *best[1:3], *pair]


def _agreed(right: Sequence[tuple[Experiment, Confirmation]]) -> _Found | None:
    """The changes that are refuted by no case, else the first one of all; None if there is none."""
    holding = [(one, outcome) for one, outcome in right if outcome.refuted is None]
    if holding:
        first = holding[0][0]
        alike = [one for one, _ in holding if one is first or one in first.rivals or one.doubtful]
        return _Found(tuple(alike[:2]), holding[0][1])
    return _Found((right[0][0],), right[0][1]) if right else None


def _searched(case: CheckedCase, others: Sequence[CheckedCase], refuting: CheckedCase | None) -> _Found | None:
    """The likeliest change with which all cases are right: a search in the one that refuted another, or shows most."""
    same = structure_of(case.written)
    wrong = [one for one in (case, *others) if one.is_wrong and one.launch.seconds < _SLOW]
    wrong = [one for one in wrong if structure_of(one.written) == same]  # else this case could not be asked
    if not wrong:
        return None
    first = max(wrong, key=lambda one: (one is refuting, _shown(one)))
    comparison = first.comparison()
    rest = tuple(one for one in (case, *others) if one is not first)
    side = SideOfAll(
        f"{first.launch.kernel} (CPU)",
        first.launch,
        {one.name: one.b for one in comparison if one.written},
        case=first,
        others=rest,
    )
    bits = chance_bits([_joined(wrong)])
    search = Search.of(side, None, {one.name: one.bound for one in comparison if one.written})
    search.effort = Effort(max(bits, search.effort.bits))
    with contextlib.suppress(TookTooLong):
        for _unfit in search.one_by_one(_PATIENCE):
            pass
        search.derived(_PATIENCE)
    if not search.found:
        return None
    best = search.explanation()[0]
    outcome = None if best.switch is None else side.known.get(best.switch)
    return None if outcome is None else _Found((best, *best.rivals[:1]), outcome)


def _shown(case: CheckedCase) -> tuple[bool, int]:
    """How much a case shows: whether its errors are no roundings of its numbers, and how many elements are wrong."""
    return not all(map(may_be_rounding, case.plain)), sum(one.count for one in case.plain)


def _joined(cases: Sequence[CheckedCase]) -> Compared:
    """The first results of wrong cases, one after the other: a change that mends all of them does so less by chance."""
    first = [one.plain[0] for one in cases]
    found, wanted = (
        np.concatenate([side.reshape(-1) for side in sides])
        for sides in ([one.a for one in first], [one.b for one in first])
    )
    return Compared("", found, wanted)


def _in_words(found: _Found, others: Sequence[CheckedCase]) -> str:
    first, *rivals = found.changes
    cases = messages.all_of(found.outcome.right, "checked case")
    if found.outcome.refuted is not None:
        return _("One change that makes this case right, but not all: {cause}, with {change}.").format(
            cause=first.cause, change=first.tried
        )
    if not found.outcome.whole or (found.outcome.mended == 1 and any(one.is_wrong for one in others)):
        return _untried(first)
    if rivals:
        return _("Why: either {cause}, with {change}, or {cause_2}, with {change_2}: each makes {cases} right.").format(
            cause=first.cause, change=first.tried, cause_2=rivals[0].cause, change_2=rivals[0].tried, cases=cases
        )
    return _("Why: {cause}: with {change}, which makes {cases} right.").format(
        cause=first.cause, change=first.tried, cases=cases
    )
