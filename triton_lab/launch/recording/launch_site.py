"""The line of the user's code that launches a kernel."""

from __future__ import annotations

import os
import sys
from types import FrameType


def launch_site() -> tuple[str, int] | None:
    """The file and line of the innermost frame outside of Triton, torch and the lab; None if there is none."""
    packages = [sys.modules[name].__file__ for name in ("triton", "torch", "triton_lab") if name in sys.modules]
    inside = tuple(os.path.dirname(os.path.abspath(path)) + os.sep for path in packages if path)
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        # Triton generates code that has no file.
        if not file.startswith(inside) and file != "<string>":
            return file, frame.f_lineno
        frame = frame.f_back
    return None
