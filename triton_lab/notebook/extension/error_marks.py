"""Reports to JupyterLab's extension where in a cell a kernel does not compile, so that the editor marks it."""

from __future__ import annotations

import linecache

from triton_lab import messages
from triton_lab.localization import _
from triton_lab.notebook.cell.error_display import places, refused, span
from triton_lab.views.compile_error_mark import MISTAKE, Mistake
from triton_lab.views.frontend_presence import announced


def mark(error: BaseException, filename: str) -> None:
    """Publish the place of ``error`` in the cell ``filename`` or an earlier one, if a connected front end marks it.

    The mark is an output of its own above the error, since an error output has no room for it; a front end that does
    not know such marks shows one line of text. Other lines that the error concerns, such as the origin of a shape, are
    only in the error's text.
    """
    if not announced():
        return
    from IPython.display import publish_display_data

    for mistake in mistakes(error, filename)[:1]:
        text = _("Line {line}, column {start}: {message}").format(
            line=mistake["line"], start=mistake["start"] + 1, message=mistake["message"]
        )
        publish_display_data({MISTAKE: mistake, "text/plain": text})  # type: ignore[no-untyped-call]


def mistakes(error: BaseException, filename: str) -> list[Mistake]:
    """The places in cells at which a kernel does not compile; none for another error, or for a kernel in a file."""
    found = refused(error)
    if found is None:
        return []
    refusal, told = found
    kernel = refusal.kernel
    execution = None if kernel.file == filename else messages.cell_number(kernel.file)
    if execution is None and kernel.file != filename:
        return []
    result: list[Mistake] = []
    for node in places(refusal, told):
        text, start, end = span(kernel, node)
        line = kernel.line(node)
        # Triton reads the source of a nested kernel without its indentation.
        there = linecache.getline(kernel.file, line).rstrip("\n") or text
        moved = there.find(text.strip()) - (len(text) - len(text.lstrip()))
        result.append(
            {
                "version": 1,
                "execution": execution,
                "line": line,
                "start": start + max(0, moved),
                "end": max(start + 1, end) + max(0, moved),
                "text": there,
                "message": told.message,
                "advice": told.advice,
            }
        )
    return result
