"""The source line of an operation in the user's program, so that a later error can name it."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from pathlib import Path

from triton_lab import messages

INSIDE = ("triton_lab.lazy", "torch", "numpy", "<string>")  # calls from these modules are not the user's


@dataclass(frozen=True)
class ProgramLine:
    """A line of a program."""

    file: str
    line: int

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.line).strip()
        if messages.cell(self.file):  # a cell's file name has no meaning for the user
            place = messages.place(self.file, self.line)
        else:
            place = f"line {self.line}" if self.file.startswith("<") else f"{Path(self.file).name}:{self.line}"
        return place + (f": {text}" if text else "")


def here() -> ProgramLine | None:
    """The user's line that called into this package; None without one."""
    frame = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if not any(name == room or name.startswith(room + ".") for room in INSIDE):
            return ProgramLine(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]  # None above the outermost
    return None
