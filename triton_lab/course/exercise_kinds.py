"""The kinds of exercises: each has a name and hints, and judges answers."""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_lab import messages
from triton_lab.course import progress_store
from triton_lab.course.answer_fault import AnswerFault, missing, raised
from triton_lab.course.answer_remark import precision_remark, untried_remark
from triton_lab.course.cases import Case, told
from triton_lab.course.exercise_answer import Answer, LocalAnswer, Unanswered
from triton_lab.course.feedback import Hint, NotSolved, Solved, show
from triton_lab.course.hard_cases import RANGES, hard_cases
from triton_lab.course.launch_work import Requirement
from triton_lab.course.run_answer import tried
from triton_lab.course.trial.case_run import Demands
from triton_lab.localization import _, translated

if TYPE_CHECKING:
    import torch

    from triton_lab.launch.launch import Launch

_MOST_ELEMENTS = 100_000  # of a call by a learner's test: larger sizes show nothing more


@dataclass(frozen=True, eq=False, repr=False)
class Exercise(ABC):
    """One exercise of the course; ``exercise("add_constant")`` gives it.

    ``name`` is also the name that the notebook gives to the answer. ``hints`` go from a nudge to nearly the answer.
    ``points`` count when a class is graded.

    >>> one = lab.course.exercise("add_constant")
    >>> one.title, one.chapter, one.points
    ('Add a constant', '00', 1)
    """

    name: str
    title: str
    hints: tuple[str, ...]
    points: int = field(default=1, kw_only=True)
    chapter: str = field(default="", kw_only=True)

    def __repr__(self) -> str:
        return _("{title}: {check} checks your answer, .hint() gives a hint").format(
            title=translated(self.title), check=f"exercise({self.name!r}).check({self.name})"
        )

    @abstractmethod
    def judged(self, answer: Answer) -> AnswerFault | None:
        """The fault of an answer, wherever it runs; None if it is right.

        >>> from triton_lab.course.exercise_answer import LocalAnswer
        >>> lab.course.exercise("idle_lanes").judged(LocalAnswer(24)) is None
        True
        """

    def judge(self, answer: Any) -> AnswerFault | None:
        """The fault of ``answer``, None if it is right. Nothing is shown or kept.

        >>> print(lab.course.exercise("add_constant").judge(lambda x, value: x + value))
        The numbers are right, but no kernel stored them. Compute them in your kernel.
        Tried with x (96,) float32, value = 2.5.
        """
        return self._judged_here(LocalAnswer(answer))

    def _judged_here(self, answer: LocalAnswer) -> AnswerFault | None:
        try:
            return self.judged(answer)
        except Unanswered as error:
            return error.fault

    def check(self, answer: Any) -> Solved:
        """Judge ``answer`` and note the result in the progress file.

        Raises NotSolved, whose message says what is wrong; in a notebook, the launch that shows it is drawn first. If a
        kernel goes wrong for sizes that were not tried, or on a GPU in tf32, the right answer has a remark.

        >>> lab.course.exercise("add_constant").check(lambda x, value: x + 1)
        Traceback (most recent call last):
            ...
        NotSolved: Add a constant · The result is -0.12584 at [0], but must be 1.37416: no launch wrote to...
        """
        here = LocalAnswer(answer)
        fault = self._judged_here(here)
        if fault is not None:
            progress_store.note(self.name, solved=False)
            title = translated(self.title)
            raise NotSolved(title, fault, show(title, fault))
        progress = progress_store.note(self.name, solved=True)
        return Solved(self.name, translated(self.title), progress, self._remark(here.launches))

    def _remark(self, launches: Sequence[Launch]) -> AnswerFault | None:
        """What is to be said about a right answer with these launches."""
        return untried_remark(launches)

    def hint(self) -> Hint:
        """The next hint; after all of them, the last one again. The progress file counts them.

        >>> print(lab.course.exercise("add_constant").hint())
        Hint ... of 3: ...
        """
        given = min(progress_store.hinted(self.name), len(self.hints))
        return Hint(translated(self.hints[given - 1]), given, len(self.hints))


@dataclass(frozen=True, eq=False, repr=False)
class Task(Exercise):
    """A function to write that launches a kernel. It is run on every case and compared with the reference.

    ``changes`` names the arguments that it changes in place, instead of returning a result; the reference returns their
    expected values. ``tolerance`` is (relative, absolute) for float32; half types get their own rounding on top.
    ``work`` are requirements on launches whose numbers are right; ``allowed`` are kinds of findings that the exercise
    intends. Unless ``copied``, the kernel must read the arguments themselves, and no copies of them. ``contiguous``
    results must be so. ``exact`` gives the results before their last rounding, None for one that is not rounded (see
    `ExpectedResult`). ``spread``: programs share the work on many elements. Harder cases are made from the declared
    ones (`hard_cases`), with the values that ``ranges`` names.
    """

    cases: Sequence[Case] = field(kw_only=True)
    reference: Callable[..., Any] = field(kw_only=True)
    changes: tuple[str, ...] = field(default=(), kw_only=True)
    tolerance: tuple[float, float] = field(default=(0.0, 0.0), kw_only=True)
    work: tuple[Requirement, ...] = field(default=(), kw_only=True)
    allowed: tuple[str, ...] = field(default=(), kw_only=True)
    copied: bool = field(default=True, kw_only=True)
    contiguous: bool = field(default=False, kw_only=True)
    spread: bool = field(default=True, kw_only=True)
    exact: Callable[..., Sequence[torch.Tensor | None]] | None = field(default=None, kw_only=True)
    ranges: tuple[str, ...] = field(default=tuple(RANGES), kw_only=True)

    def judged(self, answer: Answer) -> AnswerFault | None:
        asked = Demands(
            self.reference,
            self.changes,
            self.tolerance,
            self.work,
            frozenset(self.allowed),
            self.copied,
            self.contiguous,
            self.spread,
            self.exact,
        )
        return tried(answer.attempt, (*self.cases, *hard_cases(self.cases, self.ranges)), asked, answer.seeds)

    def _remark(self, launches: Sequence[Launch]) -> AnswerFault | None:
        return super()._remark(launches) or precision_remark(launches, self.tolerance)


