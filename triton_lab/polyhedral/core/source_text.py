"""Program text and places in it: front ends report a refusal at a character."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """A range of one source line. Lines and columns count from 1; ``end`` is the column after the last character."""

    line: int
    column: int
    end: int


@dataclass(frozen=True)
class SourceText:
    """The text of a program; ``first_line`` is the number of its first line for the user."""

    text: str
    first_line: int = 1
    filename: str = ""

    def line(self, number: int) -> str:
        lines = self.text.splitlines()
        index = number - self.first_line
        return lines[index] if 0 <= index < len(lines) else ""


class NotAScop(ValueError):
    """The program is not a static control part (or not a program at all); it says where and why."""

    def __init__(self, reason: str, source: SourceText, span: Span, empty: bool = False) -> None:
        self.reason = reason
        self.empty = empty  # the only fault: it has no statement
        self.line = span.line
        self.column = span.column
        self.end = span.end
        self.source_line = source.line(span.line)
        self.filename = source.filename
        super().__init__(self._message())

    def _message(self) -> str:
        place = f"{self.filename}, line {self.line}" if self.filename else f"line {self.line}"
        # Tabs stay tabs, so that the caret is under its character.
        indent = "".join(c if c == "\t" else " " for c in self.source_line[: self.column - 1].ljust(self.column - 1))
        marks = "^" * max(1, self.end - self.column)
        return f"{place}, column {self.column}: {self.reason}\n  {self.source_line}\n  {indent}{marks}"
