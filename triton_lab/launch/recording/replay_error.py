"""Why a launch cannot be replayed. The module imports nothing: progress is shown before NumPy is imported."""

from __future__ import annotations


class CannotReplay(RuntimeError):
    """The launch cannot be replayed; the message gives the reason."""
