"""Tracebacks as who wrote the test reads them: what Triton and we do between the test and the kernel is left out."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

import triton

_OURS = Path(__file__).parents[1]
_EXAMPLES = _OURS / "examples"
_HERE = Path(__file__).parent / "cuda.py"
_TRITON = Path(os.path.dirname(os.path.abspath(str(triton.__file__))))


def cut(error: BaseException) -> None:
    """Leave our frames and Triton's out of ``error`` and what led to it.

    Of an error that is neither ours nor the compiler's, as where a test itself is wrong, what happened inside of Triton
    stays.
    """
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link.__traceback__ = _without(link.__traceback__, _told_in_full(link))
        link = link.__cause__ or link.__context__


def _told_in_full(error: BaseException) -> bool:
    """Whether the message says all that there is to know: it names the kernel's line."""
    module = type(error).__module__
    return module.startswith(("triton_lab.", "triton.compiler.errors", "triton.runtime.errors"))


def _without(trace: TracebackType | None, deep: bool) -> TracebackType | None:
    kept: list[TracebackType] = []
    while trace is not None:
        if not _inside(Path(trace.tb_frame.f_code.co_filename), deep):
            kept.append(trace)
        trace = trace.tb_next
    below: TracebackType | None = None
    for one in reversed(kept):
        one.tb_next = below
        below = one
    return below


def _inside(file: Path, deep: bool) -> bool:
    if file == _HERE:
        return True
    ours = file.is_relative_to(_OURS) and not file.is_relative_to(_EXAMPLES)
    return deep and (ours or file.is_relative_to(_TRITON))
