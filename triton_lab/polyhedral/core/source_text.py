"""Program text and places in it: front ends report a refusal at a character."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from triton_lab.localization import _

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_LONGEST_LINE = 400  # of which a message shows all


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

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines, as parsers count them: other characters that end a line for `str.splitlines` are part of it."""
        return tuple(self.text.split("\n"))

    def line(self, number: int) -> str:
        index = number - self.first_line
        return self.lines[index] if 0 <= index < len(self.lines) else ""

    def message(self, reason: str, span: Span) -> str:
        """``reason`` with its place: line and column in words, and the line with a mark below."""
        line = _("line {number}").format(number=span.line)
        place = f"{self.filename}, {line}" if self.filename else line
        line = printable(self.line(span.line))
        start = span.column - 1
        # Of a long line, what stands around the place.
        first = 0 if len(line) <= _LONGEST_LINE else max(0, start - _LONGEST_LINE // 2)
        shown = line[first : first + _LONGEST_LINE]
        # Tabs stay tabs, so that the caret stands under its character.
        indent = "".join(c if c == "\t" else " " for c in line[first:start].ljust(start - first))
        marks = "^" * max(1, min(span.end - span.column, len(shown) - (start - first)))
        return _("{place}, column {column}: {printable}\n  {shown}\n  {indent}{marks}").format(
            place=place, column=span.column, printable=printable(reason), shown=shown, indent=indent, marks=marks
        )


def printable(text: str) -> str:
    """``text`` as any terminal and page takes it: halves of characters and control characters are marked."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


class NotAScop(ValueError):
    """The program is not a static control part (or not a program at all); it says where and why."""

    def __init__(self, reason: str, source: SourceText, span: Span, empty: bool = False) -> None:
        self.reason = reason
        self.empty = empty  # the only fault: it has no statement
        self.line = span.line
        self.column = span.column
        self.end = span.end
        self.source_line = printable(source.line(span.line))
        self.filename = source.filename
        super().__init__(source.message(reason, span))
