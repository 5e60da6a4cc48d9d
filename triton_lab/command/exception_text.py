"""The text of an exception that ended a script: as Python prints it, and for a kernel's in the words of the lab."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import traceback
from types import TracebackType

# Modules of Python's library with which Triton's front end reads kernels.
_STANDARD = tuple(os.path.join(sysconfig.get_path("stdlib"), name) for name in ("ast.py", "inspect.py"))
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def tell(error: BaseException, coloured: bool) -> None:
    """Print ``error`` to standard error, without the frames between Python and the script.

    A hook that the script has put into `sys.excepthook` prints it; else Python's prints it, except for errors of a
    launch.
    """
    trace = _of_the_script(error.__traceback__)
    try:
        ours = sys.excepthook is sys.__excepthook__ and _is_of_a_launch(error)
    except Exception:  # a script that uses up all descriptors prevents further imports
        ours = False
    if ours:
        text = "".join(_lines(error, trace))
        print(text if coloured else _COLOURS.sub("", text), file=sys.stderr)
        return
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _of_the_script(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames that found and ran the script; None if nothing of the script ran."""
    from triton_lab.command import run_script

    while trace is not None and trace.tb_frame.f_code.co_filename == run_script.__file__:
        trace = trace.tb_next
    return trace


def _is_of_a_launch(error: BaseException) -> bool:
    """Whether the error comes from a kernel, from Triton's front end, or from a launch's check of its arguments."""
    if "triton" not in sys.modules:
        return False
    from triton.compiler.errors import CompilationError

    from triton_lab.backend.plugin.kernel_arguments import ArgumentError
    from triton_lab.interpreter.kernel_errors import KernelError
    from triton_lab.notebook.cell.error_display import is_explained
    from triton_lab.notebook.mistakes.error_hints import hint_for

    ours = isinstance(error, KernelError | CompilationError | ArgumentError)
    return ours or is_explained(error) or bool(hint_for(error))


def _lines(error: BaseException, trace: TracebackType | None) -> list[str]:
    """The script's own frames, as Python prints them, and what is wrong."""
    from triton_lab.notebook.cell.error_display import own_frames, said

    first = trace.tb_frame.f_code.co_filename if trace is not None else ""
    frames = own_frames(trace, first)
    while frames and frames[-1][0].f_code.co_filename.startswith(_STANDARD):
        frames.pop()
    told = traceback.StackSummary.extract(iter(frames), lookup_lines=True).format() if frames else []
    return ["Traceback (most recent call last):\n"] * bool(told) + told + ["\n".join(said(error))]