@dataclass(frozen=True, eq=False, repr=False)
class Program(Exercise):
    """A function to write that works on lazy tensors.

    ``wrong`` runs it on the arguments of each case (`lazy_steps.stepped`), and says what is wrong with its numbers or
    its steps, "" if nothing is; it also repeats the launches on other numbers.
    """

    cases: Sequence[Case] = field(kw_only=True)
    wrong: Callable[[Answer, dict[str, Any], dict[str, Any]], str] = field(kw_only=True)

    def judged(self, answer: Answer) -> AnswerFault | None:
        for number, one in enumerate(self.cases):
            inputs, others = map(one.made, answer.seeds(number))
            on = told(inputs)
            try:
                wrong = self.wrong(answer, inputs, others)
            except Unanswered:
                raise
            except Exception as error:
                return raised(error, on)
            if wrong:
                return AnswerFault(wrong, on)
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Question(Exercise):
    """A value to find: a number, a name, a tuple of them. ``right`` computes it; ``tell`` explains a wrong one."""

    right: Callable[[], Any] = field(kw_only=True)
    tell: Callable[[Any, Any], str] = field(kw_only=True)

    def judged(self, answer: Answer) -> AnswerFault | None:
        return self._compared(answer.value())

    def _compared(self, answer: Any) -> AnswerFault | None:
        right = self.right()
        if isinstance(answer, str) and isinstance(right, (int, float, tuple)):
            return missing(answer, _("a tuple") if isinstance(right, tuple) else _("a number, without quotes"))
        try:
            same = type(answer) is not bool and bool(_equal(answer, right))
        except (TypeError, ValueError):
            same = False
        return (
            None
            if same
            else AnswerFault(_("{answer} is wrong. {why}").format(answer=repr(answer), why=self.tell(answer, right)))
        )


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Exercise):
    """A choice with many right answers: ``wrong`` says what is wrong with one, "" if nothing is."""

    wrong: Callable[[Any], str] = field(kw_only=True)

    def judged(self, answer: Answer) -> AnswerFault | None:
        given = answer.value()
        try:
            wrong = self.wrong(given)
        except (TypeError, ValueError, LookupError) as error:
            wrong = _("{given} does not fit: {error}").format(given=repr(given), error=error)
        return AnswerFault(wrong) if wrong else None


@dataclass(frozen=True, eq=False, repr=False)
class WrittenTest(Exercise):
    """A test to write: a function that gets an implementation, and raises an error if that is wrong.

    ``right`` and ``wrong`` are the names of implementations in the table that ``table`` returns, each with words for
    what it does. All of ``right`` must pass the test, and none of ``wrong``. They run in the judge's own process, in an
    order that the answer cannot know.
    """

    table: Callable[[], Mapping[str, Callable[..., Any]]] = field(kw_only=True)
    right: Mapping[str, str] = field(kw_only=True)
    wrong: Mapping[str, str] = field(kw_only=True)

    def judged(self, answer: Answer) -> AnswerFault | None:
        table, names = self.table(), [*self.right, *self.wrong]
        random.Random(answer.seeds(0)[0]).shuffle(names)
        said = {name: answer.tested(small_only(table[name])) for name in names}
        for name, what in self.right.items():
            if said[name]:
                message = _("The test fails for a right kernel, which {what}. The test says: {said}")
                return AnswerFault(message.format(what=translated(what), said=said[name]))
        passing = [what for name, what in self.wrong.items() if not said[name]]
        if not passing:
            return None
        message = _("The test passes for a wrong kernel, which {what}. It finds {found} of {total} wrong kernels.")
        found = len(self.wrong) - len(passing)
        return AnswerFault(message.format(what=translated(passing[0]), found=found, total=len(self.wrong)))


def small_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` for tensors of few elements: it raises ValueError for more."""

    def called(*inputs: Any) -> Any:
        import torch

        elements = sum(one.numel() for one in inputs if isinstance(one, torch.Tensor))
        if elements > _MOST_ELEMENTS:
            raise ValueError(
                _("a test of this exercise may use {most} elements in a call, and not {elements}").format(
                    most=messages.number(_MOST_ELEMENTS), elements=messages.number(elements)
                )
            )
        return function(*inputs)

    return called


def _equal(answer: Any, right: Any) -> bool:
    if isinstance(right, float):
        return math.isclose(answer, right, rel_tol=1e-6)
    if isinstance(right, (tuple, list)):
        return len(answer) == len(right) and all(map(_equal, answer, right))
    return bool(answer == right)
