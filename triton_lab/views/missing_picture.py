"""The reason why a picture is missing, as a sentence in its place: everything else is still shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from triton_lab.launch.diagnosis.verdict import excuse
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _
from triton_lab.views.scenes import WordsScene

T = TypeVar("T")


def is_for_readers(error: Exception) -> bool:
    """Whether the message of ``error`` was written for the user who requested the picture."""
    # Their subclasses (KeyError, IndexError, UnicodeError) are raised by Python, with messages that explain nothing to
    # a user.
    return type(error) in (LookupError, ValueError) or isinstance(error, CannotReplay)


def reason(error: Exception) -> str:
    """The message of ``error`` if it was written for users; else a sentence that the fault is ours."""
    if is_for_readers(error):
        return str(error.args[0] if error.args else error)
    return _("This picture could not be made: {excuse}").format(excuse=excuse(error))


def in_words(text: str) -> WordsScene:
    """A sentence in the place of a picture."""
    return {"kind": "words", "text": text}


def attempt(make: Callable[[], T], otherwise: Callable[[str], T]) -> T:
    """The result of ``make``; if it fails, the result of ``otherwise`` for the reason."""
    try:
        return make()
    except Exception as error:
        return otherwise(reason(error))
