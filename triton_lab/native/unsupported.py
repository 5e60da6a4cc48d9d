"""What this engine does not do."""

from __future__ import annotations


class Unsupported(Exception):
    """A kernel that NumPy's engine has to run; the message says why, in a user's words."""
