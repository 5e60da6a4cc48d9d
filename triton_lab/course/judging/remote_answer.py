"""An answer in the process that runs the notebook, as its judge sees it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from triton_lab import messages
from triton_lab.backend.targets.active_target import target
from triton_lab.backend.targets.loop_and_memory_limits import limits
from triton_lab.course.answer_fault import AnswerFault, missing
from triton_lab.course.attempt import Attempt
from triton_lab.course.exercise_answer import Unanswered
from triton_lab.course.judging import judge_messages
from triton_lab.course.judging.answer_values import MALFORMED, TEXT, decoded, fault_of, schedule_of, text
from triton_lab.course.judging.judge_wire import Broken, Channel
from triton_lab.launch.saving.file_format import SavedLaunchError
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.course.lazy_steps import StepsRun
    from triton_lab.polyhedral import Schedule, Scop

_SEEDS = 1 << 50
_CALLS = 1000  # of a kernel by a learner's test

T = TypeVar("T")


class Ended(Exception):
    """The process answers no more; the message gives the reason."""


class Asked:
    """The process that answers, and how long it may still take in all."""

    def __init__(self, channel: Channel, seconds: float, why: Callable[[], str]) -> None:
        self._channel, self._seconds, self._left, self._why = channel, seconds, seconds, why

    def ask(self, head: dict[str, Any], pieces: list[bytes] | None = None) -> tuple[dict[str, Any], list[bytes]]:
        """The reply to a question. Raises Ended."""
        began = time.monotonic()
        try:
            self._channel.send(head, pieces or (), self._left)
            return self._channel.receive(self._left - (time.monotonic() - began))
        except Broken as error:
            if error.late:
                raise Ended(
                    _("the notebook did not end within {seconds_text}").format(
                        seconds_text=messages.seconds_text(self._seconds)
                    )
                ) from None
            raise Ended(self._why() or _("its process was lost: {error}").format(error=error)) from None
        finally:
            self._left = max(0.0, self._left - (time.monotonic() - began))


class There:
    """The answer that has this name in the process."""

    def __init__(self, asked: Asked, name: str, steps: int) -> None:
        self._asked, self._name, self._steps = asked, name, steps

    def seeds(self, number: int) -> tuple[int, int]:
        """Different seeds each time: the process cannot know the first ones before, and never gets the second ones."""
        return secrets.randbelow(_SEEDS), secrets.randbelow(_SEEDS)

    def value(self) -> Any:
        head, _unused = self._ask("value")
        found = _read(lambda: decoded(head["value"]))
        if found is ... or found is None:
            raise Unanswered(missing(found, _("a value")))
        return found

    def attempt(self, inputs: dict[str, Any]) -> Attempt:
        pieces: list[bytes] = []
        head, found = self._ask("attempt", pieces, inputs=judge_messages.told_inputs(inputs, pieces))
        return _read(lambda: judge_messages.attempt_of(head, found, inputs, self._steps))

    def stepped(self, inputs: Mapping[str, Any], *, donors_hashed: bool = True) -> StepsRun:
        pieces: list[bytes] = []
        asked = {"inputs": judge_messages.told_inputs(inputs, pieces), "hashed": donors_hashed}
        head, found = self._ask("stepped", pieces, **asked)
        return _read(lambda: judge_messages.run_of(head, found, inputs, self._steps))

    def scop(self) -> Scop:
        from triton_lab.polyhedral import scop

        head, _ = self._ask("scop")
        values = _read(lambda: {text(name): int(one) for name, one in head["values"].items()})
        return scop(_read(lambda: _loops(head["text"])), maximal=False, **values)

    def order(self, given: Schedule, on: str) -> Schedule:
        nest = str(given.scop.source.text)
        head, _ = self._ask("order", nest=nest, values=dict(given.scop.values), on=on)
        return _read(lambda: schedule_of(given, head["tree"], head["steps"]))

    def tested(self, function: Callable[..., Any]) -> str:
        """The test runs in the process, ``function`` here: the process sends what it is called with."""
        head, found = self._ask("tested")
        for _unused in range(_CALLS):
            if "call" not in head:
                return _read(lambda: text(head["said"]))  # noqa: B023  # called at once
            inputs = _read(lambda: judge_messages.inputs_of(head["call"], found))  # noqa: B023
            pieces: list[bytes] = []
            try:
                with target("cpu"), limits(max_steps=self._steps):
                    told = judge_messages.told_inputs({"result": function(*inputs.values())}, pieces)
            except Exception as error:  # inputs that the kernel does not take
                told = {"error": f"{type(error).__name__}: {error}"[:TEXT]}
            head, found = self._ask("returned", pieces, **told)
        raise Unanswered(AnswerFault(_("The test calls the kernel more than {calls} times.").format(calls=_CALLS)))

    def _ask(self, what: str, pieces: list[bytes] | None = None, **more: Any) -> tuple[dict[str, Any], list[bytes]]:
        head, found = self._asked.ask({"do": what, "name": self._name, **more}, pieces)
        if "fault" in head:
            raise Unanswered(_read(lambda: fault_of(head["fault"])))
        return head, found


def _loops(given: Any) -> str:
    if type(given) is not str or len(given) > 20_000:
        raise ValueError("loops that are no text")
    return given


def _read(what: Callable[[], T]) -> T:
    """The contents of a message. Raises Unanswered for a message that the process has forged."""
    try:
        return what()
    except SavedLaunchError as error:
        raise Unanswered(
            AnswerFault(_("One of its launches cannot be run again: {error}").format(error=error))
        ) from None
    except MALFORMED as error:
        message = _("The report of its process is not valid: {name}: {value}").format(
            name=type(error).__name__, value=str(error)[:200]
        )
        raise Unanswered(AnswerFault(message)) from None
