"""The error for what this engine cannot do. NumPy's must run the kernel; the message says why, in a user's words."""

from __future__ import annotations

from triton_lab.interpreter.kernel_errors import Unsupported

__all__ = ["Unsupported"]
