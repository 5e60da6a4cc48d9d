"""A layout that cannot be."""

from __future__ import annotations


class LayoutError(ValueError):
    """A layout, or a shape for it, that no GPU compiler accepts, or a text that is no layout; the message says why.

    Triton's compiler ends the whole process for many of these.
    """
