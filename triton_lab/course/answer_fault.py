"""What is wrong with an answer: in words, with the launch in which it shows and the picture that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_lab import messages

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

TO_DO = "To do: "  # how the message of a stub begins
_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~])?")  # colours and the like, as an answer's own error may have them


@dataclass(frozen=True, eq=False)
class AnswerFault:
    """``message`` says what is wrong and ``on`` with which arguments; ``lines`` are more of it, as of a traceback.

    ``launch`` is where it shows, ``picture`` what to look at there: a view, or the launch itself. ``untouched``: the
    stub stands as it was handed out.
    """

    message: str
    on: str = ""
    launch: Launch | None = None
    picture: Any = None
    lines: tuple[str, ...] = field(default=())
    untouched: bool = False

    def __str__(self) -> str:
        on = [f"Tried with {self.on}."] if self.on else []
        return _ESCAPES.sub("", "\n".join([self.message, *on, *self.lines, *self._stopped()]))

    def _stopped(self) -> list[str]:
        """Where the launch was stopped in which it shows."""
        op = None if self.launch is None else getattr(self.launch.error, "op", None)
        place = None if self.launch is None or op is None else self.launch.lines.get(op.index)
        return [] if place is None else [f"It was stopped in {messages.place(place.file, place.line)}."]


def raised(error: Exception, on: str, function: Callable[..., Any] | None = None) -> AnswerFault:
    """The fault of an answer that raised ``error``: the stub, or what the error says.

    What a kernel cannot be and what the lab refuses begin with their reason. With the ``function`` that was called, the
    lines from it to the error follow, with their files.
    """
    from triton_lab.notebook.cell.error_display import frames_in_words, refused, words_of

    stub = stub_of(error)
    if stub:
        return AnswerFault(stub, untouched=True)
    reason, *lines = words_of(error).split("\n")
    if refused(error) is not None or type(error).__module__.startswith("triton_lab."):
        reason = reason.removeprefix(f"{type(error).__name__}: ")
    else:
        reason = f"It raised {reason}"
    code = getattr(getattr(function, "fn", function), "__code__", None)
    called = [] if code is None else frames_in_words(error, code.co_filename)
    return AnswerFault(reason, on, lines=(*lines, *called))


def returned(kind: str, want: str) -> str:
    """What is wrong with a function that returns a ``kind``, a type's name, where ``want`` is asked for."""
    if kind == "NoneType":
        return f"It returns nothing, and must return {want}: end it with `return`."
    return f"It returns {kind}, and must return {want}."


def missing(answer: Any, wanted: str) -> AnswerFault:
    """What is said where there is no answer yet, or not of the kind that is asked for."""
    if answer is ... or answer is None:
        return AnswerFault(f"{TO_DO}put {wanted} in the place of the dots, then run this cell again.", untouched=True)
    return AnswerFault(f"This is {type(answer).__name__}, and {wanted} is asked for.")


def stub_of(error: BaseException) -> str:
    """What the stub says that raised ``error``, "" where none did: a kernel's comes wrapped in a compiler's error."""
    seen: BaseException | None = error
    while seen is not None:
        text = str(seen)
        if TO_DO in text:
            return text[text.index(TO_DO) :].split("\n")[0].strip().rstrip("'\")")
        seen = seen.__cause__ or seen.__context__
    return ""
