"""Tracebacks of tests: what led from the user's line to an error inside of Triton and of the lab is left out."""

from __future__ import annotations

import pytest

from triton_lab.notebook import uncaught


def shorten(report: pytest.TestReport, raised: pytest.ExceptionInfo[BaseException], item: pytest.Item) -> None:
    """Tell what was ``raised`` in the lines of the test and its helpers, and below in words what to do about it.

    pytest's ``--full-trace`` and ``--tb=native`` show all frames, as does TRITON_LAB_TRACEBACK=full.
    """
    style = item.config.getoption("tbstyle", "auto")
    if style == "native" or item.config.getoption("fulltrace", False) or not uncaught.is_to_be_told(raised.value):
        return
    from triton_lab.notebook.trouble import own_frames, words_of

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
