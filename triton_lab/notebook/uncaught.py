"""Kernels' errors in cells without the magic: shown with the user's own lines, as in cells with it."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType
from typing import Any

from triton_lab import words
from triton_lab.notebook import trouble
from triton_lab.notebook.marking import mark

_HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


def tell(shell: Any) -> None:
    """From now on a notebook's cells show such errors so; a handler of the user's stays, and so does a terminal."""
    if getattr(shell, "kernel", None) is None or shell.custom_exceptions:
        return
    shell.set_custom_exc(_told(), _show)


def forget(shell: Any) -> None:
    """Leave these errors to IPython again."""
    if "triton" in sys.modules and shell.custom_exceptions == _told():
        shell.set_custom_exc((), None)


def _told() -> tuple[type[BaseException], ...]:
    from triton.compiler.errors import CompilationError

    from triton_lab.backend.compiler import EndlessCalls
    from triton_lab.interpreter.errors import KernelError

    return KernelError, CompilationError, EndlessCalls, KeyboardInterrupt


def _show(
    shell: Any, kind: type[BaseException], error: BaseException, trace: TracebackType, tb_offset: int | None = None
) -> None:
    """What IPython calls for such an error: it is shown as any other, but that it shows itself."""
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(trace)]
    cell = next(filter(words.cell, files), None)
    # An interrupt of the user's own code is IPython's to tell.
    ours = not isinstance(error, KeyboardInterrupt) or any(file.startswith(_HERE) for file in files)
    if cell is not None and ours and not hasattr(error, "_render_traceback_"):
        trouble.clear(error, cell)
        if isinstance(error, KeyboardInterrupt):
            trouble.interrupted(error, cell)
        mark(error, cell)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
