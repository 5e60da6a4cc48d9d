"""Tracebacks for the author of a test: frames of Triton and of the lab between the test and the kernel are left out."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

import pytest
import triton

_OURS = Path(__file__).parents[1]
_EXAMPLES = _OURS / "examples"
_CUDA = [Path(__file__).parent / name for name in ("cuda_on_cpu.py", "cuda_functions.py")]
_TRITON = Path(os.path.dirname(os.path.abspath(str(triton.__file__))))


def cut(error: BaseException) -> None:
    """Remove our frames and Triton's from ``error`` and from its causes.

    If the error is neither ours nor the compiler's, as in a wrong test, the frames inside of Triton stay.
    """
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link.__traceback__ = _without(link.__traceback__, _told_in_full(link))
        link = link.__cause__ or link.__context__


def shorten(report: pytest.TestReport, raised: pytest.ExceptionInfo[BaseException], item: pytest.Item) -> None:
    """Report ``raised`` with only the lines of the test and its helpers, and below it what to do.

    pytest's ``--full-trace`` and ``--tb=native`` show all frames, as does TRITON_LAB_TRACEBACK=full.
    """
    style = item.config.getoption("tbstyle", "auto")
    if style == "native" or item.config.getoption("fulltrace", False):
        return
    from triton_lab.notebook.cell.error_display import own_frames, words_of

    own = [frame for frame, _ in own_frames(raised.tb, str(item.path))]
    if not own:
        return
    report.longrepr = raised.getrepr(
        style="long" if style == "auto" else style,
        showlocals=item.config.getoption("showlocals", False),
        chain=False,
        tbfilter=lambda info: info.traceback.filter(lambda entry: entry.frame.raw in own),
    )
    words = words_of(raised.value)
    if words != f"{raised.typename}: {raised.value}":
        report.sections.append(("triton-lab", words))


def _told_in_full(error: BaseException) -> bool:
    """Whether the message says everything, including the kernel's line."""
    module = type(error).__module__
    return module.startswith(("triton_lab.", "triton.compiler.errors", "triton.runtime.errors"))


def _without(trace: TracebackType | None, deep: bool) -> TracebackType | None:
    kept: list[TracebackType] = []
    while trace is not None:
        # A signal may interrupt between lines: a frame then has no line, which traceback readers cannot handle.
        placed = trace.tb_lineno is not None
        if placed and not _inside(Path(trace.tb_frame.f_code.co_filename), deep):
            kept.append(trace)
        trace = trace.tb_next
    below: TracebackType | None = None
    for one in reversed(kept):
        one.tb_next = below
        below = one
    return below


def _inside(file: Path, deep: bool) -> bool:
    if file in _CUDA:
        return True
    ours = file.is_relative_to(_OURS) and not file.is_relative_to(_EXAMPLES)
    return deep and (ours or file.is_relative_to(_TRITON))
