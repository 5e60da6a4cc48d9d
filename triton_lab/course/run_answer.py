"""Tries an answer: runs it on each case, records its launches, and compares the results with the reference.

Meanwhile `torch.empty` returns memory filled with NaN and huge integers, so that an element that was never stored
shows. A finding of the gravest kind is a fault even if the numbers are right: an access out of bounds, or a race, is
never correct.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triton_lab.course.answer_difference import (
    converted,
    not_contiguous,
    storing,
    unstored,
    value_text,
)
from triton_lab.course.answer_fault import AnswerFault, raised, stub_of
from triton_lab.course.answer_replays import again, copies, line_of_luck
from triton_lab.course.attempt import Attempt, Inputs, bytes_of, surrounded, tensors_of
from triton_lab.course.cases import Case
from triton_lab.course.launch_work import wide
from triton_lab.course.trial.case_run import CaseRun, Demands, raced
from triton_lab.course.trial.expected_result import first_of
from triton_lab.course.trial.explained_fault import explained, with_pattern
from triton_lab.course.trial.program_shares import one_program
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

MOST_STEPS = 100_000  # loop iterations in one launch: the cases are small
_FEW = 16  # elements
_BLOCK = 8  # elements that an access should touch at least
_MANY = 4_000  # elements that one program should not process alone
_PATIENCE, _SMALL = 2.0, 23_000  # seconds for the runs of other cases, when one is wrong, and elements of each
OTHERS = 7_000  # added to the seed for other numbers


def tried(
    attempted: Callable[[dict[str, Any]], Attempt],
    cases: Sequence[Case],
    asked: Demands,
    seeds: Callable[[int], tuple[int, int]] = lambda number: (number, number + OTHERS),
) -> AnswerFault | None:
    """The first fault of an answer, None if there is none.

    ``attempted`` calls the answer, here or elsewhere. ``seeds`` are the seeds of a case's numbers, and of the other
    numbers on which its launches are repeated.
    """
    runs: list[CaseRun] = []
    # The first case comes again, with other numbers: what an answer has kept of a call shows in the next one.
    all_cases = [*cases, *(replace(first, hard=True, shared=False) for first in cases[:1])]
    for number, one in enumerate(all_cases):
        run = CaseRun(one, attempted, asked, *seeds(number), runs)
        if run.unlike is not None:
            return explained(run, _others(run, runs, all_cases, attempted, seeds))
        if run.fault is not None and run.stopped:
            return with_pattern(run.fault, run, _others(run, runs, all_cases, attempted, seeds))
        if run.fault is not None:
            return run.fault
        runs.append(run)
    # The numbers of all cases are right. Each later question is asked of all cases before the next one.
    for question in (_not_launched, _lucky, raced, _copied, _unmade, _overworked, _gathered):
        for run in runs:
            if run.hard and question not in (_not_launched, _gathered):
                continue
            fault = question(run)
            if fault is not None:
                return fault
    return None


def _others(
    wrong: CaseRun,
    right: Sequence[CaseRun],
    cases: Sequence[Case],
    attempted: Callable[[dict[str, Any]], Attempt],
    seeds: Callable[[int], tuple[int, int]],
) -> list[CaseRun]:
    """The runs of all cases but the ``wrong`` one, as far as there is time: the ``right`` ones, then small ones.

    A wrong answer may take very long on a large case.
    """
    found, end = [*right], time.monotonic() + _PATIENCE
    for number in range(len(right) + 1, len(cases)):
        own = seeds(number)
        elements = sum(tensor.numel() for _name, tensor in tensors_of(cases[number].made(own[0])))
        if elements <= _SMALL and time.monotonic() < end:
            found.append(CaseRun(cases[number], attempted, wrong.asked, *own, [*found, wrong]))
    return found


# --- Possible faults, in the order in which they are checked ----------------------------------------------


def raising(error: Exception, function: Callable[..., Any], on: str, launches: Sequence[Launch]) -> AnswerFault:
    """The fault of a call of ``function`` that raised: the stub's message, the stopped launch, or the error's lines."""
    stub = stub_of(error)
    if stub:
        return AnswerFault(stub, untouched=True)
    failed = next((launch for launch in reversed(launches) if launch.error is not None), None)
    if failed is not None:
        first = next(iter(failed.findings), None)
        found = str(error) if first is None else first.message
        return AnswerFault(
            _("The launch of {kernel} stopped: {found}.").format(kernel=failed.kernel, found=found).replace("..", "."),
            on,
            failed,
            failed,
            lines=() if first is None or not first.hint else (first.hint,),
        )
    return raised(error, on, function)


def _not_launched(run: CaseRun) -> AnswerFault | None:
    """The fault of results that no launch stored, or not whole, or that lie in the memory of an argument."""
    held = {one.start: name for name, one in run.attempt.tensors.items()}
    for placed in () if run.asked.changes else run.results:
        if placed.tensor.numel() and placed.start in held:
            message = _("The result shares memory with {name}. Write it to a new tensor.").format(
                name=held[placed.start]
            )
            return AnswerFault(message, run.on)
    for placed in run.results:
        first = (0,) * placed.tensor.dim()
        if placed.tensor.numel() and storing(run.launches, placed, first)[0] is None:
            message = _("The numbers are right, but no kernel stored them. Compute them in your kernel.")
            return AnswerFault(message, run.on, lines=converted(run.launches, placed))
        left = None if run.asked.changes else unstored(run.launches, placed)
        if left is not None:
            message = _(
                "The numbers are right, but no kernel stored the one at {at}: it was there before. Store every element "
                "of the result in your kernel."
            ).format(at=list(left) or _("its only element"))
            return AnswerFault(message, run.on, run.launches[-1], run.launches[-1])
    return not_contiguous(run.results, run.on) if run.asked.contiguous else None


def _copied(run: CaseRun) -> AnswerFault | None:
    many = any(value.numel() >= _FEW for name, value in tensors_of(run.inputs))  # few may be equal by chance
    made = () if run.asked.copied or not many else copies(run.attempt, run.before)
    for one in made:
        message = _(
            "The kernel gets a copy of {argument} that was made outside of it. Load from {argument} itself."
        ).format(argument=one.argument)
        return AnswerFault(message, run.on, one.launch, one.launch)
    return None


def _unmade(run: CaseRun) -> AnswerFault | None:
    """The fault if the same launches are wrong on other numbers: then not all of the result comes from them."""
    attempt, asked, on, others = run.attempt, run.asked, run.on, run.others()
    launch = attempt.launches[-1] if attempt.launches else None
    now = {name: surrounded(value) for name, value in tensors_of(others)}
    expected = asked.expected(others)
    try:
        world = again(attempt, run.before, now)
    except KernelError as error:
        message = (
            _("With other inputs the same launches stop: {message}.").format(message=error.message).replace("..", ".")
        )
        return AnswerFault(
            _("The numbers are right, but not for other inputs. {message}").format(message=message), on, launch, launch
        )
    except CannotReplay as error:
        return AnswerFault(
            _("The launches cannot be run again, so the answer cannot be judged: {error}.").format(error=error),
            on,
            launch,
            launch,
        )
    for placed, values in zip(run.results, expected, strict=True):
        found = placed.holding(world.over(placed.start, bytes_of(placed.tensor)))
        near, wanted = values.near(found, asked.tolerance), values.tensor
        if not bool(near.all()):
            first = first_of(near)
            at = list(first) if first else _("its only element")
            message = _(
                "The numbers are right, but the launches do not compute all of them. With other inputs the same "
                "launches give {found} at {at}, but it must be {wanted}. Compute everything from the arguments in "
                "the kernel."
            ).format(found=value_text(found[first]), at=at, wanted=value_text(wanted[first]))
            return AnswerFault(message, on, launch, launch)
    for name, placed in attempt.tensors.items():
        changed = world.over(placed.start, now[name]) != now[name]
        if (changed & ~placed.inside).any() or (name not in asked.changes and changed.any()):
            return AnswerFault(
                _("With other inputs it changes {name}, or elements beside it.").format(name=name), on, launch, launch
            )
    return None


def _lucky(run: CaseRun) -> AnswerFault | None:
    for launch in run.launches:
        line = line_of_luck(launch)
        if line is not None:
            message = _(
                "The numbers are right by chance: they depend on masked-off lanes of the load in line {line}, whose "
                "values are undefined. Pass other=... to the load."
            ).format(line=line)
            return AnswerFault(message, run.on, launch, launch)
    return None


def _overworked(run: CaseRun) -> AnswerFault | None:
    launches = run.launches
    starts = {name: {one.start} for name, one in run.attempt.tensors.items()}
    for one in copies(run.attempt, run.before) if launches and run.asked.work else ():
        starts[one.argument].add(one.start)
    inputs = Inputs(run.inputs, starts)
    for requirement in run.asked.work if launches else ():
        wrong = requirement(launches, inputs)
        if wrong:
            return AnswerFault(
                _("The numbers are right, but {wrong}.").format(wrong=wrong), run.on, launches[-1], launches[-1]
            )
    return None


def _gathered(run: CaseRun) -> AnswerFault | None:
    """The fault if one program does the work for many elements, or does it one element at a time."""
    many = run.launches and run.hard and any(value.numel() >= _MANY for name, value in tensors_of(run.inputs))
    if not many or not run.shared:
        return None
    inputs = Inputs(run.inputs)
    wrong = (one_program(run.launches, inputs) if run.asked.spread else "") or wide(_BLOCK)(run.launches, inputs)
    if not wrong:
        return None
    launch = run.launches[-1]
    return AnswerFault(_("The numbers are right, but {wrong}.").format(wrong=wrong), run.on, launch, launch)
