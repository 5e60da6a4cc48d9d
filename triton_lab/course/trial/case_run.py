"""An answer's attempt at one case: its results, and whether their numbers are right."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triton_lab.course.answer_difference import Unlike, unlike, unlike_in_kind
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

    from triton_lab.launch.launch import Launch


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
    """An answer's attempt at one case. ``fault`` is that of its numbers, without a reason; `explained` finds it.

    ``unlike`` is the result that is not as expected.

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
        self.expected = asked.expected(self.inputs)
        self.before = {name: bytes_of(value) for name, value in tensors_of(self.inputs)}
        self.given: dict[str, torch.Tensor] = dict(tensors_of(_copies(self.inputs)))
        self.attempt = attempted(self.inputs)
        self.launches = self.attempt.launches
        self.results: list[Placed] = []
        self.unlike: Unlike | None = None
        kept = {placed.start for run in earlier for placed in run.results if placed.tensor.numel()}
        self.fault = self.attempt.fault or self._wrong(kept)

    def _wrong(self, kept: Collection[int]) -> AnswerFault | None:
        attempt, changes, on, expected = self.attempt, self.asked.changes, self.on, self.expected
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
        self.unlike = unlike(self.results, expected, self.launches, on, self.asked.tolerance, self.given, changes)
        if self.unlike is not None:
            return self.unlike.fault
        return _spoiled(attempt, self.before, changes, on)

    @property
    def stopped(self) -> bool:
        """Whether a launch was stopped by an error."""
        return any(launch.error is not None for launch in self.launches)

    def changed(self) -> bool:
        """Whether an argument has other numbers than before."""
        return any((bytes_of(one.tensor) != self.before[name]).any() for name, one in self.attempt.tensors.items())

    def others(self) -> dict[str, Any]:
        """The arguments with other numbers."""
        return self._case.made(self._other)


def raced(run: CaseRun, asked: Callable[[Launch, Finding], bool] = lambda launch, finding: True) -> AnswerFault | None:
    """The fault of a launch with a finding of the gravest kind, the first one that is ``asked`` for."""
    for launch in run.launches:
        for finding in launch.findings:
            grave = finding.severity == ERROR or rules()[finding.kind].by_luck
            if grave and finding.kind not in run.asked.allowed and asked(launch, finding):
                return AnswerFault(finding_text(finding), run.on, launch, launch)
    return None


def finding_text(finding: Finding) -> str:
    """A finding as a sentence with its place and what to do."""
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
