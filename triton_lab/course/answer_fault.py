"""What is wrong with an answer: the words, the launch that shows it, and the picture."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_lab import messages
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

TO_DO = "To do: "  # the beginning of a stub's message
_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~])?")  # colours and the like in an answer's own error


@dataclass(frozen=True, eq=False)
class AnswerFault:
    """A fault: ``message`` says what is wrong, ``on`` with which arguments; ``lines`` are more, such as a traceback.

    ``launch`` shows it, ``picture`` is what to look at there: a view, or the launch itself. ``untouched``: the stub is
    as it was handed out.
    """

    message: str
    on: str = ""
    launch: Launch | None = None
    picture: Any = None
    lines: tuple[str, ...] = field(default=())
    untouched: bool = False

    def __str__(self) -> str:
        on = [_("Tried with {on}.").format(on=self.on)] if self.on else []
        return _ESCAPES.sub("", "\n".join([self.message, *on, *self.lines, *self._stopped()]))

    def _stopped(self) -> list[str]:
        """The place where the launch was stopped, as lines."""
        op = None if self.launch is None else getattr(self.launch.error, "op", None)
        place = None if self.launch is None or op is None else self.launch.lines.get(op.index)
        return (
            [] if place is None else [_("It stopped in {place}.").format(place=messages.place(place.file, place.line))]
        )


def raised(error: Exception, on: str, function: Callable[..., Any] | None = None) -> AnswerFault:
    """The fault of an answer that raised ``error``: the stub's message, or the error's.

    Errors of compilation and of the lab begin with their reason. With the ``function`` that was called, the lines from
    it to the error follow, with their files.
    """
    from triton_lab.notebook.cell.error_display import frames_in_words, refused, words_of

    stub = stub_of(error)
    if stub:
        return AnswerFault(stub, untouched=True)
    reason, *lines = words_of(error).split("\n")
    if refused(error) is not None or type(error).__module__.startswith("triton_lab."):
        reason = reason.removeprefix(f"{type(error).__name__}: ")
    else:
        reason = _("It raised {reason}").format(reason=reason)
    code = getattr(getattr(function, "fn", function), "__code__", None)
    called = [] if code is None else frames_in_words(error, code.co_filename)
    return AnswerFault(reason, on, lines=(*lines, *called))


def returned(kind: str, want: str) -> str:
    """The message about a function that returns a ``kind`` (a type's name) instead of the ``want``."""
    if kind == "NoneType":
        return _("It returns nothing, but must return {want}. End it with `return`.").format(want=want)
    return _("It returns {kind}, but must return {want}.").format(kind=kind, want=want)


def missing(answer: Any, wanted: str) -> AnswerFault:
    """The fault if there is no answer yet, or one of another kind."""
    if answer is ... or answer is None:
        return AnswerFault(
            _("{to_do}replace the dots with {wanted}, then run this cell again.").format(to_do=TO_DO, wanted=wanted),
            untouched=True,
        )
    return AnswerFault(
        _("This is {type}, but the answer must be {wanted}.").format(type=type(answer).__name__, wanted=wanted)
    )


def stub_of(error: BaseException) -> str:
    """The message of the stub that raised ``error``, else "": a compiler's error wraps that of a kernel."""
    seen: BaseException | None = error
    while seen is not None:
        text = str(seen)
        if TO_DO in text:
            return text[text.index(TO_DO) :].split("\n")[0].strip().rstrip("'\")")
        seen = seen.__cause__ or seen.__context__
    return ""
