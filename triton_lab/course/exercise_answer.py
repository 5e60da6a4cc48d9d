"""An answer as its judge sees it: its value, or what it does with inputs.

There are two kinds: `LocalAnswer` is in this process; the answers of a class's notebooks run in a process of their own
(`judging/`). The judge is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from triton_lab.course.answer_fault import TO_DO, AnswerFault, missing, raised, returned, stub_of
from triton_lab.course.attempt import Attempt, Other, Placed
from triton_lab.course.cases import told
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.course.lazy_steps import StepsRun
    from triton_lab.launch.launch import Launch
    from triton_lab.polyhedral import Schedule, Scop

_TEXT = 300  # characters of what a test says


class Unanswered(Exception):
    """There is no answer of the expected kind, or it raised: ``fault`` says what is wrong."""

    def __init__(self, fault: AnswerFault) -> None:
        super().__init__(str(fault))
        self.fault = fault


class Answer(Protocol):
    """The questions of a judge. All methods but `attempt` raise Unanswered."""

    def value(self) -> Any:
        """The value as plain data: numbers, text, tuples, lists, dicts, a layout."""
        ...

    def attempt(self, inputs: dict[str, Any]) -> Attempt:
        """Call the answer as a launcher of kernels."""
        ...

    def stepped(self, inputs: Mapping[str, Any], *, donors_hashed: bool = True) -> StepsRun:
        """Call the answer with lazy tensors."""
        ...

    def scop(self) -> Scop:
        """The loops that the answer is, or has. Raises what `triton_lab.polyhedral.scop` raises, too."""
        ...

    def order(self, given: Schedule, on: str) -> Schedule:
        """The schedule that the answer makes of ``given``; ``on`` says in words with which values."""
        ...

    def tested(self, function: Callable[..., Any]) -> str:
        """Call the answer, a test, with ``function``: the error that it raises in words, "" if it passes."""
        ...

    def seeds(self, number: int) -> tuple[int, int]:
        """The seeds of the inputs of case ``number``, and of the other numbers on which its launches are repeated."""
        ...


class LocalAnswer:
    """An answer in this process; ``launches`` are all that it has made."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self.launches: list[Launch] = []

    def value(self) -> Any:
        if self._answer is ... or self._answer is None:
            raise Unanswered(missing(self._answer, _("a value")))
        return self._answer

    def seeds(self, number: int) -> tuple[int, int]:
        """The same seeds each time, so that messages about an answer stay the same."""
        from triton_lab.course.run_answer import OTHERS

        return number, number + OTHERS

    def attempt(self, inputs: dict[str, Any]) -> Attempt:
        import torch
        from triton.runtime.jit import KernelInterface

        from triton_lab.backend.targets.active_target import target
        from triton_lab.backend.targets.loop_and_memory_limits import limits
        from triton_lab.course.run_answer import MOST_STEPS, raising
        from triton_lab.launch.recording.record import record

        try:
            function = self._function()
        except Unanswered as error:
            return Attempt(inputs, fault=error.fault)
        if isinstance(function, KernelInterface):
            return Attempt(inputs, fault=AnswerFault(_("This is a kernel. Pass the function that launches it.")))
        on = told(inputs)
        with target("cpu"), limits(max_steps=MOST_STEPS), record() as launches:
            try:
                given = function(**inputs)
            except Exception as error:
                return Attempt(inputs, launches=launches, fault=raising(error, function, on, launches))
        self.launches += launches
        return Attempt(
            {k: Placed.of(value) if isinstance(value, torch.Tensor) else value for k, value in inputs.items()},
            [
                Placed.of(one) if isinstance(one, torch.Tensor) else Other(type(one).__name__)
                for one in (given if isinstance(given, (tuple, list)) else [given])
            ],
            launches,
        )

    def stepped(self, inputs: Mapping[str, Any], *, donors_hashed: bool = True) -> StepsRun:
        from triton_lab.course.lazy_steps import stepped

        function = self._function()
        try:
            return stepped(function, inputs, donors_hashed=donors_hashed)
        except Exception as error:  # an answer may raise anything
            raise Unanswered(raised(error, told(inputs))) from error

    def scop(self) -> Scop:
        from triton_lab.polyhedral import scop

        return scop(self.loops())

    def loops(self) -> Any:
        """The text of the loops, or the function that has them."""
        if not isinstance(self._answer, str):
            code = getattr(self._answer, "__code__", None)
            if code is None:
                raise Unanswered(missing(self._answer, _("a function with loops")))
            stub = next((one for one in code.co_consts if str(one).startswith(TO_DO)), None)
            if stub is not None:
                raise Unanswered(AnswerFault(stub, untouched=True))
        return self._answer

    def order(self, given: Schedule, on: str) -> Schedule:
        from triton_lab.polyhedral import Schedule

        function = self._function()
        try:
            made = function(given)
        except Exception as error:  # an answer may raise anything
            raise Unanswered(raised(error, on)) from error
        if not isinstance(made, Schedule):
            raise Unanswered(AnswerFault(returned(type(made).__name__, _("a schedule")), on))
        if made.scop is not given.scop:
            message = _("This is not an order of the original nest. Start from `order`, and do not cut it.")
            raise Unanswered(AnswerFault(message, on))
        return made

    def tested(self, function: Callable[..., Any]) -> str:
        from triton_lab.backend.targets.active_target import target
        from triton_lab.backend.targets.loop_and_memory_limits import limits
        from triton_lab.course.run_answer import MOST_STEPS

        test = self._function()
        with target("cpu"), limits(max_steps=MOST_STEPS):
            try:
                returned_value = test(function)
            except Exception as error:  # pytest, too, takes any error for a failure
                if stub_of(error):
                    raise Unanswered(raised(error, "")) from error
                return f"{type(error).__name__}: {error}".partition("\n")[0][:_TEXT]
        if returned_value is not None:
            kind = type(returned_value).__name__
            message = _("The test returns {kind}, which pytest ignores. Raise an error instead, with assert.")
            raise Unanswered(AnswerFault(message.format(kind=kind)))
        return ""

    def _function(self) -> Callable[..., Any]:
        if not callable(self._answer):
            raise Unanswered(missing(self._answer, _("a function")))
        function: Callable[..., Any] = self._answer
        return function
