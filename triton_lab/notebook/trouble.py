"""Exceptions of a cell, shown with the user's own lines."""

from __future__ import annotations

import ast
import linecache
import os
import textwrap
import traceback
from types import FrameType, TracebackType

from triton_lab.notebook.hints import hint_for
from triton_lab.notebook.mistakes import explained
from triton_lab.notebook.refusal import Kernel, refusal_of
from triton_lab.notebook.told import Told


def own_frames(trace: TracebackType | None, filename: str) -> list[tuple[FrameType, int]]:
    """The frames of ``trace`` that are not Triton's, torch's or ours, with their lines; the cell's first."""
    import triton

    hidden = tuple(
        os.path.dirname(os.path.abspath(path)) + os.sep
        for path in (triton.__file__, os.path.dirname(__file__), _torch_file())
    )
    frames = []
    started = False
    for frame, line in traceback.walk_tb(trace):
        name = frame.f_code.co_filename
        started = started or name == filename
        # Triton generates some of its own code, which has no file.
        if started and not name.startswith(hidden) and name != "<string>":
            frames.append((frame, line))
    return frames


def _torch_file() -> str:
    import torch

    return torch.__file__


class CellSyntaxError(Exception):
    """A cell that Python cannot parse. (IPython prints a SyntaxError with the magic's own frames.)"""


def clear(error: BaseException, filename: str) -> BaseException:
    """Make ``error`` show itself with the cell's lines alone; its type and message stay."""
    if isinstance(error, SyntaxError):
        lines = _syntax_text(error, filename)
        error = CellSyntaxError(error.msg)
    else:
        lines = rendering(error, filename)
    error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]
    return error


def rendering(error: BaseException, filename: str) -> list[str]:
    """The text of ``error``: where in the cell, what is wrong there, and what to do."""
    result = ["\x1b[31m" + "-" * 75 + "\x1b[39m"]
    for frame, line in own_frames(error.__traceback__, filename):
        result.extend(_frame_text(frame.f_code.co_filename, line, frame.f_code.co_name, filename))
    compilation = _compilation_text(error, filename)
    name = type(error).__name__
    hint = hint_for(error)
    message = compilation if compilation is not None else str(error)
    result.append(f"\x1b[31m{name}\x1b[39m: {message}")
    if hint:
        result.append(hint)
    return result


def _frame_text(file: str, line: int, function: str, cell: str) -> list[str]:
    where = "this cell" if file == cell else file
    inside = "" if function == "<module>" else f", in {function}"
    result = [f"\x1b[32m{where}, line {line}{inside}\x1b[39m"]
    for number in range(max(1, line - 1), line + 2):
        text = linecache.getline(file, number).rstrip("\n")
        if text:
            result.append(f"{'-->' if number == line else '   '} {number:4d} {text}")
    result.append("")
    return result


def _syntax_text(error: SyntaxError, filename: str) -> list[str]:
    """Python's message under the line and column that it is about."""
    line = error.lineno or 1
    result = _frame_text(error.filename or filename, line, "<module>", filename)
    place = (error.offset or 1) - 1
    end = error.end_offset if error.end_lineno == error.lineno and error.end_offset else place + 2
    marker = " " * (9 + place) + "^" * max(1, end - 1 - place)
    position = next((k + 1 for k, text in enumerate(result) if text.startswith("-->")), len(result))
    return [*result[:position], marker, *result[position:], f"\x1b[31m{type(error).__name__}\x1b[39m: {error.msg}"]


def _compilation_text(error: BaseException, filename: str) -> str | None:
    """For a kernel that does not compile: what is wrong, the lines that it is about, what to do, and Triton's words."""
    from triton.compiler.errors import CompilationError

    try:
        refusal = refusal_of(error)
        told = explained(refusal) if refusal is not None else None
    except Exception:  # whatever goes wrong in explaining: the error itself is shown
        return None
    if refusal is None or (told is None and not isinstance(error, CompilationError)):
        return None
    said = " ".join(refusal.text.split())
    told = told or Told(said or refusal.kind)
    lines = [told.message]
    for node in told.at or ([refusal.node] if refusal.node is not None else []):
        lines.extend(_place(refusal.kernel, node, filename))
    lines.extend(f"  called from {_where(kernel, node, filename)}" for kernel, node in refusal.callers)
    if told.advice:
        lines.append(f"  {told.advice}")
    if said and said not in told.message.replace("`", ""):
        lines.append(f"  \x1b[2mTriton says: {textwrap.shorten(said, 300, placeholder=' ...')}\x1b[22m")
    return "\n".join(lines)


def _place(kernel: Kernel, node: ast.AST, cell: str) -> list[str]:
    """A line of a kernel, with carets under ``node``."""
    # Of `if` and `while` what counts is the condition, not the body.
    node = getattr(node, "test", node) if isinstance(node, ast.stmt) else node
    number, begin = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    text = next(iter(kernel.source.split("\n")[number - 1 : number]), "")
    end = getattr(node, "end_col_offset", 0) if getattr(node, "end_lineno", number) == number else len(text)
    # Python counts the bytes of a line, an editor its characters.
    begin, end = (len(text.encode()[:column].decode(errors="ignore")) for column in (begin, end or 0))
    return [f"  {_where(kernel, node, cell)}", f"    {text}", f"    {' ' * begin}{'^' * max(1, end - begin)}"]


def _where(kernel: Kernel, node: ast.AST, cell: str) -> str:
    return f"{'this cell' if kernel.file == cell else kernel.file}, line {kernel.line(node)}"


def plain(error: BaseException, message: str = "") -> BaseException:
    """Make ``error`` show its message (or this one) alone: the user wrote no code that failed."""
    text = [f"\x1b[31m{type(error).__name__}\x1b[39m: {message or error}"]
    error._render_traceback_ = lambda: text  # type: ignore[attr-defined]
    return error
