"""What is wrong with an answer: in words, with the launch in which it shows and the picture that shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

TO_DO = "To do: "  # how the message of a stub begins


@dataclass(frozen=True, eq=False)
class Fault:
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
        return "\n".join([self.message, *([f"Tried with {self.on}."] if self.on else []), *self.lines])


def raised(error: Exception, on: str) -> Fault:
    """The fault of an answer that raised ``error``: the stub, or what the error says."""
    stub = stub_of(error)
    return Fault(stub, untouched=True) if stub else Fault(f"It raised {type(error).__name__}: {error}", on)


def returned(kind: str, want: str) -> str:
    """What is wrong with a function that returns a ``kind``, a type's name, where ``want`` is asked for."""
    if kind == "NoneType":
        return f"It returns nothing, and must return {want}: end it with `return`."
    return f"It returns {kind}, and must return {want}."


def missing(answer: Any, wanted: str) -> Fault:
    """What is said where there is no answer yet, or not of the kind that is asked for."""
    if answer is ... or answer is None:
        return Fault(f"{TO_DO}put {wanted} in the place of the dots, then run this cell again.", untouched=True)
    return Fault(f"This is {type(answer).__name__}, and {wanted} is asked for.")


def stub_of(error: BaseException) -> str:
    """What the stub says that raised ``error``, "" where none did: a kernel's comes wrapped in a compiler's error."""
    seen: BaseException | None = error
    while seen is not None:
        text = str(seen)
        if TO_DO in text:
            return text[text.index(TO_DO) :].split("\n")[0].strip().rstrip("'\")")
        seen = seen.__cause__ or seen.__context__
    return ""
