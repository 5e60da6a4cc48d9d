"""Internal errors of the lab, shown to the user with everything that a bug report needs."""

from __future__ import annotations

import linecache
import traceback
from pathlib import Path

from triton_lab.interpreter.kernel_errors import KernelError, from_signal
from triton_lab.localization import N_, translated

_PACKAGE = Path(__file__).parents[2]
_TOLD = N_("This is an error in triton-lab, not in the kernel. Please report it with this text:")


def fault_text(error: BaseException) -> list[str]:
    """The traceback lines of ``error`` if it is an internal error; else none."""
    # An error that stops a kernel has a cause only if that is no error of the kernel.
    cause = error.__cause__ if isinstance(error, KernelError) else error
    if not isinstance(cause, Exception) or isinstance(cause, KernelError | MemoryError) or from_signal(cause):
        return []
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(cause.__traceback__)]
    if cause is error and not _is_ours(frames):
        return []
    ours = [k for k, (file, _) in enumerate(frames) if Path(file).is_relative_to(_PACKAGE)]
    told = traceback.format_tb(cause.__traceback__)[ours[0] if ours else 0 :]
    said = traceback.format_exception_only(cause)
    return [translated(_TOLD), *(line for text in (*told, *said) for line in text.rstrip("\n").split("\n"))]


def _is_ours(frames: list[tuple[str, int]]) -> bool:
    """Whether the error arose in the package, and not in a `raise` there with a message for the user."""
    if not frames or not Path(frames[-1][0]).is_relative_to(_PACKAGE):
        return False
    return not linecache.getline(*frames[-1]).lstrip().startswith("raise ")
