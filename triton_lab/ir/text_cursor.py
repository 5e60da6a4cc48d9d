"""A position in a text, with the moves that MLIR's grammar needs."""

from __future__ import annotations

import re

from triton_lab.ir.types import Type, parse_type

_BLANK = re.compile(r"(?:\s+|//[^\n]*)+")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_SIMPLE_TYPE = re.compile(r"!ttg\.async\.token\b|(?:bf|f|i)\w+|index|none")


class Cursor:
    """Reads ``text`` from ``position`` on; blanks and comments before a token are skipped."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def line(self) -> int:
        """The line of the text at the position, from 1."""
        return self.text.count("\n", 0, self.position) + 1

    def skip(self) -> None:
        found = _BLANK.match(self.text, self.position)
        if found is not None:
            self.position = found.end()

    def peek(self, token: str) -> bool:
        """Whether ``token`` comes next."""
        self.skip()
        return self.text.startswith(token, self.position)

    def accept(self, token: str) -> bool:
        """Step over ``token`` if it comes next, and say whether it did."""
        if not self.peek(token):
            return False
        self.position += len(token)
        return True

    def expect(self, token: str) -> None:
        """Step over ``token``; ValueError if something else comes."""
        if not self.accept(token):
            raise ValueError(f"expected {token!r}, found {self.text[self.position : self.position + 30]!r}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """Step over what ``pattern`` matches here; ValueError if it does not."""
        found = self.maybe(pattern)
        if found is None:
            raise ValueError(f"unexpected {self.text[self.position : self.position + 30]!r}")
        return found

    def maybe(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Like `match`, but None where the pattern does not match."""
        self.skip()
        found = pattern.match(self.text, self.position)
        if found is not None:
            self.position = found.end()
        return found

    def string(self) -> str:
        """A quoted string, its escapes undone."""
        return unescape(self.match(_STRING).group(1))

    def balanced(self, opening: str, closing: str) -> str:
        """Step over a bracketed text, strings in it included, and return what the brackets enclose."""
        self.skip()
        start = self.position
        depth = 0
        text = self.text
        position = start
        while True:
            character = text[position]
            if character == '"':
                found = _STRING.match(text, position)
                if found is None:
                    raise ValueError("a string without end")
                position = found.end()
                continue
            if character == opening:
                depth += 1
            elif character == closing and text[position - 1] != "-":  # not the arrow `->`
                depth -= 1
                if depth == 0:
                    break
            position += 1
        self.position = position + 1
        return text[start + 1 : position]

    def type(self) -> Type:
        """Read a type."""
        simple = self.maybe(_SIMPLE_TYPE)
        if simple is not None:
            return parse_type(simple.group())
        start = self.position
        self.position = self.text.index("<", start)
        self.balanced("<", ">")
        return parse_type(self.text[start : self.position])


def unescape(text: str) -> str:
    """Undo MLIR's string escapes: the two hex digits of a byte of UTF-8, or a character that stands for itself."""
    if "\\" not in text:
        return text

    def one(found: re.Match[bytes]) -> bytes:
        code = found.group(1)
        return bytes.fromhex(code.decode()) if len(code) == 2 else {b"n": b"\n", b"t": b"\t"}.get(code, code)

    return _ESCAPE.sub(one, text.encode()).decode(errors="replace")
