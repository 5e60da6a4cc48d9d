"""Exceptions of a cell, shown with the user's own lines.

The modules that explain them are imported at the first exception, so that a first picture does not wait for them.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
import textwrap
import traceback
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.localization import ENGLISH, _, in_english, language

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.notebook.mistakes.diagnostic import Told
    from triton_lab.notebook.mistakes.front_end_error import KernelText, Refusal

_PYTHON = os.path.dirname(ast.__file__) + os.sep
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def own_frames(trace: TracebackType | None, filename: str = "") -> list[tuple[FrameType, int]]:
    """The frames of ``trace`` in the user's code, with their lines; those from ``filename`` on, if it is given.

    Frames of Python, Triton, torch, NumPy and the lab are left out.
    """
    packages = [
        sys.modules[name].__file__ for name in ("triton", "torch", "numpy", "triton_lab") if name in sys.modules
    ]
    hidden = tuple(os.path.dirname(os.path.abspath(path)) + os.sep for path in packages if path)
    frames = []
    started = not filename
    for frame, line in traceback.walk_tb(trace):
        name = frame.f_code.co_filename
        started = started or name == filename
        # Triton generates some of its own code, which has no file; code of `python -c` has none either.
        generated = name == "<string>" and frame.f_globals.get("__name__") != "__main__"
        if started and not name.startswith(hidden) and not _of_python(name) and not generated:
            frames.append((frame, line))
    return frames


def _of_python(file: str) -> bool:
    """Whether a file belongs to Python itself: Triton walks a kernel's tree with one, and the lab opens files."""
    return file.startswith(_PYTHON) and "site-packages" not in file


class CellSyntaxError(Exception):
    """A cell that Python cannot parse. (IPython prints a SyntaxError with the magic's own frames.)"""


def clear(error: BaseException, filename: str) -> BaseException:
    """Make ``error`` show only the cell's lines; its type and message stay."""
    if isinstance(error, SyntaxError):
        lines = _syntax_text(error, filename)
        error = CellSyntaxError(error.msg)
    else:
        lines = rendering(error, filename)
    error._render_traceback_ = lambda: _named(lines, filename)  # type: ignore[attr-defined]
    return error


def _named(lines: list[str], filename: str) -> list[str]:
    """The lines as they read now: ``%tb`` in a later cell names the earlier cell instead of "this cell"."""
    name = (messages.running_cell() is not None and messages.cell(filename)) or "this cell"
    return [line.replace("this cell, line", f"{name}, line") for line in lines]


def text_of(error: BaseException | None) -> str:
    """The text that a cleared ``error`` shows, without colours; "" for None."""
    return "" if error is None else _COLOURS.sub("", "\n".join(error._render_traceback_()).partition("\n")[2])  # type: ignore[attr-defined]


def shorten(error: BaseException, filename: str, launch: Launch) -> None:
    """Make a cleared ``error`` show only one line while its cell runs: the card of ``launch`` has the details.

    This applies only in a notebook. Later, as for ``%tb``, it shows itself in full; its message stays.
    """
    from IPython.core.getipython import get_ipython

    if getattr(get_ipython(), "kernel", None) is not None:
        _shorten(error, _one_line(error, filename, launch))


def interrupted(error: BaseException, filename: str) -> None:
    """Make an interrupt show which line of the kernel ran, what launched it, and the loop that did not end."""
    from IPython.core.getipython import get_ipython

    frames = own_frames(error.__traceback__, filename)
    if getattr(get_ipython(), "kernel", None) is None or not frames:
        return
    frame, line = frames[-1]
    inside = "" if frame.f_code.co_name == "<module>" else f", in {frame.f_code.co_name}"
    file = frame.f_code.co_filename
    where = _("this cell, line {line}").format(line=line) if file == filename else messages.place(file, line)
    ran = getattr(error, "kernel_line", "")
    launching = f"{ran}, launched in " if ran else ""
    loop = getattr(error, "kernel_loop", "")
    _shorten(error, f"\x1b[31m{type(error).__name__}\x1b[39m: {launching}{where}{inside}" + (loop and f"\n  {loop}"))


