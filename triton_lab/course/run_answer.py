"""Tries an answer: runs it on each case, records its launches, and compares the results with the reference.

Meanwhile `torch.empty` returns memory filled with NaN and huge integers, so that an element that was never stored
shows. A finding of the gravest kind is a fault even if the numbers are right: an access out of bounds, or a race, is
never correct.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triton_lab.course.answer_difference import first_of, near_to, storing, unlike, unlike_in_kind, value_text
from triton_lab.course.answer_fault import AnswerFault, raised, stub_of
from triton_lab.course.answer_replays import Copy, again, copies, line_of_luck
from triton_lab.course.attempt import Attempt, Bytes, Inputs, Placed, bytes_of
from triton_lab.course.cases import Case, told
from triton_lab.course.launch_work import Requirement
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _

if TYPE_CHECKING:
    import torch

    from triton_lab.launch.launch import Launch

MOST_STEPS = 100_000  # loop iterations in one launch: the cases are small
OTHERS = 7_000  # added to the seed for other numbers


def tried(
    attempted: Callable[[dict[str, Any]], Attempt],
    cases: Sequence[Case],
    reference: Callable[..., Any],
    changes: Collection[str] = (),
    tolerance: tuple[float, float] = (0.0, 0.0),
    work: Sequence[Requirement] = (),
    allowed: Collection[str] = (),
    copied: bool = True,
    seeds: Callable[[int], tuple[int, int]] = lambda number: (number, number + OTHERS),
) -> AnswerFault | None:
    """The first fault of an answer, None if there is none; `Task` explains the parameters.

    ``attempted`` calls the answer, here or elsewhere. ``seeds`` are the seeds of a case's numbers, and of the other
    numbers on which its launches are repeated.
    """
    asked = _Asked(reference, tuple(changes), tolerance, tuple(work), frozenset(allowed), copied)
    for number, one in enumerate(cases):
        mine, other = seeds(number)
        fault = _on(one.made(mine), one.made(other), attempted, asked)
        if fault is not None:
            return fault
    return None


@dataclass(frozen=True)
class _Asked:
    """The requirements of a task; see `Task`."""

    reference: Callable[..., Any]
    changes: tuple[str, ...]
    tolerance: tuple[float, float]
    work: tuple[Requirement, ...]
    allowed: frozenset[str]
    copied: bool


def _on(
    inputs: dict[str, Any], others: dict[str, Any], attempted: Callable[[dict[str, Any]], Attempt], asked: _Asked
) -> AnswerFault | None:
    on = told(inputs)
    expected = _several(asked.reference(**_copies(inputs)))
    before = {name: bytes_of(value) for name, value in _tensors(inputs)}
    attempt = attempted(inputs)
    if attempt.fault is not None:
        return attempt.fault
    changes, launches = asked.changes, attempt.launches
    results = [attempt.inputs[name] for name in changes] if changes else attempt.given
    wrong = unlike_in_kind(results, expected, on) or _found(launches, on, asked.allowed)
    if wrong is not None:
        return wrong
    placed = [one for one in results if isinstance(one, Placed)]
    wrong = (
        unlike(placed, expected, launches, on, asked.tolerance)
        or _spoiled(attempt, before, changes, on)
        or _not_launched(placed, launches, on)
    )
    if wrong is not None:
        return wrong
    made = copies(attempt, before)
    starts = {name: {one.start} for name, one in attempt.tensors.items()}
    for one in made:
        starts[one.argument].add(one.start)
    return (
        (_copied(made[0], on) if made and not asked.copied else None)
        or _lucky(launches, on)
        or _unmade(attempt, placed, before, others, asked, on)
        or _overworked(launches, Inputs(inputs, starts), asked.work, on)
    )


# --- Possible faults, in the order in which they are checked ----------------------------------------------


def raising(error: Exception, function: Callable[..., Any], on: str, launches: Sequence[Launch]) -> AnswerFault:
    """The fault of a call of ``function`` that raised: the stub's message, the stopped launch, or the error's lines."""
    stub = stub_of(error)
    if stub:
        return AnswerFault(stub, untouched=True)
    failed = next((launch for launch in reversed(launches) if launch.error is not None), None)
    if failed is not None:
        found = failed.findings[0].message if failed.findings else str(error)
        return AnswerFault(
            _("The launch of {kernel} stopped: {found}.").format(kernel=failed.kernel, found=found).replace("..", "."),
            on,
            failed,
            failed,
        )
    return raised(error, on, function)


def _found(launches: Sequence[Launch], on: str, allowed: Collection[str]) -> AnswerFault | None:
    for launch in launches:
        for finding in launch.findings:
            if (finding.severity == ERROR or rules()[finding.kind].by_luck) and finding.kind not in allowed:
                return AnswerFault(_of_finding(finding), on, launch, launch)
    return None


def _of_finding(finding: Finding) -> str:
    where = f"In {finding.where}: " if finding.where else ""
    message = finding.message.rstrip(".")
    return f"{where}{message if where else message[0].upper() + message[1:]}. {finding.hint}"


def _spoiled(attempt: Attempt, before: Mapping[str, Bytes], changes: Collection[str], on: str) -> AnswerFault | None:
    launch = attempt.launches[-1] if attempt.launches else None
    for name, placed in attempt.tensors.items():
        changed = bytes_of(placed.tensor) != before[name]
        if name not in changes and changed.any():
            return AnswerFault(
                _("It changes {name}. Write the result to a new tensor.").format(name=name), on, launch, launch
            )
        if (changed & ~placed.inside).any():
            return AnswerFault(
                _("It changes elements outside of {name}, in the same storage.").format(name=name), on, launch, launch
            )
    return None


def _not_launched(results: Sequence[Placed], launches: Sequence[Launch], on: str) -> AnswerFault | None:
    for placed in results:
        first = (0,) * placed.tensor.dim()
        if placed.tensor.numel() and storing(launches, placed, first)[0] is None:
            return AnswerFault(_("The numbers are right, but no kernel stored them. Compute them in your kernel."), on)
    return None


def _copied(made: Copy, on: str) -> AnswerFault:
    message = _(
        "The kernel gets a copy of {argument} that was made outside of it. Load from {argument} itself."
    ).format(argument=made.argument)
    return AnswerFault(message, on, made.launch, made.launch)


def _unmade(
    attempt: Attempt,
    results: Sequence[Placed],
    before: Mapping[str, Bytes],
    others: dict[str, Any],
    asked: _Asked,
    on: str,
) -> AnswerFault | None:
    """The fault if the same launches are wrong on other numbers: then not all of the result comes from them."""
    launch = attempt.launches[-1] if attempt.launches else None
    now = {name: _surrounded(value) for name, value in _tensors(others)}
    expected = _several(asked.reference(**_copies(others)))
    try:
        world = again(attempt, before, now)
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
    for placed, wanted in zip(results, expected, strict=True):
        found = placed.holding(world.over(placed.start, bytes_of(placed.tensor)))
        near = near_to(found, wanted, asked.tolerance)
        if not bool(near.all()):
            first = first_of(near)
            at = list(first) if first else "its only element"
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


def _lucky(launches: Sequence[Launch], on: str) -> AnswerFault | None:
    for launch in launches:
        line = line_of_luck(launch)
        if line is not None:
            message = _(
                "The numbers are right by chance: they depend on masked-off lanes of the load in line {line}, whose "
                "values are undefined. Pass other=... to the load."
            ).format(line=line)
            return AnswerFault(message, on, launch, launch)
    return None


def _overworked(launches: Sequence[Launch], inputs: Inputs, work: Sequence[Requirement], on: str) -> AnswerFault | None:
    for requirement in work if launches else ():
        wrong = requirement(launches, inputs)
        if wrong:
            return AnswerFault(
                _("The numbers are right, but {wrong}.").format(wrong=wrong), on, launches[-1], launches[-1]
            )
    return None


# --- Small things ---------------------------------------------------------------------------------------


def _tensors(inputs: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    import torch

    return ((name, value) for name, value in inputs.items() if isinstance(value, torch.Tensor))


def _copies(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Equal arguments for the reference, which may change them."""
    return {**inputs, **{name: value.clone() for name, value in _tensors(inputs)}}


def _surrounded(tensor: torch.Tensor) -> Bytes:
    """The bytes of the tensor's storage, with changed bytes around a view."""
    data, placed = bytes_of(tensor), Placed.of(tensor)
    data[~placed.inside] ^= 1
    return data


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (tuple, list)) else [given]
