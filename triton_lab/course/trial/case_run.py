"""An answer's attempt at one case: its results, and whether their numbers are right."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from triton_lab.course.answer_difference import unlike, unlike_in_kind
from triton_lab.course.answer_fault import AnswerFault
from triton_lab.course.attempt import Attempt, Bytes, Placed, bytes_of, tensors_of
from triton_lab.course.cases import Case, told
from triton_lab.course.launch_work import Requirement
from triton_lab.course.trial.expected_result import ExpectedResult
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import _

if TYPE_CHECKING:
    import torch

_LIKE = 8.0  # times as great on average: such numbers are not why only larger sizes are wrong


@dataclass(frozen=True)
class Demands:
    """The requirements of a task; see `Task`."""

    reference: Callable[..., Any]
    changes: tuple[str, ...]
    tolerance: tuple[float, float]
    work: tuple[Requirement, ...]
    allowed: frozenset[str]
    copied: bool
    contiguous: bool
    spread: bool
    exact: Callable[..., Sequence[torch.Tensor | None]] | None

    def expected(self, inputs: Mapping[str, Any]) -> list[ExpectedResult]:
        """The expected results for these arguments."""
        tensors = _several(self.reference(**_copies(inputs)))
        exact = [None] * len(tensors) if self.exact is None else self.exact(**_copies(inputs))
        return [ExpectedResult(*both) for both in zip(tensors, exact, strict=True)]


class CaseRun:
    """An answer's attempt at one case. ``fault`` is that of its numbers.

    ``earlier`` are the runs before. Their results are still there, so the memory of a new one is elsewhere.
    """

    def __init__(
        self,
        one: Case,
        attempted: Callable[[dict[str, Any]], Attempt],
        asked: Demands,
        seed: int,
        other: int,
        earlier: Sequence[CaseRun],
    ) -> None:
        self.asked, self._case, self._other = asked, one, other
        self.inputs, self.hard, self.shared = one.made(seed), one.hard, one.shared
        self.on = told(self.inputs)
        expected = asked.expected(self.inputs)
        self.before = {name: bytes_of(value) for name, value in tensors_of(self.inputs)}
        self.given: dict[str, torch.Tensor] = dict(tensors_of(_copies(self.inputs)))
        self.attempt = attempted(self.inputs)
        self.launches = self.attempt.launches
        self.results: list[Placed] = []
        kept = {placed.start for run in earlier for placed in run.results if placed.tensor.numel()}
        self.fault = self.attempt.fault or self._wrong(expected, kept, _of_smaller_sizes(self, earlier))

    def _wrong(
        self, expected: Sequence[ExpectedResult], kept: Collection[int], smaller: CaseRun | None
    ) -> AnswerFault | None:
        attempt, changes, on = self.attempt, self.asked.changes, self.on
        results = [attempt.inputs[name] for name in changes] if changes else attempt.given
        wrong = unlike_in_kind(results, expected, on)
        if wrong is not None:
            return wrong
        self.results = [one for one in results if isinstance(one, Placed)]
        if not changes and any(placed.start in kept for placed in self.results):
            message = _(
                "The result lies in the memory of an earlier result, so this call has changed the earlier one. Make a "
                "new tensor in each call."
            )
            return AnswerFault(message, on)
        wrong = unlike(self.results, expected, self.launches, on, self.asked.tolerance, self.given, changes)
        if wrong is not None:
            return self._explained(wrong, smaller)
        return _spoiled(attempt, self.before, changes, on)

    def _explained(self, wrong: AnswerFault, smaller: CaseRun | None) -> AnswerFault:
        """``wrong``, with a race before its lines; without lines, with a finding or a case of ``smaller`` sizes."""
        if wrong.lines:
            race = raced(self, ("race",))
            return wrong if race is None else replace(wrong, lines=(race.message, *wrong.lines))
        if self.asked.changes and any(isinstance(one, Placed) for one in self.attempt.given) and not self._changed():
            names = ", ".join(self.asked.changes)
            return replace(wrong, lines=(_("It returns a new tensor. Change {names} instead.").format(names=names),))
        finding = raced(self)
        if finding is not None:
            return replace(wrong, lines=(finding.message,))
        if smaller is None:
            return wrong
        right = _("It is right for smaller sizes: {on}.").format(on=smaller.on)
        return replace(wrong, lines=(right,))

    def _changed(self) -> bool:
        """Whether an argument has other numbers than before."""
        return any((bytes_of(one.tensor) != self.before[name]).any() for name, one in self.attempt.tensors.items())

    def others(self) -> dict[str, Any]:
        """The arguments with other numbers."""
        return self._case.made(self._other)


def _of_smaller_sizes(run: CaseRun, earlier: Sequence[CaseRun]) -> CaseRun | None:
    """The largest of the ``earlier`` runs in a size that is larger in ``run`` than in all of them, for like numbers."""
    for name, tensor in run.given.items():
        for axis, size in enumerate(tensor.shape):
            others = [one for one in earlier if one.given[name].numel()]
            largest = max(others, key=partial(_size, name, axis), default=None)
            if largest is not None and largest.given[name].shape[axis] < size:
                return largest if _greatness(run) <= _LIKE * _greatness(largest) else None
    return None


def _size(name: str, axis: int, run: CaseRun) -> int:
    return int(run.given[name].shape[axis])


def _greatness(run: CaseRun) -> float:
    """The mean of the absolute numbers of the argument in which it is greatest."""
    return max((float(tensor.double().abs().mean()) for tensor in run.given.values() if tensor.numel()), default=0.0)


def raced(run: CaseRun, kinds: Collection[str] = ()) -> AnswerFault | None:
    """The fault of a launch with a finding of the gravest kind, of one of ``kinds`` if there are any."""
    for launch in run.launches:
        for finding in launch.findings:
            if kinds and finding.kind not in kinds:
                continue
            if (finding.severity == ERROR or rules()[finding.kind].by_luck) and finding.kind not in run.asked.allowed:
                return AnswerFault(_of_finding(finding), run.on, launch, launch)
    return None


def _of_finding(finding: Finding) -> str:
    where = _("In {place}: ").format(place=finding.where) if finding.where else ""
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


def _copies(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Equal arguments for the reference, which may change them."""
    return {**inputs, **{name: value.clone() for name, value in tensors_of(inputs)}}


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (tuple, list)) else [given]