def _shorten(error: BaseException, line: str) -> None:
    full = error._render_traceback_  # type: ignore[attr-defined]
    # IPython shows the error after the cell's code has ended; ``%tb`` runs in another cell.
    error._render_traceback_ = lambda: [line] if messages.running_cell() is None else full()  # type: ignore[attr-defined]


def _one_line(error: BaseException, filename: str, launch: Launch) -> str:
    """The error in one line: ``KernelError: this cell, line 5, launched in line 8: see the card above``."""
    from triton_lab.views.frontend_presence import widgets_are_shown

    op = getattr(error, "op", None)
    place = None if op is None else launch.lines.get(op.index)
    at = [] if place is None else [messages.place(place.file, place.line)]
    own = [line for frame, line in own_frames(error.__traceback__, filename) if frame.f_code.co_filename == filename]
    if own:
        same = place is not None and place.file == filename
        at.append(_("launched in {which}").format(which=f"line {own[0]}" if same else messages.place(filename, own[0])))
    where = ", ".join(at)
    # If a notebook is run unattended, its error is read in a log, which has no card.
    what, end = ("", _(": see the card above")) if widgets_are_shown() else (str(error).partition("\n")[0] + "\n  ", "")
    return f"\x1b[31m{type(error).__name__}\x1b[39m: {what}{where}{end}"


def rendering(error: BaseException, filename: str) -> list[str]:
    """The text of ``error``: the place in the cell, what is wrong there, and what to do."""
    result = ["\x1b[31m" + "-" * 75 + "\x1b[39m"]
    for frame, line in own_frames(error.__traceback__, filename):
        result.extend(_frame_text(frame.f_code.co_filename, line, frame.f_code.co_name, filename))
    return [*result, *said(error, filename)]


def said(error: BaseException, filename: str = "") -> list[str]:
    """The last lines of `rendering`: what is wrong, and what to do. Without a cell, places have their files."""
    from triton_lab.notebook.cell.internal_error import fault_text
    from triton_lab.notebook.mistakes.error_hints import hint_for, in_the_kernels_name
    from triton_lab.notebook.mistakes.name_hints import name_hint

    compilation = _compilation_text(error, filename)
    name = type(error).__name__
    hint = hint_for(error) or (name_hint(error) if filename else "")
    message = compilation if compilation is not None else in_the_kernels_name(error)
    result = [f"\x1b[31m{name}\x1b[39m: {message}"]
    if hint:
        result.append(hint)
    return [*result, *fault_text(error)]


def words_of(error: BaseException) -> str:
    """The lines of `said` as text without colours."""
    return _COLOURS.sub("", "\n".join(said(error)))


def frames_in_words(error: BaseException, filename: str) -> list[str]:
    """The user's lines that ``error`` passed through, from ``filename`` on, each with its file or cell."""
    frames = own_frames(error.__traceback__, filename)
    return [
        _COLOURS.sub("", line)
        for frame, number in frames
        for line in _frame_text(frame.f_code.co_filename, number, frame.f_code.co_name, "")[:-1]
    ]


def _frame_text(file: str, line: int, function: str, cell: str) -> list[str]:
    where = _("this cell, line {line}").format(line=line) if file == cell else messages.place(file, line)
    if function != "<module>":
        where = _("{where}, in {function}").format(where=where, function=function)
    result = [f"\x1b[32m{where}\x1b[39m"]
    for number in range(max(1, line - 1), line + 2):
        text = linecache.getline(file, number).rstrip("\n")
        if text:
            result.append(f"{'-->' if number == line else '   '} {number:4d} {text}")
    result.append("")
    return result


def _syntax_text(error: SyntaxError, filename: str) -> list[str]:
    """Python's message below the line and column that it concerns."""
    line = error.lineno or 1
    result = _frame_text(error.filename or filename, line, "<module>", filename)
    place = (error.offset or 1) - 1
    end = error.end_offset if error.end_lineno == error.lineno and error.end_offset else place + 2
    marker = " " * (9 + place) + "^" * max(1, end - 1 - place)
    position = next((k + 1 for k, text in enumerate(result) if text.startswith("-->")), len(result))
    return [*result[:position], marker, *result[position:], f"\x1b[31m{type(error).__name__}\x1b[39m: {error.msg}"]


