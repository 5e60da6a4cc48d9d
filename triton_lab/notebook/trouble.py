"""Exceptions of a cell, shown with the user's own lines."""

from __future__ import annotations

import linecache
import os
import traceback
from types import FrameType, TracebackType

from triton_lab.notebook.hints import hint_for


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
    """The text of ``error``: where in the cell, and Triton's own words with the cell's line numbers."""
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
    """For an error of Triton's front end: its message under the line of the cell that it is about."""
    from triton.compiler.errors import CompilationError

    chain: list[CompilationError] = []
    current: BaseException | None = error
    while isinstance(current, CompilationError):
        chain.append(current)
        current = current.__cause__
    if not chain:
        return None
    inner = chain[-1]
    reason = str(current) if current is not None else getattr(inner, "error_message", None) or str(inner)
    node, source = getattr(inner, "node", None), getattr(inner, "src", None)
    if node is None or source is None or not hasattr(node, "lineno"):
        return reason
    text = source.split("\n")
    line = text[node.lineno - 1] if 0 < node.lineno <= len(text) else ""
    end = node.end_col_offset if getattr(node, "end_lineno", node.lineno) == node.lineno else len(line)
    number = _cell_line(source, node.lineno, filename)
    caret = " " * node.col_offset + "^" * max(1, (end or 0) - node.col_offset)
    return f"{reason}\n  line {number}\n    {line}\n    {caret}"


def _cell_line(source: str, line: int, filename: str) -> int:
    """The line of the cell for line ``line`` of a kernel's (dedented) source."""
    cell = [text.strip() for text in linecache.getlines(filename)]
    kernel = [text.strip() for text in source.rstrip("\n").split("\n")]
    for start in range(len(cell) - len(kernel) + 1):
        if cell[start : start + len(kernel)] == kernel:
            return start + line
    return line


def plain(error: Exception) -> Exception:
    """Make ``error`` show its message alone: the user wrote no code that failed."""
    text = [f"\x1b[31m{type(error).__name__}\x1b[39m: {error}"]
    error._render_traceback_ = lambda: text  # type: ignore[attr-defined]
    return error
