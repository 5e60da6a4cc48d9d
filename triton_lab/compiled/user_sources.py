"""The user's source text: a kernel and the user's functions that it calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from triton_lab.backend.source.kernel_source import is_tritons, python_function, reachable


@dataclass(frozen=True)
class Source:
    """A function's text; ``first`` is the number of its first line in ``file``."""

    name: str
    file: str
    first: int
    text: str

    @property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return self.text.rstrip("\n").split("\n")

    def has(self, file: str, line: int) -> bool:
        """Whether that place lies in this text."""
        return file == self.file and self.first <= line < self.first + len(self.lines)


def sources_of(kernel: Any) -> tuple[Source, ...]:
    """The kernel's source, then its helpers'; Triton's own functions are left out."""
    found = []
    for function in reachable([kernel]):
        python = python_function(function)
        file = str(python.__code__.co_filename) if python is not None else ""
        if not is_tritons(file):
            found.append(Source(function.__name__, file, function.starting_line_number, "".join(function.raw_src)))
    return tuple(found)
