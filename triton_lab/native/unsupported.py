"""What this engine does not do: NumPy's has to run the kernel, and the message says why, in a user's words."""

from __future__ import annotations

from triton_lab.interpreter.kernel_errors import Unsupported

__all__ = ["Unsupported"]
