"""Errors of cells without the magic, of scripts and of tests, shown with the user's own lines, as in cells with it.

This covers kernels' errors, errors raised by the lab, and launches for whose errors we have a hint. All other errors
are shown by IPython, Python or pytest.
"""

from __future__ import annotations

import linecache
import os
import sys
import traceback
from types import TracebackType
from typing import Any

from triton_lab import messages

_HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "")
_ALL = (BaseException,)


def tell(shell: Any) -> None:
    """Have the shell's cells show such errors this way from now on; a handler set by the user stays."""
    if not shell.custom_exceptions:
        shell.set_custom_exc(_ALL, _show)


def in_short(error: BaseException) -> str:
    """The text that a script prints of ``error``; "" if Python prints it, with all frames.

    Python prints every error if TRITON_LAB_TRACEBACK=full is in the environment, and every error outside of the user's
    lines.
    """
    if not isinstance(error, Exception) or not is_to_be_told(error):
        return ""
    from triton_lab.notebook.cell.error_display import own_frames, words_of

    frames = own_frames(error.__traceback__)
    if not frames:
        return ""
    lines = traceback.format_list(traceback.StackSummary.extract(iter(frames)))
    return "".join(["Traceback (most recent call last):\n", *lines, words_of(error)])


def forget(shell: Any) -> None:
    """Leave these errors to IPython again."""
    if shell.custom_exceptions == _ALL:
        shell.set_custom_exc((), None)


def _show(
    shell: Any, kind: type[BaseException], error: BaseException, trace: TracebackType, tb_offset: int | None = None
) -> None:
    """IPython's handler for an error: it is shown as any other, unless it shows itself."""
    cell = next((frame.f_code.co_filename for frame, _ in traceback.walk_tb(trace) if _is_cell(frame)), None)
    if cell is not None and not hasattr(error, "_render_traceback_") and is_to_be_told(error):
        from triton_lab.notebook.cell import error_display
        from triton_lab.notebook.extension.error_marks import mark

        error_display.clear(error, cell)
        if isinstance(error, KeyboardInterrupt):
            error_display.interrupted(error, cell)
        mark(error, cell)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)


def _is_cell(frame: Any) -> bool:
    return bool(messages.cell(frame.f_code.co_filename))


def is_to_be_told(error: BaseException) -> bool:
    """Whether the frames of ``error`` inside of Triton and of the lab are of no use to the user."""
    if error.__traceback__ is None or os.environ.get("TRITON_LAB_TRACEBACK") == "full":
        return False
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    # IPython shows an interrupt of the user's own code.
    if isinstance(error, KeyboardInterrupt):
        return any(file.startswith(_HERE) for file, _ in frames)
    last, line = frames[-1]
    if isinstance(error, OSError):  # a file named by the user
        return any(file.startswith(_HERE) for file, _ in frames)
    if last.startswith(_HERE):
        return linecache.getline(last, line).lstrip().startswith("raise ")
    if "triton" not in sys.modules:
        return False
    from triton_lab.interpreter.kernel_errors import KernelError
    from triton_lab.notebook.cell.error_display import refused
    from triton_lab.notebook.mistakes.error_hints import hint_for

    return isinstance(error, KernelError) or bool(hint_for(error)) or refused(error) is not None
