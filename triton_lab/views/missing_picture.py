"""Why a picture is missing, in a sentence that stands in its place: the rest is shown all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from triton_lab.launch.diagnosis.verdict import excuse
from triton_lab.launch.recording.snapshot import CannotReplay
from triton_lab.views.scenes import WordsScene

T = TypeVar("T")


def is_for_readers(error: Exception) -> bool:
    """Whether what ``error`` says was written for whoever asked for the picture."""
    # Their subclasses (KeyError, IndexError, UnicodeError) are Python's, and tell a reader nothing.
    return type(error) in (LookupError, ValueError) or isinstance(error, CannotReplay)


def reason(error: Exception) -> str:
    """What ``error`` says, where it was written for the reader; else that the fault is ours."""
    if is_for_readers(error):
        return str(error.args[0] if error.args else error)
    return f"This could not be made: {excuse(error)}"


def in_words(text: str) -> WordsScene:
    """A sentence in the place of a picture."""
    return {"kind": "words", "text": text}


def attempt(make: Callable[[], T], otherwise: Callable[[str], T]) -> T:
    """What ``make`` makes; where it fails, what ``otherwise`` makes of the reason."""
    try:
        return make()
    except Exception as error:
        return otherwise(reason(error))
