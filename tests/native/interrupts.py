"""Interrupts at chosen points: each one at which Python looks for signals, one after the other.

Python runs a signal's handler where a function begins or is gone on with, where a loop goes round, and where a call of
what is written in C comes back. Which of these points a real signal meets is chance; here it is a number.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

_CALLS = {"CALL", "CALL_KW", "CALL_FUNCTION_EX"}


def _looks(name: str) -> bool:
    """Whether Python looks for signals while it does an instruction."""
    backward = "BACKWARD" in name and "NO_INTERRUPT" not in name
    return name == "RESUME" or backward


class Points:
    """Counts the points in ``files`` that this thread comes by within, and raises KeyboardInterrupt at number ``at``.

    ``where`` tells then which one that was. Frames that are running already have no points.
    """

    def __init__(self, at: int | None = None, files: tuple[str, ...] = ("",)) -> None:
        self.at, self.files, self.count, self.where = at, files, 0, ""
        self._called: FrameType | None = None
        self._names: dict[CodeType, dict[int, str]] = {}

    def __enter__(self) -> Points:
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        if event == "call":
            if not any(each in frame.f_code.co_filename for each in self.files):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            self._called = None
        elif event == "opcode":
            names = self._names.get(frame.f_code)
            if names is None:
                names = {each.offset: each.opname for each in dis.get_instructions(frame.f_code)}
                self._names[frame.f_code] = names
            name = names[frame.f_lasti]
            # A call has come back when the frame goes on; what was called may be written in Python, too.
            back, self._called = self._called is frame, frame if name in _CALLS else None
            if back or _looks(name):
                self._meet(frame, name)
        return self._trace

    def _meet(self, frame: FrameType, name: str) -> None:
        self.count += 1
        if self.count - 1 == self.at:
            self.where = f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_qualname}, {name}"
            sys.settrace(None)
            raise KeyboardInterrupt


def interrupted(act: Callable[[], object], at: int, files: tuple[str, ...] = ("",)) -> tuple[str, bool]:
    """``act`` with an interrupt at point ``at``: where that was, empty if there are fewer; and whether it was told."""
    with Points(at, files) as points:
        try:
            act()
        except KeyboardInterrupt:
            return points.where, True
    return points.where, False
