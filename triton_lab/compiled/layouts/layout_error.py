"""The error for an invalid layout."""

from __future__ import annotations


class LayoutError(ValueError):
    """A layout or shape that no GPU compiler accepts, or a text that is no layout; the message says why.

    Triton's compiler ends the whole process for many of these.
    """
