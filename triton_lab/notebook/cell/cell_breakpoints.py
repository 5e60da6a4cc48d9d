"""Breakpoints that were set beside the lines of cells: `%%triton` cells stop there when they launch such a kernel.

A kernel knows its lines by number and text, so that a cell that was edited and not run again stops nowhere else.
Importing this is light: JupyterLab tells breakpoints before anything has run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST_CELLS, MOST, MOST_TEXT = 500, 100, 2000


@dataclass(frozen=True)
class LineBreakpoint:
    """A breakpoint beside ``line`` of a cell, which has this ``text``; ``condition`` may be ""."""

    line: int
    text: str
    condition: str = ""


_of_cells: dict[str, tuple[LineBreakpoint, ...]] = {}


def set_breakpoints(told: object) -> None:
    """Take the breakpoints of a cell, in place of those before. What is none is left out."""
    if not isinstance(told, Mapping) or not isinstance(cell := told.get("cell"), str) or len(cell) > MOST_TEXT:
        return
    given = told.get("breakpoints")
    found = tuple(filter(None, map(_read, given[:MOST]))) if isinstance(given, list) else ()
    _of_cells.pop(cell, None)
    if found and len(_of_cells) < MOST_CELLS:
        _of_cells[cell] = found


def _read(one: object) -> LineBreakpoint | None:
    if not isinstance(one, Mapping):
        return None
    line, text, condition = one.get("line"), one.get("text"), one.get("condition", "")
    if isinstance(line, bool) or not isinstance(line, int) or not 1 <= line < 1 << 31:
        return None
    if not isinstance(text, str) or not isinstance(condition, str) or max(len(text), len(condition)) > MOST_TEXT:
        return None
    return LineBreakpoint(line, text, condition)


def breakpoints_of(kernel: Any) -> list[LineBreakpoint]:
    """The breakpoints beside lines of a kernel (Triton's function) and of the functions that it can call."""
    from triton_lab.backend.source.kernel_source import reachable

    lines = {
        (function.starting_line_number + number, line.rstrip())
        for function in reachable([kernel])
        for number, line in enumerate(function.raw_src)
    }
    found = {one for each in _of_cells.values() for one in each if (one.line, one.text.rstrip()) in lines}
    return sorted(found, key=lambda one: (one.line, one.condition))


@contextlib.contextmanager
def stopping() -> Iterator[None]:
    """Inside, launches of kernels with breakpoints are shown where these stop; without any it does nothing."""
    if not _of_cells:
        yield
        return
    from triton_lab.backend.source.kernel_breakpoints import breakpoint_lines
    from triton_lab.launch.debugging.stepped_launch import around_launches, recorded
    from triton_lab.notebook.cell.breakpoint_display import show_breakpoints

    def around(kernel: Any, run: Callable[[], None]) -> None:
        found = breakpoints_of(kernel)
        if found or breakpoint_lines(kernel):
            recorded(run, lambda launch: show_breakpoints(launch, [(one.line, one.condition) for one in found]))
        else:
            run()

    with around_launches(around):
        yield