def _compilation_text(error: BaseException, filename: str) -> str | None:
    """The text for a kernel that does not compile: what is wrong, the lines concerned, the advice, Triton's words."""
    from triton_lab.notebook.mistakes.front_end_error import VERIFIER

    found = refused(error)
    if found is None:
        return None
    refusal, told = found
    said = " ".join(refusal.text.split())
    lines = [told.message]
    for node in places(refusal, told):
        lines.extend(_place(refusal.kernel, node, filename))
    for kernel, node in refusal.callers:
        lines.append("  " + _("called from {place}").format(place=_where(kernel, node, filename)))
    if told.advice:
        lines.append(f"  {told.advice}")
    # What MLIR says of operations is of use only if we have no words for it.
    if said and refusal.kind != VERIFIER and not _is_repeated(said, refusal, told):
        says = _("Triton says: {text}").format(text=textwrap.shorten(said, 300, placeholder=" ..."))
        lines.append(f"  \x1b[2m{says}\x1b[22m")
    return "\n".join(lines)


def _is_repeated(said: str, refusal: Refusal, told: Told) -> bool:
    """Whether our own words for an error contain Triton's, which are English."""
    from triton_lab.notebook.mistakes.mistake_table import explained, unexplained

    if language() != ENGLISH:
        with in_english():
            told = explained(refusal) or unexplained(refusal)
    return said.replace("`", "") in told.message.replace("`", "")


def refused(error: BaseException) -> tuple[Refusal, Told] | None:
    """Why a kernel does not compile, and how we word it; None for any other error."""
    if "triton" not in sys.modules:
        return None
    from triton_lab.notebook.mistakes.front_end_error import refusal_of
    from triton_lab.notebook.mistakes.mistake_table import explained, unexplained

    try:
        refusal = refusal_of(error)
        told = explained(refusal) if refusal is not None else None
    except Exception:  # whatever fails in the explanation, the error itself is shown
        return None
    return None if refusal is None else (refusal, told or unexplained(refusal))


def places(refusal: Refusal, told: Told) -> Sequence[ast.AST]:
    """The pieces of the kernel that the refusal concerns."""
    return told.at or ([refusal.node] if refusal.node is not None else [])


def is_explained(error: BaseException) -> bool:
    """Whether a kernel does not compile for a reason that we explain in our own words."""
    from triton_lab.notebook.mistakes.front_end_error import refusal_of
    from triton_lab.notebook.mistakes.mistake_table import explained

    try:
        refusal = refusal_of(error)
        return refusal is not None and explained(refusal) is not None
    except Exception:
        return False


def _place(kernel: KernelText, node: ast.AST, cell: str) -> list[str]:
    """A line of a kernel, with carets under ``node``."""
    text, begin, end = span(kernel, node)
    return [f"  {_where(kernel, node, cell)}", f"    {text}", f"    {' ' * begin}{'^' * max(1, end - begin)}"]


def span(kernel: KernelText, node: ast.AST) -> tuple[str, int, int]:
    """The line on which ``node`` begins, and its first and last characters there."""
    # For `if` and `while`, only the condition counts, not the body.
    node = getattr(node, "test", node) if isinstance(node, ast.stmt) else node
    number, begin = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    text = next(iter(kernel.source.split("\n")[number - 1 : number]), "")
    end = getattr(node, "end_col_offset", 0) if getattr(node, "end_lineno", number) == number else len(text)
    # Python counts the bytes of a line, an editor its characters.
    begin, end = (len(text.encode()[:column].decode(errors="ignore")) for column in (begin, end or 0))
    return text, begin, end


def _where(kernel: KernelText, node: ast.AST, cell: str) -> str:
    line = kernel.line(node)
    return _("this cell, line {line}").format(line=line) if kernel.file == cell else messages.place(kernel.file, line)


def plain(error: BaseException, message: str = "") -> BaseException:
    """Make ``error`` show only its message (or this one): no code of the user failed."""
    text = [f"\x1b[31m{type(error).__name__}\x1b[39m: {message or error}"]
    error._render_traceback_ = lambda: text  # type: ignore[attr-defined]
    return error
