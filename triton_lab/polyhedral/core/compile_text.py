"""Loops that are executed here, as Python."""

from __future__ import annotations

import warnings
from types import CodeType

from triton_lab.localization import _
from triton_lab.polyhedral.core.isl_effort import TooHard


def compiled(text: str) -> CodeType:
    """``text``, which a printer wrote. Raises `TooHard` for loops or expressions deeper than Python takes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the source says; its reader has no use for it
            return compile(text, "<schedule>", "exec")
    except (MemoryError, RecursionError, SyntaxError) as error:
        reason = getattr(error, "msg", None) or "nested too deep"
        raise TooHard(_("Python cannot run these loops: {reason}").format(reason=reason)) from None
